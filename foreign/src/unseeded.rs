//! The system's random numbers for the command line: the settings of `foreign/` ask for a backend (`.cargo/config.toml`), which other
//! programs there can seed. The stacks of programs with this module draw none of these.

#[expect(unsafe_code, reason = "getrandom asks for its custom backend as a function with a pointer")]
// SAFETY: `getrandom` passes the start of a buffer of `len` bytes that are its own.
#[unsafe(no_mangle)]
unsafe extern "Rust" fn __getrandom_v03_custom(dest: *mut u8, len: usize) -> Result<(), getrandom::Error> {
    let filled = unsafe { libc::getrandom(dest.cast(), len, 0) };
    if usize::try_from(filled) == Ok(len) { Ok(()) } else { Err(getrandom::Error::UNEXPECTED) }
}
