//! Reading recorded runs of a kernel, and the errors for anything else.

use proptest::prelude::*;

use super::*;

/// Linux 6.18, iperf3 -C cubic for four seconds through a token bucket of 10 Mbit/s; every 120th event.
const PROBED: &str = include_str!("../../tests/kernel/tcp_probe.txt");
/// The outputs of `ss -ti` of the transfer, every sixth one.
const LISTED: &str = include_str!("../../tests/kernel/ss.txt");

fn only(file: &str, bytes: impl AsRef<[u8]>) -> RecordedFlow {
    let flows = import(file, bytes.as_ref(), 1448).expect("readable").flows;
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
    let said = |text: &str| import("k.txt", text.as_bytes(), 1448).expect_err("unreadable").to_string();
    let broken = PROBED.replacen("snd_cwnd=10", "snd_cwnd=x", 1);
    assert_eq!(said(&broken), "k.txt, line 12: `snd_cwnd` cannot be `x`");
    assert_eq!(said(&PROBED.replacen(" srtt=198", "", 1)), "k.txt, line 12: `srtt` is missing");
    assert_eq!(
        said("ESTAB 0 0 1.1.1.1:1 2.2.2.2:2\n\t cubic rtt:1/1 cwnd:10\n"),
        "k.txt, line 2: a socket before any time; write one in front of each output, as in `date +%s.%N; ss -tin`"
    );
    assert_eq!(said("hello\n"), format!("k.txt: {RECOGNISED}"));
    assert_eq!(
        said("1.5\nESTAB 0 0 1.1.1.1:1 2.2.2.2:2\n\t cubic cwnd:10\n"),
        "k.txt: no connection in it has data acknowledged"
    );
    assert_eq!(
        said("12:30:00\nESTAB 0 0 1.1.1.1:1 2.2.2.2:2\n\t cubic cwnd:10\n"),
        "k.txt, line 1: `12:30:00` is no time: seconds with a decimal point are expected"
    );
}

/// The parts of a recording that begins half a second into a run of four.
fn part(flows: &[RecordedFlow]) -> Part {
    Part::recorded("ss.txt", Source::Kernel, flows, 500_000_000, Some(4_000_000_000))
}

proptest! {
    /// Damaged recordings are refused or read, never more.
    #[test]
    fn no_file_is_fatal(which in 0..5_usize, at in 0..20_000_usize, junk in "[ -~\\n:/=.]{0,8}") {
        let (capture, logged) = (capture(), logged());
        let whole: [&[u8]; 5] = [PROBED.as_bytes(), LISTED.as_bytes(), &capture, logged.as_bytes(), TABLE.as_bytes()];
        let mut bytes = whole[which].to_vec();
        let at = at % bytes.len();
        let until = (at + junk.len()).min(bytes.len());
        bytes.splice(at..until, junk.bytes());
        let _recognised = recognise(&bytes);
        let _refused = stored("damaged", &String::from_utf8_lossy(&bytes), None);
        for mss in [0, 1, 1448, u32::MAX] {
            if let Ok(Recording { flows, .. }) = import("damaged", &bytes, mss) {
                for offset in [0, u64::MAX] {
                    let part = Part::recorded("x", Source::Kernel, &flows, offset, None);
                    for trace in &part.traces {
                        prop_assert!(trace.flows.iter().all(|flow| flow.window.len() == trace.at.len()));
                        prop_assert!(trace.at.is_sorted());
                    }
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
    let Recording { flows, left_out, .. } = import("crowd", text.as_bytes(), 1448).expect("readable");
    assert_eq!((flows.len(), left_out), (MOST_FLOWS, 5000 - MOST_FLOWS));
    let acked = |flow: &RecordedFlow| flow.samples[1].acked;
    assert!(flows.iter().all(|flow| acked(flow) >= 10_000 + 5000 - MOST_FLOWS as u64), "the busiest");
    assert!(part(&flows).memory() < text.len() as u64, "{}", part(&flows).memory());
    // All equally busy: as many.
    let equal = text.lines().map(|line| {
        line.split("bytes_acked:1").next().unwrap_or_default().to_string()
            + if line.contains("acked:1") { "bytes_acked:9" } else { "" }
    });
    let equal = import("equal", equal.collect::<Vec<_>>().join("\n").as_bytes(), 1448).expect("readable");
    assert_eq!((equal.flows.len(), equal.left_out), (MOST_FLOWS, 5000 - MOST_FLOWS));
}

#[test]
fn recordings_lie_on_the_common_time() {
    // The kernel's samples are at 0, 1.18, 2.07, 2.93 and 3.80 s on its own clock: the last one, shifted, lies beyond the end.
    let part = part(&[only("ss.txt", LISTED)]);
    let [trace] = part.traces.as_slice() else { panic!("one flow") };
    let flow = &trace.flows[0];
    assert_eq!((trace.at.len(), trace.at[0], trace.at[1]), (1 + 4, 0, 500_000_000));
    assert_eq!(
        (flow.name.as_str(), flow.algorithm.as_str()),
        ("ss.txt: 10.7.0.1:59886 to 10.7.0.2:5201", "cubic (Linux)")
    );
    assert_eq!((flow.start, flow.stop), (500_000_000, trace.at.last().copied()));
    assert!(flow.window[0].is_nan());
    assert_eq!((flow.window[1], flow.delivered[2]), (22.0, (1_398_806 - 63_750) / 1448));
    assert!(
        !super::Part::recorded("p", Source::Kernel, &[only("tcp_probe.txt", PROBED)], 0, None).knows_retransmissions
    );
}

/// Two flows of a run of 0.2 s, with a name that needs quotes, and a second seed.
const TABLE: &str = "seed,time_s,flow,algorithm,sent_packets,retransmitted_packets,delivered_packets,lost_packets,marked_packets,timeouts,\
window_packets,in_flight_packets,srtt_s,pacing_rate_packets_per_s,goodput_bps\n\
1,0.000000000,\"a, b\",reno,0,0,0,0,0,0,2,0,,,\n\
1,0.000000000,late,cubic,0,0,0,0,0,0,,0,,,\n\
1,0.100000000,\"a, b\",reno,30,1,20,1,0,0,12.5,9,0.05,,1600000\n\
1,0.100000000,late,cubic,0,0,0,0,0,0,,0,,,\n\
1,0.200000000,\"a, b\",reno,60,1,40,1,0,0,13,9,0.05,,1600000\n\
1,0.200000000,late,cubic,9,0,5,0,0,0,10,4,0.05,,400000\n\
2,0.000000000,\"a, b\",reno,7,0,0,0,0,0,2,0,,,\n";

#[test]
fn stored_traces_are_read_back() {
    assert_eq!(recognise(TABLE.as_bytes()), Some(Content::Stored));
    let trace = stored("x.flows.csv", TABLE, None).expect("readable");
    let [flow, late] = trace.flows.as_slice() else { panic!("two flows") };
    assert_eq!((flow.name.as_str(), flow.payload, flow.delivered.as_slice()), ("a, b", 1000, &[0, 20, 40][..]));
    assert_eq!((late.start, late.stop, late.payload), (100_000_000, None, 1000));
    assert!(late.window[1].is_nan() && flow.window[1] == 12.5);
    let said = |text: &str| stored("x.flows.csv", text, None).expect_err("unreadable").to_string();
    for wrong in ["x", "-12.5", "1e300"] {
        let expected = format!("x.flows.csv, line 4: `window_packets` cannot be `{wrong}`");
        assert_eq!(said(&TABLE.replacen("12.5", wrong, 1)), expected);
    }
    assert_eq!(said(&TABLE.replacen("goodput_bps", "goodput", 1)), "x.flows.csv, line 1: `goodput_bps` is missing");
}

#[test]
fn samples_are_put_in_order_and_have_bounds() {
    let event = |time: &str, number: &str, window: &str| {
        format!(
            "iperf3 99 [000] {time}: tcp:tcp_probe: family=AF_INET src=1.1.1.1:1 dest=2.2.2.2:2 mark=0x0 data_len=0 snd_nxt={number} \
             snd_una={number} snd_cwnd={window} ssthresh=10 snd_wnd=9 srtt=100 rcv_wnd=9\n"
        )
    };
    let [first, second, third] = [("1.0", "0x1000", "10"), ("2.0", "0x2000", "11"), ("3.0", "0x5000", "12")]
        .map(|(time, number, window)| event(time, number, window));
    let flow = only("late", first.clone() + &third + &second);
    let seen: Vec<_> = flow.samples.iter().map(|sample| (sample.at / 1_000_000_000, sample.window)).collect();
    assert_eq!(seen, [(1, 10.0), (2, 11.0), (3, 12.0)]);
    assert!(flow.samples.is_sorted_by_key(|sample| sample.acked));
    let wild = first + &event("2.0", "0x5000", "4000000000");
    let said = import("wild", wild.as_bytes(), 1448).expect_err("no such window").to_string();
    assert_eq!(
        said,
        "wild: a window in packets of 4000000000 at 2 s of `1.1.1.1:1 to 2.2.2.2:2`: accepted is 0 to 1e9"
    );
}

#[test]
fn labels_are_unique() {
    let paths = ["a/ss.txt", "b/ss.txt", "c.toml", "c.toml"].map(std::path::Path::new);
    assert_eq!(labels(&paths), ["a/ss.txt", "b/ss.txt", "c.toml", "c.toml (2)"]);
}

#[test]
fn files_are_told_apart_by_what_is_in_them() {
    for (bytes, content) in [
        (PROBED.as_bytes(), Some(Content::Recorded(Source::Kernel))),
        (LISTED.as_bytes(), Some(Content::Recorded(Source::Kernel))),
        (&capture(), Some(Content::Recorded(Source::Capture))),
        (logged().as_bytes(), Some(Content::Recorded(Source::Qlog))),
        (b"[[flow]]\nalgorithm = ", Some(Content::Scenario)),
        (b"duration = \"5s\"\n", Some(Content::Scenario)),
        (b"hello\n", None),
        (b"", None),
        (&[0xff; 40], None),
    ] {
        assert_eq!(recognise(bytes), content, "{}", String::from_utf8_lossy(&bytes[..bytes.len().min(60)]));
    }
}

/// A log of quic-go's kind: one document, `delta` times, three packets of which one is lost.
fn logged() -> String {
    let sent = |time: f64, number: u64| {
        format!(
            r#"{{"time":{time},"name":"transport:packet_sent","data":{{"header":{{"packet_type":"1RTT","packet_number":{number}}},"raw":{{"length":1280}},"frames":[{{"frame_type":"stream","length":1200}}]}}}}"#
        )
    };
    let events = [
        sent(1000.0, 1),
        sent(1.0, 2),
        sent(1.0, 3),
        r#"{"time":48,"name":"transport:packet_received","data":{"header":{"packet_type":"1RTT","packet_number":9},"frames":[{"frame_type":"ack","acked_ranges":[[1],[3,3]]}]}}"#.to_string(),
        r#"{"time":0,"name":"recovery:packet_lost","data":{"header":{"packet_type":"1RTT","packet_number":2}}}"#.to_string(),
        r#"{"time":0,"name":"recovery:metrics_updated","data":{"congestion_window":12800,"bytes_in_flight":1280,"smoothed_rtt":49.5}}"#.to_string(),
    ];
    format!(
        r#"{{"qlog_format":"JSON","qlog_version":"0.3","traces":[{{"vantage_point":{{"type":"client","name":"tester"}},"common_fields":{{"time_format":"delta"}},"events":[{}]}}]}}"#,
        events.join(",")
    )
}

/// A sequence of records, as a stack writes it while it runs.
#[test]
fn a_log_that_ends_within_a_record_is_read_up_to_there() {
    let file: serde_json::Value = serde_json::from_str(&logged()).expect("JSON");
    let trace = &file["traces"][0];
    let head = serde_json::json!({ "qlog_format": "JSON-SEQ", "qlog_version": "0.3", "trace": {
        "vantage_point": trace["vantage_point"], "common_fields": trace["common_fields"] } });
    let events = trace["events"].as_array().expect("a list");
    for separator in ["", "\u{1e}"] {
        let records: Vec<String> =
            std::iter::once(&head).chain(events).map(|record| format!("{separator}{record}\n")).collect();
        let whole = import("x", records.concat().as_bytes(), 1448).expect("readable");
        assert_eq!(whole.cut, None);
        let (last, before) = records.split_last().expect("some");
        let shorter = import("x", before.concat().as_bytes(), 1448).expect("readable");
        for kept in [2, last.trim_end().len() / 2, last.trim_end().len() - 1] {
            let cut = import("x", (before.concat() + &last[..kept]).as_bytes(), 1448).expect("readable");
            let flows = |recording: &Recording| format!("{:?}", recording.flows);
            assert_eq!((cut.cut, flows(&cut)), (Some(records.len()), flows(&shorter)), "{kept}");
        }
        // An incomplete record in the middle is still a fault.
        let damaged = records[0].clone() + separator + "{\n" + &records[1..].concat();
        assert!(import("x", damaged.as_bytes(), 1448).is_err());
    }
}

#[test]
fn qlog_of_others() {
    let flow = only("x.qlog", logged());
    assert_eq!((flow.name.as_str(), flow.algorithm, flow.mss), ("tester", None, 1200));
    let [first, last] = flow.samples.as_slice() else { panic!("{} samples", flow.samples.len()) };
    assert_eq!((first.at, first.acked), (1_000_000_000, 0));
    assert_eq!(
        (last.at, last.acked, last.window, last.in_flight, last.retransmitted),
        (1_050_000_000, 2400, 10.0, 1, Some(1))
    );
    assert!((last.srtt - 0.0495).abs() < 1e-12);
    // Without the length of any packet, one has as many bytes as the caller says.
    let unsized_packets = logged().replace(r#""raw":{"length":1280},"#, "");
    let windows = [1448, 1280].map(|mss| {
        let recording = import("x.qlog", unsized_packets.as_bytes(), mss).expect("readable");
        recording.flows[0].samples[1].window
    });
    assert_eq!(windows, [12_800.0 / 1448.0, 10.0]);
    let said = |text: &str| import("x.qlog", text.as_bytes(), 1448).expect_err("unreadable").to_string();
    assert!(said(&logged().replace("48", "{")).starts_with("x.qlog, line 1: no event of qlog 0.3 or later: "));
}

/// As quinn writes it: lengths in headers of packets, and no acknowledgements.
#[test]
fn qlog_without_acknowledgements() {
    let head = r#"{"qlog_format":"JSON-SEQ","qlog_version":"0.3","trace":{"vantage_point":{"type":"client"}}}"#;
    let sent = r#"{"time":0,"name":"transport:packet_sent","data":{"header":{"packet_type":"1RTT","packet_number":0,"length":1472}}}"#;
    let metrics = |time: u32, window: u32, in_flight: u32| {
        let data = format!(r#"{{"congestion_window":{window},"bytes_in_flight":{in_flight}}}"#);
        format!(r#"{{"time":{time},"name":"recovery:metrics_updated","data":{data}}}"#)
    };
    let records = [head.to_string(), sent.to_string(), metrics(0, 14_720, 1472), metrics(50, 29_440, 0)];
    let log: String = records.iter().map(|record| format!("\u{1e}{record}\n")).collect();
    let flow = only("x.sqlog", &log);
    let samples: Vec<_> = flow.samples.iter().map(|sample| (sample.at, sample.window, sample.in_flight)).collect();
    assert_eq!((samples.as_slice(), flow.mss), ([(0, 10.0, 1), (50_000_000, 20.0, 0)].as_slice(), 1448));
    let knows_delivered = |flow| Part::recorded("log", Source::Qlog, &[flow], 0, None).knows_delivered;
    assert!(!knows_delivered(flow));
    assert!(knows_delivered(only("x.qlog", logged())));
    // Without a window, too, nothing is left to show.
    let empty = log.replace("congestion_window", "other");
    let error = import("x.sqlog", empty.as_bytes(), 1448).expect_err("nothing to show");
    assert_eq!(error.fault, ImportFault::Empty);
}

/// A capture on Ethernet: SYNs, two segments of 1000 bytes, an acknowledgement 20 ms after the first, the second again, and all acknowledged.
fn capture() -> Vec<u8> {
    let packet = |millis: u32, forth: bool, number: u32, ack: u32, flags: u8, payload: u16| {
        let options: &[u8] = if flags & 2 != 0 { &[2, 4, 3, 232] } else { &[] };
        let header = 20 + options.len() as u16;
        let mut ip = vec![0x45, 0];
        ip.extend((20 + header + payload).to_be_bytes());
        ip.extend([0, 0, 0, 0, 64, 6, 0, 0]);
        let (client, server) = ([192, 0, 2, 1], [192, 0, 2, 2]);
        ip.extend(if forth { [client, server] } else { [server, client] }.concat());
        let (from, to): (u16, u16) = if forth { (5000, 80) } else { (80, 5000) };
        ip.extend([from.to_be_bytes(), to.to_be_bytes()].concat());
        ip.extend([number.to_be_bytes(), ack.to_be_bytes()].concat());
        ip.extend([((header / 4) << 4) as u8, flags, 1, 0, 0, 0, 0, 0]);
        ip.extend(options);
        let mut frame = vec![0; 12];
        frame.extend([8, 0]);
        frame.extend(ip);
        let words = [millis / 1000, millis % 1000 * 1000, frame.len() as u32, frame.len() as u32 + u32::from(payload)];
        [words.iter().flat_map(|word| word.to_le_bytes()).collect(), frame].concat()
    };
    let first = u32::MAX - 500;
    let head = [0xa1b2_c3d4_u32, 4 << 16 | 2, 0, 0, 65_535, 1];
    let packets = [
        packet(0, true, first.wrapping_sub(1), 0, 2, 0),
        packet(1, false, 99, first, 18, 0),
        packet(1000, true, first, 100, 16, 1000),
        packet(1001, true, first.wrapping_add(1000), 100, 16, 1000),
        packet(1020, false, 100, first.wrapping_add(1000), 16, 0),
        packet(1100, true, first.wrapping_add(1000), 100, 16, 1000),
        packet(1120, false, 100, first.wrapping_add(2000), 16, 0),
    ];
    [head.iter().flat_map(|word| word.to_le_bytes()).collect(), packets.concat()].concat()
}

#[test]
fn captures_at_the_sender() {
    let flow = only("x.pcap", capture());
    assert_eq!((flow.name.as_str(), flow.mss), ("192.0.2.1:5000 to 192.0.2.2:80", 1000));
    let samples: Vec<(u64, u64, u64, Option<u64>)> = flow
        .samples
        .iter()
        .map(|sample| (sample.at / 1_000_000, sample.acked, sample.in_flight, sample.retransmitted))
        .collect();
    assert_eq!(samples, [(1000, 0, 0, Some(0)), (1020, 1000, 1, Some(0)), (1120, 2000, 0, Some(1))]);
    // No round-trip time is taken from a retransmitted packet.
    assert!((flow.samples[2].srtt - 0.02).abs() < 1e-12);
    // A capture may end in a packet.
    let cut = &capture()[..capture().len() - 10];
    assert_eq!(only("cut.pcap", cut).samples.len(), 2);
}
