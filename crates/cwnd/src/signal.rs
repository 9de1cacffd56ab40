//! The signals of a host to an algorithm: plain records, built by the host from facts it owns.
//!
//! Every host keeps to this order and meaning:
//!
//! * time is monotonic; at one instant a due wake-up comes first, then congestion, then acknowledgements;
//! * numbers of packets are unwrapped: they start at 0 for the first new packet of a flow and only grow;
//! * a host counts first and calls the algorithm afterwards. `delivered`, `lost`, `rtt` and `round` of a [`View`] already include the
//!   content of the signal, and everything else that the same packet from the receiver reports: an acknowledgement that shows a loss has
//!   counted the acknowledged packets before [`on_congestion`](crate::CongestionControl::on_congestion) is called;
//! * `in_flight`, `in_recovery` and `limit` have their values from before the event: the packets in the network, and the limit of the
//!   sender, while the packets reported now were in flight;
//! * a packet acknowledged selectively counts as delivered at that moment, and only once. Where the protocol has no selective
//!   acknowledgements (UDT), packets above a missing one count once the cumulative acknowledgement covers them.
//!
//! Hosts keep these counters in [`host::Facts`](crate::host::Facts), which makes the [`View`].
//!
//! The records are `#[non_exhaustive]`, so that a new field breaks no host. A constructor takes the fields that have no default; the others
//! are public, and a host assigns those that it knows.

use crate::units::{Bytes, Packets, Rate, Span, Time};
use crate::window::Policy;

/// The initial conditions of a flow.
///
/// ```
/// use cwnd::{Bytes, Packets, Start};
///
/// let mut start = Start::default().with_window(Packets(4.0)).with_packet(Bytes(1280), Bytes(1200));
/// start.max_window = Packets(1000.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Start {
    /// The initial window; at least one packet.
    pub window: Packets,
    /// The initial slow-start threshold, if the host knows one.
    pub threshold: Option<Packets>,
    /// The rate that the initial window makes, if the host knows the round trip: a rule that sets a rate starts at it, past a slow start
    /// and whatever its parameters say of the start. None where the rule has a start of its own, as in every host with packets.
    pub rate: Option<Rate>,
    /// What an earlier connection knew of the path, for algorithms under the window shell: they jump to half of its window once the path is
    /// confirmed (Careful Resume, RFC 9959).
    pub resume: Option<Resume>,
    /// The largest window the host will ever use; [`f64::INFINITY`] for no bound.
    pub max_window: Packets,
    /// The size of a packet on the wire, all headers included.
    pub packet: Bytes,
    /// Application data of a packet, in bytes.
    pub payload: Bytes,
    /// For algorithms that draw random numbers: they carry their own generator and nothing else seeds it.
    pub seed: u64,
    /// The rules of the host's era (stack profile), for algorithms under the window shell.
    pub policy: Policy,
}

impl Default for Start {
    fn default() -> Self {
        Self {
            window: Packets(10.0),
            threshold: None,
            rate: None,
            resume: None,
            max_window: Packets(f64::INFINITY),
            packet: Bytes(1500),
            payload: Bytes(1460),
            seed: 0,
            policy: Policy::MODERN,
        }
    }
}

impl Start {
    /// With an initial [`window`](Self::window), packets.
    #[inline]
    #[must_use]
    pub const fn with_window(self, window: Packets) -> Self {
        Self { window, ..self }
    }

    /// With an initial slow-start [`threshold`](Self::threshold), packets. One that is not above the window starts the flow in congestion
    /// avoidance.
    #[inline]
    #[must_use]
    pub const fn with_threshold(self, threshold: Packets) -> Self {
        Self { threshold: Some(threshold), ..self }
    }

    /// With the size of a [`packet`](Self::packet) on the wire and of its [`payload`](Self::payload), bytes.
    #[inline]
    #[must_use]
    pub const fn with_packet(self, packet: Bytes, payload: Bytes) -> Self {
        Self { packet, payload, ..self }
    }

    /// With a [`seed`](Self::seed) for algorithms that draw.
    #[inline]
    #[must_use]
    pub const fn with_seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// With the [`policy`](Self::policy) of the host's era.
    #[inline]
    #[must_use]
    pub const fn with_policy(self, policy: Policy) -> Self {
        Self { policy, ..self }
    }
}

/// The capacity of a path, as an earlier connection measured it (RFC 9959 section 3.1).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Resume {
    /// saved_cwnd: the window that it used, packets.
    pub window: Packets,
    /// saved_rtt: its least round-trip time.
    pub rtt: Span,
}

impl Resume {
    /// A path where an earlier connection used a `window` in packets and measured `rtt` at least.
    #[must_use]
    pub const fn new(window: Packets, rtt: Span) -> Self {
        Self { window, rtt }
    }
}

/// The round-trip time as the host knows it, at full resolution: a coarse retransmission timer never shows here.
///
/// A sample is the time from the departure of the newest packet that an acknowledgement is the first to report, to the arrival of that
/// acknowledgement: the draft of BBR (`RS.rtt` of draft-ietf-ccwg-bbr), RFC 9002 section 5.1, Linux's `ca_rtt_us`. It is not the sample of the
/// retransmission timer, for which TCP takes the oldest packet that the acknowledgement was held back for (RFC 7323 section 4.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rtt {
    /// The newest sample.
    pub latest: Span,
    /// The smoothed value (7/8 old, 1/8 new).
    pub smoothed: Span,
    /// The smoothed mean deviation (3/4 old, 1/4 new).
    pub variation: Span,
    /// The smallest sample of the flow.
    pub min: Span,
    /// For how long, of the newest sample, the receiver reports that it delayed the acknowledgement.
    pub ack_delay: Span,
}

impl Rtt {
    /// A round-trip time that never varied: every estimate is `rtt`, the deviation and the delay of the acknowledgement are zero. Real hosts
    /// use an [`RttEstimator`](crate::estimate::RttEstimator).
    #[inline]
    #[must_use]
    pub const fn fixed(rtt: Span) -> Self {
        Self { latest: rtt, smoothed: rtt, variation: Span::ZERO, min: rtt, ack_delay: Span::ZERO }
    }
}

/// The last limit that kept the next packet from being sent. If several apply, it is the first of window, source, peer and rate.
///
/// Only an acknowledgement or a wake-up ends [`Window`](Self::Window), so each time that the window was used up is seen by the next
/// signal: the draft's `C.is_cwnd_limited` is whether any acknowledgement of the last round trip saw it.
///
/// A flow begins with [`Source`](Self::Source): until its application hands over data, nothing else can hold it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "programs that show a limit have words for each")]
pub enum Limit {
    /// The algorithm's window.
    Window,
    /// The algorithm's own rate. Spreading a window over a round trip counts as `Window`.
    Rate,
    /// The application had nothing to send.
    #[default]
    Source,
    /// The receiver's window.
    Peer,
}

/// The state of the connection at the instant of a signal. Counters include the event reported; `in_flight`, `in_recovery` and `limit`
/// are those before it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct View {
    /// The instant of the signal.
    pub now: Time,
    /// The number of the next new packet.
    pub next: u64,
    /// Packets the host counted as in the network before the event: those reported delivered or lost by it are still included. After
    /// a wake-up, a restart or the end of a recovery, which report no packets, it is the present count.
    pub in_flight: u64,
    /// Fast recovery was under way before the event: it began with an earlier loss and ends when everything sent before that loss was
    /// found has arrived, or earlier where the host's scheme gives up earlier (Reno). So it is false for the loss that begins a
    /// recovery, true for the acknowledgement that ends it, and false for [`Signal::Recovered`]. What repairs losses after a timeout,
    /// or after a restart, does not count: that is slow start, and windows grow in it.
    pub in_recovery: bool,
    /// Packets known to have arrived so far, with those that this event reports. Duplicate acknowledgements that do not say which
    /// packet arrived count one each.
    pub delivered: u64,
    /// Packets found lost so far, with those that this event reports: each time a packet is found lost counts, also where a timeout
    /// or a probe only supposes so. Packets found lost without a signal, by a probe, are included in the next one.
    pub lost: u64,
    /// With the sample that this event brings; none before the first sample.
    pub rtt: Option<Rtt>,
    /// The retransmission timeout (RFC 6298) by the samples so far, at least the host's least one, with the ticks of its clock and the doublings
    /// of expiries before this event: a sender that begins to wait now waits so long. None where the host has no such timer: QUIC sends probes
    /// (RFC 9002 section 6.2), UDT has a timer of its own, and models have none.
    pub timeout: Option<Span>,
    /// Round trips so far, with the one that this event ends: it grows by one when a packet sent after the last growth is acknowledged.
    pub round: u64,
    /// The limit of the sender before the event.
    pub limit: Limit,
    /// The window the receiver grants at most; [`f64::INFINITY`] for no bound.
    pub peer_window: Packets,
    /// A packet as it is on the wire.
    pub packet: Bytes,
    /// Application data of a packet, in bytes.
    pub payload: Bytes,
}

impl View {
    /// The view at `now` of a sender with packets of the sizes in `start` that has sent nothing: counters are 0, there is no round-trip time
    /// and no timeout, and the receiver grants any window. [`Facts::view`](crate::host::Facts::view) makes the view of a sender under way.
    #[must_use]
    pub fn new(now: Time, start: &Start) -> Self {
        Self {
            now,
            next: 0,
            in_flight: 0,
            in_recovery: false,
            delivered: 0,
            lost: 0,
            rtt: None,
            timeout: None,
            round: 0,
            limit: Limit::default(),
            peer_window: Packets(f64::INFINITY),
            packet: start.packet,
            payload: start.payload,
        }
    }

    /// The application or the receiver held the sender: it used less than its algorithm allowed. Pacing is no such limit.
    #[inline]
    #[must_use]
    pub fn is_underused(&self) -> bool {
        matches!(self.limit, Limit::Source | Limit::Peer)
    }
}

/// The delivery rate around one packet, as in draft-ietf-ccwg-bbr section 4.1: how much was delivered between its departure and
/// its acknowledgement, and how long that took. A packet that was sent again counts from its newest departure.
///
/// The draft's names: `delivered` is RS.delivered, `lost` RS.lost, `prior_delivered` P.delivered (for rounds counted in packets, together
/// with [`View::delivered`], which is C.delivered), `prior_in_flight` P.tx_in_flight, `limited` P.is_app_limited.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RateSample {
    /// Packets delivered in the interval.
    pub delivered: u64,
    /// Packets found lost in the interval.
    pub lost: u64,
    /// The longer of the sending and the acknowledging interval; zero where it would be shorter than the shortest round trip seen,
    /// since it says nothing then.
    pub interval: Span,
    /// Packets delivered when this packet left.
    pub prior_delivered: u64,
    /// Packets in flight when this packet had left, itself included.
    pub prior_in_flight: u64,
    /// The application or the receiver held the sender when this packet left: the sample is a lower bound.
    pub limited: bool,
}

impl RateSample {
    /// `delivered` packets in `interval`, none of them lost, for a packet that left an unlimited sender with nothing delivered and nothing in
    /// flight. [`DeliveryRate`](crate::estimate::DeliveryRate) takes the samples of a connection.
    #[must_use]
    pub const fn new(delivered: u64, interval: Span) -> Self {
        Self { delivered, lost: 0, interval, prior_delivered: 0, prior_in_flight: 0, limited: false }
    }

    /// The rate; none for an empty interval.
    #[must_use]
    pub fn rate(&self) -> Option<Rate> {
        (self.interval > Span::ZERO).then(|| Packets(self.delivered as f64) / self.interval)
    }
}

/// Measurements of the receiver and the routers, if the transport carries them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Remote {
    /// The rate at which packets reach the receiver (UDT's AS).
    pub arrival_rate: Option<Rate>,
    /// The capacity of the path by packet pairs.
    pub capacity: Option<Rate>,
    /// The window computed at the receiver, absolute (UDT, daimd eq. 21).
    pub window: Option<Packets>,
    /// The loss event rate computed at the receiver, 0..=1 (TFRC, RFC 5348 section 5).
    pub loss_event_rate: Option<f64>,
    /// The newest one-way delay, up to a constant.
    pub one_way_delay: Option<Span>,
    /// The sum of the window changes that routers granted to the packets newly acknowledged, signed (XCP).
    pub grant: Option<Packets>,
    /// The highest load factor seen, in router-defined steps (VCP).
    pub load: Option<u8>,
}

/// New data was acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ack {
    /// Acknowledgement packets this record stands for.
    pub acks: u32,
    /// Packets newly acknowledged, cumulatively or selectively; [`View::delivered`] already includes them.
    pub newly: u32,
    /// How many of them, or of the acknowledgements, carried a congestion mark. An acknowledgement that carries one comes twice: first
    /// as [`Congestion::mark`], which a control answers once per window of data, then here, where those that count marks count them. RFC 3168
    /// section 6.1.2 lets no window grow on it.
    pub marked: u32,
    /// When the newest packet among them left.
    pub sent_at: Time,
    /// The delivery rate around that packet, for algorithms that ask for it
    /// ([`wants_samples`](crate::CongestionControl::wants_samples)); none where the host does not know it.
    pub sample: Option<RateSample>,
    /// A report of the receiver.
    pub remote: Remote,
}

impl Ack {
    /// One acknowledgement of `newly` packets, the newest of which left at `sent_at`, without marks, sample or report.
    #[inline]
    #[must_use]
    pub fn new(newly: u32, sent_at: Time) -> Self {
        Self { acks: 1, newly, marked: 0, sent_at, sample: None, remote: Remote::default() }
    }

    /// With a delivery-rate [`sample`](Self::sample), if there is one.
    #[inline]
    #[must_use]
    pub const fn with_sample(self, sample: Option<RateSample>) -> Self {
        Self { sample, ..self }
    }

    /// With a report of the receiver, [`remote`](Self::remote).
    #[inline]
    #[must_use]
    pub const fn with_remote(self, remote: Remote) -> Self {
        Self { remote, ..self }
    }

    /// The newly acknowledged packets without a mark: all but the share [`marked`](Self::marked) of [`acks`](Self::acks), rounded down.
    #[must_use]
    pub fn unmarked(&self) -> u32 {
        let acks = u64::from(self.acks.max(1));
        let clean = u64::from(self.newly) * (acks - u64::from(self.marked).min(acks)) / acks;
        u32::try_from(clean).unwrap_or(self.newly)
    }

    /// The whole packets of `acked`, each with an acknowledgement of its own, at the instant of `view`: an acknowledgement in a model
    /// without packets.
    #[must_use]
    pub fn fluid(view: &View, acked: Packets) -> Self {
        let newly = u32::try_from(acked.whole()).unwrap_or(u32::MAX);
        Self { acks: newly, ..Self::new(newly, view.now) }
    }
}

/// The kind of a congestion event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "an algorithm decides on each cause")]
pub enum Cause {
    /// Packets were found lost.
    Loss,
    /// Packets were marked by a router (ECN).
    Mark,
    /// The delay rose.
    Delay,
    /// The retransmission timer expired.
    Timeout,
}

/// A congestion event. Hosts report every one; which of them is acted upon is the algorithm's business.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Congestion {
    /// The kind of event.
    pub cause: Cause,
    /// The number of the first packet lost or marked.
    pub first: u64,
    /// Packets found lost with this event, which [`View::lost`] already includes; 0 for marks and delay. For a timeout: the packets
    /// that it has the host take for lost.
    pub lost: u32,
    /// Recovery starts over from a window of one packet (Tahoe).
    pub restart: bool,
    /// To be acted upon even if the packet left before the last decrease: Reno forgets the outstanding packets once its recovery
    /// ends, and treats the next loss of the same window as another event (RFC 5681 section 3.2).
    pub separate: bool,
    /// Not the first expiry of the timer for this packet.
    pub persistent: bool,
    /// The delivery-rate state of the lost packet, as it was sent, and the packets delivered and lost since, itself included. For algorithms
    /// that ask for samples each packet that an acknowledgement shows lost is an event of its own, in the order of their numbers; at a
    /// timeout it is the state of the last packet declared lost.
    pub sample: Option<RateSample>,
}

impl Congestion {
    /// A loss of `lost` packets, the first of them `first`.
    #[inline]
    #[must_use]
    pub const fn loss(first: u64, lost: u32) -> Self {
        Self { cause: Cause::Loss, first, lost, restart: false, separate: false, persistent: false, sample: None }
    }

    /// A congestion mark on packet `first`. With TCP's echo, which names no packet, it is the newest one acknowledged. Each acknowledgement
    /// that echoes a mark is an event of its own: those whose `first` left before the last reduction belong to it.
    #[inline]
    #[must_use]
    pub const fn mark(first: u64) -> Self {
        Self { cause: Cause::Mark, ..Self::loss(first, 0) }
    }

    /// A rise of the delay, which the receiver reported by packet `first`.
    #[inline]
    #[must_use]
    pub const fn delay(first: u64) -> Self {
        Self { cause: Cause::Delay, ..Self::loss(first, 0) }
    }

    /// An expiry of the retransmission timer with `first` the oldest packet outstanding; the host fills in `lost`.
    #[inline]
    #[must_use]
    pub const fn timeout(first: u64, persistent: bool) -> Self {
        Self { cause: Cause::Timeout, persistent, ..Self::loss(first, 0) }
    }

    /// With the delivery-rate [`sample`](Self::sample) of the lost packet, if there is one.
    #[inline]
    #[must_use]
    pub const fn with_sample(self, sample: Option<RateSample>) -> Self {
        Self { sample, ..self }
    }
}

/// A packet as a receiver sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Arrival {
    /// When it arrived.
    pub at: Time,
    /// Its unwrapped number; the number of the lost packet for a retransmission.
    pub number: u64,
    /// When it left, if the transport carries that.
    pub sent_at: Option<Time>,
    /// The sender's estimate of the round-trip time, if the transport carries that (TFRC).
    pub rtt: Option<Span>,
    /// Its size on the wire.
    pub packet: Bytes,
    /// It is the second packet of a probe pair, sent directly behind the first.
    pub pair: bool,
    /// It carries a congestion mark.
    pub marked: bool,
    /// It is sent again.
    pub retransmission: bool,
}

impl Arrival {
    /// Packet `number` of `packet` bytes on the wire, which arrived at `at`: sent once, no second of a pair, without a mark, and from a
    /// transport that carries neither its departure nor a round-trip time.
    #[inline]
    #[must_use]
    pub const fn new(at: Time, number: u64, packet: Bytes) -> Self {
        Self { at, number, sent_at: None, rtt: None, packet, pair: false, marked: false, retransmission: false }
    }
}

/// The calls of [`CongestionControl`](crate::CongestionControl) as data: recorded, replayed, fuzzed, ported to other languages.
///
/// ```
/// use cwnd::{Algorithm, CongestionControl, Signal};
///
/// /// What the algorithm asks for after each of `signals`: equal signals give equal windows.
/// fn windows(mut algorithm: Algorithm, signals: &[Signal]) -> Vec<f64> {
///     let after = |signal: &Signal| {
///         signal.deliver(&mut algorithm);
///         algorithm.control().window.0
///     };
///     signals.iter().map(after).collect()
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Signal {
    /// See [`CongestionControl::on_ack`](crate::CongestionControl::on_ack).
    Ack(View, Ack),
    /// See [`CongestionControl::on_congestion`](crate::CongestionControl::on_congestion).
    Congestion(View, Congestion),
    /// See [`CongestionControl::on_recovered`](crate::CongestionControl::on_recovered).
    Recovered(View),
    /// See [`CongestionControl::on_wake`](crate::CongestionControl::on_wake).
    Wake(View),
    /// See [`CongestionControl::on_restart`](crate::CongestionControl::on_restart).
    Restart(View, Span),
    /// See [`CongestionControl::on_spurious`](crate::CongestionControl::on_spurious).
    Spurious(View),
}
