//! Traces that this program wrote: `traces/NAME.flows.csv` and `traces/NAME.links.csv` of a directory of results.

use std::collections::BTreeMap;

use cwnd_trace::{Column, FlowTrace, LinkTrace, Trace};

use super::{ImportError, ImportFault, Located, nanoseconds};

/// The beginning of a file of flows.
pub(super) const MARK: &str = "seed,time_s,flow,algorithm,";

/// Reads the first seed of a file of flows called `file`, and of one of links if there is one.
///
/// The files do not have the bytes of a packet: the payload per packet follows from goodput and packets. Values that the files lack are 0
/// or empty.
///
/// # Errors
/// A column is missing, or a cell is no number.
pub fn stored(file: &str, flows: &str, links: Option<&str>) -> Result<Trace, ImportError> {
    let located = |(line, fault)| ImportError { file: file.to_string(), line: Some(line), fault };
    let mut trace = read_flows(flows).map_err(located)?;
    if let Some(links) = links {
        trace.links = read_links(links, trace.at.len()).map_err(located)?;
    }
    Ok(trace)
}

fn read_flows(text: &str) -> Result<Trace, Located> {
    let table = Table::new(text, "flow")?;
    let mut trace = Trace::default();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let column = |name: &'static str| table.column(name).map_err(|fault| (1, fault));
    let algorithm = column("algorithm")?;
    let counts = COUNTS.map(|(name, of)| Ok((column(name)?, name, of)));
    let counts = counts.into_iter().collect::<Result<Vec<_>, Located>>()?;
    let states = STATES.map(|(name, of)| Ok((column(name)?, name, of)));
    let states = states.into_iter().collect::<Result<Vec<_>, Located>>()?;
    let goodput = column("goodput_bps")?;
    let threshold = table.column(THRESHOLD).ok();
    // The first and the last row in which a flow is there.
    let mut there: Vec<Option<(u64, u64)>> = Vec::new();
    for row in table.rows() {
        let row = row?;
        if trace.at.last() != Some(&row.at) {
            trace.at.push(row.at);
        }
        let name = row.name(table.name);
        let place = *places.entry(name.to_string()).or_insert_with(|| {
            let algorithm = row.cells[algorithm].clone();
            let internals = threshold.map(|_| (THRESHOLD, Column::new())).into_iter().collect();
            trace.flows.push(FlowTrace { name: name.to_string(), algorithm, internals, ..FlowTrace::default() });
            there.push(None);
            trace.flows.len() - 1
        });
        let flow = &mut trace.flows[place];
        let before = flow.delivered.last().copied();
        for (column, name, of) in &counts {
            let count = row.whole(*column, name)?;
            if *name != IN_FLIGHT && of(flow).last().is_some_and(|before| count < *before) {
                return Err(row.wrong(*column, name));
            }
            of(flow).push(count);
        }
        for (column, name, of) in &states {
            of(flow).push(row.real(*column, name)?);
        }
        for (column, (name, values)) in threshold.into_iter().zip(&mut flow.internals) {
            values.push(row.real(column, name)?);
        }
        let rate = row.real(goodput, "goodput_bps")?;
        let packets = flow.delivered.last().zip(before).map_or(0, |(now, before)| now.saturating_sub(before));
        let from = trace.at.len().checked_sub(2).map_or(0, |before| trace.at[before]);
        if rate.is_finite() {
            there[place] = Some((there[place].map_or(from, |(first, _)| first), row.at));
        }
        if packets > 0 && rate.is_finite() {
            flow.payload = (rate * (row.at - from) as f64 * 1e-9 / (8.0 * packets as f64)).round() as u32;
            flow.packet = flow.payload;
        }
    }
    trace.end = trace.at.last().copied().unwrap_or(0);
    let instants = trace.at.len();
    for (flow, there) in trace.flows.iter_mut().zip(there) {
        if flow.sent.len() != instants {
            return Err((1, ImportFault::Missing("an instant of a flow")));
        }
        if let Some((from, to)) = there {
            flow.start = from;
            flow.stop = (to < trace.end).then_some(to);
        }
        for curve in [&mut flow.dropped, &mut flow.source_limited, &mut flow.peer_limited] {
            *curve = Column::from_elem(0, instants);
        }
    }
    if trace.flows.is_empty() { Err((1, ImportFault::Empty)) } else { Ok(trace) }
}

fn read_links(text: &str, instants: usize) -> Result<Vec<LinkTrace>, Located> {
    let table = Table::new(text, "link")?;
    let column = |name: &'static str| table.column(name).map_err(|fault| (1, fault));
    let columns = OF_LINKS.map(|(name, of)| Ok((column(name)?, name, of)));
    let columns = columns.into_iter().collect::<Result<Vec<_>, Located>>()?;
    let mut links: Vec<LinkTrace> = Vec::new();
    for row in table.rows() {
        let row = row?;
        let name = row.name(table.name);
        let place = links.iter().position(|link| link.name == name).unwrap_or_else(|| {
            links.push(LinkTrace { name: name.to_string(), ..LinkTrace::default() });
            links.len() - 1
        });
        for (column, name, of) in &columns {
            of(&mut links[place]).push(row.whole(*column, name)?);
        }
    }
    links.retain(|link| link.queue_packets.len() == instants);
    Ok(links)
}

/// The first seed of a table.
struct Table<'a> {
    text: &'a str,
    head: Vec<String>,
    /// The columns of the time and of names.
    time: usize,
    name: usize,
}

struct Row {
    line: usize,
    at: u64,
    cells: Vec<String>,
}

impl<'a> Table<'a> {
    fn new(text: &'a str, name: &'static str) -> Result<Self, Located> {
        let head = cells(text.lines().next().unwrap_or_default());
        let mut table = Self { text, head, time: 0, name: 0 };
        table.time = table.column("time_s").map_err(|fault| (1, fault))?;
        table.name = table.column(name).map_err(|fault| (1, fault))?;
        Ok(table)
    }

    fn column(&self, name: &'static str) -> Result<usize, ImportFault> {
        self.head.iter().position(|known| known == name).ok_or(ImportFault::Missing(name))
    }

    fn rows(&self) -> impl Iterator<Item = Result<Row, Located>> {
        let lines = self.text.lines().zip(1..).skip(1);
        let seed = |line: &str| line.split(',').next().map(str::to_string);
        let first = self.text.lines().nth(1).and_then(seed);
        let of_first = lines.take_while(move |(line, _)| seed(line) == first);
        let mut latest = 0;
        of_first.map(move |(line, number)| {
            let cells = cells(line);
            if cells.len() != self.head.len() {
                return Err((number, ImportFault::Missing("a cell")));
            }
            let time = &cells[self.time];
            let at = nanoseconds(time)
                .filter(|at| *at >= latest)
                .ok_or_else(|| (number, ImportFault::Time(time.clone())))?;
            latest = at;
            Ok(Row { line: number, at, cells })
        })
    }
}

impl Row {
    fn name(&self, column: usize) -> &str {
        &self.cells[column]
    }

    fn whole(&self, column: usize, field: &'static str) -> Result<u64, Located> {
        let given = &self.cells[column];
        if given.is_empty() { Ok(0) } else { given.parse().map_err(|_| self.wrong(column, field)) }
    }

    /// The error for what stands in a column: no number, one below zero, or a count below the one before.
    fn wrong(&self, column: usize, field: &'static str) -> Located {
        (self.line, ImportFault::Number { field, given: self.cells[column].clone() })
    }

    /// Not a number where the cell is empty.
    fn real(&self, column: usize, field: &'static str) -> Result<f64, Located> {
        let given = &self.cells[column];
        if given.is_empty() {
            return Ok(f64::NAN);
        }
        // A rule that sets a rate may have no bound of its window.
        let accepted = |number: &f64| *number == f64::INFINITY || (0.0..=1e15).contains(number);
        given.parse().ok().filter(accepted).ok_or_else(|| self.wrong(column, field))
    }
}

/// The cells of a line (RFC 4180).
fn cells(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut quoted = false;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        let cell = cells.last_mut().expect("there is one from the beginning on");
        match letter {
            '"' if quoted && letters.peek() == Some(&'"') => {
                letters.next();
                cell.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            letter => cell.push(letter),
        }
    }
    cells
}

type Counts = fn(&mut FlowTrace) -> &mut Column<u64>;
type States = fn(&mut FlowTrace) -> &mut Column<f64>;
type OfLink = fn(&mut LinkTrace) -> &mut Column<u64>;

/// The column that only files with a window algorithm have.
const THRESHOLD: &str = "ssthresh";

/// The one count that falls.
const IN_FLIGHT: &str = "in_flight_packets";

const COUNTS: [(&str, Counts); 7] = [
    ("sent_packets", |flow| &mut flow.sent),
    ("retransmitted_packets", |flow| &mut flow.retransmitted),
    ("delivered_packets", |flow| &mut flow.delivered),
    ("lost_packets", |flow| &mut flow.lost),
    ("marked_packets", |flow| &mut flow.marked),
    ("timeouts", |flow| &mut flow.timeouts),
    (IN_FLIGHT, |flow| &mut flow.in_flight),
];

const STATES: [(&str, States); 3] = [
    ("window_packets", |flow| &mut flow.window),
    ("srtt_s", |flow| &mut flow.srtt),
    ("pacing_rate_packets_per_s", |flow| &mut flow.pacing_rate),
];

const OF_LINKS: [(&str, OfLink); 9] = [
    ("offered_packets", |link| &mut link.offered),
    ("dropped_packets", |link| &mut link.dropped),
    ("lost_packets", |link| &mut link.lost),
    ("marked_packets", |link| &mut link.marked),
    ("carried_packets", |link| &mut link.carried),
    ("carried_bytes", |link| &mut link.carried_bytes),
    ("capacity_bytes", |link| &mut link.capacity_bytes),
    ("queue_packets", |link| &mut link.queue_packets),
    ("queue_bytes", |link| &mut link.queue_bytes),
];
