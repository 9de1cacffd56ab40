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
    /// where it is not known. As many as of the window.
    pub goodput: Vec<Option<u32>>,
}

impl Recording {
    /// A flow of `trace` called `label` at `points` points, the last of them at the end or up to a millisecond for each point after it.
    #[must_use]
    pub fn of(trace: &Trace, flow: &FlowTrace, label: &str, points: u32) -> Self {
        let every = trace.end.div_ceil(u64::from(points.max(1))).div_ceil(NANOS_PER_MS).max(1);
        let known = |text: char| text.is_ascii_alphanumeric() || SIGNS.contains(text);
        let label = label.chars().map(|one| if known(one) { one } else { '_' }).take(LONGEST).collect();
        // The last sample up to a time; none before the first one, and after the last one.
        let sample = |at: u64| {
            let after = trace.at.partition_point(|sampled| *sampled <= at);
            trace.at.last().filter(|last| **last >= at).and_then(|_| after.checked_sub(1))
        };
        let window = |at: u64| {
            let window = flow.window.get(sample(at)?).filter(|window| window.is_finite())?;
            Some(window.round() as u32)
        };
        let back = averaged_over(flow).max(every * NANOS_PER_MS);
        let goodput = |at: u64| {
            let before = at.saturating_sub(back);
            let packets = flow.delivered.get(sample(at)?)?.checked_sub(*flow.delivered.get(sample(before)?)?)?;
            let bits = u128::from(packets) * u128::from(flow.payload) * 8;
            // Bits in a millisecond are kbit in a second.
            Some((bits * u128::from(NANOS_PER_MS)).checked_div(u128::from(at - before))? as u32)
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
