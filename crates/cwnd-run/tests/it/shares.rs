//! Max–min fair shares of scenarios whose traffic is bounded, against shares that are worked out by hand.

use cwnd_run::measure::{Window, fair_shares};
use cwnd_run::run::run;
use cwnd_run::scenario::Scenario;
use cwnd_trace::{Demand, Trace};

/// Reno alone on 20 Mbit/s and 20 ms for 4 s, of which 3 are measured, with the additions.
fn trace(dumbbell: &str, more: &str) -> Trace {
    let text = format!(
        "duration = \"4s\"\nwarmup = \"1s\"\nseeds = 1\nvariation = {{ start = \"0s\", rtt = 0, jitter = 0 }}\n[dumbbell]\nrate = \"20mbit\"\n\
         rtt = \"20ms\"\n{dumbbell}\n[[flow]]\nalgorithm = \"reno\"\n{more}\n"
    );
    let scenario = Scenario::read("test.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
    run(vec![scenario], &()).expect("it runs").remove(0).traces.remove(0)
}

/// Of the wire, in whole kbit/s.
fn kilobits(trace: &Trace) -> Vec<f64> {
    let shares = fair_shares(trace, Window::measured(trace));
    shares.into_iter().map(|share| (share.expect("a share") * 1500.0 / 1460.0 / 1e3).round()).collect()
}

fn beside(flow: &str) -> Vec<f64> {
    kilobits(&trace("", &format!("[[flow]]\nalgorithm = \"reno\"\n{flow}")))
}

fn beside_cbr(cbr: &str) -> f64 {
    kilobits(&trace("", &format!("[[cbr]]\n{cbr}")))[0]
}

#[test]
fn a_bounded_flow_has_its_bound_for_a_share() {
    assert_eq!(beside(""), [10_000.0, 10_000.0]);
    // Five packets of 1500 bytes in 20 ms.
    assert_eq!(beside("max_window = 5"), [17_000.0, 3000.0]);
    assert_eq!(beside("source = \"cbr:1mbit\""), [19_000.0, 1000.0]);
    // Half of a buffer of 14,600 bytes holds five packets of 1460.
    assert_eq!(beside("host = \"autotune=14600B\""), [17_000.0, 3000.0]);
    // The less of the two counts.
    assert_eq!(beside("max_window = 5\nsource = \"cbr:1mbit\""), [19_000.0, 1000.0]);
    assert_eq!(beside("max_window = 5\nsource = \"cbr:4mbit\""), [17_000.0, 3000.0]);
}

#[test]
fn a_square_wave_bounds_by_its_phases_in_the_window() {
    // A step that never comes.
    assert_eq!(beside("source = \"square:2mbit,1mbit,step=50s\""), [18_000.0, 2000.0]);
    // From 1 s on 4, 8 and 4 Mbit/s for a second each: 16/3.
    assert_eq!(beside("source = \"square:8mbit,4mbit,step=1s\""), [14_667.0, 5333.0]);
    // More than half of the link is not available: 16, 10 and 16 Mbit/s for the other one.
    assert_eq!(beside("source = \"square:30mbit,4mbit,step=1s\""), [14_000.0, 6000.0]);
}

#[test]
fn floor_ceiling_and_rest_of_a_schedule_count() {
    assert_eq!(beside("source = \"cbr:1mbit,floor=3mbit\""), [17_000.0, 3000.0]);
    assert_eq!(beside("source = \"square:8mbit,4mbit,step=1s,ceiling=5mbit,floor=5mbit\""), [15_000.0, 5000.0]);
    // 10 Mbit/s less 8 or 4: 6, 2 and 6 Mbit/s for a second each.
    assert_eq!(beside("source = \"square:8mbit,4mbit,step=1s,rest_of=10mbit\""), [15_333.0, 4667.0]);
}

#[test]
fn traffic_without_congestion_control_has_a_share_too() {
    assert_eq!(beside_cbr("rate = \"cbr:4mbit\""), 16_000.0);
    assert_eq!(beside_cbr("rate = \"cbr:1mbit,floor=3mbit\""), 17_000.0);
    assert_eq!(beside_cbr("rate = \"cbr:9mbit,ceiling=5mbit\""), 15_000.0);
    assert_eq!(beside_cbr("rate = \"cbr:4mbit,rest_of=10mbit\""), 14_000.0);
    // Three of them are there for the last of three seconds: 20, 20 and 8 Mbit/s.
    assert_eq!(beside_cbr("rate = \"cbr:4mbit\"\ncount = 3\nstart = \"3s\""), 16_000.0);
    assert_eq!(beside_cbr("rate = \"cbr:6mbit\"\non = [\"0s..2s\", \"3s..\"]"), 16_000.0);
    // A fair network gives it no more than half, whatever it sends.
    assert_eq!(beside_cbr("rate = \"cbr:15mbit\""), 10_000.0);
}

/// A bounded flow has its bound of a fast link and its part of a slow one: their mean is no share of the mean rate.
#[test]
fn a_link_that_changes_is_shared_as_it_is_then() {
    let over = |dumbbell: &str, more: &str| kilobits(&trace(dumbbell, more));
    let steps = "schedule = { steps = [{ at = \"3s\", rate = \"4mbit\" }] }";
    // 14, 14 and 2 Mbit/s for a second each.
    assert_eq!(over(steps, "[[cbr]]\nrate = \"cbr:6mbit\""), [10_000.0]);
    // 17, 17 and 2 Mbit/s next to 3, 3 and 2.
    assert_eq!(over(steps, "[[flow]]\nalgorithm = \"reno\"\nmax_window = 5"), [12_000.0, 2667.0]);
    // 14 Mbit/s for two of three seconds, and nothing in the outage.
    assert_eq!(over("outage = [\"2s..3s\"]", "[[cbr]]\nrate = \"cbr:6mbit\""), [9333.0]);
}

/// A group of 30 % of the link leaves the rest to a bulk flow. A hundred packets a flow are 6 Mbit/s five times a second.
#[test]
fn a_group_has_what_it_asked_for() {
    for more in ["load = 0.3", "gap = \"200ms\"", "load = 0.3\nweb = { pages = 2, objects = 1, think = \"200ms\" }"] {
        let trace = trace("", &format!("[[arrivals]]\nalgorithm = \"reno\"\nsize = \"100p\"\n{more}"));
        let (requested, from) = (&trace.flow_arrivals[0].requested, trace.at.iter().position(|at| *at == trace.warmup));
        let asked = (requested[requested.len() - 1] - requested[from.expect("sampled")]) as f64 * 12.0 / 3.0;
        assert!((1000.0..10_000.0).contains(&asked), "{more}: {asked}");
        assert_eq!(kilobits(&trace), [(20_000.0 - asked).round()], "{more}");
    }
}

/// The walk that a seed draws is the walk that is sent.
#[test]
fn a_walk_bounds_by_what_was_drawn() {
    let walk = "rate = \"walk:5mbit,reach=4mbit,step=100ms,ceiling=9mbit\"";
    let trace = trace("", &format!("[[cbr]]\n{walk}"));
    let Demand::Stages(stages) = &trace.cbr[0].demand else { panic!("{:?}", trace.cbr[0].demand) };
    assert!(stages.len() > 30, "{}", stages.len());
    // Below half of the link it has all that it sends, 30 steps of 100 ms in the window.
    let rate = |at: u64| stages[stages.partition_point(|stage| stage.from <= at) - 1].rate as f64;
    let mean = (10..40).map(|step| rate(step * 100_000_000)).sum::<f64>() / 30.0;
    assert_eq!(kilobits(&trace), [((20e6 - mean) / 1e3).round()]);
    let (sent, from) = (&trace.cbr[0].sent, trace.at.iter().position(|at| *at == trace.warmup).expect("sampled"));
    let measured = (sent[sent.len() - 1] - sent[from]) as f64 * 12_000.0 / 3.0;
    assert!((measured / mean - 1.0).abs() < 0.01, "{measured} {mean}");
}

/// A bound that changes more often than samples are taken is the sent rate.
#[test]
fn a_bound_that_changes_all_the_time_is_measured() {
    let trace = trace("", "[[cbr]]\nrate = \"square:3mbit,5mbit,step=1ms\"");
    assert_eq!(trace.cbr[0].demand, Demand::Measured);
    let shares = kilobits(&trace);
    assert!((shares[0] - 16_000.0).abs() < 20.0, "{shares:?}");
}

/// A window bounds by the round trip of the instant.
#[test]
fn a_delay_that_changes_moves_the_bound_of_a_window() {
    // 20 ms until 2 s, then 50 ms: 3 Mbit/s for one second of three and 1.2 Mbit/s for two.
    let dumbbell = "schedule = { steps = [{ at = \"2s\", extra_delay = \"30ms\" }] }";
    let trace = trace(dumbbell, "[[flow]]\nalgorithm = \"reno\"\nmax_window = 5");
    assert_eq!(kilobits(&trace), [18_200.0, 1800.0]);
}
