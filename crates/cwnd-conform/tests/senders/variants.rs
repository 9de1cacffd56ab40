//! Correct senders that differ in what the RFCs leave open give no alarm.

use super::way::{Reduction, Way};
use cwnd::Span;
use cwnd_conform::{Judged, Law, Plan, Suite, Verdict, text};

/// Least timeouts of 10 ms, 200 ms and 1 s, acknowledgements for 1, 2 and 8 packets, paced or not, windows in parts of a packet and in
/// whole ones, cuts at once or over a round trip, CUBIC by both of its RFCs: each differs from the usual way in one of these, and the last in all of them.
fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for law in [Law::Reno, Law::Cubic] {
        let usual = Way::of(law);
        let last = Way {
            least_timeout: Span::from_millis(10),
            acks: 8,
            paced: true,
            whole: true,
            rfc8312: law == Law::Cubic,
            ..usual
        };
        ways.extend([
            usual,
            Way { least_timeout: Span::from_millis(200), ..usual },
            Way { least_timeout: Span::from_millis(10), ..usual },
            Way { acks: 2, ..usual },
            Way { acks: 8, ..usual },
            Way { paced: true, ..usual },
            Way { whole: true, ..usual },
            Way { reduction: Reduction::Proportional, ..usual },
            Way { reduction: Reduction::Prr, paced: true, ..usual },
            Way { reduction: Reduction::Halving, acks: 2, ..usual },
            last,
        ]);
    }
    ways.push(Way { rfc8312: true, ..Way::of(Law::Cubic) });
    ways
}

/// A growth for each acknowledgement, for however many packets it is.
fn per_ack() -> Vec<Way> {
    [2, 8].map(|acks| Way { per_ack: true, acks, ..Way::of(Law::Reno) }).to_vec()
}

fn no_false_alarm(ways: &[Way], seeds: u64, without: &[Suite]) {
    let suites = Suite::ALL.into_iter().filter(|suite| *suite != Suite::Bbr && !without.contains(suite)).collect();
    let plan = Plan { suites, seeds, ..Plan::default() };
    let mut alarms = Vec::new();
    for way in ways {
        let result = plan.judge(&way.subject());
        let alarm = |judged: &&Judged| matches!(judged.verdict, Verdict::Departs | Verdict::Unclear);
        alarms.extend(
            result
                .checks
                .iter()
                .filter(alarm)
                .map(|judged| format!("{way:?}: {} {} {:?}", judged.verdict.name(), text::line(judged), judged.note)),
        );
    }
    assert!(alarms.is_empty(), "{}", alarms.join("\n"));
}

/// Those that differ most. The rest follows over twenty seeds.
#[test]
fn correct_variants_give_no_alarm() {
    let gradual = |way: &Way| matches!(way.reduction, Reduction::Proportional | Reduction::Prr);
    let differs = |way: &Way| way.acks > 2 || way.rfc8312 || gradual(way);
    let ways: Vec<_> = ways().into_iter().filter(differs).collect();
    no_false_alarm(&ways, 3, &[]);
}

/// RFC 9002 section 7.3.1 counts what is acknowledged.
#[test]
fn growth_per_acknowledgement_gives_no_alarm_by_the_rfcs_of_tcp() {
    no_false_alarm(&per_ack()[1..], 3, &[Suite::Rfc9002]);
}

#[test]
#[ignore = "twenty seeds take minutes: cargo xtask test --long"]
fn correct_variants_give_no_alarm_over_twenty_seeds() {
    no_false_alarm(&ways(), 20, &[]);
    no_false_alarm(&per_ack(), 20, &[Suite::Rfc9002]);
}
