//! A run as a data file of flent, so that its plots show it.
//!
//! The format is version 4 of flent's own (doc/data-format.rst there). The test is `tcp_nup`, which every flent knows: each flow is
//! a `TCP upload`, and the `Ping (ms) ICMP` is the mean smoothed round-trip time of the flows, since nobody pings. Rates are
//! goodput, in Mbit/s and per sampled instant over the time since the one before; windows, round-trip times and pacing rates are
//! among the raw values, under the names flent gives to what `ss` says. Time begins in 1970, as the run does at 0.

use std::io::{self, Write};

use cwnd_trace::{FlowTrace, Trace};
use serde_json::{Map, Value, json};

use crate::About;

/// Writes a run.
///
/// # Errors
/// The writer fails.
pub fn write(out: &mut impl Write, trace: &Trace, about: &About<'_>) -> io::Result<()> {
    let goodput: Vec<Vec<f64>> = trace.flows.iter().map(|flow| goodput(trace, flow)).collect();
    let names: Vec<String> = (1..=trace.flows.len()).map(|number| format!("TCP upload::{number}")).collect();
    let instants = 1..trace.at.len();
    let over = |of: &dyn Fn(&[f64]) -> f64| -> Vec<Value> {
        let at = |index: usize| goodput.iter().map(|flow| flow[index] * 1e-6).collect::<Vec<f64>>();
        instants.clone().map(|index| number(of(&at(index - 1)))).collect()
    };
    let sum = |rates: &[f64]| rates.iter().sum::<f64>();
    let mut results = Map::new();
    for (name, rates) in names.iter().zip(&goodput) {
        results.insert(name.clone(), rates.iter().map(|rate| number(rate * 1e-6)).collect());
    }
    results.insert("TCP upload sum".to_string(), over(&sum).into());
    results.insert("TCP upload avg".to_string(), over(&|rates| sum(rates) / rates.len() as f64).into());
    let rtts: Vec<f64> = instants.clone().map(|index| mean_rtt(trace, index) * 1e3).collect();
    results.insert(PING.to_string(), rtts.iter().map(|rtt| number(*rtt)).collect());

    let mut raw = Map::new();
    let mut meta = Map::new();
    for ((name, flow), rates) in names.iter().zip(&trace.flows).zip(&goodput) {
        let values = instants.clone().map(|index| raw_value(trace, flow, rates[index - 1], index));
        raw.insert(name.clone(), values.collect());
        meta.insert(name.clone(), json!({ "UNITS": "Mbits/s", "CONG_CONTROL": flow.algorithm, "FLOW": flow.name }));
    }
    let pings = instants.clone().zip(&rtts).filter(|(_, rtt)| rtt.is_finite());
    raw.insert(
        PING.to_string(),
        pings.map(|(index, rtt)| json!({ "t": seconds(trace.at[index]), "val": rtt })).collect(),
    );
    meta.insert(PING.to_string(), json!({ "UNITS": "ms" }));

    let length = seconds(trace.end);
    let step = trace.at.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
    let file = json!({
        "version": 4,
        "metadata": {
            "NAME": "tcp_nup",
            "TITLE": format!("simulated: {}, seed {}", about.title, about.seed),
            "NOTE": format!("A simulation by {}. Repeat with: {}", about.program, about.command),
            "DATA_FILENAME": "cwnd.flent.gz",
            "LOCAL_HOST": "simulator",
            "HOST": "simulated",
            "HOSTS": ["simulated"],
            "LENGTH": length,
            "TOTAL_LENGTH": length,
            "STEP_SIZE": seconds(step),
            "TIME": BEGINNING,
            "T0": BEGINNING,
            "TEST_PARAMETERS": { "upload_streams": names.len().to_string() },
            "FLENT_VERSION": about.program,
            "IP_VERSION": 4,
            "SERIES_META": meta,
        },
        "x_values": instants.map(|index| number(seconds(trace.at[index]))).collect::<Vec<_>>(),
        "results": results,
        "raw_values": raw,
    });
    serde_json::to_writer(&mut *out, &file)?;
    out.write_all(b"\n")
}

/// Payload bits delivered per second, between each two sampled instants.
fn goodput(trace: &Trace, flow: &FlowTrace) -> Vec<f64> {
    let spans = trace.at.windows(2).map(|pair| seconds(pair[1] - pair[0]));
    let packets = flow.delivered.windows(2).map(|pair| (pair[1] - pair[0]) as f64);
    packets.zip(spans).map(|(packets, span)| packets * f64::from(flow.payload) * 8.0 / span).collect()
}

/// The mean of the flows that have a round-trip time at an instant, seconds; not a number if none has.
fn mean_rtt(trace: &Trace, index: usize) -> f64 {
    let rtts = || trace.flows.iter().map(|flow| flow.srtt[index]).filter(|rtt| rtt.is_finite());
    rtts().sum::<f64>() / rtts().count() as f64
}

/// The raw values of a stream at an instant, without those that are unknown.
fn raw_value(trace: &Trace, flow: &FlowTrace, rate: f64, index: usize) -> Value {
    let value = [
        ("t", seconds(trace.at[index])),
        ("val", rate * 1e-6),
        ("tcp_cwnd", flow.window[index]),
        ("tcp_rtt", flow.srtt[index] * 1e3),
        ("tcp_pacing_rate", flow.pacing_rate[index] * f64::from(flow.packet) * 8e-6),
        ("tcp_delivery_rate", rate * 1e-6),
        ("tcp_retransmits", flow.retransmitted[index] as f64),
    ];
    let known = value.into_iter().filter(|(_, value)| value.is_finite());
    Value::Object(known.map(|(name, value)| (name.to_string(), number(value))).collect())
}

/// Null for a value that is not finite.
fn number(value: f64) -> Value {
    json!(value)
}

fn seconds(nanos: u64) -> f64 {
    nanos as f64 * 1e-9
}

const PING: &str = "Ping (ms) ICMP";
/// A constant, so that the same run gives the same file.
const BEGINNING: &str = "1970-01-01T00:00:00.000000Z";
