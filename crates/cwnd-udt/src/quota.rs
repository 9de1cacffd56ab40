//! Limits for all peers of a port together, and for those at one address.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};

/// An amount of bytes or connections that peers take and release. Peers at one address can take a part of it only: an address of IPv4,
/// or a network of 64 bits of IPv6, which is what a host usually gets.
#[derive(Clone, Debug)]
pub struct Quota {
    total: u64,
    per_address: u64,
    taken: u64,
    by_address: BTreeMap<IpAddr, u64>,
}

impl Quota {
    /// `total` for all, of it `per_address` for one.
    #[must_use]
    pub const fn new(total: u64, per_address: u64) -> Self {
        Self { total, per_address, taken: 0, by_address: BTreeMap::new() }
    }

    /// How much peers at `ip` may take now.
    #[must_use]
    pub fn left(&self, ip: IpAddr) -> u64 {
        let used = self.by_address.get(&network(ip)).copied().unwrap_or(0);
        (self.total - self.taken).min(self.per_address.saturating_sub(used))
    }

    /// Takes as much of `amount` as is left for a peer at `ip`, and returns how much that is.
    pub fn take(&mut self, ip: IpAddr, amount: u64) -> u64 {
        if amount == 0 {
            return 0;
        }
        let amount = amount.min(self.left(ip));
        if amount > 0 {
            self.taken += amount;
            *self.by_address.entry(network(ip)).or_default() += amount;
        }
        amount
    }

    /// Releases what a peer at `ip` took.
    pub fn release(&mut self, ip: IpAddr, amount: u64) {
        if amount == 0 {
            return;
        }
        let ip = network(ip);
        self.taken = self.taken.saturating_sub(amount);
        if let Some(used) = self.by_address.get_mut(&ip) {
            *used = used.saturating_sub(amount);
            if *used == 0 {
                self.by_address.remove(&ip);
            }
        }
    }

    /// How much is taken in all.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken
    }
}

/// The unit that counts as one address: all bits of IPv4, the first 64 of IPv6.
#[must_use]
pub fn network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() >> 64 << 64)),
        ip => ip,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().expect("an address")
    }

    #[test]
    fn one_address_gets_its_part_and_all_get_the_whole() {
        let (one, two, three) = (ip("192.0.2.1"), ip("::ffff:192.0.2.2"), ip("192.0.2.3"));
        let mut quota = Quota::new(10, 6);
        assert_eq!((quota.take(one, 5), quota.take(one, 5), quota.take(one, 5)), (5, 1, 0));
        assert_eq!((quota.take(two, 3), quota.left(ip("192.0.2.2")), quota.take(three, 3)), (3, 1, 1));
        quota.release(one, 2);
        assert_eq!((quota.left(one), quota.left(three), quota.taken()), (2, 2, 8));
        for (ip, amount) in [(one, 4), (two, 3), (three, 1)] {
            quota.release(ip, amount);
        }
        assert_eq!((quota.taken(), quota.by_address.len()), (0, 0), "nothing is kept of those who have nothing");
    }

    #[test]
    fn a_network_of_ipv6_is_one_address() {
        let mut quota = Quota::new(10, 6);
        assert_eq!(quota.take(ip("2001:db8::1"), 6), 6);
        assert_eq!(quota.left(ip("2001:db8:0:0:ffff::2")), 0);
        assert_eq!(quota.left(ip("2001:db8:0:1::1")), 4);
    }
}
