//! Settings written `name:value,key=value`, each kind of them with a table of its forms.
//!
//! A [`Notation`] is the table of one kind, such as queues. Whatever reads, explains or documents the kind does so from there: the
//! reader and its errors, the help of commands, the schema of scenarios and the tables in the documentation.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::entry::InvalidParameter;
use crate::nearest::nearest;
use crate::parameter::{Kind, Parameter, Value, Values};
use crate::quantity::QuantityError;

/// All forms of one kind of setting, whose values are `T`.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a table is a constant, and each row decides on each field")]
pub struct Notation<T: 'static> {
    /// It as the object of a sentence: `a queue and its size`.
    pub what: &'static str,
    /// The forms. The first one is the example of all.
    pub forms: &'static [Form<T>],
    /// Names that other tools have and this one has not, each with the replacement.
    pub elsewhere: &'static [(&'static str, &'static str)],
}

/// One form: `name:first,second,key=value,word`.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "a table is a constant, and each row decides on each field")]
pub struct Form<T> {
    /// The name before the colon; empty if there is none.
    pub name: &'static str,
    /// Names that other tools give it. They are not accepted: an error about one says the name here.
    pub aliases: &'static [&'static str],
    /// Its effect, in one line.
    pub title: &'static str,
    /// The paper, the RFC or the code that it follows.
    pub source: &'static str,
    /// One that is accepted, with some of its parameters.
    pub example: &'static str,
    /// The number of first parameters that follow the colon without their names; they are always given.
    pub positional: usize,
    /// The number of first parameters that are always given; at least `positional`.
    pub required: usize,
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Makes the value; refuses combinations that no single range excludes, and texts that it cannot read.
    pub build: fn(&Values) -> Result<T, InvalidParameter>,
}

/// An argument that a table of parameters does not accept.
#[derive(Clone, Debug)]
pub(crate) enum ArgumentError {
    /// No `key=value`.
    Syntax { part: String },
    /// No parameter of this name.
    Unknown { name: String, nearest: Option<&'static str> },
    /// A parameter is given twice.
    Repeated { parameter: &'static str },
    /// A value is out of range or cannot be read.
    Value { parameter: &'static Parameter, given: String },
}

/// A form without the type of its value, so that what reads and explains forms is compiled once and not for each type.
#[derive(Clone, Copy)]
struct Shape {
    name: &'static str,
    aliases: &'static [&'static str],
    title: &'static str,
    source: &'static str,
    example: &'static str,
    positional: usize,
    required: usize,
    parameters: &'static [Parameter],
}

/// The arguments of a form, as values and as they were typed.
struct Arguments<'a> {
    values: Values,
    placed: Vec<&'a str>,
    named: Vec<(&'static str, &'a str)>,
}

/// A notation without the type of its values.
struct Outline {
    what: &'static str,
    forms: Vec<Shape>,
    elsewhere: &'static [(&'static str, &'static str)],
}

impl<T> Notation<T> {
    /// Reads one of the forms.
    ///
    /// # Errors
    /// The name or a key is unknown, a value is missing or out of range, or two contradict each other. The error is about the form that the
    /// text names.
    pub fn read(&self, text: &str) -> Result<T, QuantityError> {
        let accepts = |form: usize, arguments: &str| self.forms[form].read(Some(arguments)).is_ok();
        let chosen = self.outline().choose(text.trim(), &accepts);
        let value = chosen.and_then(|(form, arguments)| self.forms[form].read(arguments));
        value.map_err(|expected| QuantityError::new(text, expected))
    }

    /// The names of the forms that have one.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.forms.iter().map(|form| form.name).filter(|name| !name.is_empty())
    }

    /// The names as `a:, b: or c:`, for the help of an option.
    #[must_use]
    pub fn prefixes(&self) -> String {
        let names: Vec<String> = self.names().map(|name| format!("{name}:")).collect();
        either(&names)
    }

    /// The forms, as `A, b:C or d:e=E`, for the help of an option.
    #[must_use]
    pub fn synopsis(&self) -> String {
        let forms: Vec<String> = self.forms.iter().map(Form::syntax).collect();
        either(&forms)
    }

    /// All forms with their parameters, for the description of a key: a sentence each.
    #[must_use]
    pub fn description(&self) -> String {
        self.outline().description()
    }

    /// A row of a Markdown table per form: its syntax, the parameters with their defaults, and its effect. A parameter whose description
    /// stands in an earlier row has its name and default alone.
    #[must_use]
    pub fn rows(&self) -> String {
        self.outline().rows()
    }

    fn outline(&self) -> Outline {
        Outline { what: self.what, forms: self.forms.iter().map(Form::shape).collect(), elsewhere: self.elsewhere }
    }
}

impl<T> Form<T> {
    /// The value of the arguments, or the accepted form.
    fn read(&self, arguments: Option<&str>) -> Result<T, String> {
        let shape = self.shape();
        let arguments = shape.read(arguments)?;
        (self.build)(&arguments.values).map_err(|error| shape.refused(&arguments, &error))
    }

    /// The written form, without its optional parameters.
    #[must_use]
    pub fn syntax(&self) -> String {
        self.shape().syntax()
    }

    fn shape(&self) -> Shape {
        let Self { name, aliases, title, source, example, positional, required, parameters, build: _ } = *self;
        Shape { name, aliases, title, source, example, positional, required, parameters }
    }
}

impl Outline {
    /// The form that `text` names, by its place, and the arguments; or the accepted forms. `accepts` is whether a form takes arguments.
    fn choose<'a>(
        &self,
        text: &'a str,
        accepts: &dyn Fn(usize, &str) -> bool,
    ) -> Result<(usize, Option<&'a str>), String> {
        let (name, arguments) = match text.split_once(':') {
            Some((name, arguments)) => (name.trim(), Some(arguments)),
            None => (text, None),
        };
        if let Some(named) = self.forms.iter().position(|form| !form.name.is_empty() && form.name == name) {
            return Ok((named, arguments));
        }
        match self.forms.iter().position(|form| form.name.is_empty()) {
            // What looks like a name is one.
            Some(form) if !self.is_name(name, arguments) => Ok((form, Some(text))),
            _ => Err(self.unknown(name, arguments, accepts)),
        }
    }

    /// Whether what stands before a colon is a name, known elsewhere or nearly one of ours.
    fn is_name(&self, name: &str, arguments: Option<&str>) -> bool {
        self.known_as(name).is_some() || arguments.is_some() && name.starts_with(|first: char| first.is_alphabetic())
    }

    fn names(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.forms.iter().map(|form| form.name).filter(|name| !name.is_empty())
    }

    /// The place of the form that is meant by a name of another tool, or by one that is mistyped.
    fn known_as(&self, name: &str) -> Option<usize> {
        let alias = |form: &Shape| form.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name));
        self.forms.iter().position(alias).or_else(|| {
            let near = nearest(name, self.names())?;
            self.forms.iter().position(|form| form.name == near)
        })
    }

    /// The accepted forms, for the error about an unknown name.
    fn unknown(&self, name: &str, arguments: Option<&str>, accepts: &dyn Fn(usize, &str) -> bool) -> String {
        let what = self.what;
        let (first, example) = self.forms.first().map_or(("", ""), |form| (form.name, form.example));
        let elsewhere = self.elsewhere.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        if let Some((other, instead)) = elsewhere {
            return format!("{what}; `{other}` is none of them: {instead}");
        }
        if let Some(place) = self.known_as(name) {
            let form = &self.forms[place];
            if let Some(arguments) = arguments.filter(|arguments| accepts(place, arguments)) {
                let colon = if form.name.is_empty() { "" } else { ":" };
                return format!("{what}; did you mean `{}{colon}{}`?", form.name, arguments.trim());
            }
            let example = if form.example == form.name { String::new() } else { format!(", as in `{}`", form.example) };
            return format!("{what}; did you mean `{}`{example}?", form.name);
        }
        // The value without its name.
        if arguments.is_none() && !self.forms.is_empty() && accepts(0, name) {
            return format!("{what}: a name before `{name}`, such as `{first}:{name}`");
        }
        let names: Vec<&str> = self.names().collect();
        let names = if names.is_empty() { String::new() } else { format!("; the names are {}", listed(&names)) };
        format!("{what}, such as `{example}`{names}")
    }

    fn description(&self) -> String {
        let mut ranges = Vec::new();
        let forms: Vec<String> = self.forms.iter().map(|form| form.described(&mut ranges)).collect();
        format!("{}: {}", self.what, forms.join("; "))
    }

    fn rows(&self) -> String {
        let cell = |text: &str| text.replace('|', "\\|");
        let mut described: Vec<(&'static str, String)> = Vec::new();
        let mut rows = String::new();
        for form in &self.forms {
            let (first, named) = form.parameters.split_at(form.positional);
            let mut parameters = Vec::new();
            let placed = first.iter().map(|one| (one, format!("`{}`", one.name.to_uppercase())));
            let named = named.iter().filter(|one| !is_variant(one, named)).map(|one| (one, names_of(one, named)));
            for (one, names) in placed.chain(named) {
                let now = (one.name, explained(one));
                if described.contains(&now) {
                    parameters.push(names);
                } else {
                    parameters.push(format!("{names}: {}", now.1));
                    described.push(now);
                }
            }
            let parameters = if parameters.is_empty() { "none".to_string() } else { parameters.join("<br>") };
            let source = if form.source.is_empty() { String::new() } else { format!(" ({})", form.source) };
            let (parameters, title, source) = (cell(&parameters), cell(form.title), cell(&source));
            rows.push_str(&format!("| `{}` | {parameters} | {title}{source} |\n", form.syntax()));
        }
        rows
    }
}

impl Shape {
    /// The arguments as values, or the accepted form.
    fn read<'a>(&self, arguments: Option<&'a str>) -> Result<Arguments<'a>, String> {
        let example = self.example;
        let parts: Vec<&str> = arguments.map(|text| split(text).collect()).unwrap_or_default();
        // A named parameter ends those without names, and so does the end: one that is missing is not read from what follows.
        let is_named = |part: &str| {
            part.split_once('=').is_some_and(|(key, _)| self.parameters.iter().any(|one| one.name == key.trim()))
        };
        let placed = parts.iter().map(|part| part.trim()).take(self.positional).take_while(|part| !is_named(part));
        let placed: Vec<&str> = placed.collect();
        let mut values = Values::none(self.parameters);
        for (index, parameter) in self.parameters.iter().enumerate().take(self.positional) {
            let given = placed.get(index).filter(|given| !given.is_empty());
            let missing = || match (index, self.name, accepted(parameter)) {
                (0, "", accepted) => format!("{accepted}, as in `{example}`"),
                (0, name, accepted) => format!("`{name}:` and {accepted}, as in `{example}`"),
                (_, _, accepted) => format!("`{}` too, {accepted}, as in `{example}`", parameter.name),
            };
            let given = given.ok_or_else(missing)?;
            values.given[index] = Some(parameter.read(given).ok_or_else(|| self.out_of_range(parameter, given))?);
        }
        let named = values.take(parts.into_iter().skip(self.positional), self.positional);
        let named = named.map_err(|error| self.argument(error))?;
        if let Some(index) = (0..self.required).find(|index| values.given[*index].is_none()) {
            return Err(format!("`{}` too, as in `{example}`", self.parameters[index].name));
        }
        Ok(Arguments { values, placed, named })
    }

    /// The accepted form, for the error about a value that the form does not build.
    fn refused(&self, arguments: &Arguments<'_>, error: &InvalidParameter) -> String {
        let (InvalidParameter { parameter, reason }, example) = (error, self.example);
        let place = self.parameters.iter().position(|one| one.name == *parameter);
        if let Some(given) = place.and_then(|place| arguments.placed.get(place)) {
            return format!("{reason}, not `{given}`, as in `{example}`");
        }
        let given = arguments.named.iter().find(|(name, _)| name == parameter);
        let given = given.map_or_else(|| "the default".to_string(), |(_, given)| format!("`{given}`"));
        format!("{reason} for `{parameter}`, not {given}, as in `{example}`")
    }

    /// The accepted values of a parameter, for the error about another.
    fn out_of_range(&self, parameter: &Parameter, given: &str) -> String {
        format!("{} for `{}`, not `{given}`, as in `{}`", accepted(parameter), parameter.name, self.example)
    }

    fn argument(&self, error: ArgumentError) -> String {
        let example = self.example;
        let names: Vec<&str> = self.parameters.iter().skip(self.positional).map(|one| one.name).collect();
        let name = if self.name.is_empty() { self.syntax() } else { self.name.to_string() };
        match error {
            ArgumentError::Repeated { parameter } => format!("each word at most once: `{parameter}` is there twice"),
            ArgumentError::Value { parameter, given } => self.out_of_range(parameter, &given),
            ArgumentError::Syntax { part } if names.is_empty() => {
                format!("no parameter for `{name}`, which has none: `{example}`, not `{part}`")
            }
            ArgumentError::Unknown { name: part, .. } if names.is_empty() => {
                format!("no parameter for `{name}`, which has none: `{example}`, not `{part}`")
            }
            ArgumentError::Syntax { part } => format!("`key=value` instead of `{part}`, as in `{example}`"),
            ArgumentError::Unknown { name: part, nearest } => {
                let meant = nearest.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default();
                format!("a parameter of `{name}` ({}), not `{part}`{meant}", listed(&names))
            }
        }
    }

    /// The written form, without its optional parameters.
    fn syntax(&self) -> String {
        let place = |(index, parameter): (usize, &Parameter)| {
            let value = parameter.name.to_uppercase();
            if index < self.positional { value } else { format!("{}={value}", parameter.name) }
        };
        let parts: Vec<String> = self.parameters.iter().enumerate().take(self.required).map(place).collect();
        match (self.name, parts.is_empty()) {
            ("", true) => self.example.to_string(),
            ("", false) => parts.join(","),
            (name, true) => name.to_string(),
            (name, false) => format!("{name}:{}", parts.join(",")),
        }
    }

    /// A sentence about it and its parameters. Those without names have their range where it is not in `ranges` yet.
    fn described(&self, ranges: &mut Vec<String>) -> String {
        let (first, named) = self.parameters.split_at(self.positional);
        let mut parameters = Vec::new();
        for one in first {
            let range = accepted(one);
            if !ranges.contains(&range) {
                parameters.push(format!("{} ({range})", one.name.to_uppercase()));
                ranges.push(range);
            }
        }
        parameters.extend(named.iter().map(|one| format!("{} ({}; {})", one.name, accepted(one), default_of(one))));
        let parameters =
            if parameters.is_empty() { String::new() } else { format!(", with {}", parameters.join(", ")) };
        format!("`{}` {}, such as `{}`{parameters}", self.syntax(), self.title, self.example)
    }
}

impl Values {
    /// Reads `parts` as `key=value` or words, for the parameters from `first` on: their names and values as they were typed.
    pub(crate) fn take<'a>(
        &mut self,
        parts: impl Iterator<Item = &'a str>,
        first: usize,
    ) -> Result<Vec<(&'static str, &'a str)>, ArgumentError> {
        let parameters = self.parameters();
        let mut typed = Vec::new();
        for part in parts {
            let (key, value) = match part.split_once('=') {
                Some((key, value)) => (key.trim(), Some(value.trim())),
                None => (part.trim(), None),
            };
            let found = parameters.iter().enumerate().skip(first).find(|(_, parameter)| parameter.name == key);
            let flag = |parameter: &Parameter| matches!(parameter.kind, Kind::Flag);
            let has_flags = parameters.iter().any(flag);
            let Some((index, parameter)) = found.filter(|(_, one)| value.is_some() || flag(one)) else {
                if value.is_none() && !(has_flags && found.is_none()) {
                    return Err(ArgumentError::Syntax { part: part.trim().to_string() });
                }
                let near = nearest(key, parameters.iter().skip(first).map(|parameter| parameter.name));
                return Err(ArgumentError::Unknown { name: key.to_string(), nearest: near });
            };
            if self.given[index].is_some() {
                return Err(ArgumentError::Repeated { parameter: parameter.name });
            }
            let read = value.map_or(Some(Value::Flag), |value| parameter.read(value));
            let given = value.unwrap_or_default();
            let wrong = || ArgumentError::Value { parameter, given: given.to_string() };
            self.given[index] = Some(read.ok_or_else(wrong)?);
            typed.push((parameter.name, given));
        }
        Ok(typed)
    }
}

/// The accepted values of a parameter, as the object of a sentence.
fn accepted(parameter: &Parameter) -> String {
    let accepted = parameter.accepted();
    match parameter.kind {
        Kind::Number { .. } if accepted.starts_with("a") && !accepted.starts_with("a whole") => {
            if accepted.starts_with("any") { accepted } else { format!("a number {accepted}") }
        }
        Kind::Choice { options, .. } => format!("`{}`", options.join("` or `")),
        // The example is that of the form.
        Kind::Quantity { .. } | Kind::Text { .. } => accepted.split(", such as").next().unwrap_or_default().to_string(),
        _ => accepted,
    }
}

/// Its default, in words.
fn default_of(parameter: &Parameter) -> String {
    match (parameter.kind, parameter.default_text()) {
        (_, text) if text.is_empty() => "required".to_string(),
        (Kind::Number { default: None, .. } | Kind::Quantity { default: None, .. }, text) => {
            format!("{text} unless given")
        }
        (_, text) => format!("{text} by default"),
    }
}

/// Whether it is another parameter with a prefix: `in_min` next to `min`.
fn is_variant(parameter: &Parameter, all: &[Parameter]) -> bool {
    all.iter().any(|other| parameter.name.strip_suffix(other.name).is_some_and(|prefix| prefix.ends_with('_')))
}

/// A parameter in a cell of a table with those that are it with a prefix: the names with their defaults.
fn names_of(parameter: &Parameter, all: &[Parameter]) -> String {
    let named = |parameter: &Parameter| format!("`{}`", parameter.name);
    let one = |parameter: &Parameter| match parameter.kind {
        Kind::Flag => named(parameter),
        _ => format!("{} ({})", named(parameter), default_of(parameter)),
    };
    let variants: Vec<&Parameter> =
        all.iter().filter(|other| is_variant(other, core::slice::from_ref(parameter))).collect();
    // Without a prefix it is for all of them, each of which has a default of its own.
    let first = if variants.is_empty() { one(parameter) } else { named(parameter) };
    let names: Vec<String> = core::iter::once(first).chain(variants.into_iter().map(one)).collect();
    names.join(", ")
}

/// The description of a parameter in a cell of a table, with its range.
fn explained(parameter: &Parameter) -> String {
    match parameter.kind {
        Kind::Choice { .. } | Kind::Flag => parameter.help.to_string(),
        _ => format!("{}; {}", parameter.help, accepted(parameter)),
    }
}

/// Texts as a sentence offers them.
fn either(texts: &[String]) -> String {
    match texts.split_last() {
        Some((last, most)) if !most.is_empty() => format!("{} or {last}", most.join(", ")),
        _ => texts.concat(),
    }
}

/// Names as a sentence lists them.
fn listed(names: &[&str]) -> String {
    match names {
        [] => "none".to_string(),
        [one] => (*one).to_string(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

/// Splits at commas outside brackets: those inside belong to an expression.
pub(crate) fn split(arguments: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    arguments.split(move |character| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        character == ',' && depth <= 0
    })
}
