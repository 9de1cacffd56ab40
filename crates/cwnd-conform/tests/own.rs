//! Our `reno` and `cubic`, each with and without `HyStart++`, meet every check that applies to them.

use std::sync::Arc;

use cwnd::registry::Maker;
use cwnd::{Ack, Algorithm, CongestionControl, Span, Spec, Start, View, Wrapped, Wrapper};
use cwnd_conform::{Law, Plan, Subject, Suite, Verdict, text};
use cwnd_run::address::Linked;
use cwnd_run::scenario::Scenario;

/// Judges the four over `seeds` seeds.
fn no_false_alarm(names: &[&str], plan: &Plan) {
    for name in names {
        let result = plan.judge(&Subject::parse(name).expect("registered"));
        let text = text::conformance(&result, std::env::var_os("CWND_SHOW").is_some());
        println!("{text}");
        let deviates =
            result.checks.iter().filter(|judged| judged.verdict == Verdict::Deviates).map(|judged| judged.id);
        assert_eq!((deviates.collect::<Vec<_>>(), result.count(Verdict::Unclear)), (vec![], 0), "{text}");
    }
}

fn no_false_alarm_of_usual(seeds: u64) {
    no_false_alarm(&["reno", "cubic", "reno+hystart++", "cubic+hystart++"], &Plan { seeds, ..Plan::default() });
}

#[test]
fn ours_meet_what_applies() {
    no_false_alarm_of_usual(3);
}

/// The link of a deviation is a scenario whose run is that of the check, packet by packet.
#[test]
fn deviations_have_links_that_repeat_their_runs() {
    for (name, ids) in [
        ("cubic:beta=0.5", &["9438-beta", "9438-mark", "9438-timeout-threshold", "9438-friendly"][..]),
        ("udt", &["5681-initial", "6298-first", "loss-spiral-woken"]),
    ] {
        let plan = Plan { seeds: 1, only: ids.iter().map(ToString::to_string).collect(), ..Plan::default() };
        let result = plan.judge(&Subject::parse(name).expect("registered"));
        assert_eq!(result.count(Verdict::Deviates), ids.len(), "{}", text::conformance(&result, true));
        for judged in result.checks {
            let link = judged.link.unwrap_or_else(|| panic!("{} of {name} has no link", judged.id));
            let linked = Linked::read(&link).expect("a link");
            let scenario = Scenario::read("linked", &linked.toml, &[]).expect("a scenario");
            let again = cwnd_sim::run_checked(&scenario.setup(1), &mut |_| true).expect("a run");
            assert_eq!(linked.digest, Some(again.digest));
            assert_eq!(scenario.document().title, Some(format!("{} of {name}", judged.id)));
        }
    }
}

#[test]
#[ignore = "twenty seeds take minutes: cargo xtask test --long"]
fn ours_meet_what_applies_over_twenty_seeds() {
    no_false_alarm_of_usual(20);
}

/// Those that claim draft-ietf-ccwg-ratelimited-increase meet its suite.
fn no_false_alarm_of_limits(seeds: u64) {
    let plan = Plan { seeds, suites: vec![Suite::RateLimited], ..Plan::default() };
    no_false_alarm(&["reno+ratelimited", "cubic+ratelimited"], &plan);
}

#[test]
fn ours_meet_the_limits_that_they_claim() {
    no_false_alarm_of_limits(3);
}

#[test]
#[ignore = "twenty seeds take minutes: cargo xtask test --long"]
fn ours_meet_the_limits_that_they_claim_over_twenty_seeds() {
    no_false_alarm_of_limits(20);
}

/// Neither sends less than two packets in a round trip nor looks for a classic queue, and DCTCP has the bias of Reno.
#[test]
fn scalable_senders_deviate_where_known() {
    for (name, expected) in [
        ("prague", &["9331-below-two", "9331-classic-queue"][..]),
        ("dctcp", &["9331-rtt-bias", "9331-below-two", "9331-classic-queue"]),
    ] {
        let plan = Plan { suites: vec![Suite::Rfc9331], ..Plan::default() };
        let result = plan.judge(&Subject::parse(name).expect("registered"));
        let deviates =
            result.checks.iter().filter(|judged| judged.verdict == Verdict::Deviates).map(|judged| judged.id);
        let text = text::conformance(&result, true);
        assert_eq!((deviates.collect::<Vec<_>>(), result.count(Verdict::Unclear)), (expected.to_vec(), 0), "{text}");
    }
}

#[test]
fn ids_are_unique() {
    let mut ids: Vec<_> = cwnd_conform::checks().map(|check| check.id).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    assert!(count >= 55, "{count} checks");
}

/// Vegas, shown the round trip of a packet that left a millisecond before the newest wherever an acknowledgement reports two.
#[derive(Clone, Debug)]
struct Older(Algorithm);

impl Wrapper for Older {
    type Inner = Algorithm;

    fn inner(&self) -> &Algorithm {
        &self.0
    }

    fn inner_mut(&mut self) -> &mut Algorithm {
        &mut self.0
    }

    fn on_ack(&mut self, view: &View, ack: &Ack) {
        let mut late = *view;
        if let Some(rtt) = &mut late.rtt {
            rtt.latest = rtt.latest + Span::from_millis(u64::from(ack.newly > 1));
        }
        self.0.on_ack(&late, ack);
    }
}

#[derive(Debug)]
struct MakeOlder;

impl Maker for MakeOlder {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        Box::new(Wrapped(Older(Spec::parse("vegas").expect("registered").start(start))))
    }
}

#[test]
fn a_sample_of_the_older_packet_is_found() {
    let plan = Plan { seeds: 1, only: vec!["held-acks".to_string()], ..Plan::default() };
    let wrong = Subject::new("older", Law::Other, Spec::outside("older", Arc::new(MakeOlder)));
    let verdicts = [Subject::parse("vegas").expect("registered"), wrong].map(|subject| {
        let result = plan.judge(&subject);
        (result.count(Verdict::Meets), result.count(Verdict::Deviates))
    });
    assert_eq!(verdicts, [(1, 0), (0, 1)]);
}
