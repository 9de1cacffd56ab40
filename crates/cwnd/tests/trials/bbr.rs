//! A skeleton of BBR (draft-cardwell-iccrg-bbr-congestion-control-00): startup, drain and the gain cycle, without ProbeRTT.

use std::collections::VecDeque;

use cwnd::{
    Ack, Bytes, Congestion, CongestionControl, Control, Pacing, Packets, Rate, RateSample, Remote, Rtt, Span, Time,
    View,
};

use crate::{ack, close, rate, view};

#[derive(Clone, Debug)]
struct Bbr {
    mode: Mode,
    /// The best rate of each of the newest ten rounds, newest last.
    best: VecDeque<(u64, f64)>,
    rtt: Option<Rtt>,
    packet: Bytes,
    initial_window: Packets,
    /// Until a packet sent in this round is acknowledged, `full_rate` is not judged again.
    round: u64,
    full_rate: f64,
    flat_rounds: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Startup,
    Drain,
    Probe { phase: usize, since: Time },
}

impl Bbr {
    fn new(initial_window: Packets) -> Self {
        Self {
            mode: Mode::Startup,
            best: VecDeque::new(),
            rtt: None,
            packet: Bytes(1500),
            initial_window,
            round: 0,
            full_rate: 0.0,
            flat_rounds: 0,
        }
    }

    /// The maximum over the window of ten rounds; what the initial window makes of a round trip (1 ms if unknown) before.
    fn bottleneck(&self) -> Rate {
        let best = self.best.iter().map(|(_, rate)| *rate).reduce(f64::max);
        best.map_or_else(|| self.initial_window / self.rtt.map_or(Span::from_millis(1), |rtt| rtt.smoothed), Rate)
    }

    fn pacing_gain(&self) -> f64 {
        match self.mode {
            Mode::Startup => HIGH_GAIN,
            Mode::Drain => 1.0 / HIGH_GAIN,
            Mode::Probe { phase, .. } => CYCLE[phase],
        }
    }

    fn bdp(&self) -> Packets {
        self.rtt.map_or(self.initial_window, |rtt| self.bottleneck() * rtt.min)
    }

    fn sampled(&mut self, round: u64, sample: &RateSample) {
        // Rates of a limited sender count only where they are higher.
        if let Some(rate) = sample.rate().filter(|rate| !sample.limited || rate.0 >= self.bottleneck().0) {
            self.best.retain(|(then, _)| then + 10 > round);
            self.best.push_back((round, rate.0));
        }
    }

    fn check_full(&mut self, limited: bool) {
        let rate = self.bottleneck().0;
        if rate >= 1.25 * self.full_rate {
            self.full_rate = rate;
            self.flat_rounds = 0;
        } else if !limited {
            self.flat_rounds += 1;
        }
        if self.mode == Mode::Startup && self.flat_rounds >= 3 {
            self.mode = Mode::Drain;
        }
    }
}

impl CongestionControl for Bbr {
    fn control(&self) -> Control {
        let rate = self.bottleneck() * self.pacing_gain();
        let cwnd_gain = if matches!(self.mode, Mode::Probe { .. }) { 2.0 } else { HIGH_GAIN };
        let window = self.best.back().map_or(self.initial_window, |_| self.bdp() * cwnd_gain);
        // One packet below 1.2 Mbit/s, two below 24 Mbit/s, then what leaves in a millisecond.
        let quantum = match rate.to_bits(self.packet).0 {
            rate if rate < 1.2e6 => self.packet.0,
            rate if rate < 24e6 => 2 * self.packet.0,
            rate => (rate / 8e3).min(65_536.0) as u32,
        };
        let mut control = Control::window(Packets(window.0.max(4.0))).with_pacing(Pacing::At(rate));
        control.quantum = Some(Bytes(quantum));
        control
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        self.rtt = view.rtt;
        self.packet = view.packet;
        if let Some(sample) = &ack.sample {
            self.sampled(view.round, sample);
            if view.round > self.round {
                self.round = view.round;
                self.check_full(sample.limited);
            }
        }
        let in_flight = view.in_flight.saturating_sub(u64::from(ack.newly));
        let min_rtt = view.rtt.map_or(Span::MAX, |rtt| rtt.min);
        match self.mode {
            Mode::Drain if in_flight as f64 <= self.bdp().0 => self.mode = Mode::Probe { phase: 0, since: view.now },
            Mode::Probe { phase, since } if view.now.since(since) >= min_rtt => {
                self.mode = Mode::Probe { phase: (phase + 1) % CYCLE.len(), since: view.now };
            }
            _ => {}
        }
    }

    fn on_congestion(&mut self, _view: &View, _event: &Congestion) {}

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// 2 / ln 2: the least gain that doubles the delivery rate each round.
const HIGH_GAIN: f64 = 2.885_39;
const CYCLE: [f64; 8] = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// Acknowledges one packet at the end of `round`, in which `rate` packets per second were delivered over 100 ms.
fn round(bbr: &mut Bbr, round: u64, rate: u64, in_flight: u64, limited: bool) -> Control {
    let mut sample = RateSample::new(rate / 10, Span::from_millis(100));
    (sample.prior_in_flight, sample.limited) = (in_flight, limited);
    let mut view = view(100 * round);
    (view.round, view.in_flight) = (round, in_flight);
    bbr.on_ack(&view, &ack(1, Remote::default()).with_sample(Some(sample)));
    bbr.control()
}

#[test]
fn startup_doubles_until_three_flat_rounds_then_drains_and_probes() {
    let mut bbr = Bbr::new(Packets(10.0));
    // 10 packets in an unknown round trip, taken for 1 ms.
    close(rate(&bbr.control()), 28_853.9);

    // Delivered in the round and packets in flight, then pacing rate and window. The bottleneck is 1000 packets/s, 100 in a round trip.
    let script = [
        (100, 29, 288.54, 28.85),
        (200, 58, 577.08, 57.71),
        (400, 115, 1154.2, 115.42),
        (800, 231, 2308.3, 230.83),
        (1000, 289, 2885.4, 288.54), // 1.25 times 800: not flat yet
        (1000, 289, 2885.4, 288.54),
        (1000, 289, 2885.4, 288.54),
        (1000, 289, 346.57, 288.54), // the third flat round: drain at 1000 / 2.885
        (1000, 150, 346.57, 288.54),
        (1000, 101, 1250.0, 200.0), // 100 in flight: probe
        (1000, 150, 750.0, 200.0),
        (1000, 100, 1000.0, 200.0),
        (1000, 100, 1000.0, 200.0),
    ];
    for (n, (delivered, in_flight, pacing, window)) in script.into_iter().enumerate() {
        let control = round(&mut bbr, n as u64 + 1, delivered, in_flight, false);
        close(rate(&control), pacing);
        close(control.window.0, window);
        assert_eq!(control.wake, None, "BBR needs no timer");
    }
}

#[test]
fn the_rate_is_the_best_of_ten_rounds() {
    let mut bbr = Bbr::new(Packets(10.0));
    round(&mut bbr, 1, 1000, 100, false);
    for n in 2..=10 {
        close(rate(&round(&mut bbr, n, 500, 100, true)) / bbr.pacing_gain(), 1000.0);
    }
    // Limited samples below the best never counted, so nothing is left but the sample of the eleventh round.
    close(rate(&round(&mut bbr, 11, 500, 100, false)) / bbr.pacing_gain(), 500.0);
}

#[test]
fn the_quantum_follows_the_rate() {
    let mut bbr = Bbr::new(Packets(10.0));
    // Gain 2.885 and 1000 bytes: 0.23, 2.3, 46 and 2308 Mbit/s.
    let quanta = [10, 100, 2000, 100_000].map(|rate| round(&mut bbr, 1, rate, 100, false).quantum);
    assert_eq!(quanta, [1000, 2000, 5770, 65_536].map(|quantum| Some(Bytes(quantum))));
}
