//! The requests of an algorithm to its host, and the trait between them.

use alloc::boxed::Box;
use core::fmt::Debug;

use crate::signal::{Ack, Arrival, Congestion, Remote, Signal, View};
use crate::units::{Bytes, Packets, Rate, Span, Time};

/// The spacing of departures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "a host obeys each request")]
pub enum Pacing {
    /// Packets leave as soon as the window allows.
    #[default]
    Off,
    /// The window is spread over a smoothed round-trip time, `gain` times as fast as evenly.
    Spread {
        /// Above 0; 1 is one window per round trip.
        gain: f64,
    },
    /// This many packets per second, whatever the window.
    At(Rate),
}

/// Packet pairs requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a host obeys each request")]
pub enum Probe {
    /// None.
    #[default]
    None,
    /// Every `n`-th packet is followed by its successor at once. At least 2.
    PairEvery(u32),
}

/// The header of departing packets for routers (XCP's congestion header).
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stamp {
    /// The sender's window.
    pub window: Packets,
    /// Its estimate of the round-trip time.
    pub rtt: Span,
    /// The change of window it would like per packet, signed.
    pub demand: Packets,
}

impl Stamp {
    /// The header of a sender with this window and round-trip time that would like `demand` packets more per packet.
    #[must_use]
    pub const fn new(window: Packets, rtt: Span, demand: Packets) -> Self {
        Self { window, rtt, demand }
    }
}

/// The requests of an algorithm to its host. They hold until the next signal.
///
/// ```
/// use cwnd::{Bytes, Control, Pacing, Packets, Rate};
///
/// let mut control = Control::window(Packets(40.0)).with_pacing(Pacing::At(Rate(1000.0)));
/// control.quantum = Some(Bytes(3000));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Control {
    /// The host sends while `in_flight + 1 <= floor(window)`. At least one packet, and finite unless the rate limits the sender.
    pub window: Packets,
    /// The spacing of departures.
    pub pacing: Pacing,
    /// The largest burst at one instant; the host's choice if none.
    pub quantum: Option<Bytes>,
    /// Packet pairs.
    pub probe: Probe,
    /// The header that departing packets carry for routers.
    pub stamp: Option<Stamp>,
    /// When to call [`CongestionControl::on_wake`]; none for never.
    pub wake: Option<Time>,
}

impl Control {
    /// A window in packets and nothing else.
    #[inline]
    #[must_use]
    pub const fn window(window: Packets) -> Self {
        Self { window, pacing: Pacing::Off, quantum: None, probe: Probe::None, stamp: None, wake: None }
    }

    /// With departures spaced by [`pacing`](Self::pacing).
    #[inline]
    #[must_use]
    pub const fn with_pacing(self, pacing: Pacing) -> Self {
        Self { pacing, ..self }
    }
}

/// Declares the contract as it is written, and makes a macro of the list of its methods, so that whatever forwards to another algorithm
/// forwards all of them. `for_methods! { with first }` expands to `with! { first; list }`, where the list has for each method
/// `[mut] self name(argument: type, ...) -> type;`. `boxed_clone` is not among them: see there.
macro_rules! contract {
    ($d:tt $(#[$about:meta])* pub trait $contract:ident: $one:ident + $other:ident { $($methods:tt)* }) => {
        $(#[$about])*
        pub trait $contract: $one + $other {
            $($methods)*
        }

        contract! { @collect $d [] $($methods)* }
    };
    (@collect $d:tt [$($list:tt)*] $(#[$doc:meta])* fn boxed_clone(&self) -> $out:ty; $($rest:tt)*) => {
        contract! { @collect $d [$($list)*] $($rest)* }
    };
    (@collect $d:tt [$($list:tt)*] $(#[$doc:meta])*
        fn $name:ident(&mut $self:ident $(, $arg:ident: $kind:ty)*) $(-> $out:ty)?; $($rest:tt)*) => {
        contract! { @collect $d [$($list)* [mut] $self $name($($arg: $kind),*) $(-> $out)?;] $($rest)* }
    };
    (@collect $d:tt [$($list:tt)*] $(#[$doc:meta])*
        fn $name:ident(&mut $self:ident $(, $arg:ident: $kind:ty)*) $(-> $out:ty)? $body:block $($rest:tt)*) => {
        contract! { @collect $d [$($list)* [mut] $self $name($($arg: $kind),*) $(-> $out)?;] $($rest)* }
    };
    (@collect $d:tt [$($list:tt)*] $(#[$doc:meta])*
        fn $name:ident(&$self:ident $(, $arg:ident: $kind:ty)*) $(-> $out:ty)?; $($rest:tt)*) => {
        contract! { @collect $d [$($list)* [] $self $name($($arg: $kind),*) $(-> $out)?;] $($rest)* }
    };
    (@collect $d:tt [$($list:tt)*] $(#[$doc:meta])*
        fn $name:ident(&$self:ident $(, $arg:ident: $kind:ty)*) $(-> $out:ty)? $body:block $($rest:tt)*) => {
        contract! { @collect $d [$($list)* [] $self $name($($arg: $kind),*) $(-> $out)?;] $($rest)* }
    };
    (@collect $d:tt [$($list:tt)*]) => {
        macro_rules! for_methods {
            ($d with:ident $d first:ident) => {
                $d with! { $d first; $($list)* }
            };
        }
    };
}

/// Implements every method of `for_methods` by `$reach! { [mut] self.method(arguments) }`.
macro_rules! forward {
    ($reach:ident; $([$($mutable:tt)?] $self:ident $name:ident($($arg:ident: $kind:ty),*) $(-> $out:ty)?;)*) => {
        $(
            #[doc = concat!("See [`CongestionControl::", stringify!($name), "`].")]
            #[inline]
            fn $name(&$($mutable)? $self $(, $arg: $kind)*) $(-> $out)? {
                $reach! { [$($mutable)?] $self.$name($($arg),*) }
            }
        )*
    };
}

contract! {
    $
    /// A congestion-control algorithm: state and a rule, fed with records.
    ///
    /// It has no clock and no socket, does not allocate per signal, and cannot fail. An algorithm that needs random numbers has its own
    /// generator, seeded by [`Start::seed`](crate::Start::seed), so that equal signals give equal controls.
    ///
    /// A sender that keeps twenty packets in the network, whatever happens:
    ///
    /// ```
    /// use cwnd::{Ack, Congestion, CongestionControl, Control, Packets, View};
    ///
    /// #[derive(Clone, Debug)]
    /// struct Fixed;
    ///
    /// impl CongestionControl for Fixed {
    ///     fn control(&self) -> Control {
    ///         Control::window(Packets(20.0))
    ///     }
    ///
    ///     fn on_ack(&mut self, _view: &View, _ack: &Ack) {}
    ///
    ///     fn on_congestion(&mut self, _view: &View, _event: &Congestion) {}
    ///
    ///     fn boxed_clone(&self) -> Box<dyn CongestionControl> {
    ///         Box::new(self.clone())
    ///     }
    /// }
    /// ```
    pub trait CongestionControl: Debug + Send {
        /// The present requests of the algorithm. Pure; the host reads it after every signal.
        fn control(&self) -> Control;

        /// New data was acknowledged: `view.delivered`, `view.rtt` and `view.round` include it; `view.in_flight` and `view.limit` are those
        /// before the acknowledgement arrived.
        fn on_ack(&mut self, view: &View, ack: &Ack);

        /// Congestion was found: `view.lost` includes the `event.lost` packets lost by it, and `view.delivered` what the same packet from
        /// the receiver acknowledged; `view.in_flight`, `view.in_recovery` and `view.limit` are those before the event, also at a timeout.
        /// Hosts report every loss event and mark; the algorithm decides whether to respond twice.
        fn on_congestion(&mut self, view: &View, event: &Congestion);

        /// `acked` packets, a real number of them, were acknowledged at once: how a model without packets grows a window. An algorithm
        /// applies its rule once, as it stands, to all of them, and so grows by the papers' increase per round trip where `acked` is
        /// its window. `view` is as for [`on_ack`](Self::on_ack). By default the whole packets are passed to `on_ack`.
        fn on_fluid(&mut self, view: &View, acked: Packets) {
            self.on_ack(view, &Ack::fluid(view, acked));
        }

        /// Fast recovery has ended, after the acknowledgement that ended it was passed to [`on_ack`](Self::on_ack): `view.in_flight` is the rest
        /// in the network, and `view.in_recovery` is false.
        fn on_recovered(&mut self, _view: &View) {}

        /// The time requested in [`Control::wake`] has come: never early, maybe late. A late wake-up applies every interval missed. `view` is
        /// the present state.
        fn on_wake(&mut self, _view: &View) {}

        /// A packet is about to be sent after `idle` without one in flight: `view.in_flight` is 0, and `view.next` does not include it.
        fn on_restart(&mut self, _view: &View, _idle: Span) {}

        /// The last congestion event was an error: the packets declared lost were only delayed. `view.lost` is not reduced.
        fn on_spurious(&mut self, _view: &View) {}

        /// Whether it reads [`Ack::sample`] and [`Congestion::sample`]. Only then does a host take delivery-rate samples; the answer never
        /// changes during a flow. Such an algorithm sets the window at each acknowledgement of a recovery too, and the host follows it: others
        /// say where a recovery leads, and TCP hosts approach that by proportional rate reduction (RFC 9937).
        fn wants_samples(&self) -> bool {
            false
        }

        /// Whether it needs congestion marks, each echoed: without them it answers losses alone.
        fn needs_marks(&self) -> bool {
            false
        }

        /// The window at which slow start ends, infinite before it is known; none where an algorithm has no slow start. Hosts that pace as
        /// Linux does send faster below half of it.
        fn slow_start_threshold(&self) -> Option<Packets> {
            None
        }

        /// Shows named internals to a trace: `ssthresh`, `w0`, `alpha`, … The names and their order never change during a flow.
        fn inspect(&self, _visit: &mut dyn FnMut(&'static str, f64)) {}

        /// A copy behind a box. A wrapper copies itself, whatever it wraps: this method alone is not forwarded.
        fn boxed_clone(&self) -> Box<dyn CongestionControl>;
    }
}

macro_rules! in_box {
    ($mutable:tt $self:ident.$name:ident($($arg:ident),*)) => {
        (**$self).$name($($arg),*)
    };
}

impl<A: CongestionControl + ?Sized> CongestionControl for Box<A> {
    for_methods! { forward in_box }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        (**self).boxed_clone()
    }
}

impl Signal {
    /// Calls the method of `algorithm` that it stands for.
    pub fn deliver(&self, algorithm: &mut (impl CongestionControl + ?Sized)) {
        match self {
            Self::Ack(view, ack) => algorithm.on_ack(view, ack),
            Self::Congestion(view, event) => algorithm.on_congestion(view, event),
            Self::Recovered(view) => algorithm.on_recovered(view),
            Self::Wake(view) => algorithm.on_wake(view),
            Self::Restart(view, idle) => algorithm.on_restart(view, *idle),
            Self::Spurious(view) => algorithm.on_spurious(view),
        }
    }
}

impl Clone for Box<dyn CongestionControl> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}

/// The half of an algorithm that lives at the receiver: UDT's window (daimd eq. 21), TFRC's loss intervals.
pub trait ReceiverSide: Debug + Send {
    /// A packet arrived.
    fn on_packet(&mut self, arrival: &Arrival);

    /// The content of the next report to the sender. Called once per report sent.
    fn report(&mut self, now: Time) -> Remote;

    /// When the next report must be sent at the latest: TFRC reports once per round trip and at once when it sees a new loss event.
    /// None where the host's clock decides alone, as in UDT.
    fn due(&self) -> Option<Time> {
        None
    }
}
