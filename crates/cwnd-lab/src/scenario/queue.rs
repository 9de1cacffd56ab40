//! Queues as scenarios write them: `droptail:1bdp`, `red:2.5bdp,max_p=0.02,ecn=yes`.

use cwnd::quantity::{self, QuantityError};
use cwnd::{BitRate, Bytes, Span};
use cwnd_sim::{Discipline, QueueLimit, RedSetup};

use super::quantity::Quantity;

/// A queue, before the path is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// How much may wait.
    pub limit: QueueSize,
    /// Random early detection in front of the limit; none for drop-tail.
    pub red: Option<Red>,
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

impl Queue {
    /// What the simulator makes of it before a link of `rate` on a path of `rtt`.
    pub(super) fn setup(self, rate: BitRate, rtt: Span, packet: Bytes) -> (QueueLimit, Discipline) {
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
        (limit, self.red.map_or(Discipline::DropTail, |early| Discipline::Red(red(early))))
    }

    /// Some part of it is given in bandwidth-delay products.
    pub(super) fn needs_path(self) -> bool {
        let bdp = |size| matches!(size, QueueSize::Bdp(_));
        let part = |threshold| matches!(threshold, Threshold::Size(size) if bdp(size));
        bdp(self.limit) || self.red.is_some_and(|red| part(red.min) || part(red.max))
    }
}

impl Quantity for Queue {
    const NAME: &'static str = "Queue";
    const EXPECTED: &'static str = "a queue and its size, such as `droptail:1bdp` (bandwidth-delay products), \
         `droptail:100p` (packets), `droptail:64kB`, `droptail:unlimited`, or random early detection: `red:1bdp`, with \
         min, max (sizes, or shares of the limit), max_p, weight, gentle, wait, bytes, ecn (yes or no) and mark_limit as in \
         `red:2.5bdp,min=0.15,max=0.5,max_p=0.1,weight=0.002,gentle=yes,wait=yes,bytes=no,ecn=no,mark_limit=1`";
    const EXAMPLES: &'static [&'static str] = &["droptail:1bdp", "droptail:100p", "droptail:64kB", "red:1bdp,ecn=yes"];
    type Error = QuantityError;

    fn read(text: &str) -> Result<Self, QuantityError> {
        read(text).ok_or_else(|| QuantityError { text: text.to_string(), expected: Self::EXPECTED })
    }
}

fn read(text: &str) -> Option<Queue> {
    let (discipline, rest) = text.split_once(':')?;
    match discipline.trim() {
        "droptail" => Some(Queue { limit: size(rest)?, red: None }),
        "red" => {
            let mut parts = rest.split(',');
            let limit = size(parts.next()?).filter(|limit| *limit != QueueSize::Unlimited)?;
            let red = parts.try_fold(DEFAULT_RED, Red::with)?;
            Some(Queue { limit, red: Some(red) })
        }
        _ => None,
    }
}

impl Red {
    /// The same with one `key=value` changed.
    fn with(mut self, part: &str) -> Option<Self> {
        let (key, value) = part.split_once('=')?;
        let value = value.trim();
        let number = |accepted: fn(f64) -> bool| quantity::number(value).ok().filter(|number| accepted(*number));
        let word = || match value {
            "yes" => Some(true),
            "no" => Some(false),
            _ => None,
        };
        match key.trim() {
            "min" => self.min = threshold(value)?,
            "max" => self.max = threshold(value)?,
            "max_p" => self.max_p = number(|p| (0.0..=1.0).contains(&p))?,
            "weight" => self.weight = number(|weight| weight > 0.0 && weight <= 1.0)?,
            "gentle" => self.gentle = word()?,
            "wait" => self.wait = word()?,
            "bytes" => self.bytes = word()?,
            "ecn" => self.ecn = word()?,
            "mark_limit" => self.mark_limit = number(|p| (0.0..=1.0).contains(&p))?,
            _ => return None,
        }
        Some(self)
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
        _ => quantity::bytes(text).ok().map(|size| QueueSize::Bytes(u64::from(size.0))),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drop_tail() {
        let read = |text| Queue::read(text).ok().map(|queue| (queue.limit, queue.red));
        assert_eq!(read("droptail:1bdp"), Some((QueueSize::Bdp(1.0), None)));
        assert_eq!(read("droptail: 1/2 bdp"), Some((QueueSize::Bdp(0.5), None)));
        assert_eq!(read("droptail:100p"), Some((QueueSize::Packets(100), None)));
        assert_eq!(read("droptail:64kB"), Some((QueueSize::Bytes(64_000), None)));
        assert_eq!(read("droptail:unlimited"), Some((QueueSize::Unlimited, None)));
        for text in ["droptail", "droptail:100", "droptail:0p", "droptail:1.5p", "droptail:-1bdp", "fifo:1bdp", "100p"]
        {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn random_early_detection() {
        let red = |text| Queue::read(text).ok().and_then(|queue| queue.red);
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
        let Discipline::Red(red) = discipline else { panic!("{discipline:?}") };
        assert_eq!((red.min, red.max, red.mean_packet), (15.0, 20.0, Bytes(1500)));
    }
}
