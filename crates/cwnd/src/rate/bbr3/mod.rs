//! BBR version 3: it models the path by the bandwidth it delivers, its least round-trip time and the volume it holds without much loss,
//! and probes for each of them in turn.
//!
//! draft-ietf-ccwg-bbr: the working group's text of 3 August 2026, which follows revision 06. Section numbers are its own, and so are the
//! names of states and variables; a file here is a section there. Volumes are in packets and rates in packets per second, where the draft
//! has bytes. Where the draft can be read in two ways, the comment says which reading is taken, and docs/bbr.md what the other one does.

mod bounds;
mod cwnd;
mod drain;
mod entry;
mod filters;
mod idle;
mod pacing;
mod probe_bw;
mod probe_rtt;
mod rounds;
mod sample;
mod startup;
mod state;
mod undo;

#[cfg(test)]
mod tests;

use alloc::boxed::Box;

use self::bounds::Bounds;
use self::cwnd::Window;
pub use self::entry::BBR3;
pub(super) use self::filters::ExtraAcked;
use self::filters::{MaxBw, MinRtt};
use self::pacing::Pace;
use self::probe_bw::Cycle;
use self::probe_rtt::ProbeRtt;
use self::rounds::Rounds;
use self::sample::Sample;
use self::startup::FullPipe;
use self::state::State;
use self::undo::Undo;
use super::random::SplitMix;
use super::{GREATEST_WINDOW, bounded, bounded_window};
use crate::bounded::Bounded;
use crate::control::{CongestionControl, Control, Pacing};
use crate::signal::{Ack, Cause, Congestion, Start, View};
use crate::units::{Packets, Span, Time};

/// A BBR sender. Its state is several times what other algorithms have, and lies in a box.
#[derive(Clone, Debug)]
pub struct Bbr3(Box<Bbr>);

/// What the draft leaves to the implementation, and its ambiguities that change what a flow does.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Settings {
    /// `BBR.offload_budget` in send quanta: 1 for QUIC, 3 for TCP (section 5.5.8).
    pub offload: f64,
    /// A cautious probe ends where the packets in flight before the acknowledgement, not those left after it, reach
    /// `BBR.inflight_longterm` (section 5.3.3.7).
    pub caution_before: bool,
    /// The first round-trip sample sets the first pacing rate anew, where it was not known at the start (section 5.6.2).
    pub pace_by_first_rtt: bool,
    /// What a spurious recovery restores is saved with each round trip that has losses, not only when the recovery begins (section
    /// 5.5.10.2, `NoteLoss`).
    pub save_every_round: bool,
    /// A rule of the draft that is left out, to see what it causes.
    pub without: Option<Rule>,
}

/// A rule of the draft that can be left out, for runs that show what it causes. None of this is BBR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// Loss outside probes lowers `BBR.bw_shortterm` and `BBR.inflight_shortterm` (section 5.5.10.3).
    ShortTerm,
    /// The first of the two alone.
    ShortTermRate,
    /// The second alone.
    ShortTermVolume,
    /// High loss sets `BBR.inflight_longterm` (sections 5.5.10.2 and 5.3.1.3). It still ends a probe.
    LongTerm,
    /// High loss of a limited sender sets no `BBR.inflight_longterm` (section 5.5.10.2).
    LimitedLoss,
    /// ProbeRTT (section 5.3.4).
    ProbeRtt,
    /// `PROBE_UP` goes on for two rounds without growth and ends with the third (section 5.3.3.7); without, it ends with the first.
    Patience,
    /// Rates are 1 % below their targets (section 5.6.2).
    Margin,
    /// A timeout saves what a spurious recovery restores, also where a fast recovery had saved it (section 5.6.4.4, `OnEnterRTO`).
    TimeoutSaves,
}

impl Rule {
    /// All of them, with their names in the registry.
    pub const ALL: [(&'static str, Self); 9] = [
        ("short-term", Self::ShortTerm),
        ("short-term-rate", Self::ShortTermRate),
        ("short-term-volume", Self::ShortTermVolume),
        ("long-term", Self::LongTerm),
        ("limited-loss", Self::LimitedLoss),
        ("probe-rtt", Self::ProbeRtt),
        ("patience", Self::Patience),
        ("margin", Self::Margin),
        ("timeout-saves", Self::TimeoutSaves),
    ];
}

impl Default for Settings {
    fn default() -> Self {
        Self { offload: 1.0, caution_before: true, pace_by_first_rtt: true, save_every_round: false, without: None }
    }
}

#[derive(Clone, Debug)]
struct Bbr {
    settings: Settings,
    random: SplitMix,
    max_window: f64,
    /// Bytes of a packet on the wire: C.SMSS.
    packet: f64,
    /// The first signal has set the stamps of section 5.2.1 to its time.
    begun: bool,

    // Section 2.7.
    state: State,
    rounds: Rounds,
    idle_restart: bool,
    drain_start_round: u64,

    // Section 2.9.
    max_bw: MaxBw,
    /// BBR.bw, the smaller of `max_bw` and `bounds.bw_shortterm`; packets per second.
    bw: f64,
    min_rtt: MinRtt,
    extra_acked: ExtraAcked,
    bounds: Bounds,

    full_pipe: FullPipe,
    cycle: Cycle,
    probe_rtt: ProbeRtt,
    undo: Undo,

    // Section 2.4.
    window: Window,
    pace: Pace,
}

impl Bbr3 {
    /// Section 5.2.1, `OnInit`.
    #[must_use]
    pub fn new(settings: Settings, start: &Start) -> Self {
        let max_window = bounded_window(start.max_window.0, GREATEST_WINDOW).0;
        let initial = bounded_window(start.window.0, max_window).0;
        let packet = f64::from(start.packet.0.max(1));
        Self(Box::new(Bbr {
            settings,
            random: SplitMix::new(start.seed),
            max_window,
            packet,
            begun: false,
            state: State::Startup,
            rounds: Rounds::default(),
            idle_restart: false,
            drain_start_round: 0,
            max_bw: MaxBw::default(),
            bw: 0.0,
            min_rtt: MinRtt::default(),
            extra_acked: ExtraAcked::default(),
            bounds: Bounds::default(),
            full_pipe: FullPipe::default(),
            cycle: Cycle::default(),
            probe_rtt: ProbeRtt::default(),
            undo: Undo::default(),
            window: Window::new(initial),
            pace: Pace::new(initial, packet),
        }))
    }
}

impl Bbr {
    /// The clock of a flow begins with its first signal.
    fn begin(&mut self, view: &View) {
        self.packet = f64::from(view.packet.0.max(1));
        if !self.begun {
            self.begun = true;
            self.min_rtt.begin(view.now);
            self.extra_acked.restart(view.now);
            self.cycle.stamp = view.now;
        }
    }

    /// Section 5.2.3, `UpdateModelAndState`, in its order.
    fn update_model_and_state(&mut self, rs: &Sample) {
        self.bounds.update_latest_delivery_signals(rs);
        self.update_congestion_signals(rs);
        self.update_ack_aggregation(rs);
        self.check_full_bw_reached(rs);
        self.check_startup_done(rs);
        self.check_drain_done(rs);
        self.update_probe_bw_cycle_phase(rs);
        self.min_rtt.update(rs);
        self.check_probe_rtt(rs);
        self.bounds.advance_latest_delivery_signals(rs);
        // Section 5.5.10.3, `BoundBWForModel`.
        self.bw = self.max_bw.get().at_most(self.bounds.bw_shortterm);
    }

    /// Section 5.2.3, `UpdateControlParameters`.
    fn update_control_parameters(&mut self, rs: &Sample) {
        self.set_pacing_rate(rs.srtt);
        self.set_send_quantum();
        self.set_cwnd(rs.newly_acked, rs.total_delivered);
    }

    fn follows(&self, rule: Rule) -> bool {
        self.settings.without != Some(rule)
    }

    /// `BBR.bdp` of section 2.9.2, times `gain`; the initial window before the first round-trip sample (section 5.6.4.2, `BDPMultiple`).
    fn bdp(&self, bw: f64, gain: f64) -> f64 {
        self.min_rtt.secs().map_or(self.window.initial, |min_rtt| gain * bw * min_rtt)
    }
}

impl CongestionControl for Bbr3 {
    fn control(&self) -> Control {
        let bbr = &*self.0;
        Control {
            pacing: Pacing::At(bounded(bbr.pace.rate)),
            quantum: Some(bbr.pace.quantum()),
            ..Control::window(bounded_window(bbr.window.cwnd, bbr.max_window))
        }
    }

    /// Section 5.2.3, `UpdateOnACK`.
    fn on_ack(&mut self, view: &View, ack: &Ack) {
        let bbr = &mut *self.0;
        bbr.begin(view);
        let rs = bbr.rate_sample(view, ack);
        bbr.update_model_and_state(&rs);
        bbr.update_control_parameters(&rs);
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        let bbr = &mut *self.0;
        bbr.begin(view);
        match event.cause {
            Cause::Loss => bbr.on_loss(view, event),
            Cause::Timeout => bbr.on_enter_rto(view, event),
            // Section 3.7: a mark is congestion, and the draft does not say what follows from it.
            Cause::Mark => bbr.note_loss(view),
            // Section 3 names no delay signal.
            Cause::Delay => {}
        }
    }

    /// Section 5.6.4.4: recovery ends with the window it began with, within what the model allows.
    fn on_recovered(&mut self, view: &View) {
        self.0.window.in_recovery = false;
        self.0.window.restore();
        self.0.set_cwnd(0.0, view.delivered);
    }

    fn on_restart(&mut self, view: &View, _idle: Span) {
        self.0.begin(view);
        self.0.handle_restart_from_idle(view);
    }

    fn on_spurious(&mut self, view: &View) {
        self.0.begin(view);
        self.0.handle_spurious_loss_detection(view);
        self.0.set_cwnd(0.0, view.delivered);
    }

    fn wants_samples(&self) -> bool {
        true
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        let bbr = &*self.0;
        let flag = |set: bool| f64::from(u8::from(set));
        visit("state", f64::from(bbr.state as u8));
        visit("max_bw", bbr.max_bw.get());
        visit("bw", bbr.bw);
        visit("bw_shortterm", bbr.bounds.bw_shortterm);
        visit("min_rtt", bbr.min_rtt.secs().unwrap_or(0.0));
        visit("inflight_longterm", bbr.bounds.inflight_longterm);
        visit("inflight_shortterm", bbr.bounds.inflight_shortterm);
        visit("max_inflight", bbr.max_inflight());
        visit("bdp", bbr.bdp(bbr.bw, 1.0));
        visit("extra_acked", bbr.extra_acked.get());
        visit("pacing_gain", bbr.state.pacing_gain());
        visit("cwnd_gain", bbr.state.cwnd_gain());
        visit("round_count", bbr.rounds.count as f64);
        visit("drain_start_round", bbr.drain_start_round as f64);
        visit("full_bw_now", flag(bbr.full_pipe.now));
        visit("full_bw_reached", flag(bbr.full_pipe.reached));
        visit("full_bw_count", f64::from(bbr.full_pipe.count));
        visit("bw_probe_wait", bbr.cycle.wait.as_secs_f64());
        visit("idle_restart", flag(bbr.idle_restart));
        visit("prior_cwnd", bbr.window.prior);
        visit("undo_inflight_longterm", bbr.undo.inflight_longterm);
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// `interval` after `stamp` has passed.
fn has_passed(now: Time, stamp: Time, interval: Span) -> bool {
    now > stamp + interval
}

/// Whole packets of which one more would not fit below `volume`: what fills a bound that is a real number.
fn fills(in_flight: f64, volume: Packets) -> bool {
    in_flight + 1.0 > volume.0
}
