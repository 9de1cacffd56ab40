//! An algorithm around another, which it calls for everything that it does not do itself.

use alloc::boxed::Box;
use core::fmt::Debug;

use crate::control::{CongestionControl, Control};
use crate::signal::{Ack, Congestion, View};
use crate::units::{Packets, Span};

macro_rules! to_inner {
    ([] $self:ident.$name:ident($($arg:ident),*)) => {
        $self.inner().$name($($arg),*)
    };
    ([mut] $self:ident.$name:ident($($arg:ident),*)) => {
        $self.inner_mut().$name($($arg),*)
    };
}

macro_rules! to_wrapper {
    ($mutable:tt $self:ident.$name:ident($($arg:ident),*)) => {
        $self.0.$name($($arg),*)
    };
}

/// What surrounds an algorithm, to record, replace or add signals. It has every method of [`CongestionControl`], which are those of the
/// algorithm inside unless it defines its own: a method of the contract cannot be forgotten. [`Wrapped`] makes an algorithm of it.
///
/// A wrapper that defines [`on_ack`](Self::on_ack) defines [`on_fluid`](Self::on_fluid) too where models run it.
///
/// ```
/// use cwnd::{Ack, Algorithm, CongestionControl, Spec, Start, View, Wrapped, Wrapper};
///
/// /// Counts acknowledgements.
/// #[derive(Clone, Debug)]
/// struct Counting {
///     inner: Algorithm,
///     acks: u64,
/// }
///
/// impl Wrapper for Counting {
///     type Inner = Algorithm;
///
///     fn inner(&self) -> &Algorithm {
///         &self.inner
///     }
///
///     fn inner_mut(&mut self) -> &mut Algorithm {
///         &mut self.inner
///     }
///
///     fn on_ack(&mut self, view: &View, ack: &Ack) {
///         self.acks += u64::from(ack.acks);
///         self.inner.on_ack(view, ack);
///     }
/// }
///
/// let inner = Spec::parse("bbr").expect("registered").start(&Start::default());
/// let counting = Wrapped(Counting { inner, acks: 0 });
/// assert!(counting.wants_samples(), "BBR does");
/// ```
pub trait Wrapper: Clone + Debug + Send + 'static {
    /// The algorithm inside.
    type Inner: CongestionControl + ?Sized;

    /// The algorithm inside.
    fn inner(&self) -> &Self::Inner;

    /// The algorithm inside.
    fn inner_mut(&mut self) -> &mut Self::Inner;

    for_methods! { forward to_inner }
}

/// The algorithm that a [`Wrapper`] makes of the one inside.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "a wrapper around its argument")]
pub struct Wrapped<W>(pub W);

impl<W: Wrapper> CongestionControl for Wrapped<W> {
    for_methods! { forward to_wrapper }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}
