//! Results on paper as documents and pages, and against the simulator.

use crate::axes::outside;
use cwnd::Spec;
use cwnd::units::{BitRate, Bytes, Packets, Span};
use cwnd_lab::model::{self, Pair, Paths, Setup, Udt};
use cwnd_report::page::model::{self as report, Printed};
use cwnd_run::files::to_json;
use cwnd_run::run::run;
use cwnd_run::scenario::Scenario;
use serde_json::Value;

fn specs<const N: usize>(texts: [&str; N]) -> [Spec; N] {
    texts.map(|text| Spec::parse(text).expect("an algorithm"))
}

fn json(document: &impl serde::Serialize) -> Value {
    serde_json::from_str(&to_json(document)).expect("JSON")
}

const PAIR: Pair = Pair { capacity: 100.0, windows: [10.0, 40.0], epsilon: 1.0 };

#[test]
fn documents_have_the_keys_that_others_read() {
    let algorithms = specs(["reno", "aimd:b=1/16", "iiad", "simd:beta=1/16"]);
    let convergence = json(&model::convergences(&algorithms.each_ref(), PAIR, &|| true));
    let expected = [(25.0, 30.0, 122.67), (258.333, 30.0, 1701.78), (853.125, 15.0, 6724.89), (74.653, 0.0, 0.0)];
    for (at, (t1, delta, t2)) in expected.into_iter().enumerate() {
        let row = &convergence["rows"][at];
        assert_eq!(row["algorithm"], algorithms[at].label());
        for (key, value) in [("t1_rtt", t1), ("delta_packets", delta), ("t2_rtt", t2)] {
            let found = row[key].as_f64().expect("a number");
            assert!((found - value).abs() <= 1e-3 * value.max(1.0), "{key} of {}: {found}", row["algorithm"]);
        }
    }
    let [reno, udt] = &specs(["reno", "udt"]);
    let response = json(&model::responses(&[reno, udt], &[1e-3], Span::from_millis(100), Bytes(1500), 0, &|| true));
    let row = &response["rows"][0];
    assert_eq!((row["algorithm"].as_str(), row["loss"].as_f64()), (Some("reno"), Some(1e-3)));
    assert!((row["window_packets"].as_f64().expect("a number") - 38.73).abs() < 0.005);
    assert_eq!(response["rows"][1]["kind"], "not defined");
    assert_eq!(response["rows"][1]["window_packets"], Value::Null);
}

#[test]
fn pages_have_the_plots_of_their_results() {
    let algorithms = specs(["reno", "simd", "daimd"]);
    let chosen = algorithms.each_ref();
    let printed =
        Printed { command: "cwnd model <b>", text: "a < b", algorithms: &chosen, pages: &[("index.html", "Start")] };
    let rtt = Span::from_millis(100);
    let response = report::response(&model::responses(&chosen, &[1e-4, 1e-2], rtt, Bytes(1500), 2, &|| true), printed);
    let walks = model::convergence_walks(&chosen, PAIR);
    let convergence = report::convergence(&model::convergences(&chosen, PAIR, &|| true), &walks, printed);
    let setup = Setup {
        flows: model::flows(&[(20.0, None), (20.0, Some(Span::from_millis(200)))]),
        capacity: Packets(100.0),
        events: 5,
        ..Setup::default()
    };
    let walks = model::walks(&chosen, &setup, &|| true);
    let rounds = report::rounds(&Paths::of(&setup, &walks), &walks, printed);
    let path = Udt {
        capacity: BitRate(1e9),
        packet: Bytes(1500),
        rtt,
        losses: &[1e-6, 1e-3],
        flows: 2,
        delays: &[Span::from_millis(10), Span::from_millis(200)],
    };
    let udt = report::udt(&model::stages(path), printed);
    for (page, figures) in [
        (&response, &["response"][..]),
        (&convergence, &["windows-1", "phase-1", "windows-2", "phase-2", "windows-3", "phase-3"]),
        (&rounds, &["windows-1", "phase-1", "phase-3"]),
        (&udt, &["growth", "equilibria", "delays"]),
    ] {
        for id in figures {
            assert!(page.contains(&format!("<figure id=\"{id}\">")), "{id}");
            assert!(page.contains(&format!("data-csv=\"{id}/table\"")), "{id}");
        }
        assert_eq!(outside(page), [""; 0]);
        assert!(
            page.contains("<li><a href=\"index.html\">Start</a></li><li><a href=\"#plots\">"),
            "no link to the other pages"
        );
        assert!(page.contains("class=\"question\"") && page.contains("class=\"repeat\""));
        assert!(page.contains("cwnd model &#60;b&#62;") && page.contains("a &#60; b"));
        assert!(page.contains("default-src 'none'") && page.len() < 3_000_000, "{} bytes", page.len());
    }
    assert!(response.contains("data-csv=\"response/random\"") && response.contains("points are of"));
    let closed = report::response(&model::responses(&chosen, &[1e-4, 1e-2], rtt, Bytes(1500), 0, &|| true), printed);
    assert!(!closed.contains("points are of"), "points that nobody asked for");
    for title in ["Windows of reno", "Phase plane of simd"] {
        assert!(convergence.contains(title), "{title}");
    }
}

#[test]
fn a_round_trip_of_its_own_shows_in_the_paths() {
    let [reno] = &specs(["reno"]);
    let setup = Setup {
        flows: model::flows(&[(20.0, None), (20.0, Some(Span::from_millis(200)))]),
        capacity: Packets(100.0),
        events: 1,
        ..Setup::default()
    };
    let paths = json(&Paths::of(&setup, &model::walks(&[reno], &setup, &|| true)));
    assert_eq!(paths["flow_rtt_s"], serde_json::json!([0.1, 0.2]));
    // 20 + t and 20 + t/2, the second worth half: 20 + t + 10 + t/4 = 100.
    assert!((paths["rows"][0]["at_rtt"].as_f64().expect("a number") - 56.0).abs() < 1e-6);
}

/// Two flows of a UDT, one of which overestimates the capacity by the factor `1 + error`: the rate of the faster over that of the slower.
fn ratio(udt: &str, error: f64, rtt: &str) -> f64 {
    let text = format!(
        "duration = \"60s\"\nwarmup = \"20s\"\nseeds = 3\nsampling = \"off\"\n\
         [dumbbell]\nrate = \"100mbit\"\nrtt = \"{rtt}\"\nqueue = \"droptail:1bdp\"\n\
         [[flow]]\nalgorithm = \"{udt},floor=0.000667,capacity={}mbit\"\n\
         [[flow]]\nalgorithm = \"{udt},floor=0.000667,capacity=100mbit\"\n",
        100.0 * (1.0 + error)
    );
    let scenario = Scenario::read("error.toml", &text, &[]).expect("a scenario");
    let runs = run(vec![scenario], &()).expect("it runs").remove(0);
    let flows: Vec<f64> = runs.estimates().flow_goodput_bps.iter().flatten().map(|flow| flow.mean).collect();
    flows[0].max(flows[1]) / flows[0].min(flows[1])
}

/// Release 1.1 with the increase of eq. 8.
const RELEASE_1_1: &str = "udt:profile=ns2-1.1,step=eq8";

#[test]
fn a_capacity_taken_for_too_much_costs_no_more_than_its_bound() {
    // With the feedback of release 1.1 the bound is exceeded from some error on: both flows do not cut alike. In `paper` even two flows
    // without an error are 4.8 apart here, since each NAK cuts.
    for (udt, errors) in [(RELEASE_1_1, [0.0, 0.2, 0.5]), ("udt:profile=udt4", [0.2, 0.5, 2.0])] {
        for error in errors {
            let bound = cwnd_model::udt::worst_ratio(error).expect("within its range");
            let found = ratio(udt, error, "20ms");
            assert!(found <= 1.1 * bound, "{udt}, {error}: {found} for {bound}");
        }
    }
}

#[test]
fn a_capacity_taken_for_too_little_is_a_ceiling() {
    // A flow that takes the capacity for a quarter of it stops there. The model's ratio of 3 knows no cuts, after which it needs long to
    // be back.
    let bound = cwnd_model::udt::worst_ratio(-0.75).expect("within its range");
    let found = ratio(RELEASE_1_1, -0.75, "25ms");
    assert!((0.98 * bound..2.0 * bound).contains(&found), "{found} for {bound}");
}
