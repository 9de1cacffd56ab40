//! DECbit: the window follows the share of packets that met a queue.
//!
//! Ramakrishnan and Jain, "A binary feedback scheme for congestion avoidance in computer networks", ACM Transactions on Computer
//! Systems 8(2), 1990. Routers set the bit; the routers are in the hosts.

use alloc::boxed::Box;

use super::Window;
use crate::control::{CongestionControl, Control};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::{Ack, Congestion, View};

/// DECbit's sender.
#[derive(Clone, Debug)]
pub struct DecBit {
    increase: f64,
    keep: f64,
    share: f64,
    window: Window,
    /// Acknowledgements still to come for packets of the window before (section 4.2.2), and then those that count.
    past: u64,
    left: u64,
    /// Counted packets: how many were received, and how many had the bit.
    received: u64,
    set: u64,
}

impl DecBit {
    /// The next decision is over one window of acknowledgements, after `past` acknowledgements of packets sent before.
    fn begin(&mut self, past: u64) {
        (self.past, self.left) = (past, self.window.get().whole());
        (self.received, self.set) = (0, 0);
    }

    fn on_bit(&mut self, set: bool, view: &View) {
        if self.past > 0 {
            self.past -= 1;
            return;
        }
        self.received += 1;
        self.set += u64::from(set);
        if self.received < self.left {
            return;
        }
        let before = self.window.get().whole();
        let w = self.window.packets;
        let congested = self.set as f64 >= self.share * self.received as f64;
        if congested {
            self.window.set(w * self.keep);
        } else {
            self.window.change(self.increase, view);
        }
        self.begin(before);
    }
}

impl CongestionControl for DecBit {
    fn control(&self) -> Control {
        Control::window(self.window.get())
    }

    /// The bit comes with each acknowledgement, by itself.
    fn on_ack(&mut self, view: &View, ack: &Ack) {
        if let Some(bit) = ack.remote.load {
            self.on_bit(bit > 0, view);
        }
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        let before = self.window;
        self.window.on_loss(view, event);
        if self.window.packets != before.packets {
            self.begin(before.get().whole());
        }
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("received", self.received as f64);
        visit("set", self.set as f64);
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// Registered as `decbit`.
pub const DECBIT: Entry<DecBit> = Entry {
    name: "decbit",
    title: "DECbit: additive increase unless half of a window's packets met a queue",
    family: Family::Named,
    transport: Transport::Routed,
    basis: Basis::Routers,
    source: "Ramakrishnan and Jain, ACM Transactions on Computer Systems 8(2), 1990",
    deviations: &[
        "a loss halves the window and a timeout leaves one packet, as in TCP; the paper's scheme answers bits alone",
        "no window grows while application or receiver hold the sender, except in eras of ns-2",
        "packets that no router could mark count as packets without the bit",
    ],
    parameters: &[
        Parameter::number("a", 1.0, "additive increase").unit("packets").above(0.0).at_most(1e6),
        Parameter::number("keep", 0.875, "fraction of the window kept").above(0.0).below(1.0),
        Parameter::number("share", 0.5, "share of packets with the bit from which the window falls")
            .above(0.0)
            .at_most(1.0),
    ],
    build: |values, start| {
        let [increase, keep, share] = ["a", "keep", "share"].map(|name| values.number(name));
        let window = Window::new(start);
        let mut decbit = DecBit { increase, keep, share, window, past: 0, left: 1, received: 0, set: 0 };
        decbit.begin(0);
        Ok(decbit)
    },
    receiver: None,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Spec;
    use crate::script::{ack, view};
    use crate::signal::{Remote, Start};
    use crate::units::Packets;

    #[test]
    fn half_of_a_window_decides_after_the_window_before_it() {
        let mut decbit =
            Spec::parse("decbit").expect("registered").start(&Start { window: Packets(2.0), ..Start::default() });
        let mut after = |bits: &[u8]| {
            for bit in bits {
                decbit.on_ack(&view(0), &ack(0, Remote { load: Some(*bit), ..Remote::default() }));
            }
            decbit.control().window.0
        };
        assert_eq!(after(&[0]), 2.0);
        assert_eq!(after(&[0]), 3.0, "the first window");
        // Two of the window before, whatever they say, then three; one of three is less than half.
        assert_eq!(after(&[1, 1, 1, 0]), 3.0);
        assert_eq!(after(&[0]), 4.0);
        // Three of the window before, then two of four.
        assert_eq!(after(&[0, 0, 0, 1, 1, 0]), 4.0);
        assert_eq!(after(&[0]), 3.5);
        // Four of the window before; 3.5 packets are three.
        assert_eq!(after(&[0, 0, 0, 0, 1, 1, 0]), 3.0625);
    }
}
