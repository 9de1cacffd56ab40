//! Every flag of every command, with values that mean nothing: none panics or hangs, and a refusal is one error that names the flag.

use cwnd_terminal::testing::refuses_nonsense;

use super::{Cwnd, SHORT, root};

/// A command, and arguments with which it ends soon: what would work for long writes into a directory that exists.
pub(super) const COMMANDS: [(&str, &[&str]); 25] = [
    ("algorithms", &["reno"]),
    ("bench sim", &["--duration", "200ms", "--warmup", "100ms"]),
    ("compare", &["reno", "--json", "--duration", "200ms", "--warmup", "100ms", "--seeds", "1", "--rate", "10mbit"]),
    ("completions", &["bash"]),
    ("conform", &["reno", "--check", "9438-beta", "--seeds", "1"]),
    ("doctor", &[]),
    ("evaluate", &["reno", "--out", "taken"]),
    ("falsify", &["reno", "--property", "jain > 0", "--evaluations", "1", "--seeds", "1", "--out", "taken"]),
    ("link-to", &["short.toml"]),
    ("live", &["--listen", "192.0.2.1:9"]),
    ("manual", &["taken"]),
    ("model convergence", &["reno"]),
    ("model response", &["reno"]),
    ("model rounds", &["reno", "--rounds", "100"]),
    ("model udt", &[]),
    ("overlay", &["short.toml", "--kernel", "ss.txt", "--out", "taken"]),
    ("paper", &["newaimd", "--out", "taken"]),
    ("run", &["short.toml", "--json", "--seeds", "1"]),
    ("schema", &[]),
    ("site", &["taken", "--engine", "short.toml"]),
    ("sweep", &["sweep.toml", "--json", "--no-store"]),
    ("sweep status", &["nowhere"]),
    ("trace diff", &["short.toml", "ss.txt"]),
    ("trace reference", &["cubic-3", "--out", "taken"]),
    ("docs", &["json"]),
];
/// Where a directory that is not there yet lets a command work for minutes.
const LONG: [(&str, &str); 2] = [("evaluate", "--out"), ("paper", "--out")];

/// A directory with what the commands read.
pub(super) fn place() -> Cwnd {
    let cwnd = Cwnd::new();
    cwnd.file("short.toml", SHORT);
    cwnd.file("taken", "");
    cwnd.file("sweep.toml", "scenario = \"short.toml\"\n[grid]\n\"dumbbell.rtt\" = [\"20ms\"]\n");
    let recorded = root().join("crates/cwnd-lab/tests/kernel/ss.txt");
    std::fs::copy(recorded, cwnd.path().join("ss.txt")).expect("it is in the repository");
    cwnd
}

#[test]
fn nonsense_is_refused_with_one_error() {
    let cases = refuses_nonsense(|| place().0, &COMMANDS, &LONG, false);
    assert!(cases > 300, "{cases}");
}

#[test]
#[ignore = "thousands of starts: cargo xtask test --long"]
fn every_value_of_nonsense_is_refused_with_one_error() {
    let cases = refuses_nonsense(|| place().0, &COMMANDS, &LONG, true);
    assert!(cases > 1000, "{cases}");
}
