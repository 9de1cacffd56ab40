//! How often a proof may be wrong.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

/// Bounds the wrong guesses of each address and of all together. Time is an argument: how long the server has been there.
///
/// An address may be wrong [`PER_ADDRESS`] times, and then once in [`EXPIRES_AFTER`]; all together [`IN_ALL`] times, and then
/// sixteen times as often. Whoever is beyond that is refused before the proof is looked at.
#[derive(Debug, Default)]
pub struct Guesses {
    addresses: BTreeMap<IpAddr, Wrong>,
    all: Wrong,
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
        let all = self.all.expire(now, EXPIRES_AFTER / 16);
        let address = self.addresses.get_mut(&from).map_or(0, |wrong| wrong.expire(now, EXPIRES_AFTER));
        all < IN_ALL && address < PER_ADDRESS
    }

    /// A proof from this address was wrong. Returns how many of it are not yet expired.
    pub fn wrong(&mut self, from: IpAddr, now: Duration) -> u32 {
        self.all.expire(now, EXPIRES_AFTER / 16);
        self.all.count += 1;
        if self.addresses.len() >= REMEMBERED {
            self.addresses.retain(|_, wrong| wrong.expire(now, EXPIRES_AFTER) > 0);
        }
        // As many addresses cannot be counted at once: the bound for all comes before.
        let wrong = self.addresses.entry(from).or_insert(Wrong { count: 0, at: now });
        wrong.expire(now, EXPIRES_AFTER);
        wrong.count += 1;
        wrong.count
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
/// In a minute an address has one more.
pub const EXPIRES_AFTER: Duration = Duration::from_secs(60);
/// Of all addresses together: to guess one code of 128 bits takes more than the age of the universe at any of these rates; this bounds what
/// is written to logs.
pub const IN_ALL: u32 = 256;
/// More than [`IN_ALL`] and what expires of it while an address waits.
const REMEMBERED: usize = 512;

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
            assert_eq!(guesses.wrong(bad, at(9)), count);
        }
        assert!(!guesses.may_guess(bad, at(68)) && guesses.may_guess(good, at(68)));
        assert!(guesses.may_guess(bad, at(69)));
        guesses.wrong(bad, at(69));
        assert!(!guesses.may_guess(bad, at(100)));
    }

    #[test]
    fn all_addresses_together_are_bounded_and_so_is_what_is_remembered() {
        let mut guesses = Guesses::default();
        let mut looked_at = 0;
        for host in 0..100_000_u32 {
            // A hundred a second for a quarter of an hour.
            let (from, now) = (Ipv4Addr::from_bits(host).into(), Duration::from_millis(u64::from(host) * 10));
            if guesses.may_guess(from, now) {
                looked_at += 1;
                guesses.wrong(from, now);
            }
        }
        let expired = 1000 * 16 / 60;
        assert!((IN_ALL + expired - 2..=IN_ALL + expired + 2).contains(&looked_at), "{looked_at}");
        assert!(guesses.addresses.len() <= REMEMBERED, "{}", guesses.addresses.len());
    }
}
