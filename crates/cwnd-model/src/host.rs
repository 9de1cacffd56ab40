//! What the senders of models know.

use cwnd::estimate::RttEstimator;
use cwnd::host::Facts;
use cwnd::signal::Limit;
use cwnd::units::{Bytes, Span, Time};

/// The facts of a sender that is only limited by its window: never by its application or its receiver.
pub(crate) fn facts(rtt: Span, packet: Bytes) -> Facts {
    let mut facts = Facts::new(Time::ZERO, u64::MAX, packet, packet);
    facts.rtt = RttEstimator::fixed(rtt);
    facts.limits.set(Time::ZERO, Limit::Window);
    facts
}
