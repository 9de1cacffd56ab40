//! Queues as text that reads back as the same queue.

use std::fmt;

use cwnd::registry::Measure;
use cwnd::{Bytes, Span};

use super::forms::{DEFAULT_RED, DEFAULT_RIO};
use super::{Queue, QueueSize, Threshold};
use crate::net::setup::{
    CakeSetup, CoDelSetup, Discipline, DrrSetup, DualPi2Setup, DualPi2Variant, FqCoDelSetup, PieSetup, RedSetup,
    RioSetup, VcpSetup, XcpSetup,
};

impl fmt::Display for QueueSize {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bdp(times) => write!(out, "{times}bdp"),
            Self::Time(time) => out.write_str(&span(*time)),
            Self::Packets(packets) => write!(out, "{packets}p"),
            Self::Bytes(bytes) => out.write_str(&Measure::Memory.write(*bytes as f64)),
            Self::Unlimited => out.write_str("unlimited"),
        }
    }
}

impl fmt::Display for Threshold {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Share(share) => write!(out, "{share}"),
            Self::Size(size) => write!(out, "{size}"),
        }
    }
}

/// With the parameters that are not the default. A queue that was read reads back as it was.
impl fmt::Display for Queue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, words) = words(&self.discipline);
        write!(out, "{name}:{}", self.limit)?;
        let changed = words.into_iter().filter(|(_, text, default)| text != default);
        changed.into_iter().try_for_each(|(key, text, _)| write!(out, ",{key}={text}"))
    }
}

/// A key, its value and its default.
type Word = (String, String, String);

/// The name of a discipline and its parameters.
fn words(discipline: &Discipline<Threshold, Option<Bytes>>) -> (&'static str, Vec<Word>) {
    match discipline {
        Discipline::DropTail => ("droptail", Vec::new()),
        Discipline::Red(red) => ("red", early("", red, &DEFAULT_RED)),
        Discipline::Rio(RioSetup { inside, outside }) => {
            let mut words = early("in_", inside, &DEFAULT_RIO.inside);
            words.extend(early("out_", outside, &DEFAULT_RIO.outside));
            ("rio", words)
        }
        Discipline::Drr(DrrSetup { quantum }) => ("drr", vec![size("quantum", *quantum)]),
        Discipline::CoDel(setup) => ("codel", codel(setup, &CoDelSetup::default())),
        Discipline::FqCoDel(setup) => {
            let usual = FqCoDelSetup::default();
            let mut words = codel(&setup.codel, &usual.codel);
            words.push(word("queues", &setup.queues, &usual.queues));
            words.push(size("quantum", setup.quantum));
            let [memory, usual] = [setup.memory, usual.memory].map(|bytes| Measure::Memory.write(bytes as f64));
            words.push(word("memory", &memory, &usual));
            ("fq_codel", words)
        }
        Discipline::Cake(cake) => {
            let usual = CakeSetup::default();
            let words = vec![
                time("target", cake.target, usual.target),
                time("interval", cake.interval, usual.interval),
                switch("ecn", cake.mark, usual.mark),
                switch("ack_filter", cake.ack_filter, usual.ack_filter),
                word("isolation", &cake.isolation.name(), &usual.isolation.name()),
            ];
            ("cake", words)
        }
        Discipline::Pie(pie) => {
            let usual = PieSetup::default();
            let words = vec![
                time("target", pie.target, usual.target),
                time("update", pie.update, usual.update),
                word("alpha", &pie.alpha, &usual.alpha),
                word("beta", &pie.beta, &usual.beta),
                time("burst", pie.burst, usual.burst),
                switch("ecn", pie.mark, usual.mark),
                word("mark_limit", &pie.mark_limit, &usual.mark_limit),
                switch("derandomize", pie.derandomize, usual.derandomize),
            ];
            ("pie", words)
        }
        Discipline::DualPi2(dual) => {
            let (name, usual) = match dual.variant {
                DualPi2Variant::Rfc => ("dualpi2", DualPi2Setup::RFC),
                DualPi2Variant::Linux => ("dualpi2_linux", DualPi2Setup::LINUX),
            };
            let words = vec![
                time("target", dual.target, usual.target),
                time("update", dual.update, usual.update),
                word("alpha", &dual.alpha, &usual.alpha),
                word("beta", &dual.beta, &usual.beta),
                word("coupling", &dual.coupling, &usual.coupling),
                time("threshold", dual.threshold, usual.threshold),
                time("range", dual.range, usual.range),
                word("spared", &dual.spared, &usual.spared),
                word("share", &dual.share, &usual.share),
                switch("overload", dual.overload, usual.overload),
            ];
            (name, words)
        }
        Discipline::Xcp(XcpSetup { alpha, beta, gamma }) => {
            let usual = XcpSetup::default();
            let pairs = [("alpha", alpha, usual.alpha), ("beta", beta, usual.beta), ("gamma", gamma, usual.gamma)];
            ("xcp", pairs.map(|(key, value, usual)| word(key, value, &usual)).to_vec())
        }
        Discipline::Vcp(vcp) => {
            let usual = VcpSetup::default();
            let words = vec![
                word("target", &vcp.target, &usual.target),
                word("queue_weight", &vcp.queue_weight, &usual.queue_weight),
                time("interval", vcp.interval, usual.interval),
            ];
            ("vcp", words)
        }
        Discipline::DecBit(decbit) => ("decbit", vec![word("threshold", &decbit.threshold, &1.0)]),
    }
}

fn early(class: &str, red: &RedSetup<Threshold>, usual: &RedSetup<Threshold>) -> Vec<Word> {
    let words = vec![
        word("min", &red.min, &usual.min),
        word("max", &red.max, &usual.max),
        word("max_p", &red.max_p, &usual.max_p),
        word("weight", &red.weight, &usual.weight),
        switch("gentle", red.gentle, usual.gentle),
        switch("wait", red.wait, usual.wait),
        switch("bytes", red.byte_mode, usual.byte_mode),
        switch("ecn", red.mark, usual.mark),
        word("mark_limit", &red.mark_limit, &usual.mark_limit),
    ];
    words.into_iter().map(|(key, text, usual)| (format!("{class}{key}"), text, usual)).collect()
}

fn codel(setup: &CoDelSetup, usual: &CoDelSetup) -> Vec<Word> {
    vec![
        time("target", setup.target, usual.target),
        time("interval", setup.interval, usual.interval),
        switch("ecn", setup.mark, usual.mark),
        word("ce_threshold", &setup.ce_threshold.map(span).unwrap_or_default(), &""),
        word("l4s_threshold", &setup.l4s_threshold.map(span).unwrap_or_default(), &""),
    ]
}

fn word(key: &str, value: &dyn fmt::Display, usual: &dyn fmt::Display) -> Word {
    (key.to_string(), value.to_string(), usual.to_string())
}

fn switch(key: &str, on: bool, usual: bool) -> Word {
    let [on, usual] = [on, usual].map(|on| if on { "yes" } else { "no" });
    word(key, &on, &usual)
}

fn time(key: &str, value: Span, usual: Span) -> Word {
    word(key, &span(value), &span(usual))
}

/// One packet unless given.
fn size(key: &str, bytes: Option<Bytes>) -> Word {
    let text = bytes.map(|bytes| Measure::Bytes.write(f64::from(bytes.0)));
    word(key, &text.unwrap_or_default(), &"")
}

fn span(span: Span) -> String {
    Measure::Span.write(span.as_secs_f64())
}
