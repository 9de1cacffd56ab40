//! Every flag of every command, with values that mean nothing: none panics or hangs, and a refusal is one error that names the flag.

use cwnd_terminal::testing::refuses_nonsense;

use super::Udt;

/// A command, and arguments with which it ends soon: servers are to listen where no host can, and clients ask where nobody listens.
pub(super) const COMMANDS: [(&str, &[&str]); 10] = [
    ("completions", &["bash"]),
    ("doctor", &["[", "--dir", "."]),
    ("key", &["nowhere/key"]),
    ("link", &["192.0.2.1:9", "127.0.0.1:9"]),
    ("manual", &["nowhere"]),
    ("meet", &["192.0.2.1:9"]),
    ("perf", &["127.0.0.1:9", "--time", "100ms"]),
    ("recv", &["127.0.0.1:9", "--dir", "nowhere"]),
    ("send", &["nowhere", "--to", "127.0.0.1:9"]),
    ("serve", &["nowhere"]),
];

#[test]
fn nonsense_is_refused_with_one_error() {
    let cases = refuses_nonsense(|| Udt::new().0, &COMMANDS, &[], false);
    assert!(cases > 180, "{cases}");
}

#[test]
#[ignore = "thousands of starts: cargo xtask test --long"]
fn every_value_of_nonsense_is_refused_with_one_error() {
    let cases = refuses_nonsense(|| Udt::new().0, &COMMANDS, &[], true);
    assert!(cases > 600, "{cases}");
}
