//! Scenarios made of any bytes run within their bounds, or are refused.
//!
//! `cargo +nightly fuzz run scenarios -- -max_len=1024`. The corpus is replayed by the tests of `cwnd-run`.

#![no_main]

use cwnd_run::testing::{document, drive};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = drive(&document(bytes));
});
