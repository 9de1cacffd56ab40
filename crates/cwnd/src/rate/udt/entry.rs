//! UDT in the registry.

use alloc::boxed::Box;
use alloc::format;

use super::profile::{Acknowledge, AgentCuts, AtOnce, Choices, Counts, Grows, Habits, Naks, Profile, Step};
use super::{Agent, Receiver, SYN, Udt};
use crate::entry::{Basis, Entry, Family, InvalidParameter, Transport};
use crate::parameter::{Parameter, Values};
use crate::rate::Decrease;
use crate::signal::Start;
use crate::units::{BitRate, Packets};

/// What [`UDT`] builds.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Built {
    /// For `profile=udt4`.
    Udt(Udt),
    /// For the other profiles.
    Agent(Agent),
}

/// Registered as `udt`.
pub const UDT: Entry<Built> = Entry {
    name: "udt",
    title: "UDT: a rate with decreasing increases under a window",
    family: Family::Core,
    transport: Transport::Reported,
    basis: Basis::Losses,
    source: "daimd sections III and VI, eqs. 2, 8 and 21; the author's ns-2 agents of releases 1.1 (2003), 2.0 (2004) and 2.2 (2006); \
             libudt 4.11",
    deviations: &[
        "paper: where the text is silent it is release 1.1 without the mistakes of its code: how a flow starts, how a rising delay is seen, what \
         an ACK names, how often a loss is reported; papers/daimd/profile.toml has every rule with its sentence",
        "udt4: losses among the packets sent before an arrival rate is known end slow start once it is, and further ones at \
         window/(RTT + SYN); libudt goes on with 16 packets/s, which costs seconds",
        "udt4: slow start that ends because the window is full goes on at window/RTT at least; libudt's rate is what arrived while the \
         sender itself was slow",
        "udt4: the first of consecutive timeouts halves the rate; libudt goes on at the same rate",
        "udt4: a capacity is reported from the fourth packet pair on: the gap of a single one may be that of two other packets",
        "udt4: packets that arrive at one instant count as a batch in the arrival rate, which spreads over the gap before it",
        "udt4: packets that come faster than 16 in a SYN share the gaps of the arrival rate; libudt's 16 gaps are one packet's each, and a \
         bunch passes for a rate many times the path's",
        "udt4: the sending period is not rounded up to whole microseconds, which would halve a rate of 1 packet/us",
        "udt4: estimates are reported once measured and are not rounded; libudt reports constants until then",
        "udt4: acknowledgements up to half a SYN early count as on time, so that jitter swallows no increase",
        "udt4: nothing grows while application or receiver hold the sender, except in eras of ns-2; libudt grows on, as the other profiles do \
         in every era",
        "paper, ns2-* and daimd-fitted: in the simulator both ends are the agent's, and every packet that arrives counts as delivered, also one retransmitted \
         spuriously, as the author's scripts count",
        "paper, ns2-* and daimd-fitted: elsewhere the protocol is the wire's: its acknowledgements, NAKs and estimates, and no delay warnings; a rate \
         does not fall below a packet per second",
        "ns2-2.0 and ns2-2.2: draws come from the seed",
        "daimd-fitted: none of the author's: rules of his releases that come nearest to the tables of daimd, chosen by them",
        "a congestion mark counts as a NAK; UDT knows no marks",
        "udt4: a cut does not go below one packet per second, or nothing would ever come back",
    ],
    parameters: &[
        Parameter::choice("profile", &["udt4", "paper", "ns2-1.1", "ns2-2.0", "ns2-2.2", "daimd-fitted"], "which UDT"),
        Parameter::bit_rate(
            "capacity",
            "capacity of the path, or the wanted part of it; otherwise packet pairs measure it",
        ),
        Parameter::choice(
            "decrease",
            &["profile", "per-nak", "per-interval", "per-epoch", "doubling", "random-2.0", "random-2.2"],
            "which NAKs cut; by profile: paper per-nak, ns2-1.1 and daimd-fitted doubling, ns2-2.0 and ns2-2.2 their random, udt4 its own random",
        ),
        Parameter::choice("start", &["slow-start", "none"], "how a flow starts"),
        Parameter::derived("initial_window", "udt4: 16; ns2-2.2 and daimd-fitted: 2; others: 1", "window at the start")
            .unit("packets")
            .at_least(1.0)
            .at_most(1e6),
        Parameter::bit_rate(
            "initial_rate",
            "rate at the start where that is not slow start; otherwise a packet per SYN",
        ),
        Parameter::derived("floor", "udt4: 0.01; paper: 0; others: 1/S", "least increase per SYN")
            .unit("packets")
            .at_least(0.0)
            .at_most(1e6),
        Parameter::number("lambda", 0.875, "share of the old window in eq. 21 (not udt4)").above(0.0).below(1.0),
        Parameter::choice(
            "acknowledge",
            &["profile", "cumulative", "over-holes"],
            "what an ACK names (not udt4); by profile: ns2-2.2 and daimd-fitted over-holes, others cumulative",
        ),
        Parameter::choice(
            "naks",
            &["profile", "once", "repeated", "repeated-uncut"],
            "how often a loss is reported, and whether repeats cut (not udt4, and not over-holes, which leaves nothing to repeat); by profile: ns2-2.2 and daimd-fitted once, others repeated",
        ),
        Parameter::choice(
            "counts",
            &["profile", "unacknowledged", "in-flight"],
            "what the window is held against (not udt4); by profile: unacknowledged",
        ),
        Parameter::choice(
            "capacity_filter",
            &["profile", "newest", "smoothed"],
            "which reports make the capacity (not udt4); by profile: ns2-2.2 and daimd-fitted smoothed, others newest",
        ),
        Parameter::choice(
            "grows",
            &["profile", "per-syn", "per-quiet-syn", "per-clean-syn", "per-ack"],
            "when the rate grows (not udt4); by profile: paper per-clean-syn, ns2-1.1 and daimd-fitted per-syn, ns2-2.0 per-quiet-syn, ns2-2.2 per-ack",
        ),
        Parameter::choice(
            "step",
            &["profile", "eq8", "ninth-1.1", "ninth-2.0"],
            "by how much it grows (not udt4); by profile: ns2-1.1 and ns2-2.0 theirs, others eq8",
        ),
        Parameter::choice(
            "at_once",
            &["profile", "never", "nak", "ack-and-nak"],
            "what lets a packet leave at once (not udt4); by profile: ns2-2.2 and daimd-fitted ack-and-nak, ns2-2.0 nak, others never",
        ),
        Parameter::choice(
            "delay_warnings",
            &["profile", "on", "off"],
            "whether a rising delay cuts (not udt4); by profile: paper and ns2-1.1 on, others off",
        ),
    ],
    build,
    receiver: Some(|values, _| {
        Box::new(if profile(values) == Profile::Udt4 { Receiver::udt4() } else { Receiver::ns2() })
    }),
};

fn build(values: &Values, start: &Start) -> Result<Built, InvalidParameter> {
    let slow_start = start.rate.is_none() && values.choice("start") == "slow-start";
    let choices = Choices {
        capacity: values.given("capacity").map(BitRate),
        slow_start,
        // A rate that the host knows has the window of eq. 21.
        initial_window: match start.rate {
            Some(rate) => Some(start.window + rate * SYN),
            None => values.given("initial_window").map(Packets),
        },
        initial_rate: match start.rate {
            Some(rate) => Some(rate.to_bits(start.packet)),
            None if slow_start => None,
            None => values.given("initial_rate").map(BitRate),
        },
        floor: values.given("floor").map(Packets),
        lambda: if profile(values) == Profile::Udt4 { Choices::default().lambda } else { values.number("lambda") },
    };
    let of_release = match profile(values) {
        Profile::Paper => Habits::PAPER,
        Profile::Release11 => Habits::RELEASE_1_1,
        Profile::Release20 => Habits::RELEASE_2_0,
        Profile::Release22 => Habits::RELEASE_2_2,
        Profile::Fitted => Habits::FITTED,
        Profile::Udt4 => return Ok(Built::Udt(Udt::new(&choices, udt4_decrease(values)?, start))),
    };
    Ok(Built::Agent(Agent::new(habits(values, of_release), &choices, start)))
}

fn profile(values: &Values) -> Profile {
    match values.choice("profile") {
        "paper" => Profile::Paper,
        "ns2-1.1" => Profile::Release11,
        "ns2-2.0" => Profile::Release20,
        "ns2-2.2" => Profile::Release22,
        "daimd-fitted" => Profile::Fitted,
        _ => Profile::Udt4,
    }
}

/// `udt4` runs on the protocol of the wire, which has no such rules.
fn udt4_decrease(values: &Values) -> Result<Decrease, InvalidParameter> {
    if let Some(parameter) = AGENTS_ONLY.into_iter().find(|name| values.choice(name) != "profile") {
        let reason = "`profile` alone, unless `profile` is `paper`, `ns2-1.1`, `ns2-2.0`, `ns2-2.2` or `daimd-fitted`: it is a rule of the agents";
        return Err(InvalidParameter::new(parameter, reason));
    }
    match values.choice("decrease") {
        "profile" => Ok(Decrease::Udt4),
        "per-nak" => Ok(Decrease::PerNak),
        "per-interval" => Ok(Decrease::PerInterval),
        "per-epoch" => Ok(Decrease::PerEpoch),
        other => {
            let accepted = "`profile`, `per-nak`, `per-interval` or `per-epoch` with `profile=udt4`";
            Err(InvalidParameter::new("decrease", format!("{accepted}: `{other}` is of the other profiles")))
        }
    }
}

const AGENTS_ONLY: [&str; 8] =
    ["acknowledge", "naks", "counts", "capacity_filter", "grows", "step", "at_once", "delay_warnings"];

/// The habits of a release with those that are chosen.
fn habits(values: &Values, release: Habits) -> Habits {
    // A capacity that is given is not measured.
    let filter = if values.given("capacity").is_some() { "profile" } else { values.choice("capacity_filter") };
    let acknowledge = match values.choice("acknowledge") {
        "cumulative" => Acknowledge::Cumulative,
        "over-holes" => Acknowledge::OverHoles,
        _ => release.acknowledge,
    };
    // An acknowledgement over holes comes within a SYN, before a loss would be reported again.
    let naks = if acknowledge == Acknowledge::OverHoles { "profile" } else { values.choice("naks") };
    Habits {
        acknowledge,
        naks: match naks {
            "once" => Naks::Once,
            "repeated" => Naks::Repeated,
            "repeated-uncut" => Naks::RepeatedUncut,
            _ => release.naks,
        },
        cuts: match values.choice("decrease") {
            "per-nak" => AgentCuts::PerNak,
            "per-interval" => AgentCuts::PerInterval,
            "per-epoch" => AgentCuts::PerEpoch,
            "doubling" => AgentCuts::Doubling,
            "random-2.0" => AgentCuts::Random20,
            "random-2.2" => AgentCuts::Random22,
            _ => release.cuts,
        },
        counts: match values.choice("counts") {
            "unacknowledged" => Counts::Unacknowledged,
            "in-flight" => Counts::InFlight,
            _ => release.counts,
        },
        smooths_capacity: match filter {
            "newest" => false,
            "smoothed" => true,
            _ => release.smooths_capacity,
        },
        grows: match values.choice("grows") {
            "per-syn" => Grows::PerSyn,
            "per-quiet-syn" => Grows::PerQuietSyn,
            "per-clean-syn" => Grows::PerCleanSyn,
            "per-ack" => Grows::PerAck,
            _ => release.grows,
        },
        step: match values.choice("step") {
            "eq8" => Step::Eq8,
            "ninth-1.1" => Step::Ninth11,
            "ninth-2.0" => Step::Ninth20,
            _ => release.step,
        },
        at_once: match values.choice("at_once") {
            "never" => AtOnce::Never,
            "nak" => AtOnce::Nak,
            "ack-and-nak" => AtOnce::AckAndNak,
            _ => release.at_once,
        },
        delay_warnings: match values.choice("delay_warnings") {
            "on" => true,
            "off" => false,
            _ => release.delay_warnings,
        },
        ..release
    }
}
