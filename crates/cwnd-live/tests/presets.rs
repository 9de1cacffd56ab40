//! What each preset claims, in numbers that it gives over its seeds.

use cwnd_live::PRESETS;
use cwnd_run::run::{Runs, run};
use cwnd_run::scenario::Scenario;

/// The runs of a preset with overrides.
fn runs(id: &str, overrides: &[&str]) -> Runs {
    let preset = PRESETS.iter().find(|preset| preset.id == id).expect("it is offered");
    let overrides: Vec<String> = overrides.iter().map(|one| (*one).to_string()).collect();
    let scenario =
        Scenario::read(&format!("{id}.toml"), preset.text, &overrides).unwrap_or_else(|error| panic!("{error}"));
    run(vec![scenario], &()).expect("it runs").remove(0)
}

/// The goodput of each flow over all seeds, Mbit/s.
fn goodputs(runs: &Runs) -> Vec<f64> {
    runs.estimates().flow_goodput_bps.iter().map(|estimate| estimate.mean * 1e-6).collect()
}

fn delay_ms(runs: &Runs) -> f64 {
    runs.estimates().queue_delay_mean_s.expect("the bottleneck has a queue").mean * 1e3
}

#[test]
fn each_says_what_it_claims_and_what_to_look_for() {
    for preset in PRESETS {
        let scenario = Scenario::read(preset.id, preset.text, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert!(scenario.document().title.is_some(), "{} has no title", preset.id);
        for word in ["Claim", "Look for"] {
            let text = preset.paragraph(word);
            assert!(text.len() > 60 && text.ends_with('.'), "{}, {word}: {text}", preset.id);
        }
        assert!(!preset.apart() || scenario.document().flow.len() > 1, "{}", preset.id);
    }
}

#[test]
fn every_file_of_the_folder_is_offered() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/live")).unwrap();
    let mut files: Vec<String> =
        folder.map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned()).collect();
    let mut offered: Vec<String> = PRESETS.iter().map(|preset| preset.id.to_string()).collect();
    files.sort();
    offered.sort();
    assert_eq!(files, offered);
}

#[test]
fn cubic_has_more_than_reno_where_the_round_trip_is_long() {
    let share = |rtt: &str| {
        let goodputs = goodputs(&runs("two-flows", &[&format!("dumbbell.rtt={rtt}"), "duration=40s"]));
        goodputs[1] / goodputs[0]
    };
    let (short, long) = (share("10ms"), share("100ms"));
    assert!(long > 1.3 && long > short, "{short} {long}");
}

#[test]
fn hystart_loses_less_at_the_start_and_limited_slow_start_nothing() {
    let lost = |flow: usize| {
        let others = (0..3).filter(|other| *other != flow).map(|other| format!("flow.{other}.start=7.9s"));
        let others: Vec<String> = others.collect();
        let overrides: Vec<&str> = others.iter().map(String::as_str).chain(["warmup=0s", "seeds=2"]).collect();
        let runs = runs("slow-start", &overrides);
        let before = |trace: &cwnd_trace::Trace| trace.at.partition_point(|at| *at < 7_000_000_000) - 1;
        runs.traces.iter().map(|trace| trace.flows[flow].lost[before(trace)]).sum::<u64>()
    };
    let [standard, hystart, limited] = [0, 1, 2].map(lost);
    assert!(standard > 2000 && hystart * 3 < standard && limited * 100 < standard, "{standard} {hystart} {limited}");
}

#[test]
fn codel_takes_the_delay_away_and_leaves_the_goodput() {
    let (bloated, controlled) = (runs("bufferbloat", &[]), runs("bufferbloat", &["dumbbell.queue=codel:8bdp"]));
    assert!(delay_ms(&bloated) > 10.0 * delay_ms(&controlled));
    let total = |runs: &Runs| goodputs(runs).iter().sum::<f64>();
    assert!(total(&controlled) > 0.9 * total(&bloated));
}

#[test]
fn the_shorter_round_trip_has_the_larger_share() {
    let ratio = |overrides: &[&str]| {
        let goodputs = goodputs(&runs("rtt-unfairness", overrides));
        goodputs[0] / goodputs[1]
    };
    let reno = ratio(&[]);
    let daimd = ratio(&["flow.0.algorithm=daimd", "flow.1.algorithm=daimd"]);
    assert!(reno > 2.0 && daimd < reno / 1.5, "{reno} {daimd}");
}

#[test]
fn a_deep_queue_is_cubics_and_a_shallow_one_bbrs() {
    let share = |queue: &str| {
        let goodputs = goodputs(&runs("cubic-bbr3", &[&format!("dumbbell.queue=droptail:{queue}bdp")]));
        goodputs[0] / (goodputs[0] + goodputs[1])
    };
    let (shallow, deep) = (share("0.5"), share("4"));
    assert!(shallow < 0.5 && deep > 0.5, "{shallow} {deep}");
}

#[test]
fn dctcp_keeps_the_queue_at_the_threshold_without_a_loss() {
    let marked = runs("dctcp", &[]);
    let estimates = marked.estimates();
    assert_eq!(estimates.loss_rate.unwrap().mean, 0.0);
    assert!(estimates.utilisation.unwrap().mean > 0.99 && estimates.mark_rate.unwrap().mean > 0.05);
    // 20 packets of 1500 bytes at 100 Mbit/s are 2.4 ms.
    assert!((1.2..3.0).contains(&delay_ms(&marked)), "{}", delay_ms(&marked));
    let reno = runs("dctcp", &["flow.0.algorithm=reno"]);
    let utilisation = reno.estimates().utilisation.unwrap().mean;
    assert!(utilisation < 0.97, "{utilisation}");
}

#[test]
fn two_daimd_flows_meet() {
    let goodputs = goodputs(&runs("daimd-converges", &[]));
    assert!((goodputs[0] / goodputs[1] - 1.0).abs() < 0.1, "{goodputs:?}");
    let aiad = self::goodputs(&runs("daimd-converges", &["flow.0.algorithm=aiad", "flow.1.algorithm=aiad"]));
    assert!((aiad[0] / aiad[1] - 1.0).abs() > 0.2, "{aiad:?}");
}
