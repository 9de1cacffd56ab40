//! Every registered algorithm, with its defaults, keeps its contract on any list of signals; so does a rule made of the same bytes, if it
//! can be read.
//!
//! `cargo +nightly fuzz run signals -- -max_len=1024`. The corpus is replayed by the tests of `cwnd`.

#![no_main]

use std::sync::LazyLock;

use cwnd::testing::{Case, check, rule};
use cwnd::{ALGORITHMS, Spec};
use libfuzzer_sys::fuzz_target;

static SPECS: LazyLock<Vec<Spec>> =
    LazyLock::new(|| ALGORITHMS.iter().map(|entry| Spec::parse(entry.name).expect("a name is a spec")).collect());

fuzz_target!(|bytes: &[u8]| {
    let case = Case::decode(bytes);
    SPECS.iter().for_each(|spec| check(spec, &case));
    if let Ok(spec) = Spec::parse(&rule(bytes)) {
        check(&spec, &case);
    }
});
