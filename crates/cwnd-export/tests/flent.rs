//! flent's data file.

mod common;

use common::{ABOUT, trace};
use serde_json::Value;

#[test]
fn the_file_is_of_version_4() {
    let trace = trace();
    let mut bytes = Vec::new();
    cwnd_export::flent::write(&mut bytes, &trace, &ABOUT).expect("memory takes everything");
    let file: Value = serde_json::from_slice(&bytes).expect("JSON");
    assert_eq!(file["version"], 4);
    for key in ["NAME", "TITLE", "TIME", "T0", "LENGTH", "TOTAL_LENGTH", "STEP_SIZE", "HOSTS", "TEST_PARAMETERS"] {
        assert!(!file["metadata"][key].is_null(), "{key}");
    }
    assert_eq!(file["metadata"]["TEST_PARAMETERS"]["upload_streams"], "2");
    let x = file["x_values"].as_array().expect("a list");
    assert_eq!(x.len(), trace.at.len() - 1);
    let results = file["results"].as_object().expect("an object");
    for (name, series) in results {
        assert_eq!(series.as_array().map(Vec::len), Some(x.len()), "{name}");
    }
    // The total delivered by the flows, from the rates: 5 s in steps of 50 ms.
    for (number, flow) in trace.flows.iter().enumerate() {
        let rates = results[&format!("TCP upload::{}", number + 1)].as_array().expect("a list");
        let megabits: f64 = rates.iter().filter_map(Value::as_f64).map(|rate| rate * 0.05).sum();
        let delivered = flow.delivered.last().expect("sampled") * u64::from(flow.payload) * 8;
        assert!((megabits * 1e6 / delivered as f64 - 1.0).abs() < 1e-6, "{megabits} for {delivered}");
    }
    let raw = file["raw_values"]["TCP upload::1"].as_array().expect("a list");
    assert_eq!(raw.len(), x.len());
    assert_eq!(raw[3]["tcp_cwnd"].as_f64(), Some(trace.flows[0].window[4]));
    assert_eq!(raw[3]["tcp_rtt"].as_f64(), Some(trace.flows[0].srtt[4] * 1e3));
}
