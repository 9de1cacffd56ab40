//! Right senders that differ in what the RFCs leave open give no alarm.

use cwnd::{Ack, Span};
use cwnd_conform::{Host, Judged, Plan, Suite, Verdict, text};
use rayon::prelude::*;

use super::rules::{Base, Cut, Growth, Reduction, Restart, Rules};
use super::table::suites;

/// Each sender in its usual way, and in ways that differ from it in one respect; the last of Reno's and of CUBIC's in all of them.
fn ways() -> Vec<(String, Rules)> {
    let mut ways = Vec::new();
    for base in [Base::Reno, Base::Cubic, Base::Quic, Base::Burst, Base::HyStart, Base::Limited, Base::LimitedCubic] {
        let usual = || base.rules();
        let mut add = |name: &str, rules: Rules| ways.push((format!("{}, {name}", base.name()), rules));
        add("as usual", usual());
        add("windows of whole packets", Rules { whole: true, ..usual() });
        add("acknowledgements for 2 packets", Rules { host: acks(2), ..usual() });
        add("acknowledgements for 8 packets", Rules { host: acks(8), ..usual() });
        for millis in [10, 50, 200] {
            add(&format!("least timeout of {millis} ms"), Rules { host: least_timeout(millis), ..usual() });
        }
        if !matches!(base, Base::Quic | Base::Burst) {
            add("paced", usual().paced());
            let all = Rules { host: Host { acks: 8, ..least_timeout(10) }, whole: true, ..usual() }.paced();
            let all = if base == Base::Cubic { all.by_rfc8312() } else { all };
            add("all of these", all);
        }
        if matches!(base, Base::Reno | Base::Cubic) {
            let gradual = |reduction| Rules { cut: Cut { reduction, ..usual().cut }, ..usual() };
            add("the window falls over a round trip", gradual(Reduction::Proportional));
            add("the window falls in whole packets, paced", gradual(Reduction::Prr).paced());
            let halving = Rules { host: acks(2), ..gradual(Reduction::Halving) };
            add("the window falls with each second acknowledgement, for 2 packets", halving);
        }
        if base == Base::Cubic {
            add("by RFC 8312", usual().by_rfc8312());
        }
        if base == Base::Quic {
            // Pacing takes the place of a restart (RFC 9002 section 7.7).
            add("without a restart", Rules { restart: Restart { after: f64::INFINITY, ..usual().restart }, ..usual() });
        }
    }
    ways
}

fn acks(acks: u32) -> Host {
    Host { acks, ..Host::default() }
}

fn least_timeout(millis: u64) -> Host {
    // Without ticks a timeout that is a round trip exactly would come before each retransmission has arrived.
    let granularity = if millis < 50 { Span::from_millis(10) } else { Span::ZERO };
    Host { least_timeout: Span::from_millis(millis), granularity, acks: 1 }
}

/// Renos whose growth counts acknowledgements, of 2 and of 8 packets: RFC 9002 section 7.3.1 counts acknowledged packets.
fn per_ack() -> Vec<(String, Rules)> {
    let way = |packets| {
        let usual = Base::Reno.rules();
        let counts: fn(&Ack) -> u32 = |ack| ack.acks.min(ack.newly);
        let growth = Growth { counts, ramp_counts: counts, ..usual.growth };
        (
            format!("reno, growth for each acknowledgement of {packets} packets"),
            Rules { growth, host: acks(packets), ..usual },
        )
    };
    vec![way(2), way(8)]
}

fn no_false_alarm(ways: &[(String, Rules)], seeds: u64, suites: Vec<Suite>) {
    let plan = Plan { suites, seeds, ..Plan::default() };
    let alarms = ways.par_iter().flat_map(|(name, rules)| {
        let alarm = |judged: &Judged| matches!(judged.verdict, Verdict::Deviates | Verdict::Unclear);
        println!("{name}");
        let checks = plan.judge(&rules.subject(name)).checks.into_iter().filter(alarm);
        let line =
            |judged: Judged| format!("{name}: {} {} {:?}", judged.verdict.name(), text::line(&judged), judged.note);
        checks.map(line).inspect(|line| println!("{line}")).collect::<Vec<_>>()
    });
    let alarms: Vec<_> = alarms.collect();
    assert!(alarms.is_empty(), "{} alarms of {} senders\n{}", alarms.len(), ways.len(), alarms.join("\n"));
}

/// Judges each of `ways` by the suites that it has to meet. The cap of draft-ietf-ccwg-ratelimited-increase at a packet above `maxFS` takes
/// another part of a packet away with acknowledgements of one packet than with those of ten, so that the independence that RFC 9002 section 7.3.3
/// asks for is not demanded of senders by the draft.
fn no_false_alarm_of(ways: Vec<(String, Rules)>, seeds: u64) {
    let (limited, others): (Vec<_>, Vec<_>) = ways.into_iter().partition(|(_, rules)| rules.flights.is_some());
    no_false_alarm(&others, seeds, suites());
    no_false_alarm(&limited, seeds, tcp());
}

fn tcp() -> Vec<Suite> {
    suites().into_iter().filter(|suite| *suite != Suite::Rfc9002).collect()
}

/// The senders that differ most from one another. The rest follows over twenty seeds.
#[test]
fn right_senders_give_no_alarm() {
    let few = [
        "as usual",
        "without a restart",
        "8 packets",
        "RFC 8312",
        "a round trip",
        "packets, paced",
        "hystart++, paced",
    ];
    let ways: Vec<_> = ways().into_iter().filter(|(name, _)| few.iter().any(|few| name.ends_with(few))).collect();
    no_false_alarm_of(ways, 3);
    no_false_alarm(&per_ack()[1..], 3, tcp());
}

#[test]
#[ignore = "twenty seeds take minutes: cargo xtask test --long"]
fn right_senders_give_no_alarm_over_twenty_seeds() {
    no_false_alarm_of(ways(), 20);
    no_false_alarm(&per_ack(), 20, tcp());
}
