//! The trace point `tcp:tcp_probe`: an event for every segment that arrives on a connection (include/trace/events/tcp.h).

use std::collections::BTreeMap;

use super::{ImportFault, Located, RecordedFlow, Sample, nanoseconds};

/// The text that its lines have and no other file has.
pub(super) const MARK: &str = "tcp_probe:";

/// Reads what ftrace, trace-cmd or perf print of it. Other lines are passed over.
pub(super) fn read<'a>(lines: impl Iterator<Item = (&'a str, usize)>, mss: u32) -> Result<Vec<RecordedFlow>, Located> {
    let mut flows: BTreeMap<(&str, &str), (u32, RecordedFlow)> = BTreeMap::new();
    for (line, number) in lines {
        let Some((before, fields)) = line.split_once(MARK) else { continue };
        let located = |fault| (number, fault);
        let event = Event::parse(before, fields).map_err(located)?;
        let (una, flow) = flows.entry((event.from, event.to)).or_insert_with(|| {
            let name = format!("{} to {}", event.from, event.to);
            (event.una, RecordedFlow { name, algorithm: None, mss, samples: Vec::new() })
        });
        // Numbers wrap, and the acknowledged number only grows.
        let newly = event.una.wrapping_sub(*una);
        let newly = if newly < 1 << 31 { newly } else { 0 };
        *una = una.wrapping_add(newly);
        let acked = flow.samples.last().map_or(0, |sample| sample.acked) + u64::from(newly);
        flow.samples.push(Sample {
            at: event.at,
            window: f64::from(event.window),
            threshold: if event.threshold < INFINITE { f64::from(event.threshold) } else { f64::NAN },
            srtt: f64::from(event.srtt_us) * 1e-6,
            acked,
            in_flight: u64::from(event.next.wrapping_sub(event.una)).div_ceil(u64::from(mss.max(1))),
            retransmitted: None,
            pacing: f64::NAN,
        });
    }
    let mut flows: Vec<RecordedFlow> = flows.into_values().map(|(_, flow)| flow).collect();
    for flow in &mut flows {
        flow.samples.sort_by_key(|sample| sample.at);
    }
    Ok(flows)
}

struct Event<'a> {
    at: u64,
    from: &'a str,
    to: &'a str,
    next: u32,
    una: u32,
    window: u32,
    threshold: u32,
    srtt_us: u32,
}

impl<'a> Event<'a> {
    fn parse(before: &'a str, fields: &'a str) -> Result<Self, ImportFault> {
        // `24857.145262: tcp_probe:` of ftrace and trace-cmd, `24857.145262: tcp:tcp_probe:` of perf.
        let time = before.trim_end().trim_end_matches("tcp:").trim_end().trim_end_matches(':');
        let time = time.rsplit(char::is_whitespace).next().unwrap_or_default();
        let at = nanoseconds(time).ok_or_else(|| ImportFault::Time(time.to_string()))?;
        let field = |name: &'static str| {
            let value = |word: &'a str| word.strip_prefix(name)?.strip_prefix('=');
            fields.split_whitespace().find_map(value).ok_or(ImportFault::Missing(name))
        };
        let number = |name: &'static str| {
            let given = field(name)?;
            let value = match given.strip_prefix("0x") {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => given.parse(),
            };
            value.map_err(|_| ImportFault::Number { field: name, given: given.to_string() })
        };
        Ok(Self {
            at,
            from: field("src")?,
            to: field("dest")?,
            next: number("snd_nxt")?,
            una: number("snd_una")?,
            window: number("snd_cwnd")?,
            threshold: number("ssthresh")?,
            srtt_us: number("srtt")?,
        })
    }
}

/// TCP_INFINITE_SSTHRESH.
const INFINITE: u32 = 0x7fff_ffff;
