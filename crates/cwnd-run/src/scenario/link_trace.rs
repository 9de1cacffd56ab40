//! Traces of rate, delay and loss as tables.

use cwnd::Span;
use cwnd_sim::{LinkSetup, Loss, Phase, Schedule};
use cwnd_text::counted;
use thiserror::Error;

/// The rate, the delay and the loss of a link over time, from a table in CSV.
///
/// The first line names the columns with their units. `time_s` or `time_ms` is the first column; `rate_bps`, `rate_kbps` or `rate_mbps` is
/// needed; `delay_s` or `delay_ms` (one way) and `loss` (a probability) are optional. Each row holds from its instant on. The first row is
/// at 0. An empty cell keeps the value of the row before. A last row that has only an instant is the end, at which the table starts over;
/// without it the last values hold. Empty lines, and lines that begin with `#`, are skipped.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkTrace {
    /// Instants and bit/s; 0 is an outage.
    rates: Vec<(Span, u64)>,
    /// Instants and additions to the delay of the link.
    delays: Vec<(Span, Span)>,
    /// Instants and probabilities.
    losses: Vec<(Span, f64)>,
    /// When it starts over.
    repeat: Option<Span>,
    /// The time over which rates have their mean: the period, or the last instant; zero for a single row that holds.
    span: Span,
}

/// A text is no table of a link.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LinkTraceError {
    /// A row has too few or too many cells.
    #[error("line {line}: {}, but the first line has {}", counted(*found, "cell"), counted(*columns, "column"))]
    Cells {
        /// From 1.
        line: usize,
        /// In the row.
        found: usize,
        /// In the first line.
        columns: usize,
    },
    /// The first line has a column that does not belong there.
    #[error(
        "line {line}: `{name}` cannot be a column here: accepted are {COLUMNS}, each quantity once, with time first"
    )]
    Column {
        /// From 1.
        line: usize,
        /// As it is written.
        name: String,
    },
    /// It has no row with values.
    #[error("a table of a link has a line that names its columns ({COLUMNS}) and at least one row of values")]
    Empty,
    /// The table lacks a value of its first row.
    #[error("line {line}: the first row is at 0 and has a value in each column")]
    First {
        /// From 1.
        line: usize,
    },
    /// No packet is ever transmitted after some instant.
    #[error(
        "line {line}: the last rate must be above 0 unless the table starts over with one that is: an outage must end"
    )]
    NoEnd {
        /// From 1.
        line: usize,
    },
    /// An instant lies before that of the row before, or less than a microsecond after it.
    #[error("line {line}: the instant `{text}` is not 1 us or more after that of the row before")]
    NotAscending {
        /// From 1.
        line: usize,
        /// As it is written.
        text: String,
    },
    /// It is too long to be held in memory as steps.
    #[error("line {line}: a table of a link has at most {MOST_ROWS} rows, an hour at 10 ms and some more")]
    TooLong {
        /// From 1.
        line: usize,
    },
    /// A value has another form or lies outside its range.
    #[error("line {line}: `{name}` cannot be `{text}`: accepted is {accepted}")]
    Value {
        /// From 1.
        line: usize,
        /// Of the column.
        name: &'static str,
        /// As it is written.
        text: String,
        /// The accepted values.
        accepted: &'static str,
    },
}

impl LinkTrace {
    /// Reads a table.
    ///
    /// # Errors
    /// The line that is wrong, and the accepted values.
    pub fn parse(text: &str) -> Result<Self, LinkTraceError> {
        let lines = (1..).zip(text.lines()).map(|(line, text)| (line, text.trim()));
        let mut lines = lines.filter(|(_, text)| !text.is_empty() && !text.starts_with('#'));
        let columns = lines.next().map(|(line, text)| header(line, text)).transpose()?.ok_or(LinkTraceError::Empty)?;
        let empty = Self { rates: vec![], delays: vec![], losses: vec![], repeat: None, span: Span::ZERO };
        let mut trace = empty;
        let mut last_line = 0;
        let mut last = None;
        for (row, (line, text)) in lines.enumerate() {
            if row == MOST_ROWS {
                return Err(LinkTraceError::TooLong { line });
            }
            let cells: Vec<&str> = text.split(',').map(str::trim).collect();
            if cells.len() != columns.len() {
                return Err(LinkTraceError::Cells { line, found: cells.len(), columns: columns.len() });
            }
            if trace.repeat.is_some() {
                // Only the last row may be an instant alone.
                return Err(value(line, columns[1], "", columns[1].accepted));
            }
            let at = span(line, columns[0], cells[0])?;
            if last.is_some_and(|last| last + SHORTEST > at) {
                return Err(LinkTraceError::NotAscending { line, text: shortened(cells[0]) });
            }
            let alone = cells[1..].iter().all(|cell| cell.is_empty());
            if last.is_none() && (at > Span::ZERO || cells.iter().any(|cell| cell.is_empty())) {
                return Err(LinkTraceError::First { line });
            }
            if alone {
                trace.repeat = Some(at);
            }
            for (column, cell) in columns.iter().zip(&cells).skip(1).filter(|(_, cell)| !cell.is_empty()) {
                trace.put(at, line, *column, cell)?;
            }
            (last, last_line, trace.span) = (Some(at), line, at);
        }
        let Some((_, rate)) = trace.rates.last() else { return Err(LinkTraceError::Empty) };
        let ends = *rate > 0 || trace.repeat.is_some() && trace.rates.iter().any(|(_, rate)| *rate > 0);
        if ends { Ok(trace) } else { Err(LinkTraceError::NoEnd { line: last_line }) }
    }

    /// The mean rate until it starts over, or until its last row, bit/s; at least 1.
    #[must_use]
    pub fn mean_rate(&self) -> u64 {
        let ends = self.rates.iter().skip(1).map(|(at, _)| *at).chain([self.span]);
        let pieces = self.rates.iter().zip(ends);
        let sum: u128 = pieces.map(|((from, rate), to)| u128::from(*rate) * u128::from((to - *from).as_nanos())).sum();
        let last = self.rates.last().map_or(1, |(_, rate)| *rate);
        let mean = sum.checked_div(u128::from(self.span.as_nanos())).map_or(last, |mean| mean as u64);
        mean.max(1)
    }

    /// Whether it says something of losses.
    pub(super) fn has_losses(&self) -> bool {
        !self.losses.is_empty()
    }

    /// Whether it says something of the delay.
    pub(super) fn has_delays(&self) -> bool {
        !self.delays.is_empty()
    }

    /// Lets the rate and the delay of `link` follow it. The rate of the link is the mean one, and its delay grows by the least of the
    /// table, so that base round-trip times include that.
    pub(super) fn apply(&self, link: &mut LinkSetup) {
        link.rate = Some(self.mean_rate());
        link.rate_steps = Schedule { steps: self.rates.clone(), repeat: self.repeat };
        let before = link.delay;
        let Some(least) = self.delays.iter().map(|(_, delay)| *delay).min() else { return };
        link.delay = before + least;
        let steps = self.delays.iter().map(|(at, delay)| (*at, before + *delay)).collect();
        link.delay_steps = Schedule { steps, repeat: self.repeat };
    }

    /// Lets the losses of `link` follow it, which has everything else of its beginning.
    pub(super) fn apply_losses(&self, link: &mut LinkSetup) {
        let loss = |probability: f64| if probability == 0.0 { Loss::None } else { Loss::Bernoulli(probability) };
        let Some((_, first)) = self.losses.first() else { return };
        link.loss = loss(*first);
        let phase = link.first_phase();
        let later = self.losses.iter().skip(1).map(|(at, p)| (*at, Phase { loss: loss(*p), ..phase.clone() }));
        link.phases = Schedule { steps: later.collect(), repeat: self.repeat };
        if link.phases.steps.is_empty() {
            link.phases.repeat = None;
        }
    }

    /// Adds a value, if it is another than before.
    fn put(&mut self, at: Span, line: usize, column: Column, cell: &str) -> Result<(), LinkTraceError> {
        match column.quantity {
            Quantity::Time => {}
            Quantity::Rate => {
                let rate = (number(line, column, cell)? * column.scale).round() as u64;
                add(&mut self.rates, at, rate);
            }
            Quantity::Delay => add(&mut self.delays, at, span(line, column, cell)?),
            Quantity::Loss => add(&mut self.losses, at, number(line, column, cell)?),
        }
        Ok(())
    }
}

/// What a column says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quantity {
    Time,
    Rate,
    Delay,
    Loss,
}

/// A column by its name.
#[derive(Clone, Copy, Debug)]
struct Column {
    name: &'static str,
    quantity: Quantity,
    /// Times this, a number is in seconds, bit/s or a probability.
    scale: f64,
    /// The largest value, in seconds, bit/s or as a probability.
    most: f64,
    accepted: &'static str,
}

fn header(line: usize, text: &str) -> Result<Vec<Column>, LinkTraceError> {
    let mut columns: Vec<Column> = Vec::new();
    for name in text.split(',').map(str::trim) {
        let known = KNOWN.iter().find(|column| column.name == name);
        let fits = known.filter(|new| {
            let twice = columns.iter().any(|column| column.quantity == new.quantity);
            !twice && columns.is_empty() == (new.quantity == Quantity::Time)
        });
        let column = fits.ok_or_else(|| LinkTraceError::Column { line, name: shortened(name) })?;
        columns.push(*column);
    }
    let has_rate = columns.iter().any(|column| column.quantity == Quantity::Rate);
    if has_rate { Ok(columns) } else { Err(LinkTraceError::Empty) }
}

fn number(line: usize, column: Column, cell: &str) -> Result<f64, LinkTraceError> {
    let plain = cell.bytes().all(|byte| byte.is_ascii_digit() || b".eE+-".contains(&byte));
    let number: Option<f64> = cell.parse().ok().filter(|_| plain);
    let inside = number.filter(|number| (0.0..=column.most).contains(&(number * column.scale)));
    // A probability of 1 is an outage that loses everything.
    let inside = inside.filter(|number| column.quantity != Quantity::Loss || *number < 1.0);
    inside.ok_or_else(|| value(line, column, cell, column.accepted))
}

fn span(line: usize, column: Column, cell: &str) -> Result<Span, LinkTraceError> {
    number(line, column, cell).map(|number| Span::from_nanos((number * column.scale * 1e9).round() as u64))
}

fn add<T: PartialEq>(steps: &mut Vec<(Span, T)>, at: Span, value: T) {
    if steps.last().is_none_or(|(_, before)| *before != value) {
        steps.push((at, value));
    }
}

fn value(line: usize, column: Column, text: &str, accepted: &'static str) -> LinkTraceError {
    LinkTraceError::Value { line, name: column.name, text: shortened(text), accepted }
}

/// As much of a text as an error shows.
fn shortened(text: &str) -> String {
    text.chars().take(40).collect()
}

const COLUMNS: &str = "`time_s`, `time_ms`, `rate_bps`, `rate_kbps`, `rate_mbps`, `delay_s`, `delay_ms` and `loss`";

/// Rows: each may be a step of three quantities, and a change of the loss takes some hundred bytes.
const MOST_ROWS: usize = 400_000;
/// Between two rows: a packet may pass every one.
const SHORTEST: Span = Span::from_micros(1);

const TIME: &str = "a number of seconds from 0 to 31536000, or as many milliseconds";
const RATE: &str = "a rate from 0 to 1 Pbit/s in the unit of the column, where 0 is an outage";
const DELAY: &str = "a delay from 0 to 10 s in the unit of the column, one way";
const LOSS: &str = "a probability at least 0 and below 1";

/// A year, as for delivery traces; 1 Pbit/s is the limit of the simulator; 10 s is that of jitter.
const KNOWN: [Column; 8] = [
    Column { name: "time_s", quantity: Quantity::Time, scale: 1.0, most: 31_536_000.0, accepted: TIME },
    Column { name: "time_ms", quantity: Quantity::Time, scale: 1e-3, most: 31_536_000.0, accepted: TIME },
    Column { name: "rate_bps", quantity: Quantity::Rate, scale: 1.0, most: 1e15, accepted: RATE },
    Column { name: "rate_kbps", quantity: Quantity::Rate, scale: 1e3, most: 1e15, accepted: RATE },
    Column { name: "rate_mbps", quantity: Quantity::Rate, scale: 1e6, most: 1e15, accepted: RATE },
    Column { name: "delay_s", quantity: Quantity::Delay, scale: 1.0, most: 10.0, accepted: DELAY },
    Column { name: "delay_ms", quantity: Quantity::Delay, scale: 1e-3, most: 10.0, accepted: DELAY },
    Column { name: "loss", quantity: Quantity::Loss, scale: 1.0, most: 1.0, accepted: LOSS },
];

#[cfg(test)]
mod tests {
    use cwnd_sim::{NodeId, QueueLimit};

    use super::*;

    fn ms(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    /// A link of 1 ms and without a rate that follows a table.
    fn link(text: &str) -> LinkSetup {
        let table = LinkTrace::parse(text).unwrap_or_else(|error| panic!("{error}"));
        let mut link = LinkSetup::new(String::new(), (NodeId(0), NodeId(1)), None, ms(1), QueueLimit::Unlimited);
        table.apply(&mut link);
        table.apply_losses(&mut link);
        link
    }

    #[test]
    fn columns_have_units_and_may_stand_in_any_order_behind_the_time() {
        let link = link("time_ms, loss, rate_kbps, delay_s\n0, 0.5, 2000, 0.010\n\n# later\n1500, 0, 1e3, 0.02\n");
        assert_eq!(link.rate_steps.steps, [(Span::ZERO, 2_000_000), (ms(1500), 1_000_000)]);
        assert_eq!(link.delay_steps.steps, [(Span::ZERO, ms(11)), (ms(1500), ms(21))]);
        assert_eq!((link.delay, link.loss), (ms(11), Loss::Bernoulli(0.5)));
        let losses: Vec<_> = link.phases.steps.iter().map(|(at, phase)| (*at, phase.loss)).collect();
        assert_eq!(losses, [(ms(1500), Loss::None)]);
        assert_eq!([link.rate_steps.repeat, link.delay_steps.repeat, link.phases.repeat], [None; 3]);
    }

    #[test]
    fn an_empty_cell_keeps_the_value_and_an_instant_alone_starts_over() {
        let link = link("time_s,rate_mbps,delay_ms\n0,3,5\n2,,7\n4,3,7\n6,9,\n8,,\n");
        assert_eq!(link.rate_steps.steps, [(Span::ZERO, 3_000_000), (ms(6000), 9_000_000)]);
        assert_eq!(link.delay_steps.steps, [(Span::ZERO, ms(6)), (ms(2000), ms(8))]);
        assert_eq!([link.rate_steps.repeat, link.delay_steps.repeat], [Some(ms(8000)); 2]);
        // Six seconds of 3 Mbit/s and two of 9.
        assert_eq!(link.rate, Some(4_500_000));
        assert_eq!(link.phases, Schedule::default());
    }

    #[test]
    fn the_mean_of_a_table_that_holds_ends_with_its_last_row() {
        let mean = |text| LinkTrace::parse(text).map(|table| table.mean_rate());
        assert_eq!(mean("time_s,rate_bps\n0,100\n3,400\n"), Ok(100));
        assert_eq!(mean("time_s,rate_bps\n0,100\n3,400\n6,500\n"), Ok(250));
        assert_eq!(mean("time_s,rate_bps\n0,700\n"), Ok(700));
        assert_eq!(mean("time_s,rate_bps\n0,0\n1,800\n2,\n"), Ok(400), "an outage counts");
    }

    #[test]
    fn a_table_that_is_too_long_is_refused() {
        let rows: String = (0..=MOST_ROWS).map(|row| format!("{row},{}\n", 1 + row % 2)).collect();
        let error = LinkTrace::parse(&format!("time_ms,rate_mbps\n{rows}")).expect_err("too long").to_string();
        assert!(error.starts_with("line 400002: a table of a link has at most 400000 rows"), "{error}");
    }

    #[test]
    fn a_text_that_is_no_table_is_refused_with_its_line() {
        let error = |text: &str| LinkTrace::parse(text).expect_err("no table").to_string();
        let cases = [
            ("", "a table of a link has a line that names its columns"),
            ("time_s,rate_mbps\n", "at least one row of values"),
            ("time_s,delay_ms\n0,1\n", "a table of a link has a line that names its columns"),
            ("rate_mbps,time_s\n1,0\n", "line 1: `rate_mbps` cannot be a column here"),
            ("time_s,rate\n0,1\n", "line 1: `rate` cannot be a column here"),
            ("time_s,rate_mbps,rate_bps\n0,1,1\n", "line 1: `rate_bps` cannot be a column here"),
            ("time_s,rate_mbps\n0,1,2\n", "line 2: 3 cells, but the first line has 2 columns"),
            ("time_s,rate_mbps\n1,1\n", "line 2: the first row is at 0"),
            ("time_s,rate_mbps,loss\n0,1,\n", "line 2: the first row is at 0 and has a value in each column"),
            ("# made\ntime_s,rate_mbps\n0,1\n2,1\n2,3\n", "line 5: the instant `2` is not 1 us or more after"),
            ("time_s,rate_mbps\n0,1\n1e-7,2\n", "line 3: the instant `1e-7` is not 1 us or more after"),
            ("time_s,rate_mbps\n0,1\n2,-1\n", "line 3: `rate_mbps` cannot be `-1`: accepted is a rate from 0"),
            ("time_s,rate_mbps\n0,1\n2,1e10\n", "line 3: `rate_mbps` cannot be `1e10`"),
            ("time_s,rate_mbps\n0,inf\n", "line 2: `rate_mbps` cannot be `inf`"),
            ("time_s,rate_mbps\n0,1\n2s,1\n", "line 3: `time_s` cannot be `2s`: accepted is a number of seconds"),
            ("time_s,rate_mbps,delay_ms\n0,1,10001\n", "line 2: `delay_ms` cannot be `10001`: accepted is a delay"),
            ("time_s,rate_mbps,loss\n0,1,1\n", "line 2: `loss` cannot be `1`: accepted is a probability"),
            ("time_s,rate_mbps\n0,1\n2,0\n", "line 3: the last rate must be above 0"),
            ("time_s,rate_mbps\n0,0\n2,\n", "line 3: the last rate must be above 0"),
            ("time_s,rate_mbps\n0,1\n2,\n3,1\n", "line 4: `rate_mbps` cannot be ``"),
        ];
        for (text, expected) in cases {
            let error = error(text);
            assert!(error.contains(expected), "{text:?}: {error}");
        }
    }
}
