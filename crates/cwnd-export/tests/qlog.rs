//! qlog, read by the `qlog` crate.

mod common;

use common::{ABOUT, trace};
use cwnd_export::qlog::{Dialect, write};
use cwnd_trace::FlowTrace;
use qlog::events::EventData;
use qlog::events::quic::QuicFrame;
use qlog::reader::{Event, QlogSeqReader};

fn written(index: usize, dialect: Dialect) -> (FlowTrace, Vec<u8>) {
    let trace = trace();
    let mut bytes = Vec::new();
    write(&mut bytes, &trace, &trace.flows[index], dialect, &ABOUT).expect("memory takes everything");
    (trace.flows[index].clone(), bytes)
}

#[test]
fn every_event_is_one_of_the_draft() {
    for index in [0, 1] {
        let (flow, bytes) = written(index, Dialect::Draft14);
        // The reader looks for the separator behind a record too.
        let ended = [bytes.as_slice(), &[0x1e]].concat();
        let reader = QlogSeqReader::new(Box::new(ended.as_slice())).expect("a head");
        assert!(reader.qlog.title.as_ref().is_some_and(|title| title.starts_with("simulated")));
        assert_eq!(reader.qlog.trace.event_schemas.len(), 1);

        let (mut sent, mut lost, mut acked, mut metrics, mut states) = (0, 0, 0, Vec::new(), Vec::new());
        let mut last = 0.0;
        for event in reader {
            let Event::Qlog(event) = event else { panic!("{event:?} is no event of QUIC") };
            assert!(event.time >= last);
            last = event.time;
            match event.data {
                EventData::QuicPacketSent(packet) => {
                    // Numbers of transmissions ascend without a gap.
                    assert_eq!(packet.header.packet_number, Some(sent));
                    sent += 1;
                }
                EventData::QuicPacketLost(_) => lost += 1,
                EventData::QuicPacketReceived(packet) => {
                    for frame in packet.frames.expect("an acknowledgement") {
                        let QuicFrame::Ack { acked_ranges: Some(ranges), .. } = frame else { panic!("{frame:?}") };
                        acked += ranges.iter().map(|range| range.end - range.start + 1).sum::<u64>();
                    }
                }
                EventData::QuicMetricsUpdated(update) => metrics.push(update),
                EventData::QuicCongestionStateUpdated(update) => states.push(update.new),
                other => panic!("{other:?}"),
            }
        }
        let end = |curve: &[u64]| *curve.last().expect("sampled");
        assert_eq!(sent, end(&flow.sent));
        assert_eq!(lost, end(&flow.retransmitted));
        // Packets in flight at the end are at most a window.
        assert!(acked <= sent - lost && acked * 10 > (sent - lost) * 9, "{acked} of {sent}");
        let first = &metrics[0];
        assert_eq!(first.congestion_window, Some((flow.window[0] * f64::from(flow.packet)) as u64));
        assert!(metrics.iter().any(|update| update.smoothed_rtt.is_some_and(|rtt| (40.0..120.0).contains(&rtt))));
        assert!(states.iter().any(|state| state == "recovery"));
    }
}

#[test]
fn a_window_algorithm_leaves_slow_start() {
    let (_, bytes) = written(0, Dialect::Draft14);
    let text = String::from_utf8(bytes).expect("JSON");
    let order = ["\"new\":\"slow_start\"", "\"new\":\"recovery\"", "\"new\":\"congestion_avoidance\""];
    let places: Vec<_> = order.iter().map(|state| text.find(state).expect(state)).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn the_legacy_spelling_is_that_of_qvis() {
    let (_, bytes) = written(0, Dialect::Legacy);
    let text = String::from_utf8(bytes).expect("JSON");
    let records: Vec<serde_json::Value> =
        text.split('\u{1e}').skip(1).map(|record| serde_json::from_str(record).expect("JSON")).collect();
    assert_eq!(records[0]["qlog_version"], "0.3");
    assert_eq!(records[0]["trace"]["common_fields"]["simulated"], true);
    let mut names: Vec<&str> = records[1..].iter().map(|record| record["name"].as_str().expect("a name")).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(
        names,
        [
            "recovery:congestion_state_updated",
            "recovery:metrics_updated",
            "recovery:packet_lost",
            "transport:packet_received",
            "transport:packet_sent",
        ]
    );
}
