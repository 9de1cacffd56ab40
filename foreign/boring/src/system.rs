//! The clock and the random numbers of the system, as a stack sees them while it runs.
//!
//! The stacks ask the standard library for the time, which asks `clock_gettime`, and BoringSSL for random numbers, by `RAND_bytes`. tquic draws
//! from the generator of `rand` for the thread, too, which gets its seeds by `syscall`. This program defines the three functions, and a
//! definition in a program goes before that of a library. Outside of a simulation they are the system's.
//! BoringSSL draws keys of ML-KEM and salts of RSA-PSS from the system in another way: ciphertexts then differ from run to run, times and
//! lengths do not.

use std::cell::Cell;
use std::ffi::{c_int, c_long};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::{Duration, Instant};

use cwnd::Time;

thread_local! {
    /// Nanoseconds on the clocks of the stack that runs on this thread; 0 while none does.
    static NOW: Cell<u64> = const { Cell::new(0) };
    /// What its next random numbers follow from.
    static DRAWS: Cell<u64> = const { Cell::new(0) };
    /// How many seeds the generator of `rand` has got from a simulation.
    static SEEDS: Cell<u64> = const { Cell::new(0) };
}

/// The system of one end of a connection.
#[derive(Debug)]
pub(crate) struct System {
    draws: u64,
}

/// The clock and the draws of the thread before a stack ran on it, which it has again afterwards.
struct Before {
    now: u64,
    draws: u64,
}

impl System {
    /// A system whose random numbers follow from `seed`.
    pub(crate) fn new(seed: u64) -> Self {
        Self { draws: seed }
    }

    /// Runs `call` at `now` of the simulation.
    pub(crate) fn run<R>(&mut self, now: Time, call: impl FnOnce() -> R) -> R {
        let before = Before { now: NOW.replace(BEGIN + now.as_nanos()), draws: DRAWS.replace(self.draws) };
        let result = call();
        self.draws = DRAWS.get();
        drop(before);
        result
    }
}

impl Drop for Before {
    fn drop(&mut self) {
        NOW.set(self.now);
        DRAWS.set(self.draws);
    }
}

/// Seeds the generator of `rand` for this thread from the system of the stack that runs. A generator takes no seed, but asks for one
/// after each 64 KiB: this draws until it does.
pub(crate) fn seed_generator() {
    // The first use of a thread asks for a seed, too, and must not differ from later ones.
    let now = NOW.replace(0);
    rand::random::<u32>();
    NOW.set(now);
    let seeds = SEEDS.get();
    while SEEDS.get() == seeds {
        rand::random::<u32>();
    }
}

/// The instant that is `now` for a stack.
pub(crate) fn instant(now: Time) -> Instant {
    *EPOCH + Duration::from_nanos(now.as_nanos())
}

/// The time that a stack means by `instant`; [`Time::ZERO`] for one before the start.
pub(crate) fn time(instant: Instant) -> Time {
    let nanos = instant.saturating_duration_since(*EPOCH).as_nanos();
    Time::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

/// The instant at which simulations start.
#[expect(clippy::disallowed_methods, reason = "an instant cannot be made otherwise, and this is no reading of a clock")]
static EPOCH: LazyLock<Instant> = LazyLock::new(|| System::new(0).run(Time::ZERO, Instant::now));

#[expect(unsafe_code, reason = "the standard library asks libc for the time through a pointer")]
// SAFETY: the caller passes a place for the time, as `clock_gettime(2)` asks of it.
#[unsafe(no_mangle)]
unsafe extern "C" fn clock_gettime(id: libc::clockid_t, time: *mut libc::timespec) -> c_int {
    let now = NOW.get();
    if now == 0 {
        return unsafe { libc::syscall(libc::SYS_clock_gettime, id, time) as c_int };
    }
    let now = Duration::from_nanos(now);
    unsafe { *time = libc::timespec { tv_sec: now.as_secs() as _, tv_nsec: now.subsec_nanos().into() } };
    0
}

#[expect(unsafe_code, reason = "BoringSSL asks for random numbers through a pointer")]
// SAFETY: the caller passes the start of a buffer of `len` bytes that are its own.
#[unsafe(no_mangle)]
unsafe extern "C" fn RAND_bytes(buffer: *mut u8, len: usize) -> c_int {
    if NOW.get() == 0 {
        let filled = unsafe { libc::getrandom(buffer.cast(), len, 0) };
        return c_int::from(usize::try_from(filled) == Ok(len));
    }
    // SAFETY: as above.
    unsafe { draw(buffer, len) };
    1
}

#[expect(unsafe_code, reason = "the generator of `rand` asks for seeds through a pointer")]
// SAFETY: a call of `syscall(2)`, whose arguments are words, as many as the call of `number` has. It gets at the system's `syscall` as it came,
// but for a call of `getrandom(2)` for a seed in a simulation, which passes the start of a buffer of `b` bytes that are its own.
#[unsafe(no_mangle)]
unsafe extern "C" fn syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long {
    if number == libc::SYS_getrandom && b == SEED && NOW.get() != 0 {
        unsafe { draw(a as *mut u8, b) };
        SEEDS.set(SEEDS.get() + 1);
        return b as c_long;
    }
    type Syscall = unsafe extern "C" fn(c_long, usize, usize, usize, usize, usize, usize) -> c_long;
    // No lock: those of the standard library call this function.
    static SYSTEM: AtomicPtr<libc::c_void> = AtomicPtr::new(std::ptr::null_mut());
    let mut system = SYSTEM.load(Ordering::Relaxed);
    if system.is_null() {
        system = unsafe { libc::dlsym(libc::RTLD_NEXT, c"syscall".as_ptr()) };
        SYSTEM.store(system, Ordering::Relaxed);
    }
    let system = unsafe { std::mem::transmute::<*mut libc::c_void, Option<Syscall>>(system) };
    let Some(system) = system else { std::process::abort() };
    unsafe { system(number, a, b, c, d, e, f) }
}

/// Writes the next random numbers of the stack that runs on this thread.
///
/// # Safety
/// The buffer has `len` bytes.
#[expect(unsafe_code, reason = "callers have a pointer")]
unsafe fn draw(buffer: *mut u8, len: usize) {
    let bytes = unsafe {
        buffer.write_bytes(0, len);
        std::slice::from_raw_parts_mut(buffer, len)
    };
    let mut draws = DRAWS.get();
    crate::draws::fill(&mut draws, bytes);
    DRAWS.set(draws);
}

/// Bytes of a seed of the generator of `rand`. BoringSSL asks for 48, once on a thread, for what it draws in another way.
const SEED: usize = 32;

/// The time on the clocks at the start of a simulation, nanoseconds: 2020-09-13. A stack may subtract from it.
const BEGIN: u64 = 1_600_000_000_000_000_000;

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    fn bytes() -> [u8; 20] {
        let mut bytes = [0; 20];
        #[expect(unsafe_code, reason = "as BoringSSL calls it")]
        let filled = unsafe { RAND_bytes(bytes.as_mut_ptr(), bytes.len()) };
        assert_eq!(filled, 1);
        bytes
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the clocks are what is tested")]
    fn the_clocks_of_a_stack_are_those_of_the_simulation() {
        let now = Time::from_nanos(1_234_567_890);
        let (instant, date) = System::new(1).run(now, || (Instant::now(), SystemTime::now()));
        assert_eq!(time(instant), now);
        assert_eq!(
            date.duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_nanos(),
            1_600_000_001_234_567_890
        );
        assert!(SystemTime::now() > date, "outside it is later than 2020");
    }

    #[test]
    fn random_numbers_follow_from_the_seed_and_go_on() {
        let drawn = |seed| {
            let mut system = System::new(seed);
            [(); 2].map(|()| system.run(Time::ZERO, bytes))
        };
        let [first, second] = drawn(1);
        assert_ne!(first, second);
        assert_eq!(drawn(1), [first, second]);
        assert_ne!(drawn(2), [first, second]);
        assert_ne!(bytes(), bytes());
    }

    /// The generator is that of the thread, whatever drew from it before.
    #[test]
    fn the_generator_of_a_thread_follows_from_the_seed() {
        let drawn = |seed, before: usize| {
            let ignored: Vec<u8> = (0..before).map(|_| rand::random()).collect();
            assert_eq!(ignored.len(), before);
            System::new(seed).run(Time::ZERO, || {
                seed_generator();
                // Beyond the next seed.
                (0..20_000).map(|_| rand::random()).collect::<Vec<u64>>()
            })
        };
        let first = drawn(1, 0);
        for before in [0, 1, 7, 70_000] {
            assert!(drawn(1, before) == first, "{before}");
        }
        assert!(std::thread::scope(|scope| scope.spawn(|| drawn(1, 3)).join().expect("it does not panic") == first));
        assert!(drawn(2, 0) != first);
        assert_ne!(rand::random::<u128>(), rand::random());
    }

    /// The first use of [`EPOCH`] is a run within a run.
    #[test]
    fn a_run_within_a_run_gives_its_system_back() {
        let now = Time::from_nanos(5);
        let drawn = |inner: bool| {
            System::new(1).run(now, || {
                if inner {
                    System::new(2).run(Time::ZERO, bytes);
                }
                (NOW.get(), bytes())
            })
        };
        assert_eq!(drawn(true), drawn(false));
    }

    #[test]
    fn a_panic_gives_the_system_back() {
        let panicked = std::panic::catch_unwind(|| System::new(1).run(Time::ZERO, || panic!("a stack")));
        assert!(panicked.is_err());
        assert_eq!(NOW.get(), 0);
    }
}
