//! A server handles whatever clients and unknown addresses send, from many addresses, over time.
//!
//! `cargo +nightly fuzz run server -- -max_len=1024`. The corpus is replayed by the tests of `cwnd-udt`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| cwnd_udt::testing::check_server(bytes));
