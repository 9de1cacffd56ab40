//! The declaration of a measure.

use cwnd_text::capitalised;

use super::statistics::{Domain, Estimate};

/// A measure of a run. [`MEASURES`](super::MEASURES) has all of them.
#[derive(Clone, Copy, Debug)]
pub struct Measure {
    /// Its key in JSON and the name of its column in CSV, Parquet and Python, with the unit at the end.
    pub key: &'static str,
    /// Its definition, in sentences that stand alone.
    pub meaning: &'static str,
    /// Where the definition comes from, as a sentence; empty where it is this program's own.
    pub source: &'static str,
    /// Its name within a sentence.
    pub title: &'static str,
    /// Its heading in a table, where it stands behind those of its kind; empty where that is its name, see [`heading`](Self::heading).
    pub short: &'static str,
    /// The subject of the measure.
    pub subject: Subject,
    /// Its unit, and the one that people read.
    pub scale: Scale,
    /// Decimals in the unit that people read; more say nothing at a glance.
    pub decimals: usize,
    /// The possible values, by the number of flows.
    pub domain: fn(usize) -> Domain,
    /// To which share of itself a value is known; 0 where it is exact.
    pub known_to: f64,
    /// Which way is better; none where that is a matter of taste.
    pub better: Option<Better>,
    /// How far it gets.
    pub reach: Reach,
}

/// The subject of a measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// All flows together.
    Flows,
    /// Each flow: a list in the order of the scenario.
    EachFlow,
    /// A link: the bottleneck, where none is named.
    Link,
}

/// The unit of a measure, and the one that people read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A plain number.
    Plain,
    /// A share of 1, in per cent.
    Share,
    /// Bit/s, in Mbit/s.
    Rate,
    /// Seconds, in milliseconds.
    Delay,
    /// Seconds.
    Time,
}

/// Which way is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
}

/// Where a measure is shown: there, and wherever those before it are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// In JSON, CSV, Parquet and Python.
    Data,
    /// In reports.
    Report,
    /// Among what algorithms are compared and points are ranked by.
    Compared,
    /// In tables on a terminal, which is narrow.
    Table,
    /// In the table of a comparison, which has the names of algorithms as well.
    Glance,
}

impl Measure {
    /// Defaults of a measure: an exact number that is at least 0, by this program's own definition, in no table.
    pub(super) const USUAL: Self = Self {
        key: "",
        meaning: "",
        source: "",
        title: "",
        short: "",
        subject: Subject::Flows,
        scale: Scale::Plain,
        decimals: 1,
        domain: |_| Domain::POSITIVE,
        known_to: 0.0,
        better: None,
        reach: Reach::Data,
    };

    /// Its heading in a table.
    #[must_use]
    pub const fn heading(&self) -> &'static str {
        if self.short.is_empty() { self.title } else { self.short }
    }

    /// Its title with the unit that people read, for an axis.
    #[must_use]
    pub fn label(&self) -> String {
        let title = capitalised(self.title);
        match self.scale.unit() {
            "" => title,
            unit => format!("{title} ({unit})"),
        }
    }

    /// Its meaning and its source.
    #[must_use]
    pub fn described(&self) -> String {
        let sentences = [self.meaning, self.source].into_iter().filter(|sentence| !sentence.is_empty());
        sentences.collect::<Vec<_>>().join(" ")
    }

    /// The estimate from one value per seed of runs with this number of flows.
    #[must_use]
    pub fn over(&self, values: &[f64], flows: usize) -> Option<Estimate> {
        Some(Estimate::over(values, (self.domain)(flows))?.known_to(self.known_to))
    }
}

impl PartialEq for Measure {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Measure {}

impl Scale {
    /// The base unit, in which values are kept; empty for numbers and shares.
    #[must_use]
    pub const fn base(self) -> &'static str {
        match self {
            Self::Plain | Self::Share => "",
            Self::Rate => "bit/s",
            Self::Delay | Self::Time => "s",
        }
    }

    /// The unit in which tables and plots have it; empty for numbers.
    #[must_use]
    pub const fn unit(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Share => "%",
            Self::Rate => "Mbit/s",
            Self::Delay => "ms",
            Self::Time => "s",
        }
    }

    /// What a value is multiplied by to get there.
    #[must_use]
    pub const fn factor(self) -> f64 {
        match self {
            Self::Plain | Self::Time => 1.0,
            Self::Share => 100.0,
            Self::Rate => 1e-6,
            Self::Delay => 1e3,
        }
    }
}

/// Declares the measures: a static for each entry, all of them in order, and a field for each in `Measures`.
macro_rules! measures {
    ($($name:ident = $key:ident: $kind:ident {
        of: $of:expr, $(source: $source:tt,)? meaning: $meaning:tt, $($field:ident: $value:expr),+ $(,)?
    })+) => {
        $(
            #[doc = $meaning]
            pub static $name: Measure = Measure {
                key: stringify!($key),
                meaning: $meaning,
                $(source: $source,)?
                $($field: $value,)+
                ..Measure::USUAL
            };
        )+

        /// All measures, in the order of the JSON output.
        pub static MEASURES: &[&Measure] = &[$(&$name),+];

        /// Every measure, as a number of one run or an estimate over several. None where a run cannot answer.
        ///
        /// The field names are the keys of the JSON output. All measures are taken between the end of the warm-up and the end of the run,
        /// those of flows in the parts of it in which each is there: from its start to its end, without its pauses (`on`). The two times
        /// count from a start. A flow that ended before, or that shares less than a round trip with that time, is left out. If that time
        /// is itself shorter than a round trip and a packet of the slowest flow, nothing is measured in it.
        #[derive(Clone, Debug, schemars::JsonSchema, PartialEq, serde::Serialize)]
        pub struct Measures<T> {
            $(
                #[doc = $meaning]
                $(#[doc = $source])?
                pub $key: $kind<T>,
            )+
        }

        impl<T> Measures<T> {
            /// The measures whose values `of` gives: a list for one of each flow, otherwise one value.
            pub(crate) fn build(mut of: impl FnMut(&'static Measure) -> Vec<Option<T>>) -> Self {
                Self { $($key: super::entry::Values::of(of(&$name)),)+ }
            }

            /// The values of a measure: a list for one of each flow, otherwise one value.
            #[must_use]
            pub fn all(&self, measure: &Measure) -> &[Option<T>] {
                match measure.key {
                    $(stringify!($key) => super::entry::Values::all(&self.$key),)+
                    _ => &[],
                }
            }
        }

        pub(super) fn measured(run: &Run<'_>) -> Measures<f64> {
            fn of<V>(run: &Run<'_>, of: impl Fn(&Run<'_>) -> V) -> V {
                of(run)
            }
            Measures { $($key: of(run, $of),)+ }
        }
    };
}

pub(super) use measures;

/// The values of a measure, one or a list.
pub(super) trait Values<T> {
    fn all(&self) -> &[Option<T>];
    fn of(values: Vec<Option<T>>) -> Self;
}

impl<T> Values<T> for Option<T> {
    fn all(&self) -> &[Self] {
        std::slice::from_ref(self)
    }

    fn of(values: Vec<Self>) -> Self {
        values.into_iter().next().flatten()
    }
}

impl<T> Values<T> for Vec<Option<T>> {
    fn all(&self) -> &[Option<T>] {
        self
    }

    fn of(values: Self) -> Self {
        values
    }
}
