//! Queues as scenarios write them: `droptail:1bdp`, `red:2.5bdp,max_p=0.02,ecn=yes`, `rio:300p,in_min=50p`, `drr:1bdp`,
//! `codel:1000p,target=5ms`, `xcp:1bdp`.

mod delay;
mod router;

use cwnd::quantity::{self, QuantityError};
use cwnd::{BitRate, Bytes, Span};
use cwnd_sim::{
    CoDelSetup, DecBitSetup, DrrSetup, FqCoDelSetup, PieSetup, QueueLimit, RedSetup, RioSetup, VcpSetup, XcpSetup,
};

use thiserror::Error;

use super::quantity::{Quantity, once};

/// A queue, before the path is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// How much may wait.
    pub limit: QueueSize,
    /// Which packets wait, which go, and in which order.
    pub discipline: Discipline,
}

/// What a queue does with its packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Discipline {
    /// First in, first out; a packet that finds the queue full is dropped.
    DropTail,
    /// The same with random early detection.
    Red(Red),
    /// The same with random early detection by class (Clark and Fang 1998).
    Rio {
        /// For packets of flows with the class `in`, by the average of these.
        inside: Red,
        /// For all others, by the average of all packets.
        outside: Red,
    },
    /// Deficit round robin over flows (Shreedhar and Varghese 1996); a full queue drops from the head of the longest.
    Drr {
        /// What a flow may send in a round; one packet if not given.
        quantum: Option<Bytes>,
    },
    /// Controlled delay (RFC 8289). Its `mtu` is one packet, whatever it says here.
    CoDel(CoDelSetup),
    /// Flow queueing with controlled delay (RFC 8290). The `mtu` is one packet, whatever it says here.
    FqCoDel {
        /// All but the quantum.
        setup: FqCoDelSetup,
        /// What a queue may send in a round; one packet if not given.
        quantum: Option<Bytes>,
    },
    /// Proportional integral controller enhanced (RFC 8033). Its `mean_packet` is one packet, whatever it says here.
    Pie(PieSetup),
    /// An XCP router (Katabi, Handley and Rohrs 2002).
    Xcp(XcpSetup),
    /// A VCP router (Xia and others 2005).
    Vcp(VcpSetup),
    /// A DECbit router (Ramakrishnan and Jain 1990).
    DecBit(DecBitSetup),
}

/// A size of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueSize {
    /// So many bandwidth-delay products.
    Bdp(f64),
    /// So many packets.
    Packets(u32),
    /// So many bytes.
    Bytes(u64),
    /// No limit.
    Unlimited,
}

/// Parameters of random early detection (Floyd and Jacobson 1993), with the additions of ns-2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Red {
    /// Average queue from which packets are dropped early.
    pub min: Threshold,
    /// Average queue at which the probability is `max_p`.
    pub max: Threshold,
    /// 0..=1.
    pub max_p: f64,
    /// Weight of the present queue in its average; above 0, at most 1.
    pub weight: f64,
    /// Above `max` the probability rises to 1 at twice `max`, instead of jumping.
    pub gentle: bool,
    /// No early drop before 1/p packets have passed since the last one.
    pub wait: bool,
    /// Count bytes instead of packets.
    pub bytes: bool,
    /// Mark packets that can carry a mark instead of dropping them early.
    pub ecn: bool,
    /// No marks but drops while the probability is above this.
    pub mark_limit: f64,
}

/// A threshold of an average queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// This share of the limit.
    Share(f64),
    /// This much.
    Size(QueueSize),
}

/// Thresholds of early detection that are the wrong way round, or that no queue reaches. Says what is accepted.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum ThresholdError {
    /// `min` lies above what the queue holds.
    #[error(
        "a min of at most the {limit:.1} packets that the queue holds: here it is {min:.1} packets (a number without a unit is a share of \
         the limit, `20p` is twenty packets)"
    )]
    Beyond {
        /// Packets.
        min: f64,
        /// Packets.
        limit: f64,
    },
    /// `min` lies above `max`.
    #[error("a min of at most max: here they are {min:.1} and {max:.1} packets")]
    Order {
        /// Packets.
        min: f64,
        /// Packets.
        max: f64,
    },
}

impl Queue {
    /// As [`setup`](Self::setup), with its thresholds compared: some are sizes, and some are shares of the limit.
    ///
    /// # Errors
    /// A threshold `min` of random early detection is above its `max`, or above the limit.
    pub fn checked_setup(
        self,
        rate: BitRate,
        rtt: Span,
        packet: Bytes,
    ) -> Result<(QueueLimit, cwnd_sim::Discipline), ThresholdError> {
        let (limit, discipline) = self.setup(rate, rtt, packet);
        let most = match limit {
            QueueLimit::Packets(packets) => f64::from(packets),
            QueueLimit::Bytes(bytes) => bytes as f64 / f64::from(packet.0),
            QueueLimit::Unlimited => f64::INFINITY,
        };
        let check = |red: &RedSetup| match *red {
            RedSetup { min, max, .. } if min > max => Err(ThresholdError::Order { min, max }),
            RedSetup { min, .. } if min > most => Err(ThresholdError::Beyond { min, limit: most }),
            _ => Ok(()),
        };
        match &discipline {
            cwnd_sim::Discipline::Red(red) => check(red)?,
            cwnd_sim::Discipline::Rio(rio) => [&rio.inside, &rio.outside].into_iter().try_for_each(check)?,
            _ => {}
        }
        Ok((limit, discipline))
    }

    /// What the simulator makes of it before a link of `rate` on a path of `rtt`.
    #[must_use]
    pub fn setup(self, rate: BitRate, rtt: Span, packet: Bytes) -> (QueueLimit, cwnd_sim::Discipline) {
        let packets = |size| match size {
            QueueSize::Bdp(times) => times * (rate.to_packets(packet) * rtt).0,
            QueueSize::Packets(packets) => f64::from(packets),
            QueueSize::Bytes(bytes) => bytes as f64 / f64::from(packet.0),
            QueueSize::Unlimited => f64::INFINITY,
        };
        let limit = match self.limit {
            // Whole packets, as a router is configured, and room for one at least.
            QueueSize::Bdp(_) => QueueLimit::Packets(packets(self.limit).round().max(1.0) as u32),
            QueueSize::Packets(packets) => QueueLimit::Packets(packets),
            QueueSize::Bytes(bytes) => QueueLimit::Bytes(bytes),
            QueueSize::Unlimited => QueueLimit::Unlimited,
        };
        let threshold = |threshold| match threshold {
            Threshold::Share(share) => share * packets(self.limit),
            Threshold::Size(size) => packets(size),
        };
        let red = |red: Red| RedSetup {
            min: threshold(red.min),
            max: threshold(red.max),
            max_p: red.max_p,
            weight: red.weight,
            gentle: red.gentle,
            wait: red.wait,
            byte_mode: red.bytes,
            mean_packet: packet,
            mark: red.ecn,
            mark_limit: red.mark_limit,
        };
        let discipline = match self.discipline {
            Discipline::DropTail => cwnd_sim::Discipline::DropTail,
            Discipline::Red(early) => cwnd_sim::Discipline::Red(red(early)),
            Discipline::Rio { inside, outside } => {
                cwnd_sim::Discipline::Rio(RioSetup { inside: red(inside), outside: red(outside) })
            }
            Discipline::Drr { quantum } => cwnd_sim::Discipline::Drr(DrrSetup { quantum: quantum.unwrap_or(packet) }),
            Discipline::CoDel(codel) => cwnd_sim::Discipline::CoDel(CoDelSetup { mtu: packet, ..codel }),
            Discipline::FqCoDel { setup, quantum } => delay::fq_codel_setup(setup, quantum, packet),
            Discipline::Pie(pie) => cwnd_sim::Discipline::Pie(PieSetup { mean_packet: packet, ..pie }),
            Discipline::Xcp(xcp) => cwnd_sim::Discipline::Xcp(xcp),
            Discipline::Vcp(vcp) => cwnd_sim::Discipline::Vcp(vcp),
            Discipline::DecBit(decbit) => cwnd_sim::Discipline::DecBit(decbit),
        };
        (limit, discipline)
    }

    /// Some part of it is given in bandwidth-delay products.
    #[must_use]
    pub fn needs_path(self) -> bool {
        let bdp = |size| matches!(size, QueueSize::Bdp(_));
        let part = |threshold| matches!(threshold, Threshold::Size(size) if bdp(size));
        let early = |red: Red| part(red.min) || part(red.max);
        bdp(self.limit)
            || match self.discipline {
                Discipline::Red(red) => early(red),
                Discipline::Rio { inside, outside } => early(inside) || early(outside),
                _ => false,
            }
    }
}

impl Quantity for Queue {
    const NAME: &'static str = "Queue";
    const EXPECTED: &'static str = "a queue and its size, such as `droptail:1bdp` (bandwidth-delay products), \
         `droptail:100p` (packets), `droptail:64kB`, `droptail:unlimited`; or random early detection: `red:1bdp`, with \
         min, max (sizes, or shares of the limit), max_p, weight, gentle, wait, bytes, ecn (yes or no) and mark_limit as in \
         `red:2.5bdp,min=0.15,max=0.5,max_p=0.1,weight=0.002,gentle=yes,wait=yes,bytes=no,ecn=no,mark_limit=1`; or that with \
         two classes of flows: `rio:300p,in_min=15p,in_max=30p,in_max_p=0.02,out_min=5p,out_max=15p,out_max_p=0.1`; or deficit \
         round robin over flows: `drr:1bdp`, `drr:1bdp,quantum=500B`; or queues that act on delay: \
         `codel:1000p,target=5ms,interval=100ms,ecn=no`, `fq_codel:10240p,queues=1024,quantum=1500B,memory=32MB` with the same \
         parameters too, `pie:1000p,target=15ms,update=15ms,alpha=0.125,beta=1.25,burst=150ms,ecn=no,mark_limit=0.1,derandomize=no`; \
         or routers that write on packets, for the algorithms of \
         these names: `xcp:1bdp,alpha=0.4,beta=0.226,gamma=0.1`, `vcp:1bdp,target=0.98,queue_weight=0.5,interval=200ms`, \
         `decbit:1bdp,threshold=1`";
    const EXAMPLES: &'static [&'static str] = &[
        "droptail:1bdp",
        "droptail:100p",
        "droptail:64kB",
        "red:1bdp,ecn=yes",
        "rio:300p,out_max=30p",
        "drr:1bdp",
        "codel:1000p",
        "fq_codel:10240p",
        "pie:1000p,target=20ms",
        "xcp:1bdp",
    ];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        once(text)?;
        if let Some((name, rest)) = text.split_once(':')
            && let Some(first) = rest.split(',').next()
            && (size(first).is_none() || (["red", "rio"].contains(&name.trim()) && first.trim() == "unlimited"))
            && read(&format!("{name}:20p")).is_some()
        {
            return Err(QuantityError { text: text.to_string(), expected: SIZE });
        }
        read(text).ok_or_else(|| {
            let expected = match text.split(':').next().map(str::trim) {
                Some("droptail") => DROPTAIL,
                Some("red") => RED,
                Some("rio") => RIO,
                Some("drr") => DRR,
                Some("codel") => delay::CODEL,
                Some("fq_codel") => delay::FQ_CODEL,
                Some("pie") => delay::PIE,
                Some("xcp") => router::XCP,
                Some("vcp") => router::VCP,
                Some("decbit") => router::DECBIT,
                _ => NAMES,
            };
            QuantityError { text: text.to_string(), expected }
        })
    }
}

/// What is accepted as a queue, by name; [`Queue::EXPECTED`] has the parameters too.
const NAMES: &str = "a queue and its size, such as `droptail:1bdp` (bandwidth-delay products), `droptail:100p` (packets) or \
     `droptail:64kB`; the queues are droptail, red, rio, drr, codel, fq_codel, pie, xcp, vcp and decbit";
/// What is accepted behind the name of a queue.
const SIZE: &str = "the size of the queue first, above zero: bandwidth-delay products (`1bdp`, or `2bdp` for a queue of two \
     round-trip times), whole packets (`100p`, at most 4294967295), bytes (`64kB`, at most `9000TB`), or `unlimited` for all but `red` \
     and `rio`";
/// What a drop-tail queue accepts.
const DROPTAIL: &str = "a drop-tail queue with its size and no parameter, such as `droptail:1bdp`";
/// What random early detection accepts.
const RED: &str = "random early detection with its size, such as \
     `red:1bdp,min=0.15,max=0.5,max_p=0.1,weight=0.002,gentle=yes,wait=yes,bytes=no,ecn=no,mark_limit=1`: min and max sizes (`20p`) or shares \
     of the limit, the probabilities max_p and mark_limit from 0 to 1, weight above 0 and at most 1";
/// What random early detection by class accepts.
const RIO: &str = "random early detection for two classes with its size, such as \
     `rio:300p,in_min=15p,in_max=30p,in_max_p=0.02,out_min=5p,out_max=15p,out_max_p=0.1`: the parameters of `red` for one class (in_, out_) or \
     for both";
/// What deficit round robin accepts.
const DRR: &str = "deficit round robin with its size, such as `drr:1bdp` or `drr:1bdp,quantum=500B`: a quantum above 0";

/// The algorithm for which it writes on packets.
pub(super) fn router(discipline: &Discipline) -> Option<&'static str> {
    match discipline {
        Discipline::Xcp(_) => Some("xcp"),
        Discipline::Vcp(_) => Some("vcp"),
        Discipline::DecBit(_) => Some("decbit"),
        _ => None,
    }
}

fn read(text: &str) -> Option<Queue> {
    let (discipline, rest) = text.split_once(':')?;
    let mut parts = rest.split(',');
    let limit = size(parts.next()?)?;
    // Thresholds may be shares of the limit.
    let limited = limit != QueueSize::Unlimited;
    let discipline = match discipline.trim() {
        "droptail" => parts.next().is_none().then_some(Discipline::DropTail)?,
        "red" if limited => Discipline::Red(parts.try_fold(DEFAULT_RED, Red::with)?),
        "rio" if limited => {
            let [inside, outside] = parts.try_fold(DEFAULT_RIO, rio_with)?;
            Discipline::Rio { inside, outside }
        }
        "drr" => match parts.next().map(|part| part.split_once('=')) {
            None => Discipline::Drr { quantum: None },
            Some(Some((key, value))) if key.trim() == "quantum" && parts.next().is_none() => {
                let quantum = quantity::bytes(value).ok().filter(|quantum| quantum.0 > 0)?;
                Discipline::Drr { quantum: Some(quantum) }
            }
            Some(_) => return None,
        },
        "codel" => delay::codel(parts)?,
        "fq_codel" => delay::fq_codel(parts)?,
        "pie" => delay::pie(parts)?,
        "xcp" => router::xcp(parts)?,
        "vcp" => router::vcp(parts)?,
        "decbit" => router::decbit(parts)?,
        _ => return None,
    };
    Some(Queue { limit, discipline })
}

/// The classes in and out with one `key=value` changed, for one of them or for both.
fn rio_with([inside, outside]: [Red; 2], part: &str) -> Option<[Red; 2]> {
    let part = part.trim();
    match (part.strip_prefix("in_"), part.strip_prefix("out_")) {
        (Some(part), _) => Some([inside.with(part)?, outside]),
        (_, Some(part)) => Some([inside, outside.with(part)?]),
        (None, None) => Some([inside.with(part)?, outside.with(part)?]),
    }
}

impl Red {
    /// The same with one `key=value` changed.
    fn with(mut self, part: &str) -> Option<Self> {
        let (key, value) = part.split_once('=')?;
        let value = value.trim();
        let number = |accepted: fn(f64) -> bool| number(value, accepted);
        match key.trim() {
            "min" => self.min = threshold(value)?,
            "max" => self.max = threshold(value)?,
            "max_p" => self.max_p = number(|p| (0.0..=1.0).contains(&p))?,
            "weight" => self.weight = number(|weight| weight > 0.0 && weight <= 1.0)?,
            "gentle" => self.gentle = word(value)?,
            "wait" => self.wait = word(value)?,
            "bytes" => self.bytes = word(value)?,
            "ecn" => self.ecn = word(value)?,
            "mark_limit" => self.mark_limit = number(|p| (0.0..=1.0).contains(&p))?,
            _ => return None,
        }
        Some(self)
    }
}

fn number(text: &str, accepted: fn(f64) -> bool) -> Option<f64> {
    quantity::number(text).ok().filter(|number| accepted(*number))
}

fn word(text: &str) -> Option<bool> {
    match text {
        "yes" => Some(true),
        "no" => Some(false),
        _ => None,
    }
}

fn threshold(text: &str) -> Option<Threshold> {
    match quantity::split(text) {
        (number, "") => quantity::number(number).ok().filter(|share| *share > 0.0).map(Threshold::Share),
        _ => size(text).map(Threshold::Size),
    }
}

fn size(text: &str) -> Option<QueueSize> {
    let text = text.trim();
    if text == "unlimited" {
        return Some(QueueSize::Unlimited);
    }
    let (number, unit) = quantity::split(text);
    let number = || quantity::number(number).ok().filter(|number| *number > 0.0);
    match unit {
        "bdp" => number().map(QueueSize::Bdp),
        "p" | "packets" => number()
            .filter(|number| number.fract() == 0.0 && *number <= f64::from(u32::MAX))
            .map(|number| QueueSize::Packets(number as u32)),
        _ => quantity::memory(text).ok().map(QueueSize::Bytes),
    }
}

/// Thresholds, weight and probability of `simd` §VI; gentle and waiting as in ns-2 since 2001; marks at any probability (RFC 3168).
const DEFAULT_RED: Red = Red {
    min: Threshold::Share(0.15),
    max: Threshold::Share(0.5),
    max_p: 0.1,
    weight: 0.002,
    gentle: true,
    wait: true,
    bytes: false,
    ecn: false,
    mark_limit: 1.0,
};

/// ns-2's: thresholds of 15 and 30 packets inside, 5 and 15 outside, largest probabilities 1/50 and 1/10, not gentle.
const DEFAULT_RIO: [Red; 2] = {
    const fn packets(packets: u32) -> Threshold {
        Threshold::Size(QueueSize::Packets(packets))
    }
    let outside = Red { min: packets(5), max: packets(15), gentle: false, ..DEFAULT_RED };
    [Red { min: packets(15), max: packets(30), max_p: 0.02, ..outside }, outside]
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drop_tail() {
        let read = |text| Queue::read(text).ok().map(|queue| (queue.limit, queue.discipline));
        assert_eq!(read("droptail:1bdp"), Some((QueueSize::Bdp(1.0), Discipline::DropTail)));
        assert_eq!(read("droptail: 1/2 bdp"), Some((QueueSize::Bdp(0.5), Discipline::DropTail)));
        assert_eq!(read("droptail:100p"), Some((QueueSize::Packets(100), Discipline::DropTail)));
        assert_eq!(read("droptail:64kB"), Some((QueueSize::Bytes(64_000), Discipline::DropTail)));
        assert_eq!(read("droptail:unlimited"), Some((QueueSize::Unlimited, Discipline::DropTail)));
        for text in [
            "droptail",
            "droptail:100",
            "droptail:0p",
            "droptail:1.5p",
            "droptail:-1bdp",
            "droptail:1bdp,ecn=yes",
            "fifo:1bdp",
            "100p",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn a_refusal_is_about_the_queue_that_was_written() {
        let names = ["droptail", "red", "rio", "drr", "codel", "fq_codel", "pie", "xcp", "vcp", "decbit"];
        for name in names {
            for wrong in [name.to_string(), format!("{name}:1bdp,nonsense=1"), format!("{name}:50ms")] {
                let error = Queue::read(&wrong).expect_err(&wrong).to_string();
                let (given, expected) = error.split_once(": expected").expect("what is accepted");
                assert!(given.contains(&wrong) && expected.len() < 350, "{error}");
                assert!(error.ends_with(SIZE) == wrong.ends_with("50ms"), "{error}");
                assert!(error.ends_with(SIZE) || expected.contains(&format!("`{name}:")), "{error}");
            }
            assert!(NAMES.contains(name) && Queue::EXPECTED.contains(&format!("`{name}:")), "{name}");
        }
        for wrong in ["fifo", "1bdp", "50ms", "pfifo:100p"] {
            let error = Queue::read(wrong).expect_err(wrong).to_string();
            assert!(error.ends_with(NAMES), "{error}");
        }
    }

    #[test]
    fn random_early_detection() {
        let red = |text| match Queue::read(text).ok()?.discipline {
            Discipline::Red(red) => Some(red),
            other => panic!("{other:?}"),
        };
        assert_eq!(red("red:1bdp"), Some(DEFAULT_RED));
        let given = red(
            "red:300p, min=20p, max=1/3, max_p=0.02, weight=1e-4, gentle=no, wait=no, bytes=yes, ecn=yes, mark_limit=0.1",
        );
        let expected = Red {
            min: Threshold::Size(QueueSize::Packets(20)),
            max: Threshold::Share(1.0 / 3.0),
            max_p: 0.02,
            weight: 1e-4,
            gentle: false,
            wait: false,
            bytes: true,
            ecn: true,
            mark_limit: 0.1,
        };
        assert_eq!(given, Some(expected));
        for text in
            ["red:unlimited", "red:1bdp,min", "red:1bdp,min=-1", "red:1bdp,max_p=2", "red:1bdp,ecn=1", "red:1bdp,x=1"]
        {
            assert_eq!(red(text), None, "{text}");
        }
    }

    #[test]
    fn two_classes() {
        let rio = |text| match Queue::read(text).ok()?.discipline {
            Discipline::Rio { inside, outside } => Some([inside, outside]),
            other => panic!("{other:?}"),
        };
        assert_eq!(rio("rio:100p"), Some(DEFAULT_RIO));
        let [inside, outside] =
            rio("rio:2bdp, in_min=0.9, in_max=1, out_max_p=0.5, gentle=yes, weight=0.01").expect("RIO");
        assert_eq!((inside.min, inside.max, inside.max_p), (Threshold::Share(0.9), Threshold::Share(1.0), 0.02));
        assert_eq!((outside.min, outside.max_p), (DEFAULT_RIO[1].min, 0.5));
        assert!([inside, outside].iter().all(|red| red.gentle && red.weight == 0.01));
        assert!(Queue::read("rio:100p,in_min=1bdp").expect("RIO").needs_path());
        for text in ["rio:unlimited", "rio:1bdp,in_x=1", "rio:1bdp,in_min", "rio:1bdp,outmin=5p"] {
            assert!(Queue::read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn round_robin() {
        let quantum = |text| {
            let queue = Queue::read(text).ok()?;
            match queue.setup(BitRate(1e8), Span::from_millis(50), Bytes(1000)) {
                (_, cwnd_sim::Discipline::Drr(drr)) => Some(drr.quantum.0),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(quantum("drr:1bdp"), Some(1000), "a packet");
        assert_eq!(quantum("drr:unlimited, quantum=250B"), Some(250));
        for text in
            ["drr", "drr:1bdp,quantum=0B", "drr:1bdp,quantum", "drr:1bdp,x=1B", "drr:1bdp,quantum=1B,quantum=1B"]
        {
            assert_eq!(quantum(text), None, "{text}");
        }
    }

    #[test]
    fn a_bandwidth_delay_product_is_whole_packets() {
        let products = |text, rate, rtt| {
            let queue = Queue::read(text).expect("a queue");
            match queue.setup(BitRate(rate), rtt, Bytes(1500)).0 {
                QueueLimit::Packets(packets) => packets,
                other => panic!("{other:?}"),
            }
        };
        // 100 Mbit/s for 50 ms are 625 kB: 416.67 packets.
        assert_eq!(products("droptail:1bdp", 1e8, Span::from_millis(50)), 417);
        assert_eq!(products("droptail:2.5bdp", 1e8, Span::from_millis(50)), 1042);
        assert_eq!(products("droptail:1bdp", 1e6, Span::from_millis(1)), 1);
    }

    #[test]
    fn thresholds_are_shares_of_the_limit() {
        let queue = Queue::read("red:100p,max=30kB").expect("a queue");
        let (_, discipline) = queue.setup(BitRate(1e8), Span::from_millis(50), Bytes(1500));
        let cwnd_sim::Discipline::Red(red) = discipline else { panic!("{discipline:?}") };
        assert_eq!((red.min, red.max, red.mean_packet), (15.0, 20.0, Bytes(1500)));
    }
}
