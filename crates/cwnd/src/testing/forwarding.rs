//! Whether what surrounds an algorithm passes on every method of the contract, and what comes back. The methods are those of the list that
//! the contract is declared by.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, Ordering};

use crate::control::{CongestionControl, Control};
use crate::signal::{Ack, Congestion, Limit, Remote, View};
use crate::units::{Bytes, Packets, Span, Time};

/// The methods of the contract that `wrap` does not pass on to the algorithm it is given, or whose answer it changes.
pub fn not_forwarded(wrap: impl FnOnce(Box<dyn CongestionControl>) -> Box<dyn CongestionControl>) -> Vec<&'static str> {
    let inner = Noting(Arc::default());
    let called = Arc::clone(&inner.0);
    let mut around = wrap(Box::new(inner));
    let mut missed = Vec::new();
    macro_rules! call {
        (around; $($mutable:tt $self:ident $name:ident($($arg:ident: $kind:ty),*) $(-> $out:ty)?;)*) => {
            $({
                called.store(0, Ordering::Relaxed);
                let unchanged = is_given(&around.$name($(<$kind>::given()),*));
                if called.load(Ordering::Relaxed) & bit(stringify!($name)) == 0 || !unchanged {
                    missed.push(stringify!($name));
                }
            })*
        };
    }
    for_methods! { call around }
    called.store(0, Ordering::Relaxed);
    drop(around.boxed_clone());
    if called.load(Ordering::Relaxed) & bit("boxed_clone") == 0 {
        missed.push("boxed_clone");
    }
    missed
}

/// An algorithm whose every method notes that it was called, and answers with the [`Given`] values.
#[derive(Clone, Debug)]
struct Noting(Arc<AtomicU64>);

macro_rules! note {
    ($mutable:tt $self:ident.$name:ident($($arg:ident),*)) => {{
        $(let _ = $arg;)*
        $self.note(stringify!($name));
        Given::given()
    }};
}

impl CongestionControl for Noting {
    for_methods! { forward note }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        self.note("boxed_clone");
        Box::new(self.clone())
    }
}

impl Noting {
    fn note(&self, name: &str) {
        self.0.fetch_or(bit(name), Ordering::Relaxed);
    }
}

/// A bit for each method: its place in the list.
fn bit(name: &str) -> u64 {
    macro_rules! names {
        (all; $($mutable:tt $self:ident $name:ident($($arg:ident: $kind:ty),*) $(-> $out:ty)?;)*) => {
            [$(stringify!($name)),*]
        };
    }
    let place = for_methods! { names all }.iter().position(|known| *known == name);
    1 << place.map_or(0, |place| place + 1)
}

fn is_given<T: Given + PartialEq>(answer: &T) -> bool {
    *answer == T::given()
}

/// An argument or an answer of the contract, unlike what a default answers.
trait Given {
    fn given() -> Self;
}

impl Given for () {
    fn given() {}
}

impl Given for bool {
    fn given() -> Self {
        true
    }
}

impl Given for Packets {
    fn given() -> Self {
        Self(7.0)
    }
}

impl<T: Given> Given for Option<T> {
    fn given() -> Self {
        Some(T::given())
    }
}

impl Given for Span {
    fn given() -> Self {
        Self::from_secs(1)
    }
}

impl Given for Control {
    fn given() -> Self {
        Self::window(Packets::given())
    }
}

impl Given for &View {
    fn given() -> Self {
        const VIEW: View = View {
            now: Time::ZERO,
            next: 1,
            in_flight: 1,
            in_recovery: false,
            delivered: 0,
            lost: 0,
            rtt: None,
            timeout: None,
            round: 0,
            limit: Limit::Window,
            peer_window: Packets(f64::INFINITY),
            packet: Bytes(1500),
            payload: Bytes(1460),
        };
        &VIEW
    }
}

impl Given for &Ack {
    fn given() -> Self {
        const NO_REMOTE: Remote = Remote {
            arrival_rate: None,
            capacity: None,
            window: None,
            loss_event_rate: None,
            one_way_delay: None,
            grant: None,
            load: None,
        };
        const ACK: Ack = Ack { acks: 1, newly: 1, marked: 0, sent_at: Time::ZERO, sample: None, remote: NO_REMOTE };
        &ACK
    }
}

impl Given for &Congestion {
    fn given() -> Self {
        const LOSS: Congestion = Congestion::loss(0, 1);
        &LOSS
    }
}

impl Given for &mut dyn FnMut(&'static str, f64) {
    fn given() -> Self {
        Box::leak(Box::new(|_, _| {}))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builtin::Algorithm;
    use crate::wrapper::{Wrapped, Wrapper};

    #[derive(Clone, Debug)]
    struct Plain(Box<dyn CongestionControl>);

    impl Wrapper for Plain {
        type Inner = dyn CongestionControl;

        fn inner(&self) -> &Self::Inner {
            &*self.0
        }

        fn inner_mut(&mut self) -> &mut Self::Inner {
            &mut *self.0
        }
    }

    #[test]
    fn what_forwards_forwards_everything() {
        let none: [&str; 0] = [];
        assert_eq!(not_forwarded(|inner| inner), none);
        assert_eq!(not_forwarded(|inner| Box::new(inner)), none);
        assert_eq!(not_forwarded(|inner| Box::new(Algorithm::Custom(inner))), none);
        assert_eq!(not_forwarded(|inner| Box::new(Wrapped(Plain(inner)))), none);
    }

    #[test]
    fn what_is_not_forwarded_is_named() {
        #[derive(Clone, Debug)]
        struct Forgetful(Box<dyn CongestionControl>);

        impl CongestionControl for Forgetful {
            fn control(&self) -> Control {
                self.0.control()
            }

            fn on_ack(&mut self, view: &View, ack: &Ack) {
                self.0.on_ack(view, ack);
            }

            fn on_congestion(&mut self, _view: &View, _event: &Congestion) {}

            fn boxed_clone(&self) -> Box<dyn CongestionControl> {
                Box::new(self.clone())
            }
        }

        let missed = not_forwarded(|inner| Box::new(Forgetful(inner)));
        for name in
            ["on_congestion", "on_fluid", "on_recovered", "on_wake", "on_restart", "on_spurious", "wants_samples"]
        {
            assert!(missed.contains(&name), "{name} is not called");
        }
        assert!(!missed.contains(&"control") && !missed.contains(&"boxed_clone"));
    }
}
