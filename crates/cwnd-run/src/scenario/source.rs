//! A TOML document with overrides, where every value knows where it was written.

use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::error::{Fault, Place, ScenarioError};
use super::quantity;
use super::reader::Reader;

/// A document and the overrides that were laid over it.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    name: &'a str,
    text: &'a str,
    overrides: &'a [String],
    root: Spanned<DeTable<'a>>,
}

impl<'a> Source<'a> {
    /// Reads `text` and lays the overrides, each `key.key=value`, over it in their order.
    pub fn read(name: &'a str, text: &'a str, overrides: &'a [String]) -> Result<Self, ScenarioError> {
        let root = DeTable::parse(text).map_err(|error| ScenarioError {
            place: Place::in_file(name, text, error.span().unwrap_or_default()),
            fault: Fault::Document(one_line(error.message())),
        })?;
        Self { name, text, overrides: &[], root }.with(overrides)
    }

    /// This document with further overrides.
    pub fn with<'b>(&self, overrides: &'b [String]) -> Result<Source<'b>, ScenarioError>
    where
        'a: 'b,
    {
        let mut source = Source { name: self.name, text: self.text, overrides, root: self.root.clone() };
        for (index, item) in overrides.iter().enumerate() {
            source.apply_override(index, item).map_err(|reason| ScenarioError {
                place: Place::Override(item.clone()),
                fault: Fault::Document(reason),
            })?;
        }
        Ok(source)
    }

    /// The table under a key of the document as a document of its own, in the same file.
    pub fn below(&self, key: &str) -> Option<Self> {
        let value = self.root.get_ref().get(key)?;
        let DeValue::Table(table) = value.get_ref() else { return None };
        Some(Self { root: Spanned::new(value.span(), table.clone()), ..*self })
    }

    /// The document as it was parsed.
    pub fn root(&self) -> &DeTable<'a> {
        self.root.get_ref()
    }

    /// The document as a value.
    pub fn document<T: DeserializeOwned>(&self) -> Result<T, ScenarioError> {
        let root = Spanned::new(self.root.span(), DeValue::Table(self.root.get_ref().clone()));
        T::deserialize(Reader(&root)).map_err(|error| ScenarioError {
            place: self.place(error.place().unwrap_or_default()),
            fault: Fault::Document(with_nearest(error.message())),
        })
    }

    /// The directory of the file, to which names of files in it are relative.
    pub(super) fn directory(&self) -> &Path {
        Path::new(self.name).parent().unwrap_or(Path::new(""))
    }

    /// Where the value of a dotted key was written, or the table that should have it.
    pub fn place_of(&self, key: &str) -> Place {
        self.place(self.find(key).0)
    }

    /// Where a fault at a dotted key was written: at an override of it or of a key that it is compared with, otherwise at the one of them
    /// that was written.
    pub(super) fn place_of_fault(&self, key: &str) -> Place {
        let others = COMPARED.iter().filter(|(own, _)| key == *own || key.ends_with(&format!(".{own}")));
        let candidates: Vec<&str> = std::iter::once(key).chain(others.map(|(_, other)| *other)).collect();
        let set = |key: &&&str| self.has(key) && matches!(self.place_of(key), Place::Override(_));
        let found = candidates.iter().find(set).or_else(|| candidates.iter().find(|key| self.has(key)));
        self.place_of(found.unwrap_or(&key))
    }

    /// Whether a dotted key was written.
    pub(super) fn has(&self, key: &str) -> bool {
        self.find(key).1
    }

    /// A text, number or truth value as it was typed, text without its quotes; none for lists, tables and keys that were not written.
    pub(super) fn typed(&self, key: &str) -> Option<&'a str> {
        let (span, true) = self.find(key) else { return None };
        if let Place::Override(item) = self.place(span.clone()) {
            let item = self.overrides.iter().find(|other| **other == item)?;
            return item.split_once('=').filter(|(of, _)| normal(of) == key).map(|(_, value)| unquoted(value));
        }
        let text = self.text(span);
        (!text.starts_with(['[', '{']) && !text.contains('\n')).then(|| unquoted(text))
    }

    /// The lists and tables that are empty, other than those whose presence has a meaning, with their texts.
    pub(super) fn empty(&self) -> Vec<(String, &'static str)> {
        fn search(key: &str, value: &DeValue<'_>, found: &mut Vec<(String, &'static str)>) {
            let below = |part: &str| if key.is_empty() { part.to_string() } else { format!("{key}.{part}") };
            match value {
                DeValue::Array(items) if items.is_empty() => found.push((key.to_string(), "[]")),
                DeValue::Table(table) if table.is_empty() => found.push((key.to_string(), "{}")),
                DeValue::Array(items) => {
                    let item = |(index, item): (usize, &Spanned<DeValue<'_>>)| {
                        search(&below(&index.to_string()), item.get_ref(), found);
                    };
                    items.iter().enumerate().for_each(item);
                }
                DeValue::Table(table) => {
                    table.iter().for_each(|(part, item)| search(&below(part.get_ref()), item.get_ref(), found));
                }
                _ => {}
            }
        }
        let mut found = Vec::new();
        for (key, value) in self.root.get_ref() {
            search(key.get_ref(), value.get_ref(), &mut found);
        }
        found.retain(|(key, _)| !["dumbbell", "parking_lot"].contains(&key.as_str()));
        found
    }

    /// Where a dotted key was written, or as much of it as was, and whether all of it was.
    fn find(&self, key: &str) -> (Range<usize>, bool) {
        let mut parts = key.split('.').filter(|part| !part.is_empty());
        let Some(first) = parts.next().and_then(|part| self.root.get_ref().get(part)) else { return (0..0, false) };
        let mut value = first;
        for part in parts {
            let next = match value.get_ref() {
                DeValue::Table(table) => table.get(part),
                DeValue::Array(array) => part.parse::<usize>().ok().and_then(|index| array.get(index)),
                _ => None,
            };
            match next {
                Some(next) => value = next,
                None => return (value.span(), false),
            }
        }
        (value.span(), true)
    }

    /// The text in a range of bytes of the file.
    pub fn text(&self, span: Range<usize>) -> &'a str {
        self.text.get(span).unwrap_or_default()
    }

    /// Where a range of bytes is: in the file, or in an override.
    pub fn place(&self, span: Range<usize>) -> Place {
        match span.start.checked_sub(self.override_span(0).start).and_then(|index| self.overrides.get(index)) {
            Some(item) => Place::Override(item.clone()),
            None => Place::in_file(self.name, self.text, span),
        }
    }

    /// What an override writes lies behind the end of the file, so that its place in an error distinguishes it from the file's.
    fn override_span(&self, index: usize) -> Range<usize> {
        let start = self.text.len() + 1 + index;
        start..start + 1
    }

    fn apply_override(&mut self, index: usize, item: &'a str) -> Result<(), String> {
        let span = self.override_span(index);
        let (key, value) = item.split_once('=').ok_or("expected `key=value`, such as `dumbbell.rate=1gbit`")?;
        let mut parts = key.trim().split('.').map(str::trim).peekable();
        let mut table = self.root.get_mut();
        loop {
            let part = parts.next().filter(|part| !part.is_empty()).ok_or("a part of the key is empty")?;
            let key = Spanned::new(span.clone(), Cow::Borrowed(part));
            if parts.peek().is_none() {
                // The key's own place moves too: an unknown key is the override's fault.
                table.remove(part);
                table.insert(key, bare(value.trim(), &span));
                return Ok(());
            }
            let empty = || Spanned::new(span.clone(), DeValue::Table(DeTable::new()));
            table = match table.entry(key).or_insert_with(empty).get_mut() {
                DeValue::Table(inner) => inner,
                DeValue::Array(array) => element(array, part, parts.next())?,
                _ => return Err(format!("`{part}` has no keys of its own")),
            };
        }
    }
}

/// Checks overrides that a user gave together: later ones prevail, so that one that another hides would be lost.
///
/// # Errors
/// One of them sets what an earlier one has set, or a table around it.
pub fn apart(overrides: &[String]) -> Result<(), ScenarioError> {
    overrides.iter().enumerate().try_for_each(|(index, item)| {
        not_lost(&overrides[..index], item)
            .map_err(|reason| ScenarioError { place: Place::Override(item.clone()), fault: Fault::Document(reason) })
    })
}

/// The dotted key of an override.
fn key_of(item: &str) -> Option<String> {
    item.split_once('=').map(|(key, _)| normal(key))
}

/// A dotted key without spaces around its parts.
fn normal(key: &str) -> String {
    key.split('.').map(str::trim).collect::<Vec<_>>().join(".")
}

/// A value without the quotes of TOML.
fn unquoted(text: &str) -> &str {
    let text = text.trim();
    let quoted = ['"', '\''].into_iter().find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    quoted.unwrap_or(text)
}

/// Refuses an override of what an earlier one has set, or of a table around it.
fn not_lost(earlier: &[String], item: &str) -> Result<(), String> {
    let Some(key) = key_of(item) else { return Ok(()) };
    let lost = |other: &&String| {
        let rest = key_of(other).and_then(|other| other.strip_prefix(&key).map(str::to_string));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    match earlier.iter().find(lost) {
        Some(other) => Err(format!("`{other}` is given too, which would be lost")),
        None => Ok(()),
    }
}

/// The table at an index of an array of tables.
fn element<'t, 'a>(array: &'t mut DeArray<'a>, name: &str, index: Option<&str>) -> Result<&'t mut DeTable<'a>, String> {
    let count = array.len();
    let found = index.and_then(|index| index.parse::<usize>().ok()).and_then(|index| array.get_mut(index));
    match found.map(Spanned::get_mut) {
        Some(DeValue::Table(table)) => Ok(table),
        _ => Err(format!("`{name}` is a list of {count}: name one as `{name}.0.key`, counted from 0")),
    }
}

/// What TOML would read as a number, a truth value, a list or a table, otherwise text, so that `100mbit` needs no quotes.
fn bare<'a>(text: &'a str, span: &Range<usize>) -> Spanned<DeValue<'a>> {
    match DeValue::parse(text).map(Spanned::into_inner) {
        Ok(DeValue::Datetime(_)) | Err(_) => Spanned::new(span.clone(), DeValue::String(Cow::Borrowed(text))),
        Ok(value) => at(value, span),
    }
}

/// A value all parts of which have the place `span`.
fn at<'a>(value: DeValue<'a>, span: &Range<usize>) -> Spanned<DeValue<'a>> {
    let value = match value {
        DeValue::Array(items) => {
            let mut list = DeArray::new();
            items.into_iter().for_each(|item| list.push(at(item.into_inner(), span)));
            DeValue::Array(list)
        }
        DeValue::Table(entries) => {
            let place = |key: Spanned<Cow<'a, str>>| Spanned::new(span.clone(), key.into_inner());
            let entries = entries.into_iter().map(|(key, item)| (place(key), at(item.into_inner(), span)));
            DeValue::Table(entries.collect())
        }
        scalar => scalar,
    };
    Spanned::new(span.clone(), value)
}

/// Serde words an unknown key or word in one fixed way; ours adds which one may have been meant.
fn with_nearest(message: &str) -> String {
    let unknown = |what, rest: &str| {
        let (name, rest) = rest.split_once('`')?;
        let known: Vec<&str> = rest.split('`').skip(1).step_by(2).collect();
        (!known.is_empty()).then(|| quantity::unknown(what, name, &known))
    };
    let key = message.strip_prefix("unknown field `").and_then(|rest| unknown("key", rest));
    let word = || message.strip_prefix("unknown variant `").and_then(|rest| unknown("value", rest));
    let kind = || {
        let (found, expected) = message.rsplit_once(", expected ")?;
        let known = KINDS.iter().find(|(kind, _)| *kind == expected).map(|(_, accepted)| *accepted);
        let accepted = known.or_else(|| expected.starts_with("struct ").then_some("a table of keys"))?;
        Some(format!("{found}, expected {accepted}"))
    };
    let missing = || {
        let name = message.strip_prefix("missing field `")?.strip_suffix('`')?;
        Some(format!("`{name}` is missing"))
    };
    key.or_else(word).or_else(missing).or_else(kind).unwrap_or_else(|| one_line(message))
}

fn one_line(message: &str) -> String {
    message.trim().replace('\n', ", ")
}

/// Keys whose faults may be those of another, which has a value whether it was written or not.
const COMPARED: [(&str, &str); 8] = [
    ("payload", "packet"),
    ("warmup", "duration"),
    ("start", "duration"),
    ("on", "duration"),
    ("sampling", "duration"),
    ("policer", "packet"),
    ("policer", "ack"),
    ("extra_rtt", "variation.rtt"),
];

/// What Serde calls the types of keys, and what they accept. Every `u32` is a number of something, of which there is at least one.
const KINDS: [(&str, &str); 6] = [
    ("a boolean", "true or false"),
    ("a sequence", "a list"),
    ("a string", "text in quotes"),
    ("f64", "a number"),
    ("u32", "a whole number from 1 to 4294967295"),
    ("u64", "a whole number of at least 0"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_override_that_another_would_hide_is_refused() {
        let read = |overrides: &[&str]| {
            let overrides = overrides.iter().map(ToString::to_string).collect::<Vec<_>>();
            apart(&overrides).map_err(|error| error.to_string())
        };
        assert_eq!(read(&["dumbbell.rate=2mbit", "dumbbell.rtt=9ms", "dumbbell.rtt_spread=1ms"]), Ok(()));
        assert_eq!(read(&["dumbbell={}", "dumbbell.rate=2mbit"]), Ok(()));
        let error = "--set dumbbell . rate=3mbit: `dumbbell.rate=2mbit` is given too, which would be lost";
        assert_eq!(read(&["dumbbell.rate=2mbit", "dumbbell . rate=3mbit"]), Err(error.to_string()));
        assert!(read(&["dumbbell.rate=2mbit", "dumbbell={}"]).is_err());
    }

    #[test]
    fn unknown_names_get_a_suggestion() {
        let message = "unknown field `rat`, expected one of `rate`, `rtt`, `queue`";
        assert_eq!(with_nearest(message), "unknown key `rat`; did you mean `rate`? (accepted: rate, rtt, queue)");
        let message = "unknown variant `x`, expected `sack`";
        assert_eq!(with_nearest(message), "unknown value `x` (accepted: sack)");
        assert_eq!(with_nearest("missing field `algorithm`"), "`algorithm` is missing");
        assert_eq!(with_nearest("anything\nelse"), "anything, else");
        assert_eq!(
            with_nearest("invalid value: integer `-1`, expected u32"),
            "invalid value: integer `-1`, expected a whole number from 1 to 4294967295"
        );
        assert_eq!(
            with_nearest("invalid type: string \"2\", expected f64"),
            "invalid type: string \"2\", expected a number"
        );
    }
}
