//! Any datagram is read or refused, and a datagram that was read is written with the same bytes.
//!
//! `cargo +nightly fuzz run datagrams -- -max_len=128`. The corpus is replayed by the tests of `cwnd-udt`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| cwnd_udt::testing::check_datagram(bytes));
