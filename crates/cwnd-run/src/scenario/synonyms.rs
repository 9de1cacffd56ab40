//! Keys and options by the names that other programs give them, and keys in the wrong place.

/// The known name that means what `name` does in other programs.
///
/// ```
/// let known = |name: &str| ["rate", "rtt"].contains(&name);
/// assert_eq!(cwnd_run::scenario::meant("bandwidth", known), Some("rate"));
/// assert_eq!(cwnd_run::scenario::meant("buffer", known), None);
/// ```
pub fn meant(name: &str, is_known: impl Fn(&str) -> bool) -> Option<&'static str> {
    let of_one_meaning = SYNONYMS.iter().filter(|names| names.contains(&name));
    of_one_meaning.flat_map(|names| names.iter().copied()).find(|name| is_known(name))
}

/// Where a key belongs that a table with the `known` keys does not have.
pub(super) fn place(name: &str, known: &[&str]) -> Option<&'static str> {
    let mut places = PLACES.iter().filter(|(table, names, _)| known.contains(table) && names.contains(&name));
    places.next().map(|(_, _, place)| *place)
}

/// Names of one meaning in each row: those of this project's programs, and those of iperf3, netem, ns-3, flent and Mahimahi.
const SYNONYMS: &[&[&str]] = &[
    &["rate", "bandwidth", "bw", "bitrate", "capacity", "datarate"],
    &["rtt", "delay", "latency", "base-rtt", "base_rtt"],
    &["queue", "buffer", "buffer-size", "buffer_size", "qdisc", "aqm", "limit", "qlen"],
    &["duration", "time", "length", "seconds", "runtime"],
    &["flows", "count", "num-flows", "streams", "parallel"],
    &["seeds", "seed", "runs", "repetitions", "repeat"],
    &["versus", "against", "competitor"],
    &["out", "output", "output-dir", "dir", "directory"],
    &["figure", "plot", "pdf", "svg", "png"],
    &["listen", "port", "bind"],
    &["algorithm", "congestion", "cc", "cca"],
    &["ln", "log"],
];

/// A key by which a table is recognised, keys that it does not have, and where they belong.
const PLACES: [(&str, &[&str], &str); 4] = [
    ("dumbbell", &["grid", "cell", "base", "scenario", "by"], "it is a key of a sweep, which `cwnd sweep` runs"),
    (
        "dumbbell",
        &["rate", "rtt", "queue", "loss", "schedule", "trace", "outage"],
        "it is a key of `dumbbell` or a `link`",
    ),
    ("dumbbell", &["algorithm", "count", "size"], "it is a key of a `flow`"),
    (
        "grid",
        &["dumbbell", "parking_lot", "link", "flow", "arrivals", "cbr", "duration", "seeds"],
        "a sweep has its scenario below `base`; a scenario by itself is for `cwnd run`",
    ),
];
