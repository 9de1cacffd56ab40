//! Runs with little or nothing after the warm-up have no numbers, but the reason.

use cwnd_run::run::{Runs, run};
use cwnd_run::scenario::Scenario;

/// Reno on 10 Mbit/s and 20 ms for 4 s, of which 3 are measured, with the settings and additions.
fn runs(set: &[&str], more: &str) -> Runs {
    let text = format!(
        "duration = \"4s\"\nwarmup = \"1s\"\nseeds = 1\nvariation = {{ start = \"0s\", rtt = 0, jitter = 0 }}\n[dumbbell]\nrate = \"10mbit\"\n\
         rtt = \"20ms\"\n[[flow]]\nalgorithm = \"reno\"\n{more}\n"
    );
    let set: Vec<String> = set.iter().map(ToString::to_string).collect();
    let scenario = Scenario::read("test.toml", &text, &set).unwrap_or_else(|error| panic!("{error}"));
    run(vec![scenario], &()).expect("it runs").remove(0)
}

fn warned(runs: &Runs, text: &str) -> bool {
    runs.warnings().iter().any(|warning| warning.contains(text))
}

#[test]
fn a_window_below_a_round_trip_and_a_packet_measures_nothing() {
    // A round trip of 20 ms and a packet of 1.2 ms.
    for (warmup, is_measured) in [("3.9s", true), ("3.9789s", false), ("3.9999s", false)] {
        let runs = runs(&[&format!("warmup={warmup}")], "[[flow]]\nalgorithm = \"cubic\"");
        let summary = &runs.summaries[0];
        let numbers = [
            summary.utilisation,
            summary.goodput_bps,
            summary.jain,
            summary.loss_rate,
            summary.queue_delay_mean_s,
            summary.queue_delay_p99_s,
            summary.flow_goodput_bps[0],
        ];
        assert!(numbers.iter().all(|number| number.is_some() == is_measured), "{warmup}: {numbers:?}");
        let why = "ms after the warm-up, less than a round trip and a packet of its slowest traffic, 21.200 ms";
        assert_eq!(warned(&runs, why), !is_measured, "{:?}", runs.warnings());
    }
    // The longest path counts, and traffic without congestion control by its packets.
    let far = runs(&["warmup=3.9s"], "[[flow]]\nalgorithm = \"cubic\"\nextra_rtt = \"100ms\"");
    assert!(far.summaries[0].goodput_bps.is_none() && warned(&far, "traffic, 121.200 ms"), "{:?}", far.warnings());
}

#[test]
fn flows_that_are_hardly_there_have_no_numbers() {
    for second in [
        "start = \"3.985s\"",
        "stop = \"900ms\"",
        "on = [\"100ms..900ms\", \"3.99s..\"]",
        "start = \"2s\"\nstop = \"2.01s\"",
        "on = [\"0s..500ms\", \"600ms..900ms\"]",
        "size = \"2p\"",
    ] {
        let runs = runs(&[], &format!("[[flow]]\nalgorithm = \"cubic\"\n{second}"));
        let summary = &runs.summaries[0];
        assert!(summary.flow_goodput_bps[0].is_some() && summary.flow_goodput_bps[1].is_none(), "{second}");
        assert!(warned(&runs, "no goodput, loss or share of `cubic`"), "{second}: {:?}", runs.warnings());
    }
    // A transfer is measured whole, however short it is.
    let transfer = runs(&[], "[[flow]]\nalgorithm = \"cubic\"\nstart = \"2s\"\nsize = \"1p\"");
    assert!(transfer.summaries[0].flow_goodput_bps[1].is_some(), "{:?}", transfer.warnings());
}

#[test]
fn other_traffic_that_is_not_there_is_named() {
    let cbr = runs(&[], "[[cbr]]\nrate = \"cbr:1mbit\"\nstop = \"500ms\"");
    assert!(
        warned(&cbr, "no rates of `cbr`: it sends for less than a round trip of the measured time"),
        "{:?}",
        cbr.warnings()
    );
    let group = runs(
        &[],
        "[[arrivals]]\nalgorithm = \"reno\"\nsize = \"5p\"\ngap = \"50ms\"\nstop = \"500ms\"\nname = \"web\"",
    );
    assert!(warned(&group, "no rates of `web`"), "{:?}", group.warnings());
}
