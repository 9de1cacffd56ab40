//! The behaviour of TCP endpoints over the years, as named data.
//!
//! ns-2 changed its defaults again and again, and papers of different years that say only "ns-2" mean different senders. The
//! dates are those of the change log in its `ns-default.tcl`.

use cwnd::Span;
use cwnd::registry::Transport;
use cwnd::window::{FirstCut, Policy, RateLimited, SlowStart};

use crate::tcp::recovery::RecoveryScheme;

/// The sending rule during a recovery by selective acknowledgements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// As much as the window exceeds ns-2's `pipe_` (`Sack1`): a lost packet counts as in the network until it is acknowledged,
    /// its retransmission counts besides. Silence for half a window, then a packet per duplicate acknowledgement.
    Sack1,
    /// In proportion to delivered data (RFC 6937, with the reduction bound of RFC 9937), counting by RFC 6675: the window
    /// is reached by the end of the recovery.
    Proportional,
}

/// Reaction of a sender to a congestion mark that finds its window at one packet, where no cut can go further. It concerns echoes that
/// last until they are confirmed ([`AckEcho::Latch`](crate::AckEcho::Latch)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarkedAtOne {
    /// Nothing: a packet per round trip is sent as before.
    None,
    /// It sends no new packet before its retransmission timer, which starts anew, has expired (RFC 3168 section 6.1.2).
    Timer,
    /// Waits for the timer, and each wait that follows another at once is twice as long (`ecn_backoff_` of ns-2).
    Backoff,
}

/// The behaviour of TCP endpoints at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Era {
    /// Its name in scenarios.
    pub name: &'static str,
    /// One line for people.
    pub title: &'static str,
    /// The initial window, packets.
    pub initial_window: f64,
    /// The behaviour of the window shell.
    pub policy: Policy,
    /// Ticks of the retransmission timer; zero for none.
    pub granularity: Span,
    /// The smallest retransmission timeout.
    pub min_rto: Span,
    /// The timeout before the first round-trip sample.
    pub initial_rto: Span,
    /// The first two duplicate acknowledgements each release a new packet (RFC 3042).
    pub limited_transmit: bool,
    /// The detection and repair of losses, unless a flow chooses its own.
    pub scheme: RecoveryScheme,
    /// The sending rule during recovery.
    pub recovery: Recovery,
    /// NewReno's timer runs on from the first partial acknowledgement, so that many losses in a window end in a timeout instead
    /// of a round trip each (the impatient variant of RFC 6582 section 4); ns-2 restarts it with every one.
    pub impatient_rto: bool,
    /// The effect of a congestion mark on a window of one packet.
    pub marked_at_one: MarkedAtOne,
    /// Receivers acknowledge every second packet or after this time where a flow does not choose; none: every packet at once.
    pub delayed_ack: Option<Span>,
    /// The first packets of a flow that a receiver which delays acknowledgements acknowledges at once.
    pub quick_acks: u8,
}

impl Era {
    /// Every era, oldest first.
    pub const ALL: [Self; 6] =
        [Self::NS2_2001, Self::NS2_2001_PRECISE, Self::NS2_2004, Self::NS2_2006, Self::LINUX_2_6, Self::MODERN];

    /// ns-2 before 26 May 2001: one packet to start with, ticks of 0.1 s, a timeout of at least two ticks, no limited transmit.
    pub const NS2_2001: Self = Self {
        name: "ns2-2001",
        title: "ns-2 of early 2001",
        initial_window: 1.0,
        policy: NS2_TRUNCATING,
        granularity: Span::from_millis(100),
        min_rto: Span::from_millis(200),
        initial_rto: Span::from_secs(6),
        limited_transmit: false,
        scheme: RecoveryScheme::Sack,
        recovery: Recovery::Sack1,
        impatient_rto: false,
        marked_at_one: MarkedAtOne::Backoff,
        delayed_ack: None,
        quick_acks: 0,
    };

    /// [`NS2_2001`](Self::NS2_2001) with windows reduced to real numbers (`precisionReduce_`), for decreases of a few per cent of the window or of less
    /// than a packet.
    pub const NS2_2001_PRECISE: Self = Self {
        name: "ns2-2001-precise",
        title: "ns-2 of early 2001, windows not truncated",
        policy: NS2,
        ..Self::NS2_2001
    };

    /// ns-2 of 2004: two packets to start with, ticks of 10 ms, a timeout of at least 1 s, limited transmit.
    pub const NS2_2004: Self = Self {
        name: "ns2-2004",
        title: "ns-2 of 2004",
        initial_window: 2.0,
        granularity: Span::from_millis(10),
        min_rto: Span::from_secs(1),
        limited_transmit: true,
        ..Self::NS2_2001
    };

    /// ns-2 since January 2006: windows are reduced to real numbers, a timeout of at least 0.2 s, 3 s at first.
    pub const NS2_2006: Self = Self {
        name: "ns2-2006",
        title: "ns-2 of 2006",
        policy: NS2,
        min_rto: Span::from_millis(200),
        initial_rto: Span::from_secs(3),
        ..Self::NS2_2004
    };

    /// Linux 2.6 of about 2007, the host stack inside NCTUns 4.0.
    ///
    /// From its source (`net/ipv4/tcp_input.c`, `include/net/tcp.h`): three packets of 1500 bytes to start with (RFC 3390), a
    /// timeout of at least 200 ms and 3 s at first, whole windows, growth counted per acknowledgement, a window that is not
    /// used does not grow and is restarted after an idle time, cuts by the algorithm alone, duplicate acknowledgements that
    /// release new packets, and a timer that starts anew with every partial acknowledgement. Assumed: a clock of 1000 Hz (an option of the kernel; 100, 250 and 300 are others), and selective
    /// acknowledgements with proportional rate reduction where the kernel halved its rate over a round trip by its own
    /// bookkeeping, to the same end. Not modelled: forward acknowledgement, undoing of cuts, and a timeout that is at least
    /// 200 ms *beyond* the smoothed round-trip time.
    pub const LINUX_2_6: Self = Self {
        name: "linux-2.6",
        title: "Linux of 2007",
        initial_window: 3.0,
        policy: {
            let mut policy = Policy::MODERN;
            (policy.truncate, policy.per_ack, policy.mark_floor) = (true, true, 2);
            policy
        },
        granularity: Span::from_millis(1),
        min_rto: Span::from_millis(200),
        initial_rto: Span::from_secs(3),
        limited_transmit: true,
        scheme: RecoveryScheme::Sack,
        recovery: Recovery::Proportional,
        impatient_rto: false,
        marked_at_one: MarkedAtOne::None,
        delayed_ack: None,
        quick_acks: 0,
    };

    /// The current RFCs: RFC 6928 (an initial window of ten packets), RFC 6298 (timeout), RFC 3042, RFC 9438, and losses found and
    /// repaired by RFC 8985 (RACK-TLP), RFC 9937 (proportional rate reduction) and RFC 5682 (F-RTO), as current kernels do. Receivers
    /// acknowledge every second packet or after 40 ms, but each of the first 16 at once, as Linux's do (`TCP_DELACK_MIN`,
    /// `TCP_MAX_QUICKACKS`).
    pub const MODERN: Self = Self {
        name: "modern",
        title: "the RFCs of today",
        initial_window: 10.0,
        policy: Policy::MODERN,
        granularity: Span::ZERO,
        min_rto: Span::from_secs(1),
        initial_rto: Span::from_secs(1),
        limited_transmit: true,
        scheme: RecoveryScheme::Rack,
        recovery: Recovery::Proportional,
        impatient_rto: true,
        marked_at_one: MarkedAtOne::Timer,
        delayed_ack: Some(Span::from_millis(40)),
        quick_acks: 16,
    };

    /// The default detection and repair of losses of flows over `transport`: those of routers need selective acknowledgements and know no
    /// other scheme.
    #[must_use]
    pub fn scheme_over(&self, transport: Transport) -> RecoveryScheme {
        if transport == Transport::Routed { RecoveryScheme::Sack } else { self.scheme }
    }

    /// The era called `name`.
    #[must_use]
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|era| era.name == name)
    }
}

const NS2: Policy = {
    let mut policy = Policy::MODERN;
    policy.slow_start = SlowStart::Standard;
    policy.first_cut = FirstCut::Half;
    policy.timeout_halves = true;
    policy.truncate = false;
    policy.rate_limited = RateLimited::None;
    policy.validate = false;
    policy.per_ack = true;
    (policy.loss_floor, policy.mark_floor) = (1, 1);
    policy
};
const NS2_TRUNCATING: Policy = {
    let mut policy = NS2;
    policy.truncate = true;
    policy
};
