//! A whole congestion control, as a QUIC stack has one: slow start, one reduction for a window, timeouts, restarts and an undo of its own.
//!
//! [`Window`](cwnd::window::Window) has all of that for a rule which only grows and cuts. Who brings a controller of another stack writes
//! [`CongestionControl`] itself, as here.

use std::sync::Arc;

use cwnd::{Ack, Cause, Congestion, CongestionControl, Control, Maker, Packets, Span, Spec, Start, View};

/// Additive increase by a packet per round trip, half of the packets in flight at congestion (RFC 5681, RFC 9002 section 7), in packets.
#[derive(Clone, Debug)]
pub struct Whole {
    path: Path,
    initial: f64,
    /// Packets with lower numbers belong to a congestion that was answered (RFC 6582, RFC 9002 section 7.3.2).
    answered: u64,
    /// The state before the newest reduction, in case it was an error.
    before: Option<Path>,
}

/// The estimate of the path, packets.
#[derive(Clone, Copy, Debug)]
struct Path {
    window: f64,
    ssthresh: f64,
}

impl Whole {
    fn new(start: &Start) -> Self {
        let ssthresh = start.threshold.map_or(f64::INFINITY, |threshold| threshold.0);
        Self { path: Path { window: start.window.0, ssthresh }, initial: start.window.0, answered: 0, before: None }
    }

    fn reduce(&mut self, view: &View, to: impl FnOnce(f64) -> f64) {
        self.before = Some(self.path);
        self.answered = view.next;
        // The packets in flight, since a window may allow more than the application sends (RFC 5681 equation 4).
        let ssthresh = (self.path.window.min(view.in_flight as f64) / 2.0).max(LEAST_THRESHOLD);
        self.path = Path { window: to(ssthresh), ssthresh };
    }
}

impl CongestionControl for Whole {
    fn control(&self) -> Control {
        Control::window(Packets(self.path.window))
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        // What does not fill the window says nothing of a larger one (RFC 9002 section 7.8).
        if view.in_recovery || view.is_underused() {
            return;
        }
        let (newly, Path { window, ssthresh }) = (f64::from(ack.newly), self.path);
        // Slow start takes the window to the threshold; the rest of the acknowledgement counts for congestion avoidance.
        let doubled = newly.min((ssthresh - window).max(0.0));
        self.path.window += doubled;
        self.path.window += (newly - doubled) / self.path.window;
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        match event.cause {
            Cause::Timeout => {
                let (before, ssthresh) = (self.before, self.path.ssthresh);
                self.reduce(view, |_| 1.0);
                // The timer that expires once more for a packet says nothing new of the path.
                if event.persistent {
                    (self.before, self.path.ssthresh) = (before, ssthresh);
                }
            }
            Cause::Loss | Cause::Mark | Cause::Delay if event.first >= self.answered || event.separate => {
                self.reduce(view, |ssthresh| if event.restart { 1.0 } else { ssthresh });
            }
            Cause::Loss | Cause::Mark | Cause::Delay => {}
        }
    }

    fn on_restart(&mut self, view: &View, idle: Span) {
        // RFC 5681 section 4.1: after an idle retransmission timeout the capacity of the path is unknown; the old value is remembered.
        let timeout = view.rtt.map_or(LEAST_TIMEOUT, |rtt| (rtt.smoothed + rtt.variation * 4).max(LEAST_TIMEOUT));
        if idle > timeout {
            self.path.ssthresh = self.path.ssthresh.max(0.75 * self.path.window);
            self.path.window = self.path.window.min(self.initial);
            self.before = None;
        }
    }

    fn on_spurious(&mut self, _view: &View) {
        if let Some(before) = self.before.take() {
            self.path = Path { window: before.window.max(self.path.window), ssthresh: before.ssthresh };
        }
    }

    fn slow_start_threshold(&self) -> Option<Packets> {
        Some(Packets(self.path.ssthresh))
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("ssthresh", self.path.ssthresh);
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// Makes [`Whole`] for each flow.
#[derive(Debug)]
struct Make;

impl Maker for Make {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Whole::new(start))
    }
}

/// What runs, is compared and is judged.
#[must_use]
pub fn whole() -> Spec {
    Spec::outside("whole", Arc::new(Make))
}

/// Packets: RFC 5681 equation 4.
const LEAST_THRESHOLD: f64 = 2.0;
/// RFC 6298 section 2.4.
const LEAST_TIMEOUT: Span = Span::from_secs(1);

#[cfg(test)]
mod tests {
    cwnd_conform::conform!(
        cwnd_conform::Subject::new("whole", cwnd_conform::Law::Reno, crate::whole()),
        suites = ["rfc5681", "rfc9002", "rfc3168", "rfc7661"]
    );
}
