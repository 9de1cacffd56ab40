//! Any datagram is read or refused, and what was read is written the same.
//!
//! `cargo +nightly fuzz run datagrams -- -max_len=128`. The corpus beside this is replayed by the tests of `cwnd-udt`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| cwnd_udt::testing::check_datagram(bytes));
