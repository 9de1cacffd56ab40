//! XCP's sender: Katabi, Handley and Rohrs, SIGCOMM 2002, section 3.

use cwnd::{Ack, Cause, Congestion, CongestionControl, Control, Packets, Rate, Remote, Span, Stamp, View};

use crate::{ack, view};

/// Puts its window, round trip and wish on every packet; the routers' answer moves the window.
#[derive(Clone, Debug)]
struct Xcp {
    window: f64,
    /// What the application could send.
    desired: Rate,
    rtt: Option<Span>,
    epoch_from: u64,
}

impl Xcp {
    /// H_feedback as the sender initialises it: the change per packet that would reach the desired rate within a round trip.
    fn stamp(&self) -> Stamp {
        let demand = self.rtt.map_or(0.0, |rtt| ((self.desired * rtt).0 - self.window) / self.window);
        Stamp { window: Packets(self.window), rtt: self.rtt.unwrap_or(Span::ZERO), demand: Packets(demand) }
    }
}

impl CongestionControl for Xcp {
    fn control(&self) -> Control {
        Control { stamp: Some(self.stamp()), ..Control::window(Packets(self.window)) }
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        self.rtt = view.rtt.map(|rtt| rtt.smoothed);
        let grant = ack.remote.grant.unwrap_or(Packets(0.0));
        self.window = (self.window + grant.0).max(1.0);
    }

    /// "XCP reacts to losses as TCP does": a queue along the path does not speak XCP.
    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        if event.cause == Cause::Timeout {
            self.window = 1.0;
        } else if event.first >= self.epoch_from {
            self.window = (self.window / 2.0).max(1.0);
        }
        self.epoch_from = view.next;
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

fn granted(packets: f64) -> Remote {
    Remote { grant: Some(Packets(packets)), ..Remote::default() }
}

#[test]
fn the_window_follows_the_grants_and_the_stamps_follow_the_window() {
    let mut xcp = Xcp { window: 4.0, desired: Rate(1000.0), rtt: None, epoch_from: 0 };
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
    for (round, (grant, window, demand)) in script.into_iter().enumerate() {
        xcp.on_ack(&view(100 * round as u64), &ack(4, granted(grant)));
        let control = xcp.control();
        assert_eq!(control.window, Packets(window));
        let stamp = Stamp { window: Packets(window), rtt: Span::from_millis(100), demand: Packets(demand) };
        assert_eq!(control.stamp, Some(stamp));
    }
}

#[test]
fn an_acknowledgement_of_many_carries_the_sum_of_their_grants() {
    let mut once = Xcp { window: 10.0, desired: Rate(1000.0), rtt: None, epoch_from: 0 };
    let mut singly = once.clone();
    once.on_ack(&view(0), &ack(3, granted(0.5 - 0.25 + 1.0)));
    for grant in [0.5, -0.25, 1.0] {
        singly.on_ack(&view(0), &ack(1, granted(grant)));
    }
    assert_eq!(once.control(), singly.control());
}

#[test]
fn a_loss_halves_once_per_window() {
    let mut xcp = Xcp { window: 40.0, desired: Rate(1000.0), rtt: None, epoch_from: 0 };
    xcp.on_congestion(&view(0), &Congestion::loss(960, 1));
    xcp.on_congestion(&view(1), &Congestion::loss(970, 1));
    assert_eq!(xcp.control().window, Packets(20.0));
    xcp.on_congestion(&view(300), &Congestion::timeout(1000, false));
    assert_eq!(xcp.control().window, Packets(1.0));
}
