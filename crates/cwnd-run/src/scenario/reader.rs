//! A value of a TOML document as a format of Serde.
//!
//! A type asks for one kind of value here. The reader of `toml` compiles all kinds for each type, 66 kB of the compressed
//! module for browsers.

use std::fmt::Display;
use std::ops::Range;
use std::slice;

use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{DeserializeSeed, Deserializer, Error, IntoDeserializer, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::forward_to_deserialize_any;
use thiserror::Error;
use toml::Spanned;
use toml::de::{DeString, DeValue};
use toml::map;

/// A value with its place.
#[derive(Clone, Copy)]
pub(super) struct Reader<'s>(pub(super) &'s Spanned<DeValue<'s>>);

/// A value that a type does not accept. Small, since each type returns it.
#[derive(Debug, Error)]
#[error("{}", .0.message)]
pub(super) struct Refusal(Box<Refused>);

#[derive(Debug)]
struct Refused {
    message: String,
    place: Option<Range<usize>>,
}

struct Items<'s>(slice::Iter<'s, Spanned<DeValue<'s>>>);

struct Entries<'s> {
    rest: map::Iter<'s, Spanned<DeString<'s>>, Spanned<DeValue<'s>>>,
    value: Option<&'s Spanned<DeValue<'s>>>,
}

enum Number {
    Signed(i64),
    Unsigned(u64),
    Float(f64),
}

impl Refusal {
    pub(super) fn message(&self) -> &str {
        &self.0.message
    }

    /// The bytes of the innermost value, table or key that has the fault; none for the document.
    pub(super) fn place(&self) -> Option<Range<usize>> {
        self.0.place.clone()
    }

    /// At `place`, unless a part of it is known.
    fn at(mut self, place: Range<usize>) -> Self {
        self.0.place.get_or_insert(place);
        self
    }
}

impl Error for Refusal {
    fn custom<T: Display>(message: T) -> Self {
        Self(Box::new(Refused { message: message.to_string(), place: None }))
    }
}

impl<'s> Reader<'s> {
    fn number(self) -> Option<Number> {
        match self.0.get_ref() {
            DeValue::Integer(written) => {
                let signed = i64::from_str_radix(written.as_str(), written.radix()).map(Number::Signed);
                signed.or_else(|_| u64::from_str_radix(written.as_str(), written.radix()).map(Number::Unsigned)).ok()
            }
            DeValue::Float(written) => {
                let number = written.as_str().parse::<f64>().ok();
                number.filter(|number| !number.is_infinite() || written.as_str().contains("inf")).map(Number::Float)
            }
            _ => None,
        }
    }

    /// The value as a message names it that refuses its kind.
    fn unexpected(self) -> Unexpected<'s> {
        match (self.0.get_ref(), self.number()) {
            (_, Some(Number::Signed(number))) => Unexpected::Signed(number),
            (_, Some(Number::Unsigned(number))) => Unexpected::Unsigned(number),
            (_, Some(Number::Float(number))) => Unexpected::Float(number),
            (DeValue::Integer(_) | DeValue::Float(_), None) => Unexpected::Other("number of more than 64 bits"),
            (DeValue::String(text), _) => Unexpected::Str(text),
            (DeValue::Boolean(value), _) => Unexpected::Bool(*value),
            (DeValue::Datetime(_), _) => Unexpected::Other("date or time"),
            (DeValue::Array(_), _) => Unexpected::Seq,
            (DeValue::Table(_), _) => Unexpected::Map,
        }
    }

    fn refused<V: Visitor<'s>>(self, visitor: &V) -> Refusal {
        Refusal::invalid_type(self.unexpected(), visitor)
    }

    fn visit_number<V: Visitor<'s>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.number() {
            Some(Number::Signed(number)) => visitor.visit_i64(number),
            Some(Number::Unsigned(number)) => visitor.visit_u64(number),
            Some(Number::Float(number)) => visitor.visit_f64(number),
            None => Err(self.refused(&visitor)),
        }
    }

    fn entries(self) -> Option<Entries<'s>> {
        self.0.get_ref().as_table().map(|table| Entries { rest: table.iter(), value: None })
    }
}

/// Methods that read one kind of value: `visit` on the value that `take` has of the reader, otherwise a refusal.
macro_rules! one_kind {
    ($s:lifetime $($method:ident($($name:ident: $type:ty),*) $take:expr => $visit:ident;)*) => {$(
        fn $method<V: Visitor<$s>>(self, $($name: $type,)* visitor: V) -> Result<V::Value, Refusal> {
            let take: fn(Self) -> Option<_> = $take;
            match take(self) {
                Some(value) => visitor.$visit(value),
                None => Err(self.refused(&visitor)),
            }
        }
    )*};
}

macro_rules! numbers {
    ($s:lifetime $($method:ident)*) => {$(
        fn $method<V: Visitor<$s>>(self, visitor: V) -> Result<V::Value, Refusal> {
            self.visit_number(visitor)
        }
    )*};
}

impl<'s> Deserializer<'s> for Reader<'s> {
    type Error = Refusal;

    fn deserialize_any<V: Visitor<'s>>(self, visitor: V) -> Result<V::Value, Refusal> {
        match self.0.get_ref() {
            DeValue::String(_) => self.deserialize_str(visitor),
            DeValue::Boolean(value) => visitor.visit_bool(*value),
            DeValue::Array(_) => self.deserialize_seq(visitor),
            DeValue::Table(_) => self.deserialize_map(visitor),
            DeValue::Integer(_) | DeValue::Float(_) | DeValue::Datetime(_) => self.visit_number(visitor),
        }
    }

    one_kind! {
        's
        deserialize_bool() |reader| reader.0.get_ref().as_bool() => visit_bool;
        deserialize_str() |reader| reader.0.get_ref().as_str() => visit_str;
        deserialize_string() |reader| reader.0.get_ref().as_str() => visit_str;
        deserialize_char() |reader| reader.0.get_ref().as_str() => visit_str;
        deserialize_identifier() |reader| reader.0.get_ref().as_str() => visit_str;
        deserialize_seq() |reader| reader.0.get_ref().as_array().map(|items| Items(items.iter())) => visit_seq;
        deserialize_tuple(_length: usize) |reader| reader.0.get_ref().as_array().map(|items| Items(items.iter())) => visit_seq;
        deserialize_map() Self::entries => visit_map;
        deserialize_struct(_name: &'static str, _fields: &'static [&'static str]) Self::entries => visit_map;
    }

    numbers! {
        's
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64 deserialize_i128
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64 deserialize_u128
        deserialize_f32 deserialize_f64
    }

    /// A key that is not written is absent: a value that a table has is some value.
    fn deserialize_option<V: Visitor<'s>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'s>>(self, _: &'static str, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_newtype_struct(self)
    }

    /// A word, or a table with one word as its key.
    fn deserialize_enum<V: Visitor<'s>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Refusal> {
        if let Some(word) = self.0.get_ref().as_str() {
            return visitor.visit_enum(StrDeserializer::new(word));
        }
        match self.entries() {
            Some(entries) if entries.rest.len() == 1 => visitor.visit_enum(MapAccessDeserializer::new(entries)),
            _ => Err(self.refused(&visitor)),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'s>>(self, visitor: V) -> Result<V::Value, Refusal> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! { <V: Visitor<'s>> bytes byte_buf unit unit_struct tuple_struct }
}

impl<'s> SeqAccess<'s> for Items<'s> {
    type Error = Refusal;

    fn next_element_seed<T: DeserializeSeed<'s>>(&mut self, seed: T) -> Result<Option<T::Value>, Refusal> {
        let Some(item) = self.0.next() else { return Ok(None) };
        seed.deserialize(Reader(item)).map(Some).map_err(|error| error.at(item.span()))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.0.len())
    }
}

impl<'s> MapAccess<'s> for Entries<'s> {
    type Error = Refusal;

    fn next_key_seed<K: DeserializeSeed<'s>>(&mut self, seed: K) -> Result<Option<K::Value>, Refusal> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some(value);
        let word: StrDeserializer<'_, Refusal> = key.get_ref().as_ref().into_deserializer();
        seed.deserialize(word).map(Some).map_err(|error| error.at(key.span()))
    }

    fn next_value_seed<V: DeserializeSeed<'s>>(&mut self, seed: V) -> Result<V::Value, Refusal> {
        let value = self.value.take().ok_or_else(|| Refusal::custom("a value is read without its key"))?;
        seed.deserialize(Reader(value)).map_err(|error| error.at(value.span()))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.rest.len())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;
    use toml::de::DeTable;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, rename_all = "kebab-case")]
    enum Kind {
        Plain,
        With(f64),
        Of { size: u64 },
    }

    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(untagged)]
    enum Either {
        Text(String),
        Number(f64),
        List(Vec<i64>),
    }

    #[derive(Debug, PartialEq, Deserialize)]
    struct New(u8);

    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields, default)]
    struct All {
        flag: bool,
        small: Option<i8>,
        large: Option<u64>,
        number: Option<f64>,
        text: String,
        list: Vec<u32>,
        pair: Option<(f64, String)>,
        map: BTreeMap<String, i64>,
        kind: Option<Kind>,
        either: Option<Either>,
        new: Option<New>,
        below: Option<Box<All>>,
    }

    type Read = Result<All, (String, Option<Range<usize>>)>;

    fn own(text: &str) -> Read {
        let root = DeTable::parse(text).expect("it is TOML");
        let root = Spanned::new(root.span(), DeValue::Table(root.into_inner()));
        All::deserialize(Reader(&root)).map_err(|error| (error.message().to_owned(), error.place()))
    }

    fn of_toml(text: &str) -> Read {
        toml::from_str(text).map_err(|error: toml::de::Error| (error.message().to_owned(), error.span()))
    }

    #[test]
    fn it_reads_as_the_reader_of_toml() {
        let documents = [
            "",
            "flag = true\nsmall = -128\nlarge = 18446744073709551615\nnumber = -1_000.5e-3",
            "number = 7\nlarge = 0xf_f\nsmall = +1",
            "large = 0xffff_ffff_ffff_ffff",
            "large = 0o17\nlist = [0b11, 1_0]",
            "number = inf",
            "number = -inf",
            "text = 'a'\nmap = { a = 1, \"b c\" = 2 }",
            "text = \"\"\"\n\\u00e9\"\"\"\npair = [1, 'x']",
            "kind = 'plain'",
            "kind = { with = 2 }",
            "kind.of.size = 3",
            "kind = 'other'",
            "either = 'x'",
            "either = 1.5",
            "either = [1, -2]",
            "either = true",
            "new = 255",
            "new = 256",
            "[below]\nflag = false\n[below.below]\nlist = [1]",
            "[below]\nflag = 'no'",
            "[below.below]\nlist = [1, -1]",
            "[below.below]\nunknown = 1",
            "flag = 1",
            "small = 128",
            "small = 1.0",
            "large = -1",
            "number = '1'",
            "text = 1",
            "text = ['a']",
            "list = 1",
            "list = [[1]]",
            "map = []",
            "map.a = 'x'",
            "pair = [1]",
        ];
        let read = documents.into_iter().map(|text| (own(text), of_toml(text), text));
        let differ: Vec<_> = read.filter(|(own, other, _)| own != other).collect();
        assert!(differ.is_empty(), "{differ:#?}");
    }

    /// The reader of `toml` accepts the first.
    #[test]
    fn a_list_is_no_table_and_refusals_have_the_words_of_serde() {
        for (text, message) in [
            ("below = [true]", "invalid type: sequence, expected struct All"),
            ("kind = 3", "invalid type: integer `3`, expected enum Kind"),
            ("kind.of.length = 3", "unknown field `length`, expected `size`"),
            ("kind = {}", "invalid type: map, expected enum Kind"),
            ("kind = { plain = 1, with = 2 }", "invalid type: map, expected enum Kind"),
            ("text = 2026-01-01", "invalid type: date or time, expected a string"),
            ("large = 18446744073709551616", "invalid type: number of more than 64 bits, expected u64"),
            ("number = 1e999", "invalid type: number of more than 64 bits, expected f64"),
        ] {
            let (found, place) = own(text).expect_err(text);
            assert_eq!((found.as_str(), place.is_some()), (message, true), "{text}");
        }
    }
}
