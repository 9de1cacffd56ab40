//! The built-in algorithms as one enum, and the line that registers each.

use alloc::boxed::Box;

use crate::control::{CongestionControl, Control};
use crate::entry::Entry;
use crate::rate;
use crate::router;
use crate::signal::{Ack, Congestion, View};
use crate::units::{Packets, Span};
use crate::window::{self, Window};

/// What a host does with an algorithm, compiled for each built-in one. A host that makes its records in here makes of them only what
/// the algorithm's rule looks at.
pub trait Visitor {
    /// The result of the call.
    type Output;

    /// Does it with `algorithm`.
    fn visit<A: CongestionControl + ?Sized>(self, algorithm: &mut A) -> Self::Output;
}

/// One line registers an algorithm: the enum's arm, the type it holds, and the registry entries built on it; none where an entry
/// above builds on several types.
macro_rules! algorithms {
    ($($arm:ident($type:ty) => $($entry:path),*;)+) => {
        /// Every built-in algorithm, dispatched without a box or a virtual call per packet, and any other behind `Custom`.
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum Algorithm {
            $(#[doc = concat!("See `", stringify!($type), "`.")] $arm($type),)+
            /// An algorithm from outside this crate.
            Custom(Box<dyn CongestionControl>),
        }

        /// Every registered algorithm, in the order of registration.
        pub static ALGORITHMS: &[&Entry<Algorithm>] =
            &[$($(&$entry.built_by(|values, start| ($entry.build)(values, start).map(Algorithm::from)),)*)+];

        $(impl From<$type> for Algorithm {
            fn from(algorithm: $type) -> Self {
                Self::$arm(algorithm)
            }
        })+

        #[cfg(test)]
        const SIZES: &[(&str, usize)] = &[$((stringify!($arm), size_of::<$type>())),+];

        impl Algorithm {
            /// Has `visitor` see the algorithm inside.
            #[inline(always)]
            pub fn visit<V: Visitor>(&mut self, visitor: V) -> V::Output {
                match self {
                    $(Self::$arm(inner) => visitor.visit(inner),)+
                    Self::Custom(inner) => visitor.visit(&mut **inner),
                }
            }
        }

        /// Evaluates `$body` with `$inner` bound to the algorithm inside.
        macro_rules! dispatch {
            ($self:expr, $inner:ident => $body:expr) => {
                match $self {
                    $(Algorithm::$arm($inner) => $body,)+
                    Algorithm::Custom($inner) => $body,
                }
            };
        }
    };
}

algorithms! {
    Aimd(Window<window::aimd::Aimd>) => window::aimd::RENO, window::aimd::AIMD;
    Aiad(Window<window::aiad::Aiad>) => window::aiad::AIAD;
    Mimd(Window<window::mimd::Mimd>) => window::mimd::MIMD;
    Miad(Window<window::miad::Miad>) => window::miad::MIAD;
    Binomial(Window<window::binomial::Binomial>) => window::binomial::BINOMIAL, window::binomial::IIAD, window::binomial::SQRT;
    Simd(Window<window::simd::Simd>) => window::simd::SIMD;
    ExpTcp(Window<window::exp_tcp::ExpTcp>) => window::exp_tcp::EXP_TCP;
    NewAimd(Window<window::new_aimd::NewAimd>) => window::new_aimd::NEW_AIMD;
    Cubic(Window<window::cubic::Cubic>) => window::cubic::CUBIC;
    HighSpeed(Window<window::highspeed::HighSpeed>) => window::highspeed::HIGHSPEED;
    Scalable(Window<window::scalable::Scalable>) => window::scalable::SCALABLE;
    Daimd(Box<rate::daimd::Daimd<rate::daimd::Alpha>>) => rate::daimd::DAIMD;
    Udt(Box<rate::udt::Udt>) => rate::udt::UDT;
    UdtAgent(Box<rate::udt::Agent>) => ;
    Bic(Window<window::bic::Bic>) => window::bic::BIC;
    Htcp(Window<window::htcp::Htcp>) => window::htcp::HTCP;
    Vegas(Window<window::vegas::Vegas>) => window::vegas::VEGAS;
    Fast(Window<window::fast::Fast>) => window::fast::FAST;
    Westwood(Window<window::westwood::Westwood>) => window::westwood::WESTWOOD;
    Dctcp(Window<window::dctcp::Dctcp>) => window::dctcp::DCTCP;
    Prague(Window<window::prague::Prague>) => window::prague::PRAGUE;
    Tfrc(Box<rate::tfrc::Tfrc>) => rate::tfrc::TFRC;
    Xcp(router::xcp::Xcp) => router::xcp::XCP;
    Vcp(router::vcp::Vcp) => router::vcp::VCP;
    DecBit(router::decbit::DecBit) => router::decbit::DECBIT;
    Rap(rate::rap::Rap) => rate::rap::RAP;
    Lda(rate::lda::Lda) => rate::lda::LDA;
    Tear(rate::tear::Tear) => rate::tear::TEAR;
    Aild(Window<window::aild::Aild>) => window::aild::AILD;
    Sabul(rate::sabul::Sabul) => rate::sabul::SABUL;
    Bbr3(rate::bbr3::Bbr3) => rate::bbr3::BBR3;
    Bbr(rate::bbr::Bbr) => rate::bbr::BBR;
    Copa(rate::copa::Copa) => rate::copa::COPA;
    Ledbat(Window<window::ledbat::Ledbat>) => window::ledbat::LEDBAT;
    LedbatPp(Window<window::ledbatpp::LedbatPp>) => window::ledbatpp::LEDBATPP;
    Rule(Window<window::rule::Rule>) => window::rule::RULE;
}

impl From<rate::udt::Built> for Algorithm {
    fn from(built: rate::udt::Built) -> Self {
        match built {
            rate::udt::Built::Udt(udt) => Box::new(udt).into(),
            rate::udt::Built::Agent(agent) => Box::new(agent).into(),
        }
    }
}

impl From<rate::daimd::Daimd<rate::daimd::Alpha>> for Algorithm {
    fn from(daimd: rate::daimd::Daimd<rate::daimd::Alpha>) -> Self {
        Box::new(daimd).into()
    }
}

impl From<rate::tfrc::Tfrc> for Algorithm {
    fn from(tfrc: rate::tfrc::Tfrc) -> Self {
        Box::new(tfrc).into()
    }
}

/// Other names of entries, each with the entry's own.
pub static ALIASES: &[(&str, &str)] = &[("aimd-fc", "new-aimd")];

macro_rules! in_algorithm {
    ($mutable:tt $self:ident.$name:ident($($arg:ident),*)) => {
        dispatch!($self, inner => inner.$name($($arg),*))
    };
}

impl CongestionControl for Algorithm {
    for_methods! { forward in_algorithm }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        dispatch!(self, inner => inner.boxed_clone())
    }
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    use super::*;

    #[test]
    fn an_algorithm_has_at_most_160_bytes() {
        let sizes = SIZES.iter().filter(|(_, bytes)| *bytes > 152);
        let large: Vec<String> = sizes.map(|(name, bytes)| format!("{name} has {bytes} bytes")).collect();
        assert!(
            large.is_empty(),
            "{}: an algorithm has at most 152, since each flow of a simulation has room for the largest: box what does not change after \
             the start (its parameters), or the whole algorithm in its arm",
            large.join(", ")
        );
        assert!(size_of::<Algorithm>() <= 160, "{} bytes, more than any arm", size_of::<Algorithm>());
    }
}
