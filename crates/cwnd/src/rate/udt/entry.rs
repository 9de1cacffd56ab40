//! UDT in the registry.

use alloc::boxed::Box;

use super::{Profile, Receiver, Settings, Udt};
use crate::entry::{Entry, Family, Transport};
use crate::parameter::{Parameter, Values};
use crate::rate::Decrease;
use crate::units::{BitRate, Bytes, Packets};

/// Registered as `udt`.
pub const UDT: Entry<Udt> = Entry {
    name: "udt",
    title: "UDT: a rate with decreasing increases under a window",
    family: Family::Core,
    transport: Transport::Reported,
    source: "daimd sections III and VI, eqs. 2, 8 and 21; the author's ns-2 agent (2006); libudt 4.11",
    deviations: &[
        "paper: the text leaves open when feedback cuts, how a flow starts and what its window is then: `decrease`, `start` and \
         `initial_window` choose; slow start ends at the arrival rate, without a cut",
        "udt4: losses among the packets sent before an arrival rate is known end slow start once it is, and further ones at \
         window/(RTT + SYN); libudt goes on with 16 packets/s, which costs seconds",
        "udt4: slow start that ends because the window is full goes on at window/RTT at least; libudt's rate is what arrived while the \
         sender itself was slow",
        "udt4: the first timeout of a silence halves the rate; libudt sends on as before",
        "udt4: a capacity is reported from the fourth packet pair on: the gap of a single one may be that of two other packets",
        "ns2 and udt4: packets that arrive at one instant count as a batch in the arrival rate, which spreads over the gap before it",
        "udt4: packets that come faster than 16 in a SYN share the gaps of the arrival rate; libudt's 16 gaps are one packet's each, and a \
         bunch passes for a rate many times the path's",
        "udt4: the sending period is not rounded up to whole microseconds, which would halve a rate of 1 packet/us",
        "ns2 and udt4: estimates are reported once measured and are not rounded; the sources report constants until then",
        "ns2 and udt4: acknowledgements up to half a SYN early count as on time, so that jitter swallows no increase",
        "ns2: the pause of a SYN after the first NAK of an epoch is a rate of one packet per SYN",
        "udt4: nothing grows while application or receiver hold the sender, except in eras of ns-2; libudt grows on, as `paper` and `ns2` do \
         in every era",
        "a congestion mark counts as a NAK; UDT knows no marks",
        "a cut does not go below one packet per second, or nothing would ever come back",
    ],
    parameters: &[
        Parameter::choice("profile", &["udt4", "paper", "ns2"], "which UDT"),
        Parameter::bit_rate(
            "capacity",
            "capacity of the path, or what is wished of it; otherwise packet pairs measure it",
        ),
        Parameter::choice(
            "decrease",
            &["profile", "per-nak", "per-interval", "per-epoch"],
            "which NAKs cut; by profile: paper per-interval, ns2 and udt4 at random",
        ),
        Parameter::choice("start", &["slow-start", "none"], "how a flow starts"),
        Parameter::derived("initial_window", "16; ns2: 2", "window at the start")
            .unit("packets")
            .at_least(1.0)
            .at_most(1e6),
        Parameter::bit_rate(
            "initial_rate",
            "rate at the start where that is not slow start; otherwise a packet per SYN",
        ),
        Parameter::derived("floor", "paper: 0; ns2: 1/S; udt4: 0.01", "least increase per SYN")
            .unit("packets")
            .at_least(0.0)
            .at_most(1e6),
        Parameter::number("lambda", 0.875, "share of the old window in eq. 21 (paper, ns2)").above(0.0).below(1.0),
    ],
    build: |values, start| Ok(Udt::new(&settings(values, start.packet), start)),
    receiver: Some(|values, start| Box::new(Receiver::new(&settings(values, start.packet)))),
};

fn settings(values: &Values, packet: Bytes) -> Settings {
    let profile = match values.choice("profile") {
        "paper" => Profile::Paper,
        "ns2" => Profile::Ns2,
        _ => Profile::Udt4,
    };
    let of_profile = Settings::new(profile, packet);
    Settings {
        profile,
        capacity: values.given("capacity").map(BitRate),
        decrease: match values.choice("decrease") {
            "per-nak" => Decrease::PerNak,
            "per-interval" => Decrease::PerInterval,
            "per-epoch" => Decrease::PerEpoch,
            _ => of_profile.decrease,
        },
        slow_start: values.choice("start") == "slow-start",
        initial_window: values.given("initial_window").map_or(of_profile.initial_window, Packets),
        initial_rate: values.given("initial_rate").map(BitRate),
        floor: values.given("floor").map_or(of_profile.floor, Packets),
        lambda: values.number("lambda"),
    }
}
