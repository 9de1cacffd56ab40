//! Westwood+: after a loss the window is what the path delivered, so that a random loss costs little.
//!
//! Grieco and Mascolo, "Performance evaluation and comparison of Westwood+, New Reno, and Vegas TCP congestion control", ACM CCR
//! 34(2), 2004; the filter is that of Linux.

use super::{Window, WindowRule};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::signal::{Ack, View};
use crate::units::{Packets, Rate, Span, Time};

/// The rule: Reno's growth; on congestion `w = BWE RTTmin`, the bandwidth estimate times the least round-trip time.
#[derive(Clone, Debug)]
pub struct Westwood {
    /// The samples filtered once and twice.
    once: Rate,
    bwe: Rate,
    /// The start of the present sample, and the packets delivered by then; none before the first acknowledgement.
    sample: Option<(Time, u64)>,
}

impl Westwood {
    /// A sample of `rate`; the first one is taken as it is.
    fn filter(&mut self, rate: Rate) {
        if self.bwe == Rate::default() {
            (self.once, self.bwe) = (rate, rate);
        }
        self.once = Rate(OLD * self.once.0 + (1.0 - OLD) * rate.0);
        self.bwe = Rate(OLD * self.bwe.0 + (1.0 - OLD) * self.once.0);
    }
}

impl WindowRule for Westwood {
    fn observe(&mut self, view: &View, _ack: &Ack) {
        let Some(rtt) = view.rtt else { return };
        let (since, delivered) = *self.sample.get_or_insert((view.now, view.delivered));
        let interval = view.now.since(since);
        if interval >= rtt.smoothed.max(LEAST_INTERVAL) {
            self.filter(Packets(view.delivered.saturating_sub(delivered) as f64) / interval);
            self.sample = Some((view.now, view.delivered));
        }
    }

    fn grow(&mut self, w: f64, _view: &View) -> f64 {
        1.0 / w
    }

    fn cut(&mut self, w: f64, view: &View) -> f64 {
        match view.rtt {
            Some(rtt) if self.bwe > Rate::default() => (self.bwe * rtt.min).0.max(LEAST_THRESHOLD),
            _ => w / 2.0,
        }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("bwe", self.bwe.0);
    }
}

/// Registered as `westwood`.
pub const WESTWOOD: Entry<Window<Westwood>> = Entry {
    name: "westwood",
    title: "Westwood+: after a loss, the window that the path delivered",
    family: Family::Named,
    transport: Transport::Acked,
    basis: Basis::AckRate,
    source: "Grieco and Mascolo, ACM CCR 34(2), 2004; the filter: Linux, tcp_westwood.c",
    deviations: &["A loss before the first estimate halves the window.", "Marks count as losses; the paper has none."],
    parameters: &[],
    build: |_, start| {
        let rule = Westwood { once: Rate::default(), bwe: Rate::default(), sample: None };
        Ok(Window::new(rule, start))
    },
    receiver: None,
};

/// The weight of the old estimate against a new sample.
const OLD: f64 = 7.0 / 8.0;
/// Samples over less would follow bursts of acknowledgements.
const LEAST_INTERVAL: Span = Span::from_millis(50);
/// Packets: with fewer than two no duplicate acknowledgement can show a loss. RFC 5681 equation 4 has the same minimum.
const LEAST_THRESHOLD: f64 = 2.0;
