//! Whatever a peer without the secret sends to a server, to a client or on an established connection, none of it is accepted.
//!
//! `cargo +nightly fuzz run secure -- -max_len=512`. The corpus is replayed by the tests of `cwnd-secure`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = cwnd_secure::conversation(bytes);
});
