//! Written tables can be read back.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, UInt64Type};
use arrow_array::{Array, RecordBatch};
use bytes::Bytes;
use cwnd_parquet::{About, Tables};
use cwnd_trace::{Column, FlowTrace, LinkTrace, Trace};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

const ABOUT: About<'static> = About { title: "a test", program: "cwnd 0", command: "cwnd run x.toml" };

fn trace() -> Trace {
    let counts = Column::from_slice(&[0, 4]);
    let flow = FlowTrace {
        name: "reno".to_string(),
        algorithm: "reno".to_string(),
        packet: 1500,
        payload: 1460,
        sent: counts.clone(),
        retransmitted: counts.clone(),
        delivered: counts.clone(),
        lost: counts.clone(),
        dropped: counts.clone(),
        marked: counts.clone(),
        timeouts: counts.clone(),
        source_limited: counts.clone(),
        peer_limited: counts.clone(),
        window: vec![10.0, 12.5].into(),
        in_flight: counts.clone(),
        srtt: vec![f64::NAN, 0.05].into(),
        pacing_rate: vec![f64::NAN; 2].into(),
        internals: vec![("ssthresh", vec![64.0, 32.0].into())],
        ..FlowTrace::default()
    };
    let link = LinkTrace {
        name: "bottleneck".to_string(),
        rate: Some(10_000_000),
        offered: counts.clone(),
        dropped: counts.clone(),
        lost: counts.clone(),
        marked: counts.clone(),
        carried: counts.clone(),
        carried_bytes: counts.clone(),
        queue_packets: counts.clone(),
        queue_bytes: counts,
        ..LinkTrace::default()
    };
    Trace { at: vec![0, 1_000].into(), end: 1_000, flows: vec![flow], links: vec![link], ..Trace::default() }
}

/// Writes a table of two runs, and reads it: the rows, and what the file says of itself.
fn back(table: Tables) -> (RecordBatch, Vec<(String, Option<String>)>) {
    let (first, second) = (trace(), trace());
    let mut file = Vec::new();
    table.write(&mut file, &[(1, &first), (2, &second)], &ABOUT).expect("memory takes everything");
    let builder = ParquetRecordBatchReaderBuilder::try_new(Bytes::from(file)).expect("a Parquet file");
    let said = builder.metadata().file_metadata().key_value_metadata().cloned().unwrap_or_default();
    let batch = builder.build().expect("readable").next().expect("one batch").expect("valid");
    (batch, said.into_iter().map(|said| (said.key, said.value)).collect())
}

#[test]
fn samples_come_back_with_units() {
    let (batch, said) = back(Tables::FlowSamples);
    assert_eq!(batch.num_rows(), 4);
    let whole = |name: &str| batch.column_by_name(name).expect(name).as_primitive::<UInt64Type>().values().to_vec();
    assert_eq!(whole("seed"), [1, 1, 2, 2]);
    assert_eq!(whole("time_ns"), [0, 1_000, 0, 1_000]);
    assert_eq!(whole("sent_packets"), [0, 4, 0, 4]);
    let rtt = batch.column_by_name("srtt_s").expect("there").as_primitive::<Float64Type>().clone();
    assert_eq!((rtt.is_null(0), rtt.value(1)), (true, 0.05));
    let threshold = batch.column_by_name("ssthresh").expect("there").as_primitive::<Float64Type>().clone();
    assert_eq!(threshold.values().to_vec(), [64.0, 32.0, 64.0, 32.0]);
    let schema = batch.schema();
    for field in schema.fields() {
        assert!(!field.metadata()["description"].is_empty(), "{}", field.name());
    }
    assert_eq!(schema.field_with_name("window_packets").expect("there").metadata()["unit"], "packet");
    assert_eq!(schema.field_with_name("srtt_s").expect("there").metadata()["unit"], "s");
    assert!(said.contains(&("kind".to_string(), Some("simulated".to_string()))));
    assert!(said.contains(&("command".to_string(), Some("cwnd run x.toml".to_string()))));
}

#[test]
fn every_table_has_a_row_per_thing() {
    for (table, rows) in Tables::ALL.into_iter().zip([2, 4, 2, 4]) {
        assert_eq!(back(table).0.num_rows(), rows, "{}", table.name());
    }
}
