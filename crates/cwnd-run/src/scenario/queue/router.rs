//! Queues behind routers that write on packets: `xcp:1bdp,gamma=0.1`, `vcp:1bdp,target=0.98`, `decbit:1bdp,threshold=1`.

use cwnd::{Span, quantity};
use cwnd_sim::{DecBitSetup, VcpSetup, XcpSetup};

use super::{Discipline, number};

/// What an XCP queue accepts.
pub(super) const XCP: &str = "an XCP router's queue and its gains, such as `xcp:1bdp,alpha=0.4,beta=0.226,gamma=0.1`: alpha and beta \
     above 0, gamma at least 0 and at most 1";
/// What a VCP queue accepts.
pub(super) const VCP: &str = "a VCP router's queue, such as `vcp:1bdp,target=0.98,queue_weight=0.5,interval=200ms`: target above 0 and \
     at most 1, queue_weight at least 0, interval at least 1ms";
/// What a DECbit queue accepts.
pub(super) const DECBIT: &str =
    "a DECbit router's queue, such as `decbit:1bdp,threshold=1`: threshold above 0, in packets";

pub(super) fn xcp<'a>(mut parts: impl Iterator<Item = &'a str>) -> Option<Discipline> {
    let setup = parts.try_fold(XcpSetup::default(), |mut setup, part| {
        let (key, value) = part.split_once('=')?;
        match key.trim() {
            "alpha" => setup.alpha = positive(value)?,
            "beta" => setup.beta = positive(value)?,
            "gamma" => setup.gamma = number(value, |share| (0.0..=1.0).contains(&share))?,
            _ => return None,
        }
        Some(setup)
    })?;
    Some(Discipline::Xcp(setup))
}

pub(super) fn vcp<'a>(mut parts: impl Iterator<Item = &'a str>) -> Option<Discipline> {
    let setup = parts.try_fold(VcpSetup::default(), |mut setup, part| {
        let (key, value) = part.split_once('=')?;
        match key.trim() {
            "target" => setup.target = number(value, |share| share > 0.0 && share <= 1.0)?,
            "queue_weight" => setup.queue_weight = number(value, |share| share >= 0.0)?,
            "interval" => setup.interval = quantity::span(value).ok().filter(|span| *span >= Span::from_millis(1))?,
            _ => return None,
        }
        Some(setup)
    })?;
    Some(Discipline::Vcp(setup))
}

pub(super) fn decbit<'a>(mut parts: impl Iterator<Item = &'a str>) -> Option<Discipline> {
    let setup = parts.try_fold(DecBitSetup::default(), |_, part| {
        let (key, value) = part.split_once('=')?;
        (key.trim() == "threshold").then_some(DecBitSetup { threshold: positive(value)? })
    })?;
    Some(Discipline::DecBit(setup))
}

fn positive(text: &str) -> Option<f64> {
    number(text, |number| number > 0.0)
}

#[cfg(test)]
mod tests {
    use cwnd::Span;

    use super::*;
    use crate::scenario::quantity::Quantity;
    use crate::scenario::queue::Queue;

    #[test]
    fn routers_and_their_parameters() {
        let read = |text| Queue::read(text).ok().map(|queue| queue.discipline);
        assert_eq!(read("xcp:1bdp"), Some(Discipline::Xcp(XcpSetup::default())));
        let gamma = XcpSetup { gamma: 0.0, ..XcpSetup::default() };
        assert_eq!(read("xcp:100p, gamma=0"), Some(Discipline::Xcp(gamma)));
        let slow = VcpSetup { interval: Span::from_millis(400), target: 0.9, ..VcpSetup::default() };
        assert_eq!(read("vcp:1bdp,interval=400ms,target=0.9"), Some(Discipline::Vcp(slow)));
        assert_eq!(read("decbit:1bdp,threshold=2"), Some(Discipline::DecBit(DecBitSetup { threshold: 2.0 })));
        for (text, expected) in [
            ("xcp:1bdp,alpha=0", XCP),
            ("xcp:1bdp,gamma=2", XCP),
            ("vcp:1bdp,target=1.1", VCP),
            ("vcp:1bdp,interval=0ms", VCP),
            ("decbit:1bdp,threshold=0", DECBIT),
            ("decbit:1bdp,x=1", DECBIT),
        ] {
            assert_eq!(Queue::read(text).expect_err(text).expected, expected);
        }
    }
}
