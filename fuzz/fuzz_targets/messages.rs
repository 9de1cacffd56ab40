//! A connection that carries messages handles whatever its peer sends.
//!
//! `cargo +nightly fuzz run messages -- -max_len=1024`. The corpus is replayed by the tests of `cwnd-udt`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| cwnd_udt::testing::check_messages(bytes));
