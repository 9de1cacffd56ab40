//! Queues as people write them: `droptail:1bdp`, `red:2.5bdp,max_p=0.02,ecn=yes`, `codel:50ms,target=5ms`.

mod forms;
mod written;

use cwnd::quantity::{self, QuantityError};
use cwnd::registry::InvalidParameter;
use cwnd::{BitRate, Bytes, Span};
use thiserror::Error;

pub use self::forms::{DEFAULT_RED, DEFAULT_RIO, QUEUES};
use crate::net::setup::{
    CakeSetup, CoDelSetup, Discipline, DrrSetup, DualPi2Setup, FqCoDelSetup, PieSetup, QueueLimit, RedSetup, RioSetup,
};

/// A queue before the path is known: thresholds may be shares or times, and a quantum that is not given is one packet. Sizes of packets
/// in the discipline (`mtu`, `mean_packet`) are those of the path, whatever stands here.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// The capacity for waiting packets.
    pub limit: QueueSize,
    /// Which packets wait, which go, and in which order.
    pub discipline: Discipline<Threshold, Option<Bytes>>,
}

/// A size of a queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum QueueSize {
    /// Bandwidth-delay products.
    Bdp(f64),
    /// The data that the link transmits in this time, at its first rate.
    Time(Span),
    /// Packets.
    Packets(u32),
    /// Bytes.
    Bytes(u64),
    /// No limit.
    Unlimited,
}

/// A threshold of an average queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Threshold {
    /// This share of the limit.
    Share(f64),
    /// This much.
    Size(QueueSize),
}

/// Thresholds of early detection that are the wrong way round, or that no queue reaches, with the accepted values.
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
    /// Reads one of [`QUEUES`].
    ///
    /// ```
    /// use cwnd_sim::notation::{Queue, QueueSize};
    ///
    /// assert_eq!(Queue::read("codel:1000p").map(|queue| queue.limit), Ok(QueueSize::Packets(1000)));
    /// let error = Queue::read("fqcodel:1000p").expect_err("another name");
    /// assert!(error.to_string().ends_with("did you mean `fq_codel:1000p`?"));
    /// ```
    ///
    /// # Errors
    /// The name is none of a queue, the size is missing, a parameter is unknown, given twice or out of range, or `target` is not below
    /// `interval`.
    pub fn read(text: &str) -> Result<Self, QuantityError> {
        QUEUES.read(text)
    }

    /// As [`setup`](Self::setup), with its thresholds compared: some are sizes, and some are shares of the limit.
    ///
    /// # Errors
    /// A threshold `min` of random early detection is above its `max`, or above the limit.
    pub fn checked_setup(
        self,
        rate: BitRate,
        rtt: Span,
        packet: Bytes,
    ) -> Result<(QueueLimit, Discipline), ThresholdError> {
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
            Discipline::Red(red) => check(red)?,
            Discipline::Rio(rio) => [&rio.inside, &rio.outside].into_iter().try_for_each(check)?,
            _ => {}
        }
        Ok((limit, discipline))
    }

    /// The queue before a link of `rate` on a path of `rtt`, with packets of `packet` bytes.
    #[must_use]
    pub fn setup(self, rate: BitRate, rtt: Span, packet: Bytes) -> (QueueLimit, Discipline) {
        let in_time = |time: Span| (rate.to_packets(packet) * time).0;
        let packets = |size| match size {
            QueueSize::Bdp(times) => times * in_time(rtt),
            QueueSize::Time(time) => in_time(time),
            QueueSize::Packets(packets) => f64::from(packets),
            QueueSize::Bytes(bytes) => bytes as f64 / f64::from(packet.0),
            QueueSize::Unlimited => f64::INFINITY,
        };
        let limit = match self.limit {
            // Whole packets, as a router is configured, and room for one at least.
            QueueSize::Bdp(_) | QueueSize::Time(_) => QueueLimit::Packets(packets(self.limit).round().max(1.0) as u32),
            QueueSize::Packets(packets) => QueueLimit::Packets(packets),
            QueueSize::Bytes(bytes) => QueueLimit::Bytes(bytes),
            QueueSize::Unlimited => QueueLimit::Unlimited,
        };
        let threshold = |threshold| match threshold {
            Threshold::Share(share) => share * packets(self.limit),
            Threshold::Size(size) => packets(size),
        };
        let red = |red: RedSetup<Threshold>| {
            let RedSetup { max_p, weight, gentle, wait, byte_mode, mark, mark_limit, .. } = red;
            let (min, max) = (threshold(red.min), threshold(red.max));
            RedSetup { min, max, max_p, weight, gentle, wait, byte_mode, mean_packet: packet, mark, mark_limit }
        };
        let discipline = match self.discipline {
            Discipline::DropTail => Discipline::DropTail,
            Discipline::Red(early) => Discipline::Red(red(early)),
            Discipline::Rio(RioSetup { inside, outside }) => {
                Discipline::Rio(RioSetup { inside: red(inside), outside: red(outside) })
            }
            Discipline::Drr(drr) => Discipline::Drr(DrrSetup { quantum: drr.quantum.unwrap_or(packet) }),
            Discipline::CoDel(codel) => Discipline::CoDel(CoDelSetup { mtu: packet, ..codel }),
            Discipline::FqCoDel(FqCoDelSetup { codel, queues, quantum, memory }) => {
                let (codel, quantum) = (CoDelSetup { mtu: packet, ..codel }, quantum.unwrap_or(packet));
                Discipline::FqCoDel(FqCoDelSetup { codel, queues, quantum, memory })
            }
            Discipline::Cake(cake) => Discipline::Cake(CakeSetup { mtu: packet, ..cake }),
            Discipline::Pie(pie) => Discipline::Pie(PieSetup { mean_packet: packet, ..pie }),
            Discipline::DualPi2(dual) => Discipline::DualPi2(DualPi2Setup { mtu: packet, ..dual }),
            Discipline::Xcp(xcp) => Discipline::Xcp(xcp),
            Discipline::Vcp(vcp) => Discipline::Vcp(vcp),
            Discipline::DecBit(decbit) => Discipline::DecBit(decbit),
        };
        (limit, discipline)
    }

    /// Some part of it is given in bandwidth-delay products.
    #[must_use]
    pub fn needs_path(self) -> bool {
        self.has_size(|size| matches!(size, QueueSize::Bdp(_)))
    }

    /// Some part of it depends on the rate of the link: it is given in bandwidth-delay products, or as a time.
    #[must_use]
    pub fn needs_rate(self) -> bool {
        self.has_size(|size| matches!(size, QueueSize::Bdp(_) | QueueSize::Time(_)))
    }

    fn has_size(self, is_so: fn(QueueSize) -> bool) -> bool {
        let part = |threshold| matches!(threshold, Threshold::Size(size) if is_so(size));
        let early = |red: RedSetup<Threshold>| part(red.min) || part(red.max);
        is_so(self.limit)
            || match self.discipline {
                Discipline::Red(red) => early(red),
                Discipline::Rio(RioSetup { inside, outside }) => early(inside) || early(outside),
                _ => false,
            }
    }

    /// The algorithm for which it writes on packets.
    #[must_use]
    pub fn router(&self) -> Option<&'static str> {
        match self.discipline {
            Discipline::Xcp(_) => Some("xcp"),
            Discipline::Vcp(_) => Some("vcp"),
            Discipline::DecBit(_) => Some("decbit"),
            _ => None,
        }
    }
}

/// Reads the threshold `parameter`.
fn threshold(parameter: &'static str, text: &str) -> Result<Threshold, InvalidParameter> {
    let read = match quantity::split(text) {
        (number, "") => quantity::number(number).ok().filter(|share| *share > 0.0).map(Threshold::Share),
        _ => size(text).map(Threshold::Size),
    };
    read.ok_or_else(|| InvalidParameter::new(parameter, forms::THRESHOLD))
}

/// Reads a size.
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
        _ => {
            let time = quantity::span(text).ok().filter(|time| *time > Span::ZERO).map(QueueSize::Time);
            time.or_else(|| quantity::memory(text).ok().map(QueueSize::Bytes))
        }
    }
}

#[cfg(test)]
mod tests;
