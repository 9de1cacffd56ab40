//! How far a window grows that is not used: what draft-ietf-ccwg-ratelimited-increase and Linux remember of the packets in flight.

use super::policy::{Policy, RateLimited};
use crate::signal::View;
use crate::units::Time;

/// The memory of a policy that bounds growth by the packets in flight.
#[derive(Clone, Debug)]
pub(super) enum Flights {
    /// draft-ietf-ccwg-ratelimited-increase section 3.
    Draft(MaxFlight),
    /// `tcp_cwnd_validate` of Linux.
    Linux(LastWindow),
}

/// `maxFS`: the largest number of packets in flight since the window was last reduced.
///
/// The number grows only when packets leave, so its maximum since the last signal is its value right before this one, which is
/// [`View::in_flight`].
#[derive(Clone, Debug)]
pub(super) struct MaxFlight {
    /// Packets; none from a reduction until packets in flight have been counted after it.
    most: Option<u64>,
    /// The last reduction. A signal of the same instant reports packets in flight before it.
    reduced_at: Option<Time>,
    /// `most` before the reductions of the congestion under way: an undo brings it back with the window.
    before: Option<u64>,
}

/// The use of the last window of data.
#[derive(Clone, Debug, Default)]
pub(super) struct LastWindow {
    /// `is_cwnd_limited`: the window was full.
    full: bool,
    /// `max_packets_out`.
    most: u64,
    /// `cwnd_usage_seq`, in packets delivered or lost: at this count all packets that were in flight then have left the network.
    until: u64,
}

impl Flights {
    /// The memory of `policy` for a flow that begins with `initial` packets; none for a policy that needs none.
    pub(super) fn of(policy: Policy, initial: f64) -> Option<Self> {
        match policy.rate_limited {
            RateLimited::None | RateLimited::Rfc9002 => None,
            RateLimited::Linux => Some(Self::Linux(LastWindow::default())),
            RateLimited::Draft11 => {
                Some(Self::Draft(MaxFlight { most: Some(initial as u64), reduced_at: None, before: None }))
            }
        }
    }

    /// An acknowledgement of `newly` packets arrives at the window `w`.
    pub(super) fn measure(&mut self, w: f64, newly: u32, view: &View) {
        match self {
            Self::Draft(flight) => flight.measure(view),
            Self::Linux(last) => last.measure(w, newly, view),
        }
    }

    /// The window was reduced; `undoable` if an undo may follow, which restores the count.
    pub(super) fn reduced(&mut self, view: &View, undoable: bool) {
        if let Self::Draft(flight) = self {
            flight.before = if undoable { flight.before.max(flight.most) } else { None };
            (flight.most, flight.reduced_at) = (None, Some(view.now));
        }
    }

    /// The last reduction was undone.
    pub(super) fn restored(&mut self) {
        if let Self::Draft(flight) = self {
            flight.most = flight.most.max(flight.before.take());
        }
    }
}

impl MaxFlight {
    fn measure(&mut self, view: &View) {
        if self.reduced_at != Some(view.now) {
            self.most = self.most.max(Some(view.in_flight));
        }
    }

    /// `maxFS`, packets; none where nothing has been counted since the last reduction.
    pub(super) fn most(&self) -> Option<f64> {
        self.most.map(|most| most as f64)
    }
}

impl LastWindow {
    fn measure(&mut self, w: f64, newly: u32, view: &View) {
        let left = (view.delivered + view.lost).saturating_sub(newly.into());
        let full = view.in_flight as f64 >= libm::floor(w);
        if left >= self.until || full || (!self.full && view.in_flight > self.most) {
            *self = Self { full, most: view.in_flight, until: left + view.in_flight };
        }
    }

    /// `tcp_is_cwnd_limited`: whether the window `w` may grow.
    pub(super) fn allows(&self, w: f64, in_slow_start: bool) -> bool {
        self.full || (in_slow_start && w < 2.0 * self.most as f64)
    }
}
