//! VCP: multiplicative increase, additive increase or multiplicative decrease, as the load of the path demands.
//!
//! Xia, Subramanian, Stoica and Kalyanaraman, "One more bit is enough", SIGCOMM 2005, and the authors' ns-2 agent. Routers put their
//! load into two bits; the routers are in the hosts.

use alloc::boxed::Box;

use super::Window;
use crate::control::{CongestionControl, Control};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;
use crate::signal::{Ack, Congestion, View};
use crate::units::{Span, Time};

/// VCP's sender.
#[derive(Clone, Debug)]
pub struct Vcp {
    xi: f64,
    alpha: f64,
    beta: f64,
    /// t_rho, over which routers measure their load.
    interval: Span,
    window: Window,
    load: Load,
    /// After a decrease: nothing changes on overload until the first, and from then to the second overload grows additively.
    after: Option<(Time, Time)>,
}

/// The load of the fullest router (section 3.1), its code on packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
enum Load {
    /// No router has written it.
    Unknown,
    /// Below 80 %.
    Low,
    /// From there to 100 %.
    High,
    /// Above.
    Over,
}

impl Vcp {
    /// MI: `w *= 1 + xi` per t_rho, whatever the round trip (eq. 5): per acknowledged packet, `(1 + xi)^(rtt / t_rho) - 1`.
    fn multiplicative(&self, view: &View) -> f64 {
        let intervals = view.rtt.map_or(1.0, |rtt| rtt.smoothed.as_secs_f64() / self.interval.as_secs_f64());
        libm::pow(1.0 + self.xi, intervals.min(MOST_INTERVALS)) - 1.0
    }

    /// AI: `w += alpha` in a round trip of 100 ms, more by the square of longer ones, so that rates become equal: per
    /// acknowledged packet. Below 20 ms and above 500 ms it grows with the round trip only.
    fn additive(&self, view: &View) -> f64 {
        let t = view.rtt.map_or(1.0, |rtt| rtt.smoothed.as_secs_f64() / TYPICAL_RTT);
        let square = if t <= 5.0 { t * t.max(0.2) } else { t - 5.0 + 25.0 };
        self.alpha * square / self.window.packets
    }

    /// MD, once; then t_rho for the routers to see it, and a round trip of additive increase.
    fn overloaded(&mut self, view: &View) {
        if self.after.is_none() {
            let unfreeze_at = view.now + self.interval;
            self.after = Some((unfreeze_at, unfreeze_at + view.rtt.map_or(Span::ZERO, |rtt| rtt.smoothed)));
            self.window.set(self.window.packets * self.beta);
        }
    }
}

impl CongestionControl for Vcp {
    fn control(&self) -> Control {
        Control::window(self.window.get())
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        self.after = self.after.filter(|(_, end)| view.now < *end);
        if let Some(code) = ack.remote.load {
            self.load = [Load::Unknown, Load::Low, Load::High, Load::Over][usize::from(code.min(3))];
        }
        let frozen = self.after.is_some_and(|(unfreeze_at, _)| view.now < unfreeze_at);
        let step = match self.load {
            Load::Over if self.after.is_none() => return self.overloaded(view),
            Load::Over if frozen => return,
            Load::Low => self.multiplicative(view),
            Load::Unknown | Load::High | Load::Over => self.additive(view),
        };
        self.window.change(step * f64::from(ack.newly), view);
    }

    fn on_congestion(&mut self, view: &View, event: &Congestion) {
        self.window.on_loss(view, event);
    }

    fn inspect(&self, visit: &mut dyn FnMut(&'static str, f64)) {
        visit("load", f64::from(self.load as u8));
    }

    fn boxed_clone(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// Registered as `vcp`.
pub const VCP: Entry<Vcp> = Entry {
    name: "vcp",
    title: "VCP: the load of the path, in two bits, chooses between MI, AI and MD",
    family: Family::Named,
    transport: Transport::Routed,
    basis: Basis::Routers,
    source: "Xia, Subramanian, Stoica and Kalyanaraman, SIGCOMM 2005, and the authors' ns-2 agent",
    deviations: &[
        "the load code is a field of its own besides the ECN bits, so that other flows' marks stay apart",
        "the additive increase scales with the square of the round trip over 100 ms, as in the agent",
        "small windows are not paced; the agent does so at long round trips",
        "no window grows while application or receiver hold the sender, except in eras of ns-2",
        "where no router writes its load, the increase is additive",
    ],
    parameters: &[
        Parameter::number("xi", 0.0625, "multiplicative increase per interval at low load").above(0.0).at_most(1.0),
        Parameter::number("alpha", 1.0, "additive increase per round trip of 100 ms")
            .unit("packets")
            .above(0.0)
            .at_most(1e6),
        Parameter::number("beta", 0.875, "fraction of the window kept on overload").above(0.0).below(1.0),
        Parameter::span("interval", "over which routers measure; 200 ms if not given"),
    ],
    build: |values, start| {
        let interval = values.given("interval").map_or(INTERVAL, Span::from_secs_f64).max(SHORTEST_INTERVAL);
        let [xi, alpha, beta] = ["xi", "alpha", "beta"].map(|name| values.number(name));
        Ok(Vcp { xi, alpha, beta, interval, window: Window::new(start), load: Load::Unknown, after: None })
    },
    receiver: None,
};

/// t_d, seconds: the round trip at which `alpha` holds.
const TYPICAL_RTT: f64 = 0.1;
/// t_rho.
const INTERVAL: Span = Span::from_millis(200);
/// Only a mistyped unit would cause a shorter one.
const SHORTEST_INTERVAL: Span = Span::from_millis(1);
/// A round trip longer than 500 ms grows no faster (the agent's MAX_RTT_BY_TRHO).
const MOST_INTERVALS: f64 = 2.5;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Spec;
    use crate::script::{ack, close, view};
    use crate::signal::{Remote, Start};
    use crate::units::Packets;

    #[test]
    fn the_three_modes() {
        let mut vcp =
            Spec::parse("vcp").expect("registered").start(&Start { window: Packets(100.0), ..Start::default() });
        // When, the code, then the window: 100 ms are half an interval and the typical round trip.
        let script = [
            (0, 1, 100.030_776),  // MI: sqrt(1.0625) - 1 = 0.0307764 for an acknowledged packet
            (10, 2, 100.040_773), // AI: 1 / w
            (20, 3, 87.535_677),  // MD: 0.875 w
            (150, 3, 87.535_677), // until 220 ms the routers cannot have seen it
            (160, 2, 87.547_101), // but may find that they have
            (230, 3, 87.558_523), // a round trip of AI, whatever they say
            (319, 3, 87.569_944),
            (320, 3, 76.623_701), // MD again
        ];
        for (millis, code, window) in script {
            vcp.on_ack(&view(millis), &ack(1, Remote { load: Some(code), ..Remote::default() }));
            let found = vcp.control().window.0;
            assert!((found - window).abs() < 1e-5, "at {millis} ms: {found}, not {window}");
        }
        close(vcp.control().window.0, 76.623_701);
    }
}
