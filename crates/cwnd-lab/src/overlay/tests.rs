//! What recorded runs of a kernel are read as, and what becomes of anything else.

use cwnd_trace::{Column, FlowTrace, Trace};
use proptest::prelude::*;

use super::*;

/// Linux 6.18, iperf3 -C cubic for four seconds through a token bucket of 10 Mbit/s; every 120th event.
const PROBED: &str = include_str!("../../tests/kernel/tcp_probe.txt");
/// The same transfer, every sixth output.
const LISTED: &str = include_str!("../../tests/kernel/ss.txt");

fn only(file: &str, text: &str) -> KernelFlow {
    let flows = import(file, text, 1448).expect("readable").flows;
    let [flow] = flows.as_slice() else { panic!("{} flows", flows.len()) };
    flow.clone()
}

#[test]
fn events_of_the_trace_point() {
    let flow = only("tcp_probe.txt", PROBED);
    assert_eq!(flow.name, "10.7.0.1:59886 to 10.7.0.2:5201");
    assert_eq!((flow.algorithm.as_deref(), flow.mss), (None, 1448));
    assert_eq!(flow.samples.len(), PROBED.matches("src=10.7.0.1:59886").count());
    let first = flow.samples[0];
    assert_eq!((first.at, first.window, first.threshold, first.acked), (24_857_240_733_000, 22.0, 22.0, 0));
    assert!((first.srtt - 6.882e-3).abs() < 1e-12);
    // 0xbc4c01b2 - 0xbc4be56a = 7240 = 5 x 1448.
    assert_eq!(first.in_flight, 5);
    // The bucket lets 10 Mbit/s pass, headers included: at most 9.6 Mbit/s of payload.
    let last = flow.samples[flow.samples.len() - 1];
    let rate = last.acked as f64 * 8.0 / ((last.at - first.at) as f64 * 1e-9);
    assert!((9.3e6..9.7e6).contains(&rate), "{rate}");
}

#[test]
fn outputs_of_ss() {
    let flow = only("ss.txt", LISTED);
    assert_eq!(flow.name, "10.7.0.1:59886 to 10.7.0.2:5201");
    assert_eq!((flow.algorithm.as_deref(), flow.mss, flow.samples.len()), (Some("cubic"), 1448, 5));
    let [first, second, ..] = flow.samples.as_slice() else { panic!("five samples") };
    assert_eq!((first.at, first.acked, first.in_flight), (1_795_315_914_361_616_895, 0, 2));
    assert!((first.srtt - 13.989e-3).abs() < 1e-12);
    assert_eq!((second.acked, second.window, second.threshold), (1_398_806 - 63_750, 22.0, 22.0));
    assert_eq!((second.pacing, second.retransmitted), (56_242_312.0, Some(0)));
}

#[test]
fn other_ways_to_print_the_same() {
    // perf script, and numbers that wrap.
    let perf = "iperf3 99 [000] 10.000001: tcp:tcp_probe: family=AF_INET src=1.1.1.1:1 dest=2.2.2.2:2 mark=0x0 data_len=0 \
                snd_nxt=0x10 snd_una=0xfffffff0 snd_cwnd=10 ssthresh=2147483647 snd_wnd=9 srtt=100 rcv_wnd=9\n\
                iperf3 99 [000] 11.5: tcp:tcp_probe: family=AF_INET src=1.1.1.1:1 dest=2.2.2.2:2 mark=0x0 data_len=0 \
                snd_nxt=0x10 snd_una=0x10 snd_cwnd=11 ssthresh=2147483647 snd_wnd=9 srtt=100 rcv_wnd=9\n";
    let flow = only("perf", perf);
    assert_eq!(flow.samples[1].acked, 0x20);
    assert_eq!(flow.samples[1].at - flow.samples[0].at, 1_499_999_000);
    assert!(flow.samples[0].threshold.is_nan());
    // One line per socket, flags before the name, rates with a prefix.
    let listed = "Time: 5.25\nESTAB 0 0 1.1.1.1:1 2.2.2.2:2 ts sack ecn reno wscale:7,7 rtt:1.5/0.5 mss:500 cwnd:8 \
                  bytes_acked:100 unacked:3 retrans:1/4 pacing_rate 21.5Mbps\n\
                  Time: 6\nESTAB 0 0 1.1.1.1:1 2.2.2.2:2 ts sack ecn reno rtt:1.5/0.5 mss:500 cwnd:8 bytes_acked:900\n";
    let flow = only("ss", listed);
    assert_eq!((flow.algorithm.as_deref(), flow.mss), (Some("reno"), 500));
    let first = flow.samples[0];
    assert_eq!((first.in_flight, first.retransmitted, first.pacing), (3, Some(4), 21.5e6));
    assert_eq!(flow.samples[1].acked, 800);
}

#[test]
fn errors_name_the_line() {
    let said = |text: &str| import("k.txt", text, 1448).expect_err("unreadable").to_string();
    let broken = PROBED.replacen("snd_cwnd=10", "snd_cwnd=x", 1);
    assert_eq!(said(&broken), "k.txt, line 12: `snd_cwnd` cannot be `x`");
    assert_eq!(said(&PROBED.replacen(" srtt=198", "", 1)), "k.txt, line 12: `srtt` is missing");
    assert_eq!(
        said("ESTAB 0 0 1.1.1.1:1 2.2.2.2:2\n\t cubic rtt:1/1 cwnd:10\n"),
        "k.txt, line 2: a socket before any time; write one in front of each output, as in `date +%s.%N; ss -tin`"
    );
    assert_eq!(said("hello\n"), "k.txt: neither events of tcp:tcp_probe nor outputs of `ss -ti` are in it");
    assert_eq!(
        said("1.5\nESTAB 0 0 1.1.1.1:1 2.2.2.2:2\n\t cubic cwnd:10\n"),
        "k.txt: no connection in it has data acknowledged"
    );
    assert_eq!(
        said("12:30:00\nESTAB 0 0 1.1.1.1:1 2.2.2.2:2\n\t cubic cwnd:10\n"),
        "k.txt, line 1: `12:30:00` is no time: seconds with a decimal point are expected"
    );
}

proptest! {
    /// Damaged recordings are refused or read, never more.
    #[test]
    fn no_text_is_fatal(which in 0..2_usize, at in 0..20_000_usize, junk in "[ -~\\n:/=.]{0,8}") {
        let mut text = [PROBED, LISTED][which].to_string();
        let at = at.min(text.len());
        let until = (at + junk.len()).min(text.len());
        text.replace_range(at..until, &junk);
        for mss in [0, 1, 1448, u32::MAX] {
            if let Ok(Recording { flows, .. }) = import("damaged", &text, mss) {
                for shift in [0, u64::MAX] {
                    let trace = overlay(&simulated(), &flows, shift);
                    prop_assert!(trace.flows.iter().all(|flow| flow.window.len() == trace.at.len()));
                }
            }
        }
    }
}

/// A recording of many connections, each of which is seen twice at instants of its own.
fn crowd(connections: usize) -> String {
    let line = |at: usize, from: usize, acked: usize| {
        format!(
            "Time: {}.{:06}\nESTAB 0 0 10.0.0.1:{from} 2.2.2.2:2 cubic rtt:1/1 mss:1000 cwnd:8 bytes_acked:{acked}\n",
            at / 1_000_000,
            at % 1_000_000
        )
    };
    (0..connections).map(|n| line(2 * n, n, 0) + &line(2 * n + 1, n, 10_000 + n)).collect()
}

/// 5000 connections in 0.9 MB were 5000 times 10,000 values of each column: 5.8 GB.
#[test]
fn memory_grows_with_the_file() {
    let text = crowd(5000);
    let Recording { flows, left_out } = import("crowd", &text, 1448).expect("readable");
    assert_eq!((flows.len(), left_out), (MOST_FLOWS, 5000 - MOST_FLOWS));
    let acked = |flow: &KernelFlow| flow.samples[1].acked;
    assert!(flows.iter().all(|flow| acked(flow) >= 10_000 + 5000 - MOST_FLOWS as u64), "the busiest");
    assert!(memory(&simulated(), &flows) < 4 * text.len() as u64, "{}", memory(&simulated(), &flows));
    let trace = overlay(&simulated(), &flows, 0);
    assert!(trace.at.len() <= 2 + 2 * MOST_FLOWS);
    let values = trace.flows.iter().map(|flow| flow.sent.len() * 14).sum::<usize>();
    assert!(values as u64 * 8 <= memory(&simulated(), &flows));
    // All equally busy: as many.
    let equal = text.lines().map(|line| {
        line.split("bytes_acked:1").next().unwrap_or_default().to_string()
            + if line.contains("acked:1") { "bytes_acked:9" } else { "" }
    });
    let equal = import("equal", &equal.collect::<Vec<_>>().join("\n"), 1448).expect("readable");
    assert_eq!((equal.flows.len(), equal.left_out), (MOST_FLOWS, 5000 - MOST_FLOWS));
}

fn simulated() -> Trace {
    let counts = Column::from_slice(&[0, 100]);
    let flow = FlowTrace {
        sent: counts.clone(),
        retransmitted: counts.clone(),
        delivered: counts.clone(),
        lost: counts.clone(),
        dropped: counts.clone(),
        marked: counts.clone(),
        timeouts: counts.clone(),
        source_limited: counts.clone(),
        peer_limited: counts.clone(),
        in_flight: vec![3, 4].into(),
        window: vec![10.0, 20.0].into(),
        srtt: vec![0.1, 0.2].into(),
        pacing_rate: vec![f64::NAN; 2].into(),
        ..FlowTrace::default()
    };
    Trace { at: vec![0, 4_000_000_000].into(), end: 4_000_000_000, flows: vec![flow], ..Trace::default() }
}

#[test]
fn both_in_one_trace() {
    let kernel = only("ss.txt", LISTED);
    let trace = overlay(&simulated(), std::slice::from_ref(&kernel), 500_000_000);
    // The kernel's samples are at 0, 1.18, 2.07, 2.93 and 3.80 s on its own clock: the last one, shifted, lies beyond the end.
    assert_eq!(trace.at.len(), 2 + 4);
    assert_eq!(trace.at[1], 500_000_000);
    let [own, measured] = trace.flows.as_slice() else { panic!("two flows") };
    assert_eq!(own.delivered[1], 12, "100 packets in 4 s");
    assert_eq!((own.in_flight[1], own.window[0], own.window[5]), (3, 10.0, 20.0));
    assert!(own.window[1].is_nan());
    assert_eq!(measured.algorithm, "cubic (Linux)");
    assert_eq!(measured.window[1], 22.0);
    assert!(measured.window[0].is_nan() && measured.window[5].is_nan());
    assert_eq!(measured.delivered[2], (1_398_806 - 63_750) / 1448);
    for column in [&measured.sent, &measured.delivered, &measured.in_flight, &own.sent] {
        assert_eq!(column.len(), trace.at.len());
    }
}
