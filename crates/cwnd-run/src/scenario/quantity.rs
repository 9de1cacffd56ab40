//! Quantities of a scenario, kept as they were written.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use cwnd::quantity::{self, QuantityError};
use cwnd::window::{RateLimited, SlowStart};
use cwnd::{BitRate, Bytes, Span, Spec};
use cwnd_sim::notation::{self, FlowSizes, Queue};
use cwnd_sim::{
    AckEcho, Class, Duplex, Era, Interarrival, Jitter, LinuxHost, Loss, Mangling, RateSchedule, Reassembly,
    RecoveryScheme, Reordering, SavedPath, TokenBucket,
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use thiserror::Error;

use super::synonyms;
use crate::stacks::{self, AlgorithmError};

/// Something a scenario writes as one text.
pub trait Quantity: Sized {
    /// A name for the kind of quantity.
    const NAME: &'static str;
    /// The accepted texts, as the object of a sentence.
    const EXPECTED: &'static str;
    /// Some that are accepted.
    const EXAMPLES: &'static [&'static str];
    /// A plain number may be written without quotes.
    const BARE: bool = false;
    /// Why a text is refused.
    type Error: fmt::Display;

    /// Reads it.
    ///
    /// # Errors
    /// The text is not [`EXPECTED`](Self::EXPECTED).
    fn read(text: &str) -> Result<Self, Self::Error>;

    /// The accepted texts in full, for the schema.
    fn description() -> Cow<'static, str> {
        Self::EXPECTED.into()
    }

    /// Its name in the schema, which no other type has.
    #[must_use]
    fn schema_name() -> Cow<'static, str> {
        Self::NAME.into()
    }

    /// All that is accepted, where that is a few words.
    fn words() -> Vec<&'static str> {
        Vec::new()
    }
}

/// A quantity with the text it was read from, so that a scenario is written out as it was read.
#[derive(Clone, Debug)]
pub struct Written<Q> {
    text: String,
    value: Q,
}

/// How often the state of flows and links is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleEvery {
    /// Only at the start, the end of the warm-up and the end.
    Off,
    /// Once in this time.
    Interval(Span),
}

/// A word that is none of the accepted ones.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub struct WordError {
    given: String,
    accepted: Vec<&'static str>,
}

impl<Q> Written<Q> {
    /// `value`, of which `text` reads back as the same.
    pub(super) fn of(text: String, value: Q) -> Self {
        Self { text, value }
    }
}

impl<Q: Quantity> Written<Q> {
    /// Reads a text known to be right.
    ///
    /// # Panics
    /// `text` is not [`EXPECTED`](Quantity::EXPECTED).
    #[must_use]
    pub fn literal(text: &str) -> Self {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    /// What the text means.
    pub fn value(&self) -> &Q {
        &self.value
    }

    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// For algorithms that are not in the registry: a document with one can be run, but not read again from its own text.
impl From<Spec> for Written<Spec> {
    fn from(spec: Spec) -> Self {
        Self { text: spec.label().to_string(), value: spec }
    }
}

/// As [`quantity::exact`] writes it.
impl From<Span> for Written<Span> {
    fn from(span: Span) -> Self {
        Self { text: quantity::exact(span), value: span }
    }
}

impl<Q: Default> Default for Written<Q>
where
    Self: From<Q>,
{
    fn default() -> Self {
        Q::default().into()
    }
}

impl<Q> fmt::Display for Written<Q> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl<Q: Quantity> FromStr for Written<Q> {
    type Err = Q::Error;

    fn from_str(text: &str) -> Result<Self, Q::Error> {
        Ok(Self { value: Q::read(text)?, text: text.to_string() })
    }
}

impl<'de, Q: Quantity> Deserialize<'de> for Written<Q> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut written = None;
        let mut read = |text: &str| {
            written = Some(text.parse().map_err(|error: Q::Error| error.to_string())?);
            Ok(())
        };
        let example = Q::EXAMPLES.first().copied();
        let example = example.filter(|_| !Q::EXPECTED.contains("such as") && Q::words().is_empty());
        deserializer.deserialize_any(TextVisitor { expected: Q::EXPECTED, example, bare: Q::BARE, read: &mut read })?;
        written.ok_or_else(|| D::Error::custom(Q::EXPECTED))
    }
}

impl<Q: Quantity> Serialize for Written<Q> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.text.parse::<f64>() {
            Ok(number) if Q::BARE => serializer.serialize_f64(number),
            _ => serializer.serialize_str(&self.text),
        }
    }
}

impl<Q: Quantity> JsonSchema for Written<Q> {
    fn schema_name() -> Cow<'static, str> {
        Q::schema_name()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let types: &[&str] = if Q::BARE { &["number", "string"] } else { &["string"] };
        let mut schema = json_schema!({ "type": types, "description": Q::description(), "examples": Q::EXAMPLES });
        if !Q::words().is_empty() {
            schema.insert("enum".into(), Q::words().into());
        }
        schema
    }
}

impl Quantity for BitRate {
    const NAME: &'static str = "Rate";
    const EXPECTED: &'static str = "a rate with its unit, such as `100mbit`, `2.5 Gbit/s` or `9600bit`";
    const EXAMPLES: &'static [&'static str] = &["100mbit", "2.5 Gbit/s"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        quantity::line_rate(text)
    }
}

impl Quantity for Span {
    const NAME: &'static str = "Time";
    const EXPECTED: &'static str = "a time with its unit, such as `50ms`, `10s`, `100us` or `2min`";
    const EXAMPLES: &'static [&'static str] = &["50ms", "10s", "2min"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        quantity::span(text)
    }
}

impl Quantity for Bytes {
    const NAME: &'static str = "Size";
    const EXPECTED: &'static str = "a size with its unit, such as `1500B` or `9kB`";
    const EXAMPLES: &'static [&'static str] = &["1500B", "9kB"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        quantity::bytes(text)
    }
}

impl Quantity for Spec {
    const NAME: &'static str = "Algorithm";
    const EXPECTED: &'static str =
        "an algorithm, such as `simd` or `simd:beta=1/16`; `cwnd algorithms` lists all with their parameters";
    const EXAMPLES: &'static [&'static str] = &["reno", "aimd:b=1/8"];
    type Error = AlgorithmError;

    fn read(text: &str) -> Result<Self, AlgorithmError> {
        stacks::parse(text)
    }
}

impl Quantity for Era {
    const NAME: &'static str = "Era";
    const EXPECTED: &'static str = "the habits of senders and receivers of a time";
    const EXAMPLES: &'static [&'static str] = &["modern"];
    type Error = WordError;

    fn read(text: &str) -> Result<Self, WordError> {
        Era::find(text).ok_or_else(|| WordError { given: text.to_string(), accepted: Self::words() })
    }

    fn words() -> Vec<&'static str> {
        Era::ALL.iter().map(|era| era.name).collect()
    }
}

/// A choice between a few words, which the type lists.
macro_rules! choice {
    ($type:ty, $name:literal, $expected:literal, $example:literal) => {
        impl Quantity for $type {
            const NAME: &'static str = $name;
            const EXPECTED: &'static str = $expected;
            const EXAMPLES: &'static [&'static str] = &[$example];
            type Error = WordError;

            fn read(text: &str) -> Result<Self, WordError> {
                Self::find(text).ok_or_else(|| WordError { given: text.to_string(), accepted: Self::words() })
            }

            fn words() -> Vec<&'static str> {
                Self::ALL.map(Self::name).to_vec()
            }
        }

        impl From<$type> for Written<$type> {
            fn from(value: $type) -> Self {
                Self { text: value.name().to_string(), value }
            }
        }
    };
}

choice!(RecoveryScheme, "Recovery", "how a sender detects and repairs losses", "sack");
choice!(
    RateLimited,
    "RateLimited",
    "how far a window grows that application or receiver leave unused: `none` without limit (ns-2), `rfc9002` not at all, `linux` in slow start to twice the \
     last flight, `draft-11` to what one window of the largest flight since the last reduction would make of it (draft-ietf-ccwg-ratelimited-increase)",
    "draft-11"
);
choice!(Reassembly, "Receiver", "what a receiver does with packets out of order", "sack");
choice!(
    Class,
    "Class",
    "the class of packets at `rio` queues: those of `in` are dropped late, those of `out` early",
    "in"
);
choice!(
    AckEcho,
    "Ecn",
    "how acknowledgements echo congestion marks: `latch` repeats the echo until the sender confirms its reaction (RFC 3168 section 6.1.3), \
     `per-packet` reports each mark (RFC 8257 section 3.2), `l4s` does so for packets with ECT(1), which `dualpi2` takes for those of a \
     scalable sender (RFC 9331), `accecn` counts them modulo 8 (RFC 9768), `accecn-l4s` does so with ECT(1), `counts` counts all \
     (QUIC, RFC 9000 section 19.3.2), `counts-l4s` does so with ECT(1)",
    "per-packet"
);

choice!(
    Mangling,
    "Mangling",
    "the value that a router writes into the ECN field of packets whose senders take part: `ect0` and `ect1` erase marks, `ce` marks every packet",
    "ect0"
);

/// Settings whose texts a table reads and explains.
macro_rules! by_table {
    ($type:ty, $name:literal, $table:path, $examples:expr) => {
        by_table!($type, $name, $table, $examples, false);
    };
    ($type:ty, $name:literal, $table:path, $examples:expr, $bare:literal) => {
        impl Quantity for $type {
            const NAME: &'static str = $name;
            const EXPECTED: &'static str = $table.what;
            const EXAMPLES: &'static [&'static str] = &$examples;
            const BARE: bool = $bare;
            type Error = QuantityError;

            fn read(text: &str) -> Result<Self, QuantityError> {
                $table.read(text)
            }

            fn description() -> Cow<'static, str> {
                $table.description().into()
            }
        }
    };
}

by_table!(
    Queue,
    "Queue",
    notation::QUEUES,
    [
        "droptail:1bdp",
        "droptail:100p",
        "droptail:64kB",
        "droptail:50ms",
        "red:1bdp,ecn=yes",
        "rio:300p,out_max=30p",
        "drr:1bdp",
        "codel:1000p",
        "fq_codel:10240p",
        "cake:1000p",
        "pie:1000p,target=20ms",
        "xcp:1bdp",
    ]
);
by_table!(
    Loss,
    "Loss",
    notation::LOSSES,
    ["0.001", "1/1000", "periodic:1000", "gilbert:to_bad=0.001,to_good=0.1"],
    true
);
by_table!(
    Jitter,
    "Jitter",
    notation::JITTERS,
    ["5ms", "normal:20ms,deviation=4ms", "pareto:10ms,shape=3", "wifi:7ms", "5ms,overtaking=yes"]
);
by_table!(Duplex, "Duplex", notation::DUPLEXES, ["full", "half", "half:access=200us,burst=16"]);
by_table!(Reordering, "Reordering", notation::REORDERINGS, ["0.02:15ms", "1/1000:3p"]);
by_table!(TokenBucket, "TokenBucket", notation::TOKEN_BUCKETS, ["5mbit,burst=30kB"]);
impl Quantity for LinuxHost {
    const NAME: &'static str = "Host";
    const EXPECTED: &'static str = notation::HOSTS.what;
    const EXAMPLES: &'static [&'static str] =
        &["plain", "tso,gro=50us", "fq", "tso,fq,gro=50us,autotune=6MB", "whole,min_rto=200ms"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        // Any other text is one of words, whose error does not name the form of one word.
        let with_plain =
            |error: QuantityError| QuantityError::new(text, format!("`plain` alone, or {}", error.expected));
        notation::HOSTS.read(text).map_err(with_plain)
    }

    fn description() -> Cow<'static, str> {
        notation::HOSTS.description().into()
    }
}

by_table!(SlowStart, "SlowStart", notation::SLOW_STARTS, ["standard", "limited:100", "hystart++", "search"]);
by_table!(SavedPath, "SavedPath", notation::SAVED_PATHS, ["18.75MB,600ms"]);
by_table!(
    RateSchedule,
    "RateSchedule",
    notation::RATE_SCHEDULES,
    ["cbr:2mbit", "square:10mbit,5mbit,step=5s", "walk:10mbit,reach=5mbit,step=5s,floor=500kbit,rest_of=20mbit",]
);
by_table!(Interarrival, "Interarrival", notation::INTERARRIVALS, ["30ms", "square:30ms,10ms,step=5s"]);
by_table!(FlowSizes, "Sizes", notation::SIZES, ["10p", "64kB", "pareto:30p,shape=1.35"]);

impl Quantity for SampleEvery {
    const NAME: &'static str = "Sampling";
    const EXPECTED: &'static str = "the time between samples, such as `100ms`, or `off`";
    const EXAMPLES: &'static [&'static str] = &["100ms", "off"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        if text.trim() == "off" {
            return Ok(Self::Off);
        }
        let interval = quantity::span(text).ok().filter(|interval| *interval > Span::ZERO);
        interval.map(Self::Interval).ok_or_else(|| refused(text, Self::EXPECTED))
    }
}

impl fmt::Display for WordError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&unknown("value", &self.given, &self.accepted))
    }
}

/// The size of a packet on the wire: `1500B`.
///
/// # Errors
/// It is no size from 1 byte to the longest IP packet.
pub fn packet_size(text: &str) -> Result<Bytes, QuantityError> {
    const EXPECTED: &str = "a packet of `1B` to `65535B`, such as `1500B`";
    let size = quantity::bytes(text).map_err(|_| refused(text, EXPECTED))?;
    if size <= MAX_PACKET { Ok(size) } else { Err(refused(text, EXPECTED)) }
}

/// The sentence about a name that is none of the known ones.
pub fn unknown<S: AsRef<str>>(what: &str, name: &str, known: &[S]) -> String {
    let accepted: Vec<&str> = known.iter().map(AsRef::as_ref).collect();
    let place = synonyms::place(name, &accepted).map(|place| format!("; {place}"));
    let nearest = || cwnd::nearest(name, accepted.iter().copied());
    let synonym = || synonyms::meant(name, |known| accepted.contains(&known));
    let meant = || nearest().or_else(synonym).map(|meant| format!("; did you mean `{meant}`?"));
    let meant = place.or_else(meant).unwrap_or_default();
    format!("unknown {what} `{name}`{meant} (accepted: {})", accepted.join(", "))
}

/// Passes the text of a quantity to `read`, which keeps the value. One type serves all quantities, so that it is compiled once per format.
struct TextVisitor<'a> {
    expected: &'static str,
    example: Option<&'static str>,
    bare: bool,
    read: &'a mut dyn FnMut(&str) -> Result<(), String>,
}

impl Visitor<'_> for TextVisitor<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.expected)?;
        self.example.map_or(Ok(()), |example| write!(out, ", such as `{example}`"))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        (self.read)(text).map_err(E::custom)
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        if self.bare {
            return self.visit_str(&number.to_string());
        }
        Err(E::invalid_type(Unexpected::Signed(number), &self))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        if self.bare {
            return self.visit_str(&number.to_string());
        }
        Err(E::invalid_type(Unexpected::Float(number), &self))
    }
}

/// The error about a text that is not `expected`.
pub(super) fn refused(text: &str, expected: &'static str) -> QuantityError {
    QuantityError::new(text, expected)
}

/// The longest IP packet (RFC 791, RFC 8200): jumbograms are not modelled.
pub(super) const MAX_PACKET: Bytes = Bytes(65_535);

#[cfg(test)]
mod tests {
    use super::*;
    use cwnd_sim::GilbertElliott;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_time_that_is_written_is_read_back_exactly(nanos in prop_oneof![0_u64..1 << 49, (0_u64..1 << 29).prop_map(|ms| ms * 1_000_000)]) {
            let written = Written::from(Span::from_nanos(nanos));
            prop_assert_eq!(written.value().as_nanos(), nanos);
            let read: Written<Span> = written.text().parse().expect("a time");
            prop_assert_eq!(read.value().as_nanos(), nanos);
        }
    }

    #[test]
    fn a_time_is_written_in_its_largest_unit() {
        let text = |nanos| Written::from(Span::from_nanos(nanos)).to_string();
        assert_eq!([text(0), text(1_200_000_000), text(12_500_000)], ["0s", "1200ms", "12500us"]);
        assert_eq!([text(1), text(1_000_001), text(12_000_000_000)], ["1ns", "1000001ns", "12s"]);
    }

    #[test]
    fn losses() {
        let read = |text| Loss::read(text).ok();
        assert_eq!(read("0"), Some(Loss::None));
        assert_eq!(read("1/1000"), Some(Loss::Bernoulli(0.001)));
        assert_eq!(read("periodic:1000"), Some(Loss::Periodic(1000)));
        let simple = GilbertElliott { to_bad: 0.001, to_good: 0.1, loss_good: 0.0, loss_bad: 1.0 };
        assert_eq!(read("gilbert:to_bad=1/1000,to_good=0.1"), Some(Loss::GilbertElliott(simple)));
        let full = GilbertElliott { loss_good: 0.01, loss_bad: 0.5, ..simple };
        assert_eq!(
            read("gilbert: to_good=0.1, to_bad=0.001, loss_bad=0.5, loss_good=0.01"),
            Some(Loss::GilbertElliott(full))
        );
        for text in [
            "1",
            "-0.1",
            "2%",
            "periodic:0",
            "periodic:1.5",
            "periodic",
            "gilbert:to_bad=0.1",
            "gilbert:to_bad=0.1,to_good=2",
            "gilbert:to_bad=0.1,to_good=0.5,x=1",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn hosts_are_words_in_any_order() {
        let read = |text| LinuxHost::read(text).map_err(|error| error.to_string());
        let all = LinuxHost {
            tso: true,
            fq: true,
            gro: Some(Span::from_micros(50)),
            autotune: Some(Bytes(6_000_000)),
            whole: true,
            min_rto: Some(Span::from_millis(200)),
        };
        assert_eq!(read("autotune=6MB, fq ,gro=50us,whole,min_rto=200ms,tso"), Ok(all));
        assert_eq!(
            (read("plain"), read("fq")),
            (Ok(LinuxHost::default()), Ok(LinuxHost { fq: true, ..LinuxHost::default() }))
        );
        for (text, expected) in [
            ("", "(tso, fq, gro, autotune, whole and min_rto)"),
            ("tsoo", "did you mean `tso`?"),
            ("tso=yes", "the word alone, without a value for `tso`"),
            ("gro", "`key=value` instead of `gro`"),
            ("plain,tso", "not `plain`"),
            ("tso,tso", "at most once"),
            ("gro=0s", "a time above 0s for `gro`"),
            ("min_rto=0s", "a time above 0s for `min_rto`"),
            ("gro=50", "a time above 0s for `gro`, not `50`"),
            ("autotune=big", "a size at least 1B and at most 4294967295B for `autotune`"),
        ] {
            let named = |error: String| error.contains(expected) && error.contains("`plain` alone");
            assert!(read(text).is_err_and(named), "{text}: {:?}", read(text));
        }
    }

    #[test]
    fn every_example_is_accepted() {
        fn check<Q: Quantity>() {
            for example in Q::EXAMPLES {
                let _ = Written::<Q>::literal(example);
            }
        }
        check::<BitRate>();
        check::<Span>();
        check::<Bytes>();
        check::<Spec>();
        check::<Era>();
        check::<RecoveryScheme>();
        check::<Class>();
        check::<AckEcho>();
        check::<Mangling>();
        check::<LinuxHost>();
        check::<Reassembly>();
        check::<Queue>();
        check::<Loss>();
        check::<SampleEvery>();
        check::<SlowStart>();
        check::<RateLimited>();
        check::<cwnd_sim::RateSchedule>();
        check::<cwnd_sim::Interarrival>();
        check::<FlowSizes>();
        check::<cwnd_sim::Reordering>();
        check::<cwnd_sim::TokenBucket>();
        check::<cwnd_sim::SavedPath>();
        check::<crate::scenario::TraceFile>();
        check::<crate::scenario::StepRate>();
        check::<notation::Amount>();
        check::<crate::scenario::Stage>();
    }

    #[test]
    fn a_wrong_word_says_which_are_right() {
        let error = Era::read("modren").expect_err("no such era").to_string();
        assert_eq!(
            error,
            "unknown value `modren`; did you mean `modern`? (accepted: ns2-2001, ns2-2001-precise, ns2-2004, ns2-2006, linux-2.6, modern)"
        );
    }
}
