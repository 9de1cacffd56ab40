//! Checks as data.

use std::fmt;

use schemars::JsonSchema;
use serde::Serialize;

use crate::lab::Lab;
use crate::subject::{Law, Subject};
use crate::unfit::Unfit;

/// A clause, the scenario that shows whether a sender keeps it, and the accepted range.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Check {
    /// Its name, unique.
    pub id: &'static str,
    /// The document of the clause.
    pub suite: Suite,
    /// Where in it.
    pub section: &'static str,
    /// How much the document asks for it.
    pub level: Level,
    /// The requirement, in a sentence.
    pub requirement: &'static str,
    /// The place where the check measures.
    pub looks: Looks,
    /// The subjects that the clause is meant for.
    #[serde(skip)]
    pub applies: Applies,
    /// The measured quantity, with its unit.
    pub measured: &'static str,
    /// The accepted range, fixed before the first run.
    pub accepted: Range,
    /// Why the range is as wide as it is.
    pub basis: &'static str,
    /// The verdict if the expected event does not happen on a path on which it should.
    #[serde(skip)]
    pub absence: Absence,
    /// The assumptions about the host around the sender, in words; empty where the check works with every host.
    pub assumes: &'static str,
    /// Runs the scenario and measures.
    #[serde(skip)]
    pub measure: fn(&Lab<'_>) -> Result<f64, Unfit>,
}

/// A document whose clauses are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Suite {
    /// TCP congestion control: RFC 5681, with RFC 6582 and RFC 6675 for recovery.
    Rfc5681,
    /// CUBIC.
    Rfc9438,
    /// QUIC's loss detection and congestion control; what holds for every transport.
    Rfc9002,
    /// `HyStart++`.
    Rfc9406,
    /// ECN: RFC 3168, with RFC 8511.
    Rfc3168,
    /// Scalable senders, for L4S.
    Rfc9331,
    /// Rate-limited traffic.
    Rfc7661,
    /// draft-ietf-ccwg-ratelimited-increase.
    RateLimited,
    /// The test cases of draft-ietf-ccwg-bbr appendix A.
    Bbr,
    /// Situations that have broken stacks before, whichever clause they fall under.
    Situations,
}

/// How much a document asks for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// MUST, MUST NOT, REQUIRED.
    Must,
    /// SHOULD, SHOULD NOT.
    Should,
    /// RECOMMENDED.
    Recommended,
    /// A step of an algorithm as it is printed.
    Step,
    /// MAY: who does it does it this way.
    May,
}

/// The verdict if a sender does not do what a check waits for: no cut after a loss, no end of a slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Absence {
    /// The clause asks for it: the sender deviates.
    Deviates,
    /// Another clause asks for it: this one cannot be judged.
    Unclear,
    /// The sender is free to do without: the clause says how it is done.
    NotApplicable,
}

/// The place where a check measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Looks {
    /// Packets: it works for every stack.
    Wire,
    /// The congestion window too, where the stack shows it.
    Window,
}

/// The subjects that a clause is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Applies {
    /// Every sender.
    All,
    /// Senders that follow Reno or CUBIC.
    Loss,
    /// Subjects that follow one law.
    Law(Law),
    /// Subjects that follow CUBIC by RFC 9438, and not by RFC 8312.
    Rfc9438,
    /// Subjects that leave slow start by RFC 9406.
    HyStart,
    /// Senders that follow Reno or CUBIC and leave slow start when a packet is lost.
    Plain,
    /// Subjects with a window that claim to follow draft-ietf-ccwg-ratelimited-increase.
    RateLimited,
    /// Algorithms that answer the share of marked packets.
    Scalable,
    /// Subjects with a window or a rate that claim it.
    LimitsGrowth,
}

/// The accepted range of a measured number, ends included.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Range {
    /// The least; none for no bound.
    pub from: Option<f64>,
    /// The most; none for no bound.
    pub to: Option<f64>,
}

impl Suite {
    /// All of them, in the order of lists.
    pub const ALL: [Self; 10] = [
        Self::Rfc5681,
        Self::Rfc9438,
        Self::Rfc9002,
        Self::Rfc9406,
        Self::Rfc3168,
        Self::Rfc9331,
        Self::Rfc7661,
        Self::RateLimited,
        Self::Bbr,
        Self::Situations,
    ];

    /// Its name on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rfc5681 => "rfc5681",
            Self::Rfc9438 => "rfc9438",
            Self::Rfc9002 => "rfc9002",
            Self::Rfc9406 => "rfc9406",
            Self::Rfc3168 => "rfc3168",
            Self::Rfc9331 => "rfc9331",
            Self::Rfc7661 => "rfc7661",
            Self::RateLimited => "ratelimited",
            Self::Bbr => "bbr",
            Self::Situations => "situations",
        }
    }

    /// Its subject.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Rfc5681 => "TCP congestion control and recovery (RFC 5681, 6298, 6582, 6675)",
            Self::Rfc9438 => "CUBIC (RFC 9438)",
            Self::Rfc9002 => "Loss detection and congestion control as in QUIC (RFC 9002)",
            Self::Rfc9406 => "HyStart++ (RFC 9406)",
            Self::Rfc3168 => "Explicit congestion notification (RFC 3168, 8511)",
            Self::Rfc9331 => "Scalable senders, for L4S (RFC 9331)",
            Self::Rfc7661 => "Rate-limited senders (RFC 7661)",
            Self::RateLimited => "Rate-limited increase (draft-ietf-ccwg-ratelimited-increase)",
            Self::Bbr => "BBR (draft-ietf-ccwg-bbr appendix A)",
            Self::Situations => "Situations that have broken stacks",
        }
    }

    /// The suite called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|suite| suite.name() == name)
    }
}

impl Level {
    /// The name in documents.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Must => "MUST",
            Self::Should => "SHOULD",
            Self::Recommended => "RECOMMENDED",
            Self::Step => "step",
            Self::May => "MAY",
        }
    }
}

impl Looks {
    /// Its name in tables and JSON.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wire => "wire",
            Self::Window => "window",
        }
    }
}

impl Applies {
    /// Why a clause is not meant for `subject`; none if it is.
    #[must_use]
    pub fn refuses(self, subject: &Subject) -> Option<&'static str> {
        let law = subject.law();
        let follows_loss = matches!(law, Law::Reno | Law::Cubic);
        match self {
            Self::All => None,
            Self::Loss => (!follows_loss).then_some("it follows neither Reno nor CUBIC"),
            Self::Law(Law::Reno) => (law != Law::Reno).then_some("it does not follow Reno"),
            Self::Law(Law::Cubic) => (law != Law::Cubic).then_some("it does not follow CUBIC"),
            Self::Law(wanted) => (law != wanted).then_some("it follows another law"),
            Self::Rfc9438 if subject.follows_rfc8312() => Some("it follows RFC 8312, which has no such clause"),
            Self::Rfc9438 => Self::Law(Law::Cubic).refuses(subject),
            Self::HyStart => (!subject.has_hystart()).then_some("it does not leave slow start by HyStart++"),
            Self::RateLimited => Self::Loss.refuses(subject).or_else(|| Self::LimitsGrowth.refuses(subject)),
            Self::LimitsGrowth => {
                (!subject.limits_growth()).then_some("it does not claim draft-ietf-ccwg-ratelimited-increase")
            }
            Self::Scalable => (!subject.is_scalable()).then_some("it does not answer the share of marked packets"),
            Self::Plain => {
                (!follows_loss || subject.has_hystart()).then_some("it does not leave slow start by losses alone")
            }
        }
    }
}

impl Range {
    /// The range from `from` to `to`.
    #[must_use]
    pub const fn within(from: f64, to: f64) -> Self {
        Self { from: Some(from), to: Some(to) }
    }

    /// The range from `from` on.
    #[must_use]
    pub const fn at_least(from: f64) -> Self {
        Self { from: Some(from), to: None }
    }

    /// The range up to `to`.
    #[must_use]
    pub const fn at_most(to: f64) -> Self {
        Self { from: None, to: Some(to) }
    }

    /// The ends as numbers.
    #[must_use]
    pub fn ends(self) -> (f64, f64) {
        (self.from.unwrap_or(f64::NEG_INFINITY), self.to.unwrap_or(f64::INFINITY))
    }
}

impl fmt::Display for Range {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.to) {
            (Some(from), Some(to)) => write!(out, "{from} to {to}"),
            (Some(from), None) => write!(out, "at least {from}"),
            (None, Some(to)) => write!(out, "at most {to}"),
            (None, None) => write!(out, "any"),
        }
    }
}
