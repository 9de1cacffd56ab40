//! Flows that were recorded, as an address has them: a page draws them, and nothing runs them.

use cwnd_trace::{FlowTrace, Trace};

use super::AddressError;

/// A recorded flow, at points of equal distance from the start of the run on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// The sender, such as `quinn:cubic`: at most 60 letters, digits and signs of [`SIGNS`].
    pub label: String,
    /// The distance of the points, milliseconds.
    pub every_ms: u32,
    /// The congestion window at each point, packets; none where it is not known.
    pub window: Vec<Option<u32>>,
    /// The goodput at each point, kbit/s, over the time before it that [`averaged_over`] gives, or from the point before it if that is longer; none
    /// where it is not known. Between two samples of a trace packets arrive evenly. As many as of the window.
    pub goodput: Vec<Option<u32>>,
}

impl Recording {
    /// A flow of `trace` called `label` at `points` points. The last of them is at the end, or up to a millisecond for each point after it, and
    /// has the values of the end.
    #[must_use]
    pub fn of(trace: &Trace, flow: &FlowTrace, label: &str, points: u32) -> Self {
        let every = trace.end.div_ceil(u64::from(points.max(1))).div_ceil(NANOS_PER_MS).max(1);
        let known = |text: char| text.is_ascii_alphanumeric() || SIGNS.contains(text);
        let label = label.chars().map(|one| if known(one) { one } else { '_' }).take(LONGEST).collect();
        let step = every * NANOS_PER_MS;
        let end = trace.at.last().copied().unwrap_or_default();
        // The last sample up to a time; none before the first one.
        let sample = |at: u64| trace.at.partition_point(|sampled| *sampled <= at).checked_sub(1);
        // A point, or the end where the point is the first after it.
        let within = |at: u64| (at < end.saturating_add(step)).then(|| at.min(end));
        let window = |at: u64| {
            let window = flow.window.get(sample(within(at)?)?).filter(|window| window.is_finite())?;
            Some(window.round() as u32)
        };
        // Points are closer than samples, or lie between them: without a value in between, some points would have the packets of two samples, and
        // others none.
        let delivered = |at: u64| {
            let nth = sample(at)?;
            let (before, from) = (*trace.at.get(nth)?, *flow.delivered.get(nth)? as f64);
            let next = trace.at.get(nth + 1).zip(flow.delivered.get(nth + 1));
            let more = |(after, to): (&u64, &u64)| (*to as f64 - from) * (at - before) as f64 / (after - before) as f64;
            Some(from + next.map_or(0.0, more))
        };
        let back = averaged_over(flow).max(step);
        let goodput = |at: u64| {
            let to = within(at)?;
            let from = to.saturating_sub(back);
            let packets = delivered(to)? - delivered(from)?;
            // Bits in a millisecond are kbit in a second.
            let kbits = packets * f64::from(flow.payload) * 8.0 / ((to - from) as f64 / NANOS_PER_MS as f64);
            (to > from && packets >= 0.0).then(|| kbits.round() as u32)
        };
        let points = (0..=u64::from(points)).map(|nth| nth * every * NANOS_PER_MS);
        Self {
            label,
            every_ms: every as u32,
            window: points.clone().map(window).collect(),
            goodput: points.map(goodput).collect(),
        }
    }

    fn line(&self) -> String {
        let list = |values: &[Option<u32>]| {
            let texts = values.iter().map(|value| value.map_or_else(|| NONE.to_string(), |value| value.to_string()));
            texts.collect::<Vec<_>>().join(",")
        };
        format!("{} {} {} {}", self.label, self.every_ms, list(&self.window), list(&self.goodput))
    }

    /// The recording of a line, which a stranger may have written.
    fn read(line: &str) -> Option<Self> {
        let [label, every, window, goodput] = line.split(' ').collect::<Vec<_>>().try_into().ok()?;
        let known = |text: char| text.is_ascii_alphanumeric() || SIGNS.contains(text);
        let list = |text: &str| {
            let values = text.split(',').map(|value| if value == NONE { Some(None) } else { number(value).map(Some) });
            values.collect::<Option<Vec<Option<u32>>>>().filter(|values| values.len() <= POINTS)
        };
        let (window, goodput) = (list(window)?, list(goodput)?);
        let every_ms = number(every).filter(|every| (1..=LONGEST_MS).contains(every))?;
        let valid = !label.is_empty() && label.len() <= LONGEST && label.chars().all(known);
        (valid && window.len() == goodput.len()).then(|| Self { label: label.to_string(), every_ms, window, goodput })
    }
}

/// The time over which the page averages the goodput of a flow, so that it does not show single bursts, nanoseconds: five round trips without
/// queueing, or 100 ms if that is more.
#[must_use]
pub fn averaged_over(flow: &FlowTrace) -> u64 {
    (5 * flow.base_rtt).max(100 * NANOS_PER_MS)
}

/// A number of digits alone.
fn number(text: &str) -> Option<u32> {
    text.parse().ok().filter(|_| text.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The text of recordings, which [`read`] reads.
pub(super) fn write(all: &[Recording]) -> String {
    all.iter().map(Recording::line).collect::<Vec<_>>().join("\n")
}

/// The recordings in a text.
pub(super) fn read(text: &str) -> Result<Vec<Recording>, AddressError> {
    let all: Option<Vec<Recording>> = text.split('\n').take(FLOWS + 1).map(Recording::read).collect();
    all.filter(|all| all.len() <= FLOWS).ok_or(AddressError::Recording)
}

/// The most recordings of an address.
pub const FLOWS: usize = 8;
/// The signs of a label besides letters and digits.
pub const SIGNS: &str = ":._=,/+-";
/// A value that is not known.
const NONE: &str = "-";
/// The most points of a recording in an address.
const POINTS: usize = 1000;
/// The most characters of a label.
const LONGEST: usize = 60;
/// The longest distance of points: a day.
const LONGEST_MS: u32 = 86_400_000;
const NANOS_PER_MS: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_read_back() {
        let one = Recording {
            label: "quinn-0.11.14:cubic".to_string(),
            every_ms: 200,
            window: vec![Some(10), Some(u32::MAX), None],
            goodput: vec![None, Some(0), Some(7)],
        };
        let all = vec![one.clone(), Recording { label: "kernel".to_string(), ..one }];
        assert_eq!(read(&write(&all)), Ok(all));
    }

    /// A flow that delivers `packets` packets of 1000 bytes of payload each 100 ms for ten seconds.
    fn steady(packets: u64) -> Trace {
        let at = 0..=100;
        let flow = FlowTrace {
            payload: 1000,
            delivered: at.clone().map(|nth| nth * packets).collect(),
            window: at.clone().map(|_| 7.0).collect(),
            ..FlowTrace::default()
        };
        let at = at.map(|nth| nth * 100 * NANOS_PER_MS).collect();
        Trace { at, end: 10_000 * NANOS_PER_MS, flows: vec![flow], ..Trace::default() }
    }

    #[test]
    fn a_steady_flow_has_one_goodput_wherever_the_points_lie() {
        let trace = steady(50);
        for points in [30, 70, 99, 100, 130, 160] {
            let Recording { every_ms, window, goodput, .. } = Recording::of(&trace, &trace.flows[0], "steady", points);
            assert_eq!((goodput.len(), goodput[0]), (points as usize + 1, None));
            // 50 packets of 8000 bits in 100 ms, up to the end.
            let last = 10_000_u32.div_ceil(every_ms) as usize;
            assert!(goodput[1..=last].iter().all(|kbps| *kbps == Some(4000)), "{points} points: {goodput:?}");
            assert!(window[..=last].iter().all(|window| *window == Some(7)), "{points} points: {window:?}");
            assert!(goodput[last + 1..].iter().chain(&window[last + 1..]).all(Option::is_none), "{points} points");
        }
    }

    #[test]
    fn a_recording_that_a_stranger_wrote_is_refused() {
        let good = "quinn:cubic 200 1,2,- 3,-,4";
        assert!(read(good).is_ok());
        let points = vec!["1"; POINTS + 1].join(",");
        for bad in [
            "",
            "quinn:cubic 200 1,2",
            "<script>alert(1)</script> 200 1 1",
            "quinn:cubic 200 1,2 1",
            "quinn:cubic 200 NaN 1",
            "quinn:cubic 200 inf 1",
            "quinn:cubic 200 -1 1",
            "quinn:cubic 200 +1 1",
            "quinn:cubic 200 1e9 1",
            "quinn:cubic 200 4294967296 1",
            "quinn:cubic 200 1,,2 1,2,3",
            "quinn:cubic 0 1 1",
            "quinn:cubic 86400001 1 1",
            &format!("quinn:cubic 1 {points} {points}"),
            &format!("{} 1 1 1", "q".repeat(LONGEST + 1)),
            &[good; FLOWS + 1].join("\n"),
            &format!("{good}\n"),
        ] {
            assert_eq!(read(bad), Err(AddressError::Recording), "{bad}");
        }
    }
}
