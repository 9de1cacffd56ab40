//! Limits of wrong proofs.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

/// Bounds the wrong guesses of each address. Time is an argument: how long the server has been there.
///
/// An address may be wrong [`PER_ADDRESS`] times, and then once in [`EXPIRES_AFTER`]; beyond that it is refused before the proof is looked
/// at. Wrong guesses from elsewhere concern nobody: all addresses of IPv4 together would guess a code of 128 bits in 10^22 years.
#[derive(Debug, Default)]
pub struct Guesses {
    addresses: BTreeMap<IpAddr, Wrong>,
    logged: Wrong,
}

/// The reaction to a wrong guess.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongGuess {
    /// How many of the address are not yet expired.
    pub count: u32,
    /// Whether to log it: [`LOGGED`] of all addresses at once, and then sixteen in [`EXPIRES_AFTER`].
    pub is_logged: bool,
}

/// How many there are that are not yet expired, and when that was counted.
#[derive(Clone, Copy, Debug, Default)]
struct Wrong {
    count: u32,
    at: Duration,
}

impl Guesses {
    /// Whether a client at this address may have a proof looked at.
    pub fn may_guess(&mut self, from: IpAddr, now: Duration) -> bool {
        self.addresses.get_mut(&from).map_or(0, |wrong| wrong.expire(now, EXPIRES_AFTER)) < PER_ADDRESS
    }

    /// A proof from this address was wrong.
    pub fn wrong(&mut self, from: IpAddr, now: Duration) -> WrongGuess {
        if self.addresses.len() >= REMEMBERED && !self.addresses.contains_key(&from) {
            self.forget(now);
        }
        let wrong = self.addresses.entry(from).or_insert(Wrong { count: 0, at: now });
        wrong.expire(now, EXPIRES_AFTER);
        wrong.count += 1;
        let count = wrong.count;
        let is_logged = self.logged.expire(now, EXPIRES_AFTER / 16) < LOGGED;
        self.logged.count += u32::from(is_logged);
        WrongGuess { count, is_logged }
    }

    /// Makes room for an address: forgets those whose guesses are expired, and else those that have one.
    fn forget(&mut self, now: Duration) {
        self.addresses.retain(|_, wrong| wrong.expire(now, EXPIRES_AFTER) > 0);
        if self.addresses.len() >= REMEMBERED {
            self.addresses.retain(|_, wrong| wrong.count > 1);
        }
        if self.addresses.len() >= REMEMBERED {
            self.addresses.clear();
        }
    }
}

impl Wrong {
    /// Lets one expire for each `period` that has passed, and returns how many are left.
    fn expire(&mut self, now: Duration, period: Duration) -> u32 {
        let periods = now.saturating_sub(self.at).as_nanos() / period.as_nanos();
        self.count = self.count.saturating_sub(u32::try_from(periods).unwrap_or(u32::MAX));
        self.at = if self.count == 0 { now } else { self.at + period * periods as u32 };
        self.count
    }
}

/// Slips of the keyboard, most of which the checksum catches before.
pub const PER_ADDRESS: u32 = 5;
/// The time after which an address may guess once more.
pub const EXPIRES_AFTER: Duration = Duration::from_secs(60);
/// Lines of a log, at once.
pub const LOGGED: u32 = 256;
/// Addresses: 4 MB at most. An address that is forgotten may guess again, which costs a code of 128 bits nothing.
const REMEMBERED: usize = 1 << 15;

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn an_address_is_refused_after_some_wrong_guesses_and_one_expires_a_minute() {
        let mut guesses = Guesses::default();
        let (bad, good) = (IpAddr::from([192, 0, 2, 1]), IpAddr::from([192, 0, 2, 2]));
        let at = Duration::from_secs;
        for count in 1..=PER_ADDRESS {
            assert!(guesses.may_guess(bad, at(9)));
            assert_eq!(guesses.wrong(bad, at(9)), WrongGuess { count, is_logged: true });
        }
        assert!(!guesses.may_guess(bad, at(68)) && guesses.may_guess(good, at(68)));
        assert!(guesses.may_guess(bad, at(69)));
        guesses.wrong(bad, at(69));
        assert!(!guesses.may_guess(bad, at(100)));
    }

    // 258 wrong guesses once closed a code to everybody.
    #[test]
    fn wrong_guesses_from_elsewhere_close_no_code_and_what_they_cost_is_bounded() {
        let mut guesses = Guesses::default();
        let bad = IpAddr::from([192, 0, 2, 1]);
        let counts: Vec<_> = (0..PER_ADDRESS).map(|_| guesses.wrong(bad, Duration::ZERO).count).collect();
        assert_eq!(counts.last(), Some(&PER_ADDRESS));
        let mut logged = 0;
        for host in 0..100_000_u32 {
            // A thousand a second.
            let (from, now) = (Ipv4Addr::from_bits(host).into(), Duration::from_millis(u64::from(host)));
            assert!(guesses.may_guess(from, now), "{host}");
            logged += u32::from(guesses.wrong(from, now).is_logged);
            assert!(guesses.addresses.len() <= REMEMBERED);
        }
        let expired = 100 * 16 / 60;
        assert!((LOGGED + expired - 7..=LOGGED + expired + 2).contains(&logged), "{logged}");
        let end = Duration::from_secs(100);
        assert!(guesses.may_guess(bad, end), "one of its guesses is expired");
        guesses.wrong(bad, end);
        guesses.wrong(bad, end);
        assert!(!guesses.may_guess(bad, end), "it is remembered among those with one");
    }
}
