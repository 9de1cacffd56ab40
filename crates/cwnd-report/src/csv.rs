//! Traces as tables: one row per seed, sampled instant, and flow or link.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use cwnd_trace::{FlowTrace, LinkTrace, Trace};

use cwnd_run::measure::{Window, is_there};
use cwnd_text::cell;

/// Writes the flows of runs, each with its seed. Curves are cumulative since the start; `goodput_bps` is over the time since the row before. A
/// cell is empty where there is no value.
///
/// # Errors
/// The writer fails.
pub(crate) fn write_flows(out: &mut impl Write, runs: &[(u64, &Trace)]) -> io::Result<()> {
    let internals = internals(runs);
    let mut row = String::from("seed,time_s,flow,algorithm");
    for (name, _) in &FLOW_CURVES {
        let _ = write!(row, ",{name}_packets");
    }
    row.push_str(",timeouts,window_packets,in_flight_packets,srtt_s,pacing_rate_packets_per_s,goodput_bps");
    for name in &internals {
        let _ = write!(row, ",{name}");
    }
    end(out, &mut row)?;
    for (seed, trace) in runs {
        for (index, at) in trace.at.iter().enumerate() {
            for flow in &trace.flows {
                let _ = write!(row, "{seed},{},{},{}", Seconds(*at), cell(&flow.name), cell(&flow.algorithm));
                for (_, curve) in &FLOW_CURVES {
                    let _ = write!(row, ",{}", curve(flow)[index]);
                }
                let _ = write!(row, ",{}", flow.timeouts[index]);
                push_number(&mut row, flow.window[index]);
                let _ = write!(row, ",{}", flow.in_flight[index]);
                push_number(&mut row, flow.srtt[index]);
                push_number(&mut row, flow.pacing_rate[index]);
                push_number(&mut row, goodput(trace, flow, index));
                for name in &internals {
                    let column = flow.internals.iter().find(|(internal, _)| internal == name);
                    push_number(&mut row, column.map_or(f64::NAN, |(_, values)| values[index]));
                }
                end(out, &mut row)?;
            }
        }
    }
    Ok(())
}

/// Writes the links of runs, each with its seed. Curves are cumulative since the start; `capacity_bytes` is what the line could have carried, past a shaper
/// or a policer too, empty for a link of pure delay.
///
/// # Errors
/// The writer fails.
pub(crate) fn write_links(out: &mut impl Write, runs: &[(u64, &Trace)]) -> io::Result<()> {
    let mut row = String::from(
        "seed,time_s,link,offered_packets,dropped_packets,lost_packets,marked_packets,carried_packets,carried_bytes,\
         capacity_bytes,queue_packets,queue_bytes",
    );
    end(out, &mut row)?;
    for (seed, trace) in runs {
        for (index, at) in trace.at.iter().enumerate() {
            for link in &trace.links {
                let curves =
                    [&link.offered, &link.dropped, &link.lost, &link.marked, &link.carried, &link.carried_bytes];
                let _ = write!(row, "{seed},{},{}", Seconds(*at), cell(&link.name));
                for curve in &curves {
                    let _ = write!(row, ",{}", curve[index]);
                }
                row.push(',');
                if let Some(capacity) = capacity_bytes(link, *at, index) {
                    let _ = write!(row, "{capacity}");
                }
                let _ = write!(row, ",{},{}", link.queue_packets[index], link.queue_bytes[index]);
                end(out, &mut row)?;
            }
        }
    }
    Ok(())
}

/// Writes a row, and empties it for the next one. A row is formatted as a string, since that code is in the standard library, optimised.
fn end(out: &mut impl Write, row: &mut String) -> io::Result<()> {
    row.push('\n');
    out.write_all(row.as_bytes())?;
    row.clear();
    Ok(())
}

/// Whole bytes that the line could have carried up to the sample at `index`, taken at `at`.
fn capacity_bytes(link: &LinkTrace, at: u64, index: usize) -> Option<u64> {
    let constant = |rate: u64| u64::try_from(u128::from(rate) * u128::from(at) / BIT_NANOS_PER_BYTE_SECOND).ok();
    link.rate.and_then(|rate| link.capacity_bytes.get(index).copied().or_else(|| constant(rate)))
}

const BIT_NANOS_PER_BYTE_SECOND: u128 = 8_000_000_000;

type Curve = fn(&FlowTrace) -> &[u64];

const FLOW_CURVES: [(&str, Curve); 5] = [
    ("sent", |flow| &flow.sent),
    ("retransmitted", |flow| &flow.retransmitted),
    ("delivered", |flow| &flow.delivered),
    ("lost", |flow| &flow.lost),
    ("marked", |flow| &flow.marked),
];

/// The names of all internals, in the order of their first appearance.
fn internals(runs: &[(u64, &Trace)]) -> Vec<&'static str> {
    let mut names = Vec::new();
    for (name, _) in runs.iter().flat_map(|(_, trace)| &trace.flows).flat_map(|flow| &flow.internals) {
        if !names.contains(name) {
            names.push(name);
        }
    }
    names
}

/// Payload bits delivered since the sample before, per second; not a number where the flow was not there meanwhile.
fn goodput(trace: &Trace, flow: &FlowTrace, index: usize) -> f64 {
    let Some(before) = index.checked_sub(1) else { return f64::NAN };
    let span = Window { from: trace.at[before], to: trace.at[index] };
    if !is_there(trace, flow, span) {
        return f64::NAN;
    }
    let packets = (flow.delivered[index] - flow.delivered[before]) as f64;
    packets * f64::from(flow.payload) * 8.0 / ((span.to - span.from) as f64 * 1e-9)
}

/// Adds a number; NaN becomes an empty cell.
fn push_number(row: &mut String, number: f64) {
    row.push(',');
    if !number.is_nan() {
        let _ = write!(row, "{number}");
    }
}

/// Nanoseconds, printed in seconds with all digits.
struct Seconds(u64);

impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_could_have_carried_its_rate_or_its_schedule() {
        let mut link = LinkTrace { rate: Some(100_000_000), ..LinkTrace::default() };
        assert_eq!(capacity_bytes(&link, 1_500_000_000, 0), Some(18_750_000));
        link.capacity_bytes = vec![0, 7].into();
        assert_eq!(capacity_bytes(&link, 1_500_000_000, 1), Some(7));
        assert_eq!(capacity_bytes(&LinkTrace { rate: None, ..link }, 1_500_000_000, 1), None);
    }

    #[test]
    fn seconds_have_all_digits() {
        assert_eq!(Seconds(1_050_000_000).to_string(), "1.050000000");
    }
}
