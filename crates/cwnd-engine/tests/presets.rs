//! What each preset claims, in numbers that it gives over its seeds.

use cwnd_engine::{PRESETS, read, read_address, read_text};
use cwnd_run::address::Linked;
use cwnd_run::measure::Estimates;
use cwnd_run::run::{Runs, run};
use cwnd_run::scenario::Scenario;
use cwnd_trace::Trace;

/// The runs of a preset with overrides.
fn runs(id: &str, overrides: &[&str]) -> Runs {
    let preset = PRESETS.iter().find(|preset| preset.id == id).expect("it is offered");
    let overrides: Vec<String> = overrides.iter().map(|one| (*one).to_string()).collect();
    let scenario =
        Scenario::read(&format!("{id}.toml"), preset.text, &overrides).unwrap_or_else(|error| panic!("{error}"));
    run(vec![scenario], &()).expect("it runs").remove(0)
}

/// The runs of a preset with one of its groups of flows alone on the path, as the page shows it.
fn alone(id: &str, group: usize, overrides: &[&str]) -> Runs {
    let preset = PRESETS.iter().find(|preset| preset.id == id).expect("it is offered");
    assert!(preset.apart());
    let overrides: Vec<String> = overrides.iter().map(|one| (*one).to_string()).collect();
    let scenario = Scenario::read(id, preset.text, &overrides).unwrap_or_else(|error| panic!("{error}"));
    let mut document = scenario.document().clone();
    document.flow = vec![document.flow.swap_remove(group)];
    run(vec![Scenario::check(document).expect("it was one of several")], &()).expect("it runs").remove(0)
}

/// How far the window has come in the middle of its way from a cut to the next, as a share of that way: 1/2 on a straight line. Of all
/// such ways in the measured time that are longer than three seconds.
fn midway(runs: &Runs) -> Vec<f64> {
    let of = |trace: &Trace| -> Vec<f64> {
        let (at, windows) = (&trace.at, &trace.flows[0].window);
        let from = at.partition_point(|at| *at < trace.warmup);
        let cuts: Vec<usize> =
            (from + 1..windows.len()).filter(|row| windows[*row] < 0.97 * windows[*row - 1]).collect();
        let ways = cuts.windows(2).filter(|pair| at[pair[1]] - at[pair[0]] > 3_000_000_000);
        let share = |pair: &[usize]| {
            // A cut may take more than one sample.
            let low = (pair[0]..pair[1]).min_by(|a, b| windows[*a].total_cmp(&windows[*b])).expect("some rows");
            let high = pair[1] - 1;
            (windows[usize::midpoint(low, high)] - windows[low]) / (windows[high] - windows[low])
        };
        ways.map(share).collect()
    };
    runs.traces.iter().flat_map(of).collect()
}

/// The goodput of each flow over all seeds, Mbit/s.
fn goodputs(runs: &Runs) -> Vec<f64> {
    runs.estimates().flow_goodput_bps.iter().flatten().map(|estimate| estimate.mean * 1e-6).collect()
}

fn delay_ms(runs: &Runs) -> f64 {
    runs.estimates().queue_delay_mean_s.expect("the bottleneck has a queue").mean * 1e3
}

#[test]
fn a_preset_is_recognised_with_all_its_defaults_written_out() {
    for preset in PRESETS {
        let own = read(preset.text).unwrap_or_else(|error| panic!("{}: {error}", preset.id));
        let scenario = Scenario::read(preset.id, preset.text, &[]).unwrap_or_else(|error| panic!("{error}"));
        // As in the reports of commands.
        let toml = scenario.document().to_toml();
        assert_ne!(read(&toml).expect("it was read"), own, "{}", preset.id);
        let address = Linked { toml: toml.clone(), ..Linked::default() }.fragment();
        assert_eq!(read_address(1, &address).header["document"], own, "{}", preset.id);
        assert_eq!(read_text(1, &toml).header["document"], own, "{}", preset.id);
        let other = scenario.document().seeds + 1;
        let other = toml.replacen(&format!("seeds = {}", other - 1), &format!("seeds = {other}"), 1);
        assert_eq!(read_text(1, &other).header["document"], read(&other).expect("more seeds"), "{}", preset.id);
    }
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
fn every_file_of_the_directory_is_offered() {
    let directory = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios/live")).unwrap();
    let mut files: Vec<String> =
        directory.map(|file| file.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned()).collect();
    let offered: Vec<String> = PRESETS.iter().map(|preset| preset.id.to_string()).collect();
    files.retain(|file| !offered.contains(file));
    assert_eq!(files, [""; 0]);
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

#[test]
fn simd_grows_with_the_square_of_time_and_aimd_with_time() {
    let (simd, aimd) = (midway(&alone("simd", 0, &[])), midway(&alone("simd", 1, &[])));
    assert!(simd.len() > 5 && simd.iter().all(|share| (share - 0.25).abs() < 0.03), "{simd:?}");
    assert!(aimd.len() > 5 && aimd.iter().all(|share| (share - 0.5).abs() < 0.05), "{aimd:?}");
}

#[test]
fn exp_tcp_bends_up_where_cubic_bends_down() {
    let (exp, cubic) = (midway(&alone("exp-tcp", 0, &[])), midway(&alone("exp-tcp", 1, &[])));
    assert!(exp.len() > 5 && exp.iter().all(|share| *share < 0.4), "{exp:?}");
    assert!(!cubic.is_empty() && cubic.iter().all(|share| *share > 0.6), "{cubic:?}");
}

#[test]
fn the_increase_of_udt_does_not_wait_for_the_round_trip() {
    let utilisation = |group: usize, rtt: &str| {
        let runs = alone("udt", group, &[&format!("dumbbell.rtt={rtt}")]);
        runs.estimates().utilisation.expect("the bottleneck has a rate").mean
    };
    let (near, far) = (utilisation(0, "10ms"), utilisation(0, "200ms"));
    assert!(near > 0.85 && far > 0.85, "UDT: {near} {far}");
    let (near, far) = (utilisation(1, "10ms"), utilisation(1, "200ms"));
    assert!(near > 0.95 && far < 0.5, "Reno: {near} {far}");
}

#[test]
fn two_windows_of_new_aimd_come_nearer_to_each_other() {
    let runs = runs("new-aimd", &[]);
    // The difference of both windows as a share of their sum, on average between two times.
    let apart = |trace: &Trace, from: u64, to: u64| {
        let rows = trace.at.partition_point(|at| *at < from * 1_000_000_000)
            ..trace.at.partition_point(|at| *at < to * 1_000_000_000);
        let [first, second] = [0, 1].map(|flow| &trace.flows[flow].window);
        rows.clone().map(|row| (first[row] - second[row]).abs() / (first[row] + second[row])).sum::<f64>()
            / rows.len() as f64
    };
    let mut pairs: Vec<_> = runs.traces.iter().map(|trace| (apart(trace, 10, 12), apart(trace, 30, 60))).collect();
    let (early, late) = pairs[0];
    assert!(late < early / 2.0, "in the first seed, which is shown: {pairs:?}");
    pairs.sort_by(|a, b| a.1.total_cmp(&b.1));
    assert!(pairs[2].1 < 0.3 && pairs[4].1 > 0.5, "most come together, and one stays apart: {pairs:?}");
}

#[test]
fn aiad_loses_more_than_aimd_for_the_same_goodput() {
    let [aiad, aimd] = [0, 1].map(|group| alone("aiad", group, &[]).estimates());
    let goodput = |estimates: &Estimates| estimates.goodput_bps.as_ref().expect("there are flows").mean;
    assert!((goodput(&aiad) / goodput(&aimd) - 1.0).abs() < 0.05);
    let loss = |estimates: &Estimates| estimates.loss_rate.as_ref().expect("packets were sent").mean;
    assert!(loss(&aiad) > 1.3 * loss(&aimd), "{} {}", loss(&aiad), loss(&aimd));
}

#[test]
fn contention_costs_a_fair_queue_half_of_the_rate() {
    let of = |overrides: &[&str]| {
        let overrides = [&["seeds=3"], overrides].concat();
        let runs = runs("wifi", &overrides);
        let goodputs = goodputs(&runs);
        (goodputs[0] + goodputs[1], goodputs[0] / goodputs[1], delay_ms(&runs))
    };
    let (_, share, delay) = of(&[]);
    assert!(share > 2.0 && delay > 60.0, "{share} {delay}");
    let fair = "dumbbell.queue=fq_codel:1000p";
    let (total, _, short) = of(&[fair]);
    assert!(total < 40.0 && short < 0.3 * delay, "{total} {short}");
    let calm =
        ["dumbbell.impairments={aggregate=\"2ms\"}", "dumbbell.reverse_impairments={aggregate=\"4ms\",thin_acks=4}"];
    let (total, share, _) = of(&[fair, calm[0], calm[1]]);
    assert!(total > 55.0 && (0.8..1.4).contains(&share), "{total} {share}");
}

#[test]
fn the_queue_of_a_base_station_is_filled_by_cubic_and_not_by_bbr() {
    let delay = |algorithm: &str| delay_ms(&runs("lte", &["seeds=1", &format!("flow.0.algorithm={algorithm}")]));
    let (cubic, bbr3) = (delay("cubic"), delay("bbr3"));
    assert!(cubic > 1500.0 && bbr3 < 0.5 * cubic, "{cubic} {bbr3}");
}

#[test]
fn random_loss_on_a_satellite_in_low_orbit_is_cubics() {
    let share = |loss: &str| {
        let goodputs = goodputs(&runs("leo", &["seeds=1", "duration=60s", &format!("dumbbell.loss={loss}")]));
        goodputs[0] / goodputs[1]
    };
    let (lossy, clean) = (share("0.005"), share("0"));
    assert!(lossy < 0.1 && clean > 3.0 * lossy, "{lossy} {clean}");
}

#[test]
fn slow_start_takes_three_times_the_time_of_the_line_over_600_ms() {
    let seconds = |overrides: &[&str]| {
        let completed = runs("satellite", overrides).traces[0].flows[0].completed;
        completed.expect("it ends") as f64 * 1e-9
    };
    let line = 100e6 * 8.0 / 250e6;
    let (standard, hystart) = (seconds(&["seeds=1"]), seconds(&["seeds=1", "flow.0.slow_start=hystart++"]));
    assert!((2.5..3.5).contains(&(standard / line)), "{standard}");
    assert!((hystart / standard - 1.0).abs() < 0.05, "{standard} {hystart}");
}

#[test]
fn a_fair_queue_of_a_modem_gives_the_download_back() {
    let download = |overrides: &[&str]| goodputs(&runs("dsl", overrides))[0];
    let (slow, fast) = (download(&["seeds=2"]), download(&["seeds=2", "dumbbell.reverse_queue=fq_codel:1000p"]));
    assert!(slow < 2.0 && fast > 5.0 * slow, "{slow} {fast}");
}

#[test]
fn a_policer_costs_losses_and_no_delay() {
    let runs = runs("operator-policer", &["seeds=2"]);
    let loss = runs.estimates().loss_rate.expect("packets were sent").mean;
    assert!(goodputs(&runs)[0] > 11.0 && loss > 0.01 && delay_ms(&runs) < 0.1, "{loss}");
}

#[test]
fn a_dual_queue_keeps_a_delay_for_each() {
    let rtts = |queue: &str| {
        let runs = runs("l4s", &["seeds=1", "duration=40s", &format!("dumbbell.queue={queue}")]);
        let trace = &runs.traces[0];
        let from = trace.at.partition_point(|at| *at < trace.warmup);
        [0, 1].map(|flow: usize| {
            let srtt = &trace.flows[flow].srtt[from..];
            srtt.iter().sum::<f64>() / srtt.len() as f64 * 1e3
        })
    };
    let ([prague, cubic], [one, other]) = (rtts("dualpi2:250ms"), rtts("droptail:250ms"));
    assert!((19.5..23.0).contains(&prague) && (30.0..40.0).contains(&cubic), "{prague} {cubic}");
    assert!((one - other).abs() < 20.0, "{one} {other}");
}

#[test]
fn pie_in_a_cable_modem_leaves_the_download_its_rate() {
    let download = |queue: &str| goodputs(&runs("docsis", &["seeds=3", &format!("dumbbell.reverse_queue={queue}")]))[0];
    let (pie, bloated) = (download("pie:250ms,target=10ms"), download("droptail:1000ms"));
    assert!(pie > 190.0 && bloated < 0.85 * pie, "{pie} {bloated}");
}

#[test]
fn turns_of_single_packets_cost_a_channel_a_third_of_its_rate() {
    let rate = |duplex: &str| goodputs(&runs("wifi-channel", &["seeds=1", &format!("dumbbell.duplex={duplex}")]))[0];
    let (bursts, single) = (rate("half:access=100us,burst=16"), rate("half:access=100us"));
    assert!((54.0..54.5).contains(&bursts) && (32.5..33.5).contains(&single), "{bursts} {single}");
}

#[test]
fn a_shaper_moves_the_queue_from_the_modem_into_the_router() {
    let (modem, router) = (
        delay_ms(&runs("modem-behind-router", &["seeds=1"])),
        delay_ms(&runs("modem-behind-router", &["seeds=1", "link.0.impairments.shaper=\"19mbit,burst=3kB\""])),
    );
    assert!(modem > 200.0 && router < 10.0, "{modem} {router}");
}

#[test]
fn key_frames_cost_a_scalable_sender_more_than_their_rate() {
    let prague = |rate: &str| goodputs(&runs("video", &["seeds=2", &format!("cbr.0.rate={rate}")]))[0];
    let (frames, steady) = (prague("video:7400B,key=10,every=30,fps=30"), prague("cbr:2.31mbit"));
    assert!(frames < 0.8 * steady, "{frames} {steady}");
}

#[test]
fn an_oven_costs_more_than_its_time_and_reverses_the_order() {
    let off = [("link.1", "60mbit"), ("link.2", "30mbit")].map(|(link, rate)| {
        let steps = format!("{link}.schedule.steps.0");
        [format!("{steps}.rate={rate}"), format!("{steps}.corrupt=0")]
    });
    let off: Vec<&str> = off.iter().flatten().map(String::as_str).chain(["seeds=3"]).collect();
    let (on, off) = (goodputs(&runs("wifi-microwave", &["seeds=3"])), goodputs(&runs("wifi-microwave", &off)));
    let total = |of: &[f64]| of.iter().sum::<f64>();
    assert!(total(&on) < 0.4 * total(&off) && on[1] > on[0] && off[0] > 3.0 * off[1], "{on:?} {off:?}");
}
