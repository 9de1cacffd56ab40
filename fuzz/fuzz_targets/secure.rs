//! Whatever somebody without the secret says to a server, to a client or on an established connection, nothing of it is taken for true.
//!
//! `cargo +nightly fuzz run secure -- -max_len=512`. The corpus beside this is replayed by the tests of `cwnd-secure`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = cwnd_secure::conversation(bytes);
});
