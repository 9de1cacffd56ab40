//! Written tables can be read back.

use arrow_ipc::reader::StreamReader;
use arrow_schema::Schema;
use bytes::Bytes;
use cwnd_parquet::{About, ParquetError, Table, Tables};
use cwnd_trace::{Column, FlowTrace, LinkTrace, Trace};
use data_encoding::BASE64;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

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

/// A file read back: its rows, and its metadata.
struct Read {
    rows: Vec<Vec<(String, Field)>>,
    metadata: Vec<(String, String)>,
}

impl Read {
    fn column(&self, name: &str) -> Vec<&Field> {
        let of_row =
            |row: &'_ Vec<(String, Field)>| row.iter().position(|(column, _)| column == name).expect("a column");
        self.rows.iter().map(|row| &row[of_row(row)].1).collect()
    }

    /// The schema that readers of Arrow find.
    fn schema(&self) -> Schema {
        let (_, encoded) = self.metadata.iter().find(|(key, _)| key == "ARROW:schema").expect("the schema of Arrow");
        let stream = BASE64.decode(encoded.as_bytes()).expect("base 64");
        let reader = StreamReader::try_new(stream.as_slice(), None).expect("a stream of Arrow");
        Schema::clone(&reader.schema())
    }
}

fn read(write: impl FnOnce(&mut Vec<u8>) -> Result<(), ParquetError>) -> Read {
    let mut file = Vec::new();
    write(&mut file).expect("memory takes everything");
    let file = SerializedFileReader::new(Bytes::from(file)).expect("a Parquet file");
    let metadata = file.metadata().file_metadata().key_value_metadata().cloned().unwrap_or_default();
    let metadata = metadata.into_iter().map(|entry| (entry.key, entry.value.unwrap_or_default())).collect();
    let rows = file.get_row_iter(None).expect("rows").map(|row| row.expect("a row").into_columns()).collect();
    Read { rows, metadata }
}

/// A table of two runs, written and read.
fn back(table: Tables) -> Read {
    let (first, second) = (trace(), trace());
    read(|file| table.write(file, &[(1, &first), (2, &second)], &ABOUT))
}

#[test]
fn samples_come_back_with_units() {
    let read = back(Tables::FlowSamples);
    assert_eq!(read.rows.len(), 4);
    let whole = |values: [u64; 4]| values.map(Field::ULong).to_vec();
    let column = |name: &str| read.column(name).into_iter().cloned().collect::<Vec<_>>();
    assert_eq!(column("seed"), whole([1, 1, 2, 2]));
    assert_eq!(column("time_ns"), whole([0, 1_000, 0, 1_000]));
    assert_eq!(column("sent_packets"), whole([0, 4, 0, 4]));
    assert_eq!(column("srtt_s")[..2], [Field::Null, Field::Double(0.05)]);
    assert_eq!(column("ssthresh"), [64.0, 32.0, 64.0, 32.0].map(Field::Double));
    assert_eq!(column("flow"), vec![Field::Str("reno".to_string()); 4]);
    let schema = read.schema();
    let columns: Vec<&String> = read.rows[0].iter().map(|(name, _)| name).collect();
    assert_eq!(schema.fields().iter().map(|field| field.name()).collect::<Vec<_>>(), columns);
    for field in schema.fields() {
        assert!(!field.metadata()["description"].is_empty(), "{}", field.name());
    }
    assert_eq!(schema.field_with_name("window_packets").expect("there").metadata()["unit"], "packet");
    assert_eq!(schema.field_with_name("srtt_s").expect("there").metadata()["unit"], "s");
    for (key, value) in [("kind", "simulated"), ("command", "cwnd run x.toml")] {
        assert!(read.metadata.contains(&(key.to_string(), value.to_string())), "{key}");
    }
}

#[test]
fn every_table_has_a_row_per_thing() {
    for (table, rows) in Tables::ALL.into_iter().zip([2, 4, 2, 4]) {
        assert_eq!(back(table).rows.len(), rows, "{}", table.name());
    }
}

#[test]
fn text_and_lists_come_back() {
    let lists: [&[f64]; 4] = [&[1.0, 2.5], &[], &[f64::INFINITY], &[]];
    let mut table = Table::default();
    table.optional_text("reason", "why", [None, Some("late"), Some(""), None].into_iter());
    table.lists("rates", "bit/s", "of flows", lists.into_iter());
    let read = read(|file| table.write(file, &ABOUT));
    let text = |text: &str| Field::Str(text.to_string());
    assert_eq!(read.column("reason"), [&Field::Null, &text("late"), &text(""), &Field::Null]);
    for (field, list) in read.column("rates").into_iter().zip(lists) {
        let Field::ListInternal(elements) = field else { panic!("{field:?}") };
        assert_eq!(elements.elements(), list.iter().copied().map(Field::Double).collect::<Vec<_>>());
    }
}

/// A row group has 2^20 rows.
#[test]
fn a_second_row_group_goes_on_where_the_first_ends() {
    let rows = (1 << 20) + 3;
    let mut table = Table::default();
    table.whole("row", "", "its number", 0..rows);
    let read = read(|file| table.write(file, &ABOUT));
    assert_eq!(read.rows.len() as u64, rows);
    assert!(read.column("row").into_iter().zip(0..).all(|(field, row)| *field == Field::ULong(row)));
}

#[test]
fn columns_of_two_lengths_are_refused() {
    let mut table = Table::default();
    table.whole("seed", "", "of the run", 0..3);
    table.real("share", "", "of the path", std::iter::once(0.5));
    let error = table.write(Vec::new(), &ABOUT).expect_err("two lengths").to_string();
    assert!(error.contains("`share` has 1 rows, the first has 3"), "{error}");
}
