//! Whatever the other end of a transfer of files says, it is understood or refused.
//!
//! `cargo +nightly fuzz run frames -- -max_len=512`. The corpus is replayed by the tests of `cwnd-files`.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let _ = cwnd_files::frames_in(bytes);
});
