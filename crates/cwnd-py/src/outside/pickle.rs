//! Records of the contract in pickles, as plain numbers. Times are whole nanoseconds, so that nothing is rounded.

use cwnd::{Ack, Bytes, Cause, Congestion, Control, Limit, Pacing, Packets, Probe, Rate, RateSample, Remote, Rtt};
use cwnd::{Span, Start, Time, View};

use super::words::{cause, held_by};
use crate::failure::Failure;

/// The fields of a record that Python sees, as a pickle has them.
pub(super) trait Pickled: Sized {
    /// The numbers.
    type State;
    /// Gives them.
    fn state(&self) -> Self::State;
    /// Takes them.
    ///
    /// # Errors
    /// They are not those of a record.
    fn of_state(state: Self::State) -> Result<Self, Failure>;
}

/// The state of a record in a pickle.
pub(super) type State<T> = <T as Pickled>::State;

impl Pickled for Start {
    type State = (f64, Option<f64>, Option<f64>, f64, u32, u32, u64);

    fn state(&self) -> Self::State {
        let Self { window, threshold, rate, max_window, packet, payload, seed, .. } = *self;
        let (threshold, rate) = (threshold.map(|packets| packets.0), rate.map(|rate| rate.0));
        (window.0, threshold, rate, max_window.0, packet.0, payload.0, seed)
    }

    fn of_state((window, threshold, rate, max_window, packet, payload, seed): Self::State) -> Result<Self, Failure> {
        let mut start =
            Self::default().with_window(Packets(window)).with_packet(Bytes(packet), Bytes(payload)).with_seed(seed);
        (start.threshold, start.rate) = (threshold.map(Packets), rate.map(Rate));
        start.max_window = Packets(max_window);
        Ok(start)
    }
}

impl Pickled for Rtt {
    type State = (u64, u64, u64, u64, u64);

    fn state(&self) -> Self::State {
        let Self { latest, smoothed, variation, min, ack_delay, .. } = *self;
        (latest.as_nanos(), smoothed.as_nanos(), variation.as_nanos(), min.as_nanos(), ack_delay.as_nanos())
    }

    fn of_state((latest, smoothed, variation, min, ack_delay): Self::State) -> Result<Self, Failure> {
        let span = Span::from_nanos;
        let mut rtt = Self::fixed(span(latest));
        (rtt.smoothed, rtt.variation) = (span(smoothed), span(variation));
        (rtt.min, rtt.ack_delay) = (span(min), span(ack_delay));
        Ok(rtt)
    }
}

impl Pickled for View {
    type State = ((u64, u64, u64, bool), (u64, u64, u64), (Option<State<Rtt>>, Option<u64>), String, f64, u32, u32);

    fn state(&self) -> Self::State {
        let Self {
            now,
            next,
            in_flight,
            in_recovery,
            delivered,
            lost,
            rtt,
            timeout,
            round,
            limit,
            peer_window,
            packet,
            payload,
            ..
        } = *self;
        let sent = (now.as_nanos(), next, in_flight, in_recovery);
        let times = (rtt.as_ref().map(Pickled::state), timeout.map(Span::as_nanos));
        (sent, (delivered, lost, round), times, held_by(limit).to_string(), peer_window.0, packet.0, payload.0)
    }

    fn of_state((sent, counted, times, limit, peer_window, packet, payload): Self::State) -> Result<Self, Failure> {
        let (now, next, in_flight, in_recovery) = sent;
        let (delivered, lost, round) = counted;
        let (rtt, timeout) = times;
        let limits = [Limit::Window, Limit::Rate, Limit::Source, Limit::Peer];
        let start = Start::default().with_packet(Bytes(packet), Bytes(payload));
        let mut view = Self::new(Time::from_nanos(now), &start);
        (view.next, view.in_flight, view.in_recovery) = (next, in_flight, in_recovery);
        (view.delivered, view.lost, view.round) = (delivered, lost, round);
        view.rtt = rtt.map(Rtt::of_state).transpose()?;
        view.timeout = timeout.map(Span::from_nanos);
        view.limit = known(&limits, held_by, "limit", &limit)?;
        view.peer_window = Packets(peer_window);
        Ok(view)
    }
}

impl Pickled for RateSample {
    type State = (u64, u64, u64, u64, u64, bool);

    fn state(&self) -> Self::State {
        let Self { delivered, lost, interval, prior_delivered, prior_in_flight, limited, .. } = *self;
        (delivered, lost, interval.as_nanos(), prior_delivered, prior_in_flight, limited)
    }

    fn of_state(state: Self::State) -> Result<Self, Failure> {
        let (delivered, lost, interval, prior_delivered, prior_in_flight, limited) = state;
        let mut sample = Self::new(delivered, Span::from_nanos(interval));
        (sample.lost, sample.limited) = (lost, limited);
        (sample.prior_delivered, sample.prior_in_flight) = (prior_delivered, prior_in_flight);
        Ok(sample)
    }
}

impl Pickled for Remote {
    type State = (Option<f64>, Option<f64>, Option<f64>, Option<f64>, Option<u64>, Option<f64>, Option<u8>);

    fn state(&self) -> Self::State {
        let Self { arrival_rate, capacity, window, loss_event_rate, one_way_delay, grant, load, .. } = *self;
        let (arrival_rate, capacity) = (arrival_rate.map(|rate| rate.0), capacity.map(|rate| rate.0));
        let (window, grant) = (window.map(|packets| packets.0), grant.map(|packets| packets.0));
        (arrival_rate, capacity, window, loss_event_rate, one_way_delay.map(Span::as_nanos), grant, load)
    }

    fn of_state(state: Self::State) -> Result<Self, Failure> {
        let (arrival_rate, capacity, window, loss_event_rate, one_way_delay, grant, load) = state;
        let mut remote = Self::default();
        (remote.arrival_rate, remote.capacity) = (arrival_rate.map(Rate), capacity.map(Rate));
        (remote.window, remote.grant) = (window.map(Packets), grant.map(Packets));
        (remote.loss_event_rate, remote.load) = (loss_event_rate, load);
        remote.one_way_delay = one_way_delay.map(Span::from_nanos);
        Ok(remote)
    }
}

impl Pickled for Ack {
    type State = (u32, u32, u32, u64, Option<State<RateSample>>, State<Remote>);

    fn state(&self) -> Self::State {
        let Self { acks, newly, marked, sent_at, sample, remote, .. } = *self;
        (acks, newly, marked, sent_at.as_nanos(), sample.as_ref().map(Pickled::state), remote.state())
    }

    fn of_state((acks, newly, marked, sent_at, sample, remote): Self::State) -> Result<Self, Failure> {
        let sample = sample.map(RateSample::of_state).transpose()?;
        let mut ack =
            Self::new(newly, Time::from_nanos(sent_at)).with_sample(sample).with_remote(Remote::of_state(remote)?);
        (ack.acks, ack.marked) = (acks, marked);
        Ok(ack)
    }
}

impl Pickled for Congestion {
    type State = (String, u64, u32, bool, bool, bool, Option<State<RateSample>>);

    fn state(&self) -> Self::State {
        let Self { first, lost, restart, separate, persistent, sample, .. } = *self;
        let sample = sample.as_ref().map(Pickled::state);
        (cause(self.cause).to_string(), first, lost, restart, separate, persistent, sample)
    }

    fn of_state((named, first, lost, restart, separate, persistent, sample): Self::State) -> Result<Self, Failure> {
        let causes = [Cause::Loss, Cause::Mark, Cause::Delay, Cause::Timeout];
        let cause = known(&causes, cause, "cause", &named)?;
        let mut event = Self::loss(first, lost).with_sample(sample.map(RateSample::of_state).transpose()?);
        event.cause = cause;
        (event.restart, event.separate, event.persistent) = (restart, separate, persistent);
        Ok(event)
    }
}

impl Pickled for Control {
    /// Without a stamp, which Python cannot ask for.
    type State = (f64, Option<f64>, Option<f64>, Option<u32>, Option<u32>, Option<u64>);

    fn state(&self) -> Self::State {
        let (rate, spread) = match self.pacing {
            Pacing::Off => (None, None),
            Pacing::At(rate) => (Some(rate.0), None),
            Pacing::Spread { gain } => (None, Some(gain)),
        };
        let pair_every = if let Probe::PairEvery(n) = self.probe { Some(n) } else { None };
        (self.window.0, rate, spread, self.quantum.map(|bytes| bytes.0), pair_every, self.wake.map(Time::as_nanos))
    }

    fn of_state((window, rate, spread, quantum, pair_every, wake): Self::State) -> Result<Self, Failure> {
        let mut control = Self::window(Packets(window)).with_pacing(match (rate, spread) {
            (Some(rate), _) => Pacing::At(Rate(rate)),
            (None, Some(gain)) => Pacing::Spread { gain },
            (None, None) => Pacing::Off,
        });
        control.quantum = quantum.map(Bytes);
        control.probe = pair_every.map_or(Probe::None, Probe::PairEvery);
        control.wake = wake.map(Time::from_nanos);
        Ok(control)
    }
}

/// The one of `all` that is called `name`.
fn known<T: Copy>(all: &[T], called: fn(T) -> &'static str, what: &str, name: &str) -> Result<T, Failure> {
    let found = all.iter().copied().find(|one| called(*one) == name);
    found.ok_or_else(|| {
        let names = all.iter().map(|one| called(*one)).collect::<Vec<_>>().join(", ");
        Failure::Argument(format!("{what}: expected one of {names}, got `{name}`"))
    })
}
