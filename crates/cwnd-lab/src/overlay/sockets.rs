//! Repeated outputs of `ss -ti`, each with a time in front: what `date +%s.%N` prints, or `Time: ` and the same.

use std::collections::BTreeMap;

use super::{ImportFault, Located, RecordedFlow, Sample, nanoseconds};

/// The text that its lines have and no other file has.
pub(super) const MARK: &str = " cwnd:";

/// Reads the outputs. Sockets without a window, headings and empty lines are passed over.
pub(super) fn read<'a>(lines: impl Iterator<Item = (&'a str, usize)>, mss: u32) -> Result<Vec<RecordedFlow>, Located> {
    let mut flows: BTreeMap<(&str, &str), RecordedFlow> = BTreeMap::new();
    let mut now = None;
    let mut socket = None;
    for (line, number) in lines {
        let located = |fault| (number, fault);
        if let Some(time) = time_of(line).map_err(located)? {
            now = Some(time);
            socket = None;
            continue;
        }
        if !line.starts_with(char::is_whitespace) {
            socket = ends(line);
        }
        let Some(ends) = socket.filter(|_| line.contains(MARK)) else { continue };
        let at = now.ok_or_else(|| located(ImportFault::Undated))?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let flow = flows.entry(ends).or_insert_with(|| RecordedFlow {
            name: format!("{} to {}", ends.0, ends.1),
            algorithm: algorithm(&words, ends).map(str::to_string),
            mss,
            samples: Vec::new(),
        });
        let info = Info { words: &words };
        flow.mss = info.whole("mss", "mss:").map_err(located)?.and_then(|mss| mss.try_into().ok()).unwrap_or(flow.mss);
        flow.samples.push(info.sample(at).map_err(located)?);
    }
    let mut flows: Vec<RecordedFlow> = flows.into_values().collect();
    for flow in &mut flows {
        flow.samples.sort_by_key(|sample| sample.at);
        let before = flow.samples.first().map_or(0, |sample| sample.acked);
        let mut most = 0;
        for sample in &mut flow.samples {
            // Counters do not fall.
            most = sample.acked.saturating_sub(before).max(most);
            sample.acked = most;
        }
    }
    Ok(flows)
}

/// The time in a line, if it is such a line.
fn time_of(line: &str) -> Result<Option<u64>, ImportFault> {
    let word = line.trim();
    let tagged = word.strip_prefix("Time:").map(str::trim);
    let plain = word.starts_with(|first: char| first.is_ascii_digit()) && !word.contains(char::is_whitespace);
    let Some(time) = tagged.or_else(|| plain.then_some(word)) else { return Ok(None) };
    nanoseconds(time).map(Some).ok_or_else(|| ImportFault::Time(time.to_string()))
}

/// The two addresses of a socket's line: the first two words with a port.
fn ends(line: &str) -> Option<(&str, &str)> {
    let with_port = |word: &&str| {
        let port = word.rsplit_once(':').map(|(_, port)| port);
        port.is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut addresses = line.split_whitespace().skip(1).filter(with_port);
    Some((addresses.next()?, addresses.next()?))
}

/// The name of the congestion control: the first word that is neither a flag nor a value, after the addresses if they are there.
fn algorithm<'a>(words: &[&'a str], (_, peer): (&str, &str)) -> Option<&'a str> {
    let from = words.iter().position(|word| *word == peer).map_or(0, |peer| peer + 1);
    words[from..].iter().copied().find(|word| !word.contains(':') && !FLAGS.contains(word))
}

struct Info<'a> {
    words: &'a [&'a str],
}

impl Info<'_> {
    fn sample(&self, at: u64) -> Result<Sample, ImportFault> {
        let window = self.real("cwnd", "cwnd:", "")?.ok_or(ImportFault::Missing("cwnd"))?;
        // `rtt:AVERAGE/VARIATION`, milliseconds.
        let rtt = self.real("rtt", "rtt:", "/")?.unwrap_or(f64::NAN);
        let total = |word: &str| word.split_once('/').map(|(_, total)| total.to_string());
        let retransmitted = self.value("retrans:").and_then(total);
        let retransmitted = retransmitted.map(|given| count("retrans", &given));
        Ok(Sample {
            at,
            window,
            threshold: self.real("ssthresh", "ssthresh:", "")?.unwrap_or(f64::NAN),
            srtt: rtt * 1e-3,
            acked: self.whole("bytes_acked", "bytes_acked:")?.unwrap_or(0),
            in_flight: self.whole("unacked", "unacked:")?.unwrap_or(0),
            // `ss` omits counters that are 0.
            retransmitted: Some(retransmitted.transpose()?.unwrap_or(0)),
            pacing: self.pacing()?,
        })
    }

    /// The text after `key` in its word.
    fn value(&self, key: &str) -> Option<&str> {
        self.words.iter().find_map(|word| word.strip_prefix(key))
    }

    fn whole(&self, field: &'static str, key: &str) -> Result<Option<u64>, ImportFault> {
        self.value(key).map(|given| count(field, given)).transpose()
    }

    /// A number up to `end`, or the end of its word.
    fn real(&self, field: &'static str, key: &str, end: &str) -> Result<Option<f64>, ImportFault> {
        let Some(given) = self.value(key) else { return Ok(None) };
        let number = if end.is_empty() { given } else { given.split(end).next().unwrap_or(given) };
        finite(field, number).map(Some)
    }

    /// `pacing_rate 21860504bps`, by older versions with a prefix: `21.9Mbps`.
    fn pacing(&self) -> Result<f64, ImportFault> {
        let at = self.words.iter().position(|word| *word == "pacing_rate");
        let Some(given) = at.and_then(|at| self.words.get(at + 1)) else { return Ok(f64::NAN) };
        let number = given.trim_end_matches("bps");
        let scales = [("K", 1e3), ("M", 1e6), ("G", 1e9), ("T", 1e12)];
        let scaled = scales.iter().find_map(|(prefix, scale)| Some((number.strip_suffix(prefix)?, *scale)));
        let (digits, scale) = scaled.unwrap_or((number, 1.0));
        Ok(finite("pacing_rate", digits)? * scale)
    }
}

fn count(field: &'static str, given: &str) -> Result<u64, ImportFault> {
    let number = given.parse().ok().filter(|number: &u64| *number <= MOST_COUNTED);
    number.ok_or_else(|| ImportFault::Number { field, given: given.to_string() })
}

fn finite(field: &'static str, given: &str) -> Result<f64, ImportFault> {
    let number = given.parse().ok().filter(|number: &f64| number.is_finite());
    number.ok_or_else(|| ImportFault::Number { field, given: given.to_string() })
}

/// Bytes and packets of a connection: what a number of double precision holds exactly, 9 PB.
const MOST_COUNTED: u64 = 1 << 53;
/// Words that `ss` prints before the name of the congestion control.
const FLAGS: [&str; 8] = ["ts", "usec_ts", "sack", "ecn", "ecnseen", "fastopen", "accecn", "cwr"];
