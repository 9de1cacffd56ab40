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
        let Self { window, threshold, rate, max_window, packet, payload, seed, policy: _, resume: _ } = *self;
        let (threshold, rate) = (threshold.map(|packets| packets.0), rate.map(|rate| rate.0));
        (window.0, threshold, rate, max_window.0, packet.0, payload.0, seed)
    }

    fn of_state((window, threshold, rate, max_window, packet, payload, seed): Self::State) -> Result<Self, Failure> {
        Ok(Self {
            window: Packets(window),
            threshold: threshold.map(Packets),
            rate: rate.map(Rate),
            max_window: Packets(max_window),
            packet: Bytes(packet),
            payload: Bytes(payload),
            seed,
            ..Self::default()
        })
    }
}

impl Pickled for Rtt {
    type State = (u64, u64, u64, u64, u64);

    fn state(&self) -> Self::State {
        let Self { latest, smoothed, variation, min, ack_delay } = *self;
        (latest.as_nanos(), smoothed.as_nanos(), variation.as_nanos(), min.as_nanos(), ack_delay.as_nanos())
    }

    fn of_state((latest, smoothed, variation, min, ack_delay): Self::State) -> Result<Self, Failure> {
        let span = Span::from_nanos;
        Ok(Self {
            latest: span(latest),
            smoothed: span(smoothed),
            variation: span(variation),
            min: span(min),
            ack_delay: span(ack_delay),
        })
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
        Ok(Self {
            now: Time::from_nanos(now),
            next,
            in_flight,
            in_recovery,
            delivered,
            lost,
            rtt: rtt.map(Rtt::of_state).transpose()?,
            timeout: timeout.map(Span::from_nanos),
            round,
            limit: known(&limits, held_by, "limit", &limit)?,
            peer_window: Packets(peer_window),
            packet: Bytes(packet),
            payload: Bytes(payload),
        })
    }
}

impl Pickled for RateSample {
    type State = (u64, u64, u64, u64, u64, bool);

    fn state(&self) -> Self::State {
        let Self { delivered, lost, interval, prior_delivered, prior_in_flight, limited } = *self;
        (delivered, lost, interval.as_nanos(), prior_delivered, prior_in_flight, limited)
    }

    fn of_state(state: Self::State) -> Result<Self, Failure> {
        let (delivered, lost, interval, prior_delivered, prior_in_flight, limited) = state;
        let interval = Span::from_nanos(interval);
        Ok(Self { delivered, lost, interval, prior_delivered, prior_in_flight, limited })
    }
}

impl Pickled for Remote {
    type State = (Option<f64>, Option<f64>, Option<f64>, Option<f64>, Option<u64>, Option<f64>, Option<u8>);

    fn state(&self) -> Self::State {
        let Self { arrival_rate, capacity, window, loss_event_rate, one_way_delay, grant, load } = *self;
        let (arrival_rate, capacity) = (arrival_rate.map(|rate| rate.0), capacity.map(|rate| rate.0));
        let (window, grant) = (window.map(|packets| packets.0), grant.map(|packets| packets.0));
        (arrival_rate, capacity, window, loss_event_rate, one_way_delay.map(Span::as_nanos), grant, load)
    }

    fn of_state(state: Self::State) -> Result<Self, Failure> {
        let (arrival_rate, capacity, window, loss_event_rate, one_way_delay, grant, load) = state;
        Ok(Self {
            arrival_rate: arrival_rate.map(Rate),
            capacity: capacity.map(Rate),
            window: window.map(Packets),
            loss_event_rate,
            one_way_delay: one_way_delay.map(Span::from_nanos),
            grant: grant.map(Packets),
            load,
        })
    }
}

impl Pickled for Ack {
    type State = (u32, u32, u32, u64, Option<State<RateSample>>, State<Remote>);

    fn state(&self) -> Self::State {
        let Self { acks, newly, marked, sent_at, sample, remote } = *self;
        (acks, newly, marked, sent_at.as_nanos(), sample.as_ref().map(Pickled::state), remote.state())
    }

    fn of_state((acks, newly, marked, sent_at, sample, remote): Self::State) -> Result<Self, Failure> {
        let sample = sample.map(RateSample::of_state).transpose()?;
        Ok(Self { acks, newly, marked, sent_at: Time::from_nanos(sent_at), sample, remote: Remote::of_state(remote)? })
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
        let sample = sample.map(RateSample::of_state).transpose()?;
        Ok(Self { cause, first, lost, restart, separate, persistent, sample })
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
        Ok(Self {
            pacing: match (rate, spread) {
                (Some(rate), _) => Pacing::At(Rate(rate)),
                (None, Some(gain)) => Pacing::Spread { gain },
                (None, None) => Pacing::Off,
            },
            quantum: quantum.map(Bytes),
            probe: pair_every.map_or(Probe::None, Probe::PairEvery),
            wake: wake.map(Time::from_nanos),
            ..Self::window(Packets(window))
        })
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
