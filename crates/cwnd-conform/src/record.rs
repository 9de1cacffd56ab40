//! The record of a run.

use cwnd::Span;
use cwnd_sim::{Passing, Setup, SetupError, Simulation};
use cwnd_trace::Trace;

use crate::testbed::PACKET;
use crate::unfit::Unfit;

/// The record of a run, as far as a check can see it.
#[derive(Debug)]
pub(crate) struct Record {
    /// The flow at each instant at which something about it changed.
    pub(crate) looks: Vec<Look>,
    /// Data packets at the bottleneck.
    pub(crate) data: Vec<Sent>,
    /// The round-trip time without queueing, seconds.
    pub(crate) rtt: f64,
    pub(crate) trace: Trace,
}

/// A flow between two events.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    /// Seconds.
    pub(crate) at: f64,
    /// Packets; not a number where it is not shown.
    pub(crate) window: f64,
    /// Slow-start threshold; not a number where it is not shown.
    pub(crate) threshold: f64,
    pub(crate) sent: u64,
    pub(crate) delivered: u64,
    pub(crate) lost: u64,
    /// How often the retransmission timer has expired; 0 for a whole stack, which does not show it.
    pub(crate) timeouts: u64,
}

/// A data packet at the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Nanoseconds.
    pub(crate) at: u64,
    pub(crate) number: u64,
    /// Its size with headers.
    pub(crate) bytes: u32,
    pub(crate) again: bool,
    pub(crate) lost: bool,
}

/// A decrease of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cut {
    pub(crate) at: f64,
    pub(crate) before: f64,
    pub(crate) after: f64,
    /// Packets sent before it.
    pub(crate) sent: u64,
}

impl Record {
    /// Runs `setup`.
    ///
    /// # Errors
    /// The simulator refuses it, or the subject has failed in the run.
    pub(crate) fn of(setup: &Setup) -> Result<Self, Unfit> {
        let refused = |error: SetupError| match error {
            SetupError::Stack(_) => Unfit::Failed(error.to_string()),
            _ => Unfit::Unclear(error.to_string()),
        };
        let mut simulation = Simulation::new(setup).map_err(refused)?;
        // Acknowledgements that come in bunches wait for one another.
        let bunch = setup.links[1].impairments.aggregation.unwrap_or(Span::ZERO);
        let rtt = (simulation.state().flow(0).base_rtt() + bunch).as_secs_f64();
        let mut looks: Vec<Look> = Vec::new();
        let end = simulation.end();
        simulation.advance(end, |now| {
            let flow = now.flow(0);
            let mut threshold = f64::NAN;
            let (sent, delivered, lost, window) = (flow.sent(), flow.delivered(), flow.lost(), flow.window().0);
            let timeouts = flow.timeouts();
            let same = |last: &Look| {
                (last.sent, last.delivered, last.lost) == (sent, delivered, lost)
                    && last.window.to_bits() == window.to_bits()
            };
            if !looks.last().is_some_and(same) {
                flow.inspect(&mut |name, value| threshold = if name == "ssthresh" { value } else { threshold });
                if threshold.is_nan() {
                    threshold = flow.slow_start_threshold().map_or(f64::NAN, |packets| packets.0);
                }
                looks.push(Look { at: now.now().as_secs_f64(), window, threshold, sent, delivered, lost, timeouts });
            }
            true
        });
        let trace = simulation.finish(setup, &mut |_| true).map_err(refused)?;
        let data = trace.links[0].passages.iter().filter_map(|passage| match passage.what {
            Passing::Data { number, transmission } if passage.flow == 0 => {
                Some(Sent { at: passage.at, number, bytes: passage.bytes, again: transmission > 1, lost: passage.lost })
            }
            _ => None,
        });
        Ok(Self { looks, data: data.collect(), rtt, trace })
    }

    /// The flow at a time.
    pub(crate) fn at(&self, at: f64) -> Look {
        let next = self.looks.partition_point(|look| look.at <= at);
        self.looks[next.saturating_sub(1)]
    }

    /// The window at a time.
    ///
    /// # Errors
    /// [`Unfit::NotApplicable`] if the subject shows no window, [`Unfit::Absent`] if its window has no bound.
    pub(crate) fn window(&self, at: f64) -> Result<f64, Unfit> {
        let window = self.at(at).window;
        if window.is_nan() {
            return Err(Unfit::NotApplicable("it shows no window"));
        }
        if window.is_infinite() {
            return Err(Unfit::Absent(format!("the window is infinite at {at:.3} s")));
        }
        Ok(window)
    }

    /// The mean window in the round trip around a time.
    ///
    /// # Errors
    /// As in [`window`](Self::window).
    pub(crate) fn mean(&self, at: f64) -> Result<f64, Unfit> {
        const PARTS: u32 = 20;
        let windows = (0..PARTS).map(|part| self.window(at + (f64::from(part) / f64::from(PARTS) - 0.5) * self.rtt));
        Ok(windows.sum::<Result<f64, Unfit>>()? / f64::from(PARTS))
    }

    /// The threshold of slow start at a time; without one, 10⁹ packets.
    ///
    /// # Errors
    /// [`Unfit::NotApplicable`] if the subject shows no threshold.
    pub(crate) fn threshold(&self, at: f64) -> Result<f64, Unfit> {
        let threshold = self.at(at).threshold;
        if threshold.is_nan() { Err(Unfit::NotApplicable("it shows no threshold")) } else { Ok(threshold.min(1e9)) }
    }

    /// The largest window between two times.
    pub(crate) fn largest(&self, from: f64, to: f64) -> Result<f64, Unfit> {
        let most = self.window(from)?;
        Ok(self.after(from, to).map(|look| look.window).fold(most, f64::max))
    }

    /// The smallest window between two times.
    pub(crate) fn smallest(&self, from: f64, to: f64) -> Result<f64, Unfit> {
        let least = self.window(from)?;
        Ok(self.after(from, to).map(|look| look.window).fold(least, f64::min))
    }

    /// The looks between two times.
    pub(crate) fn between(&self, from: f64, to: f64) -> impl Iterator<Item = &Look> {
        let first = self.looks.partition_point(|look| look.at < from);
        self.looks[first..].iter().take_while(move |look| look.at < to)
    }

    /// The looks after a time, without those of its instant, until another.
    fn after(&self, from: f64, to: f64) -> impl Iterator<Item = &Look> {
        self.between(from, to).skip_while(move |look| look.at <= from)
    }

    /// The decreases by more than two in a hundred. A decrease at one instant, or within a tenth of a round trip, is one cut, and so is a
    /// gradual one, which falls by no more than what arrives (RFC 6937, RFC 9002 section 7.3.2) and ends with the repair of the loss.
    pub(crate) fn cuts(&self) -> Vec<Cut> {
        let mut episodes: Vec<Episode> = Vec::new();
        for pair in self.looks.windows(2).filter(|pair| pair[1].window < pair[0].window) {
            match episodes.last_mut() {
                Some(last) if last.goes_on(pair[0], pair[1], self.rtt) => last.extend(pair[1]),
                last => {
                    let next = Episode::new(pair[0], pair[1]);
                    match last {
                        // What fell by less before is none.
                        Some(last) if !last.is_cut() => *last = next,
                        _ => episodes.push(next),
                    }
                }
            }
        }
        episodes.into_iter().filter(Episode::is_cut).map(|episode| episode.cut).collect()
    }

    /// The first cut from a time on.
    ///
    /// # Errors
    /// [`Unfit::Absent`] if the window is not reduced from `from` on, [`Unfit::NotApplicable`] if the subject shows no window.
    pub(crate) fn cut(&self, from: f64) -> Result<Cut, Unfit> {
        self.window(from)?;
        let found = self.cuts().into_iter().find(|cut| cut.at >= from);
        found.ok_or_else(|| Unfit::Absent(format!("the window is not reduced after {from:.3} s")))
    }

    /// Requires that losses until a time were repaired without the retransmission timer. When it expires, slow start begins anew, and a
    /// least timeout near the round-trip time may cause that.
    ///
    /// # Errors
    /// [`Unfit::NotApplicable`] if it has expired.
    pub(crate) fn untimed(&self, to: f64) -> Result<(), Unfit> {
        match self.at(to).timeouts {
            0 => Ok(()),
            _ => Err(Unfit::NotApplicable("its retransmission timer expires, after which slow start begins anew")),
        }
    }

    /// Packets sent before the first loss was found; none where none was.
    pub(crate) fn sent_before_loss(&self) -> Option<u64> {
        self.looks.windows(2).find(|pair| pair[1].lost > pair[0].lost).map(|pair| pair[0].sent)
    }

    /// Data packets at the bottleneck between two times.
    pub(crate) fn between_data(&self, from: f64, to: f64) -> impl Iterator<Item = &Sent> {
        let nanos = (from.max(0.0) * 1e9) as u64..(to.max(0.0) * 1e9) as u64;
        self.data.iter().filter(move |sent| nanos.contains(&sent.at))
    }

    /// Data packets between two times that are no smaller than the most frequent ones.
    pub(crate) fn usual(&self, from: f64, to: f64) -> impl Iterator<Item = &Sent> {
        let usual = self.usual_bytes(from, to);
        self.between_data(from, to).filter(move |sent| sent.bytes >= usual)
    }

    /// The most frequent size of data packets between two times.
    pub(crate) fn usual_bytes(&self, from: f64, to: f64) -> u32 {
        let alike = |bytes: u32| self.between_data(from, to).filter(|sent| sent.bytes == bytes).count();
        self.between_data(from, to).map(|sent| sent.bytes).max_by_key(|bytes| alike(*bytes)).unwrap_or(0)
    }

    /// How many data packets are at the bottleneck between two times.
    pub(crate) fn sent(&self, from: f64, to: f64) -> usize {
        self.between_data(from, to).count()
    }

    /// Bytes of data packets at the bottleneck between two times, in packets of full size.
    pub(crate) fn full(&self, from: f64, to: f64) -> f64 {
        let bytes: u64 = self.between_data(from, to).map(|sent| u64::from(sent.bytes)).sum();
        bytes as f64 / f64::from(PACKET.0)
    }

    /// The smallest window from the first cut after a time until another time, over the one before the cut.
    pub(crate) fn smallest_from(&self, from: f64, to: f64) -> Result<f64, Unfit> {
        let cut = self.cut(from)?;
        Ok(self.smallest(cut.at, to)? / cut.before)
    }

    /// How many data packets were lost at the bottleneck.
    pub(crate) fn losses(&self) -> usize {
        self.data.iter().filter(|sent| sent.lost).count()
    }

    /// The numbers of data packets at the bottleneck between two times.
    pub(crate) fn numbers(&self, from: f64, to: f64) -> impl Iterator<Item = u64> {
        self.between_data(from, to).map(|sent| sent.number)
    }

    /// When slow start begins: the first packet of the first flight, which is one of four packets in half a round trip. What comes before is
    /// a handshake.
    pub(crate) fn slow_start(&self) -> f64 {
        let half = (0.5e9 * self.rtt) as u64;
        let flight = self.data.windows(4).find(|four| four[3].at - four[0].at < half);
        flight.map_or(0.0, |four| four[0].at as f64 / 1e9)
    }

    /// Packets delivered per second between two times.
    pub(crate) fn goodput(&self, from: f64, to: f64) -> f64 {
        (self.at(to).delivered - self.at(from).delivered) as f64 / (to - from)
    }

    /// The growth of the window per round trip between two times, packets.
    pub(crate) fn slope(&self, from: f64, to: f64) -> Result<f64, Unfit> {
        Ok((self.window(to)? - self.window(from)?) / (to - from) * self.rtt)
    }
}

/// Decreases of the window that belong together.
struct Episode {
    cut: Cut,
    /// When it fell last.
    last: f64,
    /// It began at once.
    at_once: bool,
}

impl Episode {
    fn new(before: Look, after: Look) -> Self {
        let cut = Cut { at: after.at, before: before.window, after: after.window, sent: before.sent };
        Self { cut, last: after.at, at_once: at_once(before, after) }
    }

    /// Whether the decrease from one look to the next belongs to it.
    fn goes_on(&self, before: Look, after: Look, rtt: f64) -> bool {
        if at_once(before, after) && (self.at_once || !self.is_cut()) {
            return self.at_once && after.at - self.last < 0.1 * rtt;
        }
        after.at - self.cut.at < GRADUAL * rtt && !falls(before.window, self.cut.after)
    }

    fn extend(&mut self, after: Look) {
        (self.cut.after, self.last) = (after.window, after.at);
    }

    fn is_cut(&self) -> bool {
        falls(self.cut.before, self.cut.after)
    }
}

/// Whether the window falls by more than 2 %.
fn falls(before: f64, after: f64) -> bool {
    after < 0.98 * before
}

/// Whether the window falls by more than 2 %, and by more packets than have arrived or were found lost: a gradual decrease is no faster.
fn at_once(before: Look, after: Look) -> bool {
    let left = (after.delivered + after.lost).saturating_sub(before.delivered + before.lost);
    falls(before.window, after.window) && before.window - after.window > left as f64
}

impl Cut {
    /// The part of the window that is left.
    pub(crate) fn ratio(&self) -> f64 {
        self.after / self.before
    }
}

/// The maximum round trips of a gradual decrease: one for the flight, one for the retransmissions.
const GRADUAL: f64 = 2.0;
