//! Queues that act on delay: `codel:1000p,target=5ms`, `fq_codel:10240p,quantum=300B`, `pie:1000p,ecn=yes`.

use cwnd::quantity;
use cwnd::{Bytes, Span};
use cwnd_sim::{CoDelSetup, FqCoDelSetup, PieSetup};

use super::{Discipline, number, word};

/// CoDel with parameters.
pub(super) fn codel<'a>(mut parts: impl Iterator<Item = &'a str>) -> Option<Discipline> {
    let setup = parts.try_fold(CoDelSetup::default(), |setup, part| {
        let (key, value) = split(part)?;
        codel_with(setup, key, value)
    })?;
    is_ordered(&setup).then_some(Discipline::CoDel(setup))
}

/// FQ-CoDel with parameters.
pub(super) fn fq_codel<'a>(mut parts: impl Iterator<Item = &'a str>) -> Option<Discipline> {
    let (setup, quantum) = parts.try_fold((FqCoDelSetup::default(), None), |(setup, quantum), part| {
        let (key, value) = split(part)?;
        Some(match key {
            "queues" => {
                let queues = number(value, |queues| queues.fract() == 0.0 && (1.0..=65536.0).contains(&queues))?;
                (FqCoDelSetup { queues: queues as u32, ..setup }, quantum)
            }
            "quantum" => (setup, Some(quantity::bytes(value).ok()?)),
            "memory" => (FqCoDelSetup { memory: quantity::memory(value).ok()?, ..setup }, quantum),
            _ => (FqCoDelSetup { codel: codel_with(setup.codel, key, value)?, ..setup }, quantum),
        })
    })?;
    is_ordered(&setup.codel).then_some(Discipline::FqCoDel { setup, quantum })
}

/// PIE with parameters.
pub(super) fn pie<'a>(mut parts: impl Iterator<Item = &'a str>) -> Option<Discipline> {
    parts.try_fold(PieSetup::default(), pie_with).map(Discipline::Pie)
}

/// What the simulator makes of FQ-CoDel where packets have a size.
pub(super) fn fq_codel_setup(setup: FqCoDelSetup, quantum: Option<Bytes>, packet: Bytes) -> cwnd_sim::Discipline {
    let codel = CoDelSetup { mtu: packet, ..setup.codel };
    cwnd_sim::Discipline::FqCoDel(FqCoDelSetup { codel, quantum: quantum.unwrap_or(packet), ..setup })
}

fn codel_with(mut setup: CoDelSetup, key: &str, value: &str) -> Option<CoDelSetup> {
    match key {
        "target" => setup.target = time(value)?,
        "interval" => setup.interval = time(value)?,
        "ecn" => setup.mark = word(value)?,
        _ => return None,
    }
    Some(setup)
}

fn pie_with(mut setup: PieSetup, part: &str) -> Option<PieSetup> {
    let (key, value) = split(part)?;
    let gain = || number(value, |gain| gain >= 0.0);
    match key {
        "target" => setup.target = time(value)?,
        "update" => setup.update = time(value).filter(|update| *update >= Span::from_micros(1))?,
        "alpha" => setup.alpha = gain()?,
        "beta" => setup.beta = gain()?,
        "burst" => setup.burst = quantity::span(value).ok()?,
        "ecn" => setup.mark = word(value)?,
        "mark_limit" => setup.mark_limit = number(value, |p| (0.0..=1.0).contains(&p))?,
        "derandomize" => setup.derandomize = word(value)?,
        _ => return None,
    }
    Some(setup)
}

fn is_ordered(codel: &CoDelSetup) -> bool {
    codel.target < codel.interval
}

/// Above zero.
fn time(text: &str) -> Option<Span> {
    quantity::span(text).ok().filter(|span| *span > Span::ZERO)
}

fn split(part: &str) -> Option<(&str, &str)> {
    part.split_once('=').map(|(key, value)| (key.trim(), value.trim()))
}

/// What is accepted of each.
pub(super) const CODEL: &str = "`codel:` and a size, as in `codel:1000p,target=5ms,interval=100ms,ecn=no`: a target above zero and \
     below the interval, ecn yes or no";
pub(super) const FQ_CODEL: &str = "`fq_codel:` and a size, as in `fq_codel:10240p,target=5ms,interval=100ms,ecn=yes,queues=1024,\
     quantum=1500B,memory=32MB`: a target above zero and below the interval, ecn yes or no, 1 to 65536 queues, sizes of at least 1B";
pub(super) const PIE: &str = "`pie:` and a size, as in `pie:1000p,target=15ms,update=15ms,alpha=0.125,beta=1.25,burst=150ms,ecn=no,\
     mark_limit=0.1,derandomize=no`: a target above zero, an update of at least 1us, alpha and beta (1/s) at least 0, mark_limit 0 to 1, \
     ecn and derandomize yes or no";

#[cfg(test)]
mod tests {
    use cwnd::BitRate;

    use crate::scenario::Queue;
    use crate::scenario::quantity::Quantity;

    use super::*;

    /// What the simulator gets for packets of 1000 bytes.
    fn read(text: &str) -> Option<cwnd_sim::Discipline> {
        let queue = Queue::read(text).ok()?;
        assert_eq!(queue.needs_path(), text.contains("bdp"));
        Some(queue.setup(BitRate(1e8), Span::from_millis(50), Bytes(1000)).1)
    }

    #[test]
    fn controlled_delay() {
        let default = CoDelSetup { mtu: Bytes(1000), ..CoDelSetup::default() };
        assert_eq!(read("codel:1bdp"), Some(cwnd_sim::Discipline::CoDel(default)));
        let given = CoDelSetup { target: Span::from_millis(1), interval: Span::from_millis(20), mark: true, ..default };
        let text = "codel:unlimited, target=1ms, interval = 20ms, ecn=yes";
        assert_eq!(read(text), Some(cwnd_sim::Discipline::CoDel(given)));
        for text in ["codel", "codel:1bdp,target=0ms", "codel:1bdp,target=100ms", "codel:1bdp,mtu=1B", "codel:1bdp,ecn"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn flow_queueing() {
        let codel = CoDelSetup { mtu: Bytes(1000), mark: true, ..CoDelSetup::default() };
        let default = FqCoDelSetup { codel, quantum: Bytes(1000), ..FqCoDelSetup::default() };
        assert_eq!(read("fq_codel:10240p"), Some(cwnd_sim::Discipline::FqCoDel(default)));
        let codel = CoDelSetup { interval: Span::from_millis(30), mark: false, ..codel };
        let given = FqCoDelSetup { codel, queues: 65536, quantum: Bytes(300), memory: 4_000_000 };
        let text = "fq_codel:1bdp,queues=65536,quantum=300B,memory=4MB,ecn=no,interval=30ms";
        assert_eq!(read(text), Some(cwnd_sim::Discipline::FqCoDel(given)));
        for part in ["queues=0", "queues=65537", "queues=1.5", "quantum=0B", "memory=1", "target=1s", "alpha=1"] {
            assert_eq!(read(&format!("fq_codel:10240p,{part}")), None, "{part}");
        }
    }

    #[test]
    fn proportional_integral() {
        let default = PieSetup { mean_packet: Bytes(1000), ..PieSetup::default() };
        assert_eq!(read("pie:64kB"), Some(cwnd_sim::Discipline::Pie(default)));
        let text = "pie:1000p,target=20ms,update=30ms,alpha=1/4,beta=2,burst=0s,ecn=yes,mark_limit=1,derandomize=yes";
        let given = PieSetup {
            target: Span::from_millis(20),
            update: Span::from_millis(30),
            alpha: 0.25,
            beta: 2.0,
            burst: Span::ZERO,
            mark: true,
            mark_limit: 1.0,
            derandomize: true,
            mean_packet: Bytes(1000),
        };
        assert_eq!(read(text), Some(cwnd_sim::Discipline::Pie(given)));
        for part in
            ["target=0s", "update=999ns", "alpha=-1", "beta=x", "mark_limit=1.1", "derandomize=1", "interval=1s"]
        {
            assert_eq!(read(&format!("pie:1000p,{part}")), None, "{part}");
        }
    }

    #[test]
    fn an_error_says_what_the_discipline_accepts() {
        let error = Queue::read("codel:1bdp,target=0ms").expect_err("no target").to_string();
        assert!(
            error.starts_with("cannot read `codel:1bdp,target=0ms`: expected `codel:` and a size, as in"),
            "{error}"
        );
        assert!(Queue::read("fq_codel:1p,ecn").is_err_and(|error| error.expected == FQ_CODEL));
        assert!(Queue::read("fq_codel:1").is_err_and(|error| error.expected.contains("at most `9000TB`")));
        assert!(Queue::read("pie").is_err_and(|error| error.expected == PIE));
        assert!(Queue::read("fifo:1p").is_err_and(|error| error.expected == super::super::NAMES));
    }
}
