//! XCP's sender: packets carry its window and round-trip time, and routers write on them by how much to change the window.
//!
//! Katabi, Handley and Rohrs, SIGCOMM 2002, section 3.2. The routers are in the hosts.

use alloc::boxed::Box;

use super::Window;
use crate::control::{CongestionControl, Control, Stamp};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::rate::{GREATEST_RATE, GREATEST_WINDOW};
use crate::signal::{Ack, Congestion, Start, View};
use crate::units::{Packets, Rate, Span};

/// XCP's sender.
#[derive(Clone, Debug)]
pub struct Xcp {
    window: Window,
    /// What the application could send.
    desired: Rate,
    rtt: Option<Span>,
    /// A router has answered.
    answered: bool,
}

impl Xcp {
    /// A sender with the desired rate `desired`.
    #[must_use]
    pub fn new(desired: Rate, start: &Start) -> Self {
        Self { window: Window::new(start), desired, rtt: None, answered: false }
    }

    /// The demand is the change per packet that would reach the desired rate within a round trip.
    fn stamp(&self) -> Stamp {
        let w = self.window.packets;
        let demand = self.rtt.map_or(0.0, |rtt| ((self.desired * rtt).0 - w) / w);
        Stamp { window: self.window.get(), rtt: self.rtt.unwrap_or(Span::ZERO), demand: Packets(demand) }
    }
}

impl CongestionControl for Xcp {
    fn control(&self) -> Control {
        Control { stamp: Some(self.stamp()), ..Control::window(self.window.get()) }
    }

    /// `cwnd = max(cwnd + H_feedback, s)` (eq. 1).
    fn on_ack(&mut self, view: &View, ack: &Ack) {
        self.rtt = view.rtt.map(|rtt| rtt.smoothed);
        if let Some(grant) = ack.remote.grant {
            self.answered = true;
            self.window.change(grant.0.max(-GREATEST_WINDOW), view);
        } else if !self.answered {
            self.window.change(f64::from(ack.newly) / self.window.packets, view);
        }
    }

    /// "XCP reacts to losses as TCP does": a queue on the path does not implement XCP (section 3.2).
    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        self.window.on_loss(view, event);
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("demand", self.stamp().demand.0);
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// Registered as `xcp`.
pub const XCP: Entry<Xcp> = Entry {
    name: "xcp",
    title: "XCP: routers write the change of the window on packets",
    family: Family::Named,
    transport: Transport::Routed,
    basis: Basis::Routers,
    source: "Katabi, Handley and Rohrs, SIGCOMM 2002",
    deviations: &[
        "where no router on the path implements XCP the window grows by a packet per round trip; the paper supposes that all do",
        "what routers grant is not added while application or receiver hold the sender, except in eras of ns-2",
        "a sender without a `desired` rate asks for as much as there is",
    ],
    parameters: &[Parameter::bit_rate("desired", "what the application could send; otherwise any rate")],
    build: |values, start| {
        let desired = values.given("desired").map_or(GREATEST_RATE, |rate| rate / start.packet.bits().max(1.0));
        Ok(Xcp::new(Rate(desired.min(GREATEST_RATE)), start))
    },
    receiver: None,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::{ack, view};
    use crate::signal::Remote;

    fn started(window: f64) -> Xcp {
        Xcp::new(Rate(1000.0), &Start { window: Packets(window), ..Start::default() })
    }

    fn granted(packets: f64) -> Ack {
        ack(1, Remote { grant: Some(Packets(packets)), ..Remote::default() })
    }

    #[test]
    fn the_window_follows_the_grants_and_the_stamps_follow_the_window() {
        let mut xcp = started(4.0);
        assert_eq!(xcp.stamp(), Stamp { window: Packets(4.0), rtt: Span::ZERO, demand: Packets(0.0) });
        // Grant, then window and demand: 1000 packets/s for 100 ms are 100 packets, (100 - w) / w of them per packet of the window.
        let script = [
            (0.0, 4.0, 24.0),
            (12.0, 16.0, 5.25),
            (24.0, 40.0, 1.5),
            (-20.0, 20.0, 4.0),
            (105.0, 125.0, -0.2),
            (-1000.0, 1.0, 99.0),
        ];
        for (grant, window, demand) in script {
            xcp.on_ack(&view(0), &granted(grant));
            let stamp = Stamp { window: Packets(window), rtt: Span::from_millis(100), demand: Packets(demand) };
            assert_eq!(xcp.control().stamp, Some(stamp));
        }
    }

    #[test]
    fn without_routers_it_grows_as_reno_until_one_answers() {
        let mut xcp = started(4.0);
        xcp.on_ack(&view(0), &ack(2, Remote::default()));
        assert_eq!(xcp.window.packets, 4.5);
        xcp.on_ack(&view(0), &granted(0.0));
        xcp.on_ack(&view(0), &ack(2, Remote::default()));
        assert_eq!(xcp.window.packets, 4.5);
    }

    #[test]
    fn a_loss_halves_once_per_window() {
        let mut xcp = started(40.0);
        let view = View { next: 1000, ..view(0) };
        xcp.on_congestion(&view, &Congestion::loss(960, 1));
        xcp.on_congestion(&view, &Congestion::loss(970, 1));
        assert_eq!(xcp.window.packets, 20.0);
        xcp.on_congestion(&view, &Congestion::timeout(1000, false));
        assert_eq!(xcp.window.packets, 1.0);
    }
}
