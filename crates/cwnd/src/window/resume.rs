//! Careful Resume: a jump to half of the window that an earlier connection had, and a retreat if it does not fit.
//!
//! Kuhn, Stephan, Fairhurst, Secchi and Huitema, "Careful Resume: Convergence of Congestion Control from Retained State", RFC 9959, 2026;
//! section numbers are its own.

use crate::signal::{Ack, Limit, Resume, View};
use crate::units::{Span, Time};

/// A flow that knows what an earlier one had.
#[derive(Clone, Debug)]
pub(super) struct Resumption {
    saved: Resume,
    /// The initial window, packets.
    initial: f64,
    phase: Phase,
}

/// `pipe` is PipeSize: the packets in flight when the jump was made, and all that arrived since.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Section 3.2: the path is compared with the saved one.
    Reconnaissance,
    /// Section 3.3: packets of the jump leave, from `since` on.
    Unvalidated { since: Time, pipe: f64 },
    /// Section 3.4: all of them have left, the last one before `until`.
    Validating { until: Time, pipe: f64 },
    /// Section 3.5: some of them were lost or marked.
    Retreat { until: Time, pipe: f64 },
    /// Careful Resume is over.
    Normal,
}

/// The effect of an acknowledgement on the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Effect {
    /// The usual one.
    Usual,
    /// None.
    Hold,
    /// The window is this one.
    Window(f64),
    /// Slow start goes up to this threshold.
    Threshold(f64),
}

impl Resumption {
    pub(super) fn new(saved: Resume, initial: f64) -> Self {
        Self { saved, initial, phase: Phase::Reconnaissance }
    }

    /// Whether departures have to be spread over the round trip.
    pub(super) fn paces(&self) -> bool {
        matches!(self.phase, Phase::Unvalidated { .. })
    }

    /// The phase as a number: 0 Reconnaissance, 1 Unvalidated, 2 Validating, 3 Safe Retreat, 4 normal congestion control.
    pub(super) fn number(&self) -> u8 {
        match self.phase {
            Phase::Reconnaissance => 0,
            Phase::Unvalidated { .. } => 1,
            Phase::Validating { .. } => 2,
            Phase::Retreat { .. } => 3,
            Phase::Normal => 4,
        }
    }

    /// An acknowledgement arrives at the window `w`.
    pub(super) fn on_ack(&mut self, w: f64, view: &View, ack: &Ack) -> Effect {
        let newly = f64::from(ack.newly);
        let flight = view.in_flight.saturating_sub(ack.newly.into()) as f64;
        match &mut self.phase {
            Phase::Normal => Effect::Usual,
            Phase::Reconnaissance => self.confirm(w, flight, view),
            Phase::Unvalidated { since, pipe } => {
                *pipe += newly;
                let sent = view.in_flight as f64 >= libm::floor(w);
                let late = view.now.since(*since) > view.rtt.map_or(Span::ZERO, |rtt| rtt.smoothed);
                if !sent && !late && ack.sent_at < *since {
                    return Effect::Hold;
                }
                let pipe = *pipe;
                if flight < self.initial || flight <= pipe {
                    self.phase = Phase::Normal;
                    return Effect::Window(pipe.max(self.initial));
                }
                self.phase = Phase::Validating { until: view.now, pipe };
                Effect::Window(flight)
            }
            Phase::Validating { until, pipe } => {
                *pipe += newly;
                if ack.sent_at >= *until {
                    self.phase = Phase::Normal;
                }
                Effect::Usual
            }
            Phase::Retreat { until, pipe } => {
                *pipe += newly;
                if ack.sent_at >= *until { self.retreated() } else { Effect::Hold }
            }
        }
    }

    /// Jumps if the initial window has arrived, the path looks like the saved one, and the window holds the sender.
    fn confirm(&mut self, w: f64, flight: f64, view: &View) -> Effect {
        let Some(rtt) = view.rtt else { return Effect::Usual };
        let jump = self.saved.window.0 / 2.0;
        // Sections 3.2 and 4.2.1.
        let elsewhere = rtt.min * 2 <= self.saved.rtt || rtt.latest > self.saved.rtt * 10;
        if elsewhere || jump <= w {
            self.phase = Phase::Normal;
        } else if view.delivered as f64 >= libm::floor(self.initial) && view.limit == Limit::Window {
            self.phase = Phase::Unvalidated { since: view.now, pipe: flight };
            return Effect::Window(jump);
        }
        Effect::Usual
    }

    /// Packets were lost or marked, or the timer expired. The largest window that they leave, if it is not the usual one.
    pub(super) fn on_congestion(&mut self, view: &View, timeout: bool) -> Option<f64> {
        let (until, pipe) = match self.phase {
            Phase::Unvalidated { pipe, .. } if !timeout => (view.now, pipe),
            Phase::Validating { until, pipe } if !timeout => (until, pipe),
            Phase::Retreat { .. } if !timeout => return None,
            _ => {
                self.phase = Phase::Normal;
                return None;
            }
        };
        self.phase = Phase::Retreat { until, pipe };
        Some(pipe / 2.0)
    }

    /// All packets of the jump have arrived or are known to be lost.
    pub(super) fn retreated(&mut self) -> Effect {
        let Phase::Retreat { pipe, .. } = self.phase else { return Effect::Usual };
        self.phase = Phase::Normal;
        Effect::Threshold(pipe * BETA)
    }
}

/// Section 3.5: the default.
const BETA: f64 = 0.5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script;
    use crate::signal::{Remote, Rtt};
    use crate::units::Packets;

    /// The examples of appendix A: the initial window is 10 packets, 29 are in flight, the saved window is 300.
    fn example() -> Resumption {
        Resumption::new(Resume { window: Packets(300.0), rtt: Span::from_millis(100) }, 10.0)
    }

    fn view(in_flight: u64, millis: u64) -> View {
        View { in_flight, delivered: 10, ..script::view(millis) }
    }

    fn ack(sent_at: u64) -> Ack {
        Ack { sent_at: script::at(sent_at), ..script::ack(1, Remote::default()) }
    }

    /// An example up to the jump at 200 ms, and 29 acknowledgements of packets that left before it.
    fn jumped() -> Resumption {
        let mut flow = example();
        assert_eq!(flow.on_ack(29.0, &view(30, 200), &ack(100)), Effect::Window(150.0));
        assert!(flow.paces());
        for packet in 0..29 {
            assert_eq!(flow.on_ack(150.0, &view(30 + packet, 201 + packet), &ack(199)), Effect::Hold);
        }
        flow
    }

    #[test]
    fn without_loss_the_window_that_left_is_kept() {
        let mut flow = jumped();
        assert_eq!(flow.on_ack(150.0, &view(150, 300), &ack(200)), Effect::Window(149.0));
        assert_eq!(flow.on_ack(149.0, &view(149, 301), &ack(299)), Effect::Usual);
        assert_eq!((flow.number(), flow.paces()), (2, false));
        assert_eq!(flow.on_ack(150.0, &view(149, 400), &ack(300)), Effect::Usual);
        assert_eq!((flow.number(), flow.on_congestion(&view(149, 401), false)), (4, None));
    }

    /// PipeSize is 29, the packets of the first 29 acknowledgements, and 34 of the jump.
    #[test]
    fn a_loss_leaves_half_of_what_arrived() {
        let mut flow = jumped();
        (0..34).for_each(|packet| {
            flow.on_ack(150.0, &view(150 - packet, 300 + packet), &ack(200 + packet));
        });
        assert_eq!(flow.on_congestion(&view(116, 334), false), Some(92.0 / 2.0));
        for packet in 0..86 {
            assert_eq!(flow.on_ack(46.0, &view(116 - packet, 335), &ack(235)), Effect::Hold);
        }
        assert_eq!(flow.on_congestion(&view(30, 336), false), None);
        assert_eq!(flow.on_ack(46.0, &view(30, 400), &ack(300)), Effect::Threshold((92.0 + 86.0 + 1.0) / 2.0));
        assert_eq!(flow.number(), 4);
    }

    #[test]
    fn a_sender_with_little_data_keeps_what_was_acknowledged() {
        let mut flow = jumped();
        assert_eq!(flow.on_ack(150.0, &view(50, 300), &ack(200)), Effect::Window(59.0));
        assert_eq!(flow.number(), 4);
    }

    /// Sections 3.2 and 4.2.1: at most half of the saved time, or more than ten times as long, is another path.
    #[test]
    fn another_path_or_a_loss_before_the_jump_ends_it() {
        for (millis, jumps) in [(50, false), (51, true), (1000, true), (1001, false)] {
            let mut flow = example();
            let latest = Span::from_millis(millis);
            let rtt = Rtt::fixed(latest);
            let effect = flow.on_ack(29.0, &View { rtt: Some(rtt), ..view(30, 2000) }, &ack(100));
            assert_eq!(effect == Effect::Window(150.0), jumps, "{millis} ms");
        }
        let mut flow = example();
        assert_eq!(flow.on_ack(29.0, &View { delivered: 9, ..view(30, 200) }, &ack(100)), Effect::Usual);
        assert_eq!(flow.on_ack(29.0, &View { limit: Limit::Source, ..view(30, 200) }, &ack(100)), Effect::Usual);
        assert_eq!((flow.number(), flow.on_congestion(&view(30, 200), false), flow.number()), (0, None, 4));
    }
}
