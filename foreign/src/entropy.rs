//! The source of what stacks draw from the system: seeded for a connection, otherwise the system's.
//!
//! quinn's and noq's BBR draw from `rand::rng`, whose generator of the thread is seeded by `getrandom`; this is the custom backend of
//! that (`.cargo/config.toml`).

use std::cell::Cell;
use std::fs::File;
use std::io::Read;

thread_local! {
    /// The next seed of the generator of the thread, if it is seeded.
    static NEXT: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Seeds `rand::rng` of this thread. Both ends of a connection, and all connections of a run, are on one thread.
pub(crate) fn seed(seed: u64) {
    NEXT.set(Some(seed));
    rand::rng().reseed().expect("the backend below never fails while it has a seed");
    #[cfg(feature = "known-bad")]
    rand_0_9::rng().reseed().expect("the backend below never fails while it has a seed");
    NEXT.set(None);
}

#[expect(unsafe_code, reason = "getrandom asks for its custom backend as a function with a pointer")]
// SAFETY: `getrandom` passes the start of a buffer of `len` bytes that are its own.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(dest: *mut u8, len: usize) -> Result<(), getrandom::Error> {
    let buffer = unsafe {
        dest.write_bytes(0, len);
        std::slice::from_raw_parts_mut(dest, len)
    };
    let Some(mut state) = NEXT.get() else {
        let filled = File::open("/dev/urandom").and_then(|mut system| system.read_exact(buffer));
        return filled.map_err(|_| getrandom::Error::UNEXPECTED);
    };
    crate::draws::fill(&mut state, buffer);
    NEXT.set(Some(state));
    Ok(())
}
