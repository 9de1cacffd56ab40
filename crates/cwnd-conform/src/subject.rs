//! The subject of a judgement.

use std::fmt;

use cwnd::window::{RateLimited, SlowStart};
use cwnd::{Bytes, CongestionControl, Span, Spec, Start};
use cwnd_run::scenario::Written;
use cwnd_sim::FlowSetup;
use cwnd_stack::StackSpec;
use thiserror::Error;

/// A sender under test: an algorithm of this program in the stack of its simulator, one of a program that uses this crate, or a whole
/// stack of others.
#[derive(Clone, Debug)]
pub struct Subject {
    name: String,
    spec: Spec,
    law: Law,
    hystart: bool,
    limits_growth: bool,
    timeout: bool,
    unclear: bool,
    rfc8312: bool,
    host: Host,
}

/// The transport around an algorithm under test, where it is not this program's: checks run it so, and adapt. Whole stacks bring theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Host {
    /// The least retransmission timeout, above zero; a second in RFC 6298 section 2.4.
    pub least_timeout: Span,
    /// Ticks of the retransmission timer; zero for none.
    pub granularity: Span,
    /// Packets that an acknowledgement is for, at least 1. It waits for a millisecond at most.
    pub acks: u32,
}

/// The rule that a sender claims to follow in congestion avoidance: clauses about another rule do not apply to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Law {
    /// RFC 5681, and the `NewReno` of RFC 9002.
    Reno,
    /// RFC 9438.
    Cubic,
    /// draft-ietf-ccwg-bbr.
    Bbr,
    /// A law other than these: only clauses for all congestion control apply.
    Other,
}

/// A subject could not be read from its text.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct SubjectError(String);

impl Subject {
    /// A subject called `name` that follows `law`.
    #[must_use]
    pub fn new(name: &str, law: Law, spec: Spec) -> Self {
        let (name, host) = (name.to_string(), Host::default());
        Self {
            name,
            spec,
            law,
            hystart: false,
            limits_growth: false,
            timeout: true,
            unclear: false,
            rfc8312: false,
            host,
        }
    }

    /// A subject whose properties all follow from its name and `spec`: the law from the name, `quinn:cubic`. A stack over UDP counts as one
    /// without a retransmission timeout.
    #[must_use]
    pub fn of(name: &str, spec: Spec) -> Self {
        let bare = name.strip_suffix(RATE_LIMITED).unwrap_or(name);
        let law = Law::named(bare.strip_suffix(HYSTART).unwrap_or(bare));
        let timeout = StackSpec::of(&spec).is_none_or(|stack| stack.headers() == Bytes(0));
        Self { timeout, ..Self::new(name, law, spec) }
    }

    /// The subject with the claim to follow this law, whatever its name.
    #[must_use]
    pub fn following(self, law: Law) -> Self {
        Self { law, ..self }
    }

    /// The subject with a slow start that ends by RFC 9406.
    #[must_use]
    pub fn with_hystart(self) -> Self {
        Self { hystart: true, ..self }
    }

    /// The subject with the claim that its window grows by draft-ietf-ccwg-ratelimited-increase while it is not used. An algorithm of this program
    /// runs so; of others it is judged by it.
    #[must_use]
    pub fn with_rate_limited_increase(self) -> Self {
        Self { limits_growth: true, ..self }
    }

    /// The subject without a retransmission timeout, as in QUIC, where probes take its place (RFC 9002 section 6.2).
    #[must_use]
    pub fn without_timeout(self) -> Self {
        Self { timeout: false, ..self }
    }

    /// Lets an unclear verdict pass. By default it fails a test, as a deviation does.
    #[must_use]
    pub fn allow_unclear(self) -> Self {
        Self { unclear: true, ..self }
    }

    /// Runs the sender in this transport.
    #[must_use]
    pub fn hosted(self, host: Host) -> Self {
        Self { host, ..self }
    }

    /// Judges it as a CUBIC of RFC 8312: clauses that RFC 9438 added do not apply.
    #[must_use]
    pub fn by_rfc8312(self) -> Self {
        Self { rfc8312: true, ..self }
    }

    /// Reads the name of an algorithm or stack, with `+hystart++` behind it where it leaves slow start by RFC 9406: `cubic+hystart++`,
    /// `reno`. `+ratelimited` behind it claims draft-ietf-ccwg-ratelimited-increase: `reno+ratelimited`. The rest is as in [`of`](Self::of).
    ///
    /// ```
    /// use cwnd_conform::{Law, Subject};
    ///
    /// let subject = Subject::parse("cubic+hystart++").expect("registered, with a slow start");
    /// assert!(subject.law() == Law::Cubic && subject.has_hystart());
    /// ```
    ///
    /// # Errors
    /// There is no such algorithm, or it has no slow start that RFC 9406 could end.
    pub fn parse(text: &str) -> Result<Self, SubjectError> {
        let name = text.trim();
        let bare = name.strip_suffix(RATE_LIMITED).unwrap_or(name);
        let algorithm = bare.strip_suffix(HYSTART).unwrap_or(bare);
        let spec: Written<Spec> = algorithm.parse().map_err(|error| SubjectError(format!("{error}")))?;
        let subject = Self { limits_growth: bare != name, ..Self::of(name, spec.value().clone()) };
        if algorithm == bare {
            return Ok(subject);
        }
        let spec = spec.value();
        if spec.is_outside() || spec.start(&Start::default()).slow_start_threshold().is_some() {
            return Ok(subject.with_hystart());
        }
        Err(SubjectError(format!("`{algorithm}` starts in a way of its own, which `{HYSTART}` would not change")))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments with which `cwnd conform` judges it; none where no command does.
    pub(crate) fn arguments(&self) -> Option<String> {
        let written = Self::parse(&self.name).ok().filter(|_| !self.spec.is_outside())?;
        let transport = |subject: &Self| (subject.timeout, subject.rfc8312, subject.host);
        let same = written.spec.label() == self.spec.label() && transport(&written) == transport(self);
        let hystart = if self.hystart && !written.hystart { HYSTART } else { "" };
        let law = if self.law == written.law { String::new() } else { format!(" --law {}", self.law.name()) };
        let limited = if self.limits_growth && !written.limits_growth { RATE_LIMITED } else { "" };
        let claims = self.hystart >= written.hystart && self.limits_growth >= written.limits_growth;
        (same && claims).then(|| format!("'{self}{hystart}{limited}'{law}"))
    }

    /// The rule it claims to follow.
    #[must_use]
    pub fn law(&self) -> Law {
        self.law
    }

    /// Whether it leaves slow start by RFC 9406.
    #[must_use]
    pub fn has_hystart(&self) -> bool {
        self.hystart
    }

    /// Whether it claims draft-ietf-ccwg-ratelimited-increase.
    #[must_use]
    pub fn limits_growth(&self) -> bool {
        self.limits_growth
    }

    /// Whether it is an algorithm that answers the share of marked packets.
    #[must_use]
    pub fn is_scalable(&self) -> bool {
        !self.spec.is_outside() && self.spec.start(&Start::default()).needs_marks()
    }

    /// Whether it has a retransmission timeout, which leaves the window at one packet (RFC 5681 section 3.1).
    #[must_use]
    pub fn has_timeout(&self) -> bool {
        self.timeout
    }

    /// Whether unclear checks of it do not fail.
    #[must_use]
    pub fn allows_unclear(&self) -> bool {
        self.unclear
    }

    /// Whether its CUBIC is that of RFC 8312.
    #[must_use]
    pub fn follows_rfc8312(&self) -> bool {
        self.rfc8312
    }

    /// The transport around it.
    #[must_use]
    pub fn host(&self) -> Host {
        self.host
    }

    /// The algorithm or stack of its flows.
    #[must_use]
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// This program's sender of the same law, to compare with; none for a law of its own.
    #[must_use]
    pub fn reference(&self) -> Option<Self> {
        let name = match self.law {
            Law::Reno => "reno",
            Law::Cubic => "cubic",
            Law::Bbr => "bbr3",
            Law::Other => return None,
        };
        let spec = Spec::parse(name).ok()?;
        Some(Self { hystart: self.hystart, limits_growth: self.limits_growth, ..Self::new(name, self.law, spec) })
    }

    /// Puts it into a flow.
    pub(crate) fn put(&self, flow: &mut FlowSetup) {
        flow.algorithm = self.spec.clone();
        if self.hystart && !self.spec.is_outside() {
            flow.slow_start = Some(SlowStart::HyStart);
        }
        if self.limits_growth && !self.spec.is_outside() {
            flow.rate_limited = Some(RateLimited::Draft11);
        }
        flow.era.min_rto = self.host.least_timeout;
        flow.era.granularity = self.host.granularity;
    }
}

impl Default for Host {
    /// The features of this program's hosts: RFC 6298's timeout, and an acknowledgement for each packet.
    fn default() -> Self {
        Self { least_timeout: Span::from_secs(1), granularity: Span::ZERO, acks: 1 }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)
    }
}

impl Law {
    /// Every law.
    pub const ALL: [Self; 4] = [Self::Reno, Self::Cubic, Self::Bbr, Self::Other];

    /// The name in options.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
            Self::Other => "other",
        }
    }

    /// The law with that name.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|law| law.name() == name)
    }

    /// The law of an algorithm called `name`: `quinn:cubic`, `bbr3`, `newreno`.
    fn named(name: &str) -> Self {
        let controller = name.split(':').rfind(|part| !part.contains('=')).unwrap_or(name);
        match controller {
            "reno" | "newreno" | "new-reno" => Self::Reno,
            _ if controller.starts_with("cubic") => Self::Cubic,
            _ if controller.starts_with("bbr") => Self::Bbr,
            _ => Self::Other,
        }
    }
}

const HYSTART: &str = "+hystart++";
const RATE_LIMITED: &str = "+ratelimited";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_judges_the_same_subject() {
        let arguments = |subject: Subject| subject.arguments();
        let parsed = |text: &str| Subject::parse(text).expect("registered");
        assert_eq!(arguments(parsed("reno")).as_deref(), Some("'reno'"));
        assert_eq!(arguments(parsed("cubic+hystart++")).as_deref(), Some("'cubic+hystart++'"));
        assert_eq!(arguments(parsed("cubic+hystart+++ratelimited")).as_deref(), Some("'cubic+hystart+++ratelimited'"));
        assert_eq!(arguments(parsed("reno").with_rate_limited_increase()).as_deref(), Some("'reno+ratelimited'"));
        assert_eq!(arguments(parsed("cubic").with_hystart()).as_deref(), Some("'cubic+hystart++'"));
        assert_eq!(arguments(parsed("rule").following(Law::Reno)).as_deref(), Some("'rule' --law reno"));
        assert_eq!(arguments(parsed("reno").following(Law::Other)).as_deref(), Some("'reno' --law other"));
        let host = Host { acks: 2, ..Host::default() };
        for other in [parsed("cubic").by_rfc8312(), parsed("reno").without_timeout(), parsed("reno").hosted(host)] {
            assert_eq!(arguments(other), None);
        }
    }

    #[test]
    fn the_law_follows_from_the_name() {
        let laws =
            ["reno", "cubic:c=0.5", "quinn:cubic", "quinn:newreno", "bbr3", "simd", "smoltcp:reno"].map(Law::named);
        assert_eq!(laws, [Law::Reno, Law::Cubic, Law::Cubic, Law::Reno, Law::Bbr, Law::Other, Law::Reno]);
        let subject = Subject::parse("cubic+hystart++").expect("registered");
        assert!(subject.has_hystart() && subject.law() == Law::Cubic);
        let error = Subject::parse("udt+hystart++").expect_err("UDT has a start of its own");
        assert_eq!(error.to_string(), "`udt` starts in a way of its own, which `+hystart++` would not change");
        assert!(Subject::parse("cubik").is_err_and(|error| error.to_string().contains("did you mean `cubic`")));
    }
}
