//! The light half of a pair of traces: trains of deliveries for a line that was idle.

use std::ops::Range;
use std::sync::Arc;

use cwnd::{Bytes, Span};
use thiserror::Error;

use super::steps::Schedule;

/// The light trace of CellReplay (Sentosa et al., NSDI 2025), as its emulator `mm-cellular` reads it: the deliveries to a line that was
/// idle, and the delay of the link.
///
/// Each line is a train: `TIME DELAY OFFSET …`, whole milliseconds with spaces between. `TIME` is when the train was recorded, `DELAY` the
/// one-way delay of its first packet, and each `OFFSET` an opportunity to transmit 1400 bytes, counted from the first packet. A train holds
/// until the time of the next one. The delay moves from train to train on a straight line, in whole milliseconds. The last line ends the
/// trace, which then starts over; its offsets are not used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LightTrace {
    trains: Vec<Train>,
    /// Milliseconds, those of all trains in turn.
    offsets: Vec<u64>,
    /// Milliseconds; above 0.
    period: u64,
    /// Milliseconds from the start at which the delay changes, and the new one.
    delays: Vec<(u64, u64)>,
    /// A line that is idle for longer than this begins a train.
    idle: Span,
}

/// A text is no light trace.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LightTraceError {
    /// It has no train or no end.
    #[error(
        "a light trace has at least two lines, `TIME DELAY OFFSET …` in milliseconds: a train, and the end of the trace"
    )]
    Empty,
    /// Its delay changes too often.
    #[error(
        "line {line}: until here the delay changes {MOST_CHANGES} times in steps of 1 ms, the most there is memory for"
    )]
    Changes {
        /// From 1.
        line: usize,
    },
    /// The first train is late.
    #[error("line {line}: the first train is at 0 ms, not at {time} ms")]
    First {
        /// From 1.
        line: usize,
        /// Milliseconds.
        time: u64,
    },
    /// A number lies outside its range, or is none.
    #[error("line {line}: expected {expected}, not `{text}`")]
    Number {
        /// From 1.
        line: usize,
        /// What stands there in a light trace.
        expected: &'static str,
        /// Its text.
        text: String,
    },
    /// A number is too small next to the one before.
    #[error("line {line}: {name} {value} ms must be {accepted} the {before} ms before")]
    Order {
        /// From 1.
        line: usize,
        /// Which number.
        name: &'static str,
        /// Milliseconds.
        value: u64,
        /// The relation.
        accepted: &'static str,
        /// Milliseconds.
        before: u64,
    },
}

/// A line of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Train {
    /// Milliseconds from the start of the trace.
    time: u64,
    /// Indexes the offsets of the trace.
    offsets: Range<usize>,
}

/// The used part of a light trace.
#[derive(Clone, Debug)]
pub(super) struct Trains {
    trace: Arc<LightTrace>,
    /// The begin of the present train, nanoseconds.
    begin: u64,
    /// Its opportunities from the present one on.
    offsets: Range<usize>,
    /// Bytes that the present one can still carry.
    left: u32,
    /// When the last packet left, nanoseconds; none before the first.
    last: Option<u64>,
}

impl LightTrace {
    /// Reads a text with a train on each line; an idle time above `idle` begins a train.
    ///
    /// # Errors
    /// The line that is wrong, and the accepted numbers.
    pub fn parse(text: &str, idle: Span) -> Result<Self, LightTraceError> {
        let mut trace = Self { trains: Vec::new(), offsets: Vec::new(), period: 0, delays: Vec::new(), idle };
        let mut last: Option<(u64, u64)> = None;
        for (line, text) in (1..).zip(text.lines()) {
            let mut words = text.split_whitespace();
            let time = number(line, words.next(), MAX_INSTANT, TIME)?;
            let delay = number(line, words.next(), MOST_DELAY, DELAY)?;
            match last {
                Some((before, _)) if before >= time => {
                    return Err(LightTraceError::Order { line, name: "TIME", value: time, accepted: "above", before });
                }
                None if time > 0 => return Err(LightTraceError::First { line, time }),
                None => trace.delays.push((0, delay)),
                Some(from) => trace.move_delay(from, (time, delay), line)?,
            }
            let begin = trace.offsets.len();
            for word in words {
                let offset = number(line, Some(word), MOST_OFFSET, OFFSET)?;
                match trace.offsets[begin..].last() {
                    Some(before) if *before > offset => {
                        let (name, accepted, before) = ("OFFSET", "at least", *before);
                        return Err(LightTraceError::Order { line, name, value: offset, accepted, before });
                    }
                    _ => trace.offsets.push(offset),
                }
            }
            trace.trains.push(Train { time, offsets: begin..trace.offsets.len() });
            last = Some((time, delay));
        }
        trace.period = trace.trains.pop().map_or(0, |end| end.time);
        if trace.trains.is_empty() { Err(LightTraceError::Empty) } else { Ok(trace) }
    }

    /// The least delay of the trace, and the later delays of a link that has `delay` without it.
    #[must_use]
    pub fn delays(&self, delay: Span) -> (Span, Schedule<Span>) {
        let at = |millis: &u64| Span::from_millis(*millis);
        let before_end = self.delays.iter().filter(|(time, _)| *time < self.period);
        let steps = before_end.map(|(time, value)| (at(time), delay + at(value))).collect();
        let least = self.delays.iter().map(|(_, value)| value).min().map_or(Span::ZERO, at);
        (delay + least, Schedule { steps, repeat: Some(at(&self.period)) })
    }

    /// Lets the delay follow a straight line in whole milliseconds, rounded down.
    fn move_delay(
        &mut self,
        (from, old): (u64, u64),
        (to, new): (u64, u64),
        line: usize,
    ) -> Result<(), LightTraceError> {
        let at = |time: u64| {
            let (up, down) = (new.saturating_sub(old), old.saturating_sub(new));
            old + up * (time - from) / (to - from) - (down * (time - from)).div_ceil(to - from)
        };
        // Per change of the value one step, and at most one per millisecond.
        let span = to - from;
        let changes = old.abs_diff(new).min(span);
        for change in 1..=changes {
            let time = from + (span * change).div_ceil(changes);
            let time = if new < old { from + span * (change - 1) / changes + 1 } else { time };
            let value = at(time.min(to));
            if self.delays.last().is_none_or(|(_, before)| *before != value) {
                if self.delays.len() == MOST_CHANGES {
                    return Err(LightTraceError::Changes { line });
                }
                self.delays.push((time.min(to), value));
            }
        }
        Ok(())
    }

    /// The opportunities of a train that begins at `from`, nanoseconds.
    fn train(&self, from: u64) -> Range<usize> {
        let time = from / MILLISECOND % self.period;
        let next = self.trains.partition_point(|train| train.time <= time);
        self.trains.get(next.saturating_sub(1)).map_or(0..0, |train| train.offsets.clone())
    }
}

impl Trains {
    pub(super) fn new(trace: Arc<LightTrace>) -> Self {
        Self { trace, begin: 0, offsets: 0..0, left: 0, last: None }
    }

    /// Transmits as much of a packet that is there at `from` (nanoseconds) as the train carries. When its last byte leaves, or when the last
    /// of the part that does, with the bytes that remain.
    pub(super) fn carry(&mut self, from: u64, size: Bytes) -> Result<u64, (u64, Bytes)> {
        if self.last.is_none_or(|last| from.saturating_sub(last) > self.trace.idle.as_nanos()) {
            (self.begin, self.offsets, self.left) = (from, self.trace.train(from), OPPORTUNITY.0);
        }
        while self.next().is_some_and(|at| at < from) {
            self.advance();
        }
        let (mut at, mut rest) = (from, size.0);
        while let Some(next) = self.next() {
            let part = rest.min(self.left);
            (at, rest, self.left) = (next, rest - part, self.left - part);
            if rest == 0 {
                return Ok(at);
            }
            self.advance();
        }
        Err((at, Bytes(rest)))
    }

    /// The last byte of a packet leaves at `at`.
    pub(super) fn end(&mut self, at: u64) {
        self.last = Some(at);
    }

    /// The instant of the present opportunity, nanoseconds; none behind the last.
    fn next(&self) -> Option<u64> {
        let index = Some(self.offsets.start).filter(|index| *index < self.offsets.end)?;
        Some(self.begin.saturating_add(self.trace.offsets[index] * MILLISECOND))
    }

    fn advance(&mut self) {
        self.offsets.start += 1;
        self.left = OPPORTUNITY.0;
    }
}

/// Reads a whole number of milliseconds.
fn number(line: usize, text: Option<&str>, most: u64, expected: &'static str) -> Result<u64, LightTraceError> {
    let text = text.unwrap_or_default();
    let digits = Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()));
    let number = digits.and_then(|text| text.parse().ok()).filter(|number| *number <= most);
    number.ok_or_else(|| LightTraceError::Number { line, expected, text: text.chars().take(40).collect() })
}

pub(super) const MILLISECOND: u64 = 1_000_000;
/// A year; sums of instants stay far within 64 bits.
pub(super) const MAX_INSTANT: u64 = 31_536_000_000;
/// The bytes of an opportunity: `PACKET_SIZE` in cellular_queue.hh of CellReplay at 2ca662c.
pub(super) const OPPORTUNITY: Bytes = Bytes(1400);

/// Ten seconds, as for tables.
const MOST_DELAY: u64 = 10_000;
/// An hour.
const MOST_OFFSET: u64 = 3_600_000;
/// Steps of the delay.
const MOST_CHANGES: usize = 1_000_000;

const TIME: &str =
    "`TIME`, a whole number of milliseconds up to 31536000000, as the first of a line `TIME DELAY OFFSET …`";
const DELAY: &str =
    "`DELAY`, a whole number of milliseconds up to 10000, as the second of a line `TIME DELAY OFFSET …`";
const OFFSET: &str = "an `OFFSET`, a whole number of milliseconds up to 3600000";

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Span {
        Span::from_millis(millis)
    }

    fn parse(text: &str) -> Result<LightTrace, String> {
        LightTrace::parse(text, ms(5)).map_err(|error| error.to_string())
    }

    /// The delays of a link of 1 ms, in milliseconds.
    fn delays(text: &str) -> Vec<(u64, u64)> {
        let (_, schedule) = parse(text).expect("a trace").delays(ms(1));
        let millis = |span: Span| span.as_nanos() / MILLISECOND;
        schedule.steps.into_iter().map(|(at, delay)| (millis(at), millis(delay))).collect()
    }

    #[test]
    fn the_delay_follows_a_straight_line_in_whole_milliseconds() {
        // From 20 ms to 23 ms in 9 ms: a millisecond each 3 ms, and at the end the first delay.
        assert_eq!(delays("0 20 0\n9 23 0"), [(0, 21), (3, 22), (6, 23)]);
        // Rounded down: from 23 ms at 0 to just below, so 22 ms from the first millisecond on.
        assert_eq!(delays("0 23 0\n9 20 0"), [(0, 24), (1, 23), (4, 22), (7, 21)]);
        // Faster than a millisecond per millisecond: 7.5 and 10, and 10 from then on.
        assert_eq!(delays("0 5 0\n2 10 0\n50 10 0"), [(0, 6), (1, 8), (2, 11)]);
        let (least, schedule) = parse("0 9 0\n100 7 0\n200 9").expect("a trace").delays(ms(1));
        assert_eq!((least, schedule.repeat), (ms(8), Some(ms(200))));
    }

    #[test]
    fn each_train_holds_until_the_next_and_the_trace_starts_over() {
        let trace = parse("0 9 0 2\n100 7 1 1 1\n150 8\n200 9 0 0 0 0").expect("a trace");
        let lengths =
            [0, 99, 100, 149, 150, 199, 200, 299, 300, 1_000_000_100].map(|at| trace.train(at * MILLISECOND).len());
        assert_eq!(lengths, [2, 2, 3, 3, 0, 0, 2, 2, 3, 3]);
    }

    #[test]
    fn a_text_that_is_no_light_trace_is_refused_with_its_line() {
        let error = |text| parse(text).expect_err("no trace");
        let empty = "a light trace has at least two lines, `TIME DELAY OFFSET …` in milliseconds: a train, and the end of the trace";
        assert_eq!([error(""), error("0 5 0")], [empty, empty]);
        assert_eq!(error("10 5 0\n20 5"), "line 1: the first train is at 0 ms, not at 10 ms");
        assert_eq!(error("0 5 0\n0 5"), "line 2: TIME 0 ms must be above the 0 ms before");
        assert_eq!(error("0 5 0 4 3\n9 5"), "line 1: OFFSET 3 ms must be at least the 4 ms before");
        for (text, expected) in [
            ("0 5 0\n\n9 5", "line 2: expected `TIME`"),
            ("0\n9 5", "line 1: expected `DELAY`"),
            ("0 -5 0\n9 5", "line 1: expected `DELAY`"),
            ("0 NaN 0\n9 5", "line 1: expected `DELAY`"),
            ("0 10001 0\n9 5", "line 1: expected `DELAY`"),
            ("0 5 +1\n9 5", "line 1: expected an `OFFSET`"),
            ("0 5 3600001\n9 5", "line 1: expected an `OFFSET`"),
            ("0 5 0\n99999999999999999999 5", "line 2: expected `TIME`"),
        ] {
            assert!(error(text).starts_with(expected), "{}", error(text));
        }
    }

    #[test]
    fn a_delay_that_changes_without_end_is_refused() {
        let swing = |index: u64| format!("{} {} 0\n", index * 10_000, index % 2 * 10_000);
        let text: String = (0..150).map(swing).collect();
        assert!(
            parse(&text).expect_err("too many").starts_with("line 101: until here the delay changes 1000000 times")
        );
    }
}
