//! The unpaid data that may be sent to each address, by all of its connections and those that it had before.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use cwnd::Time;

use crate::connection::Unproven;
use crate::quota::network;

/// By address, as [`network`] counts them.
#[derive(Debug, Default)]
pub(super) struct ByAddress(BTreeMap<IpAddr, Arc<Mutex<Unproven>>>);

impl ByAddress {
    /// The bucket of the address `ip`.
    pub(super) fn of(&mut self, now: Time, ip: IpAddr) -> Arc<Mutex<Unproven>> {
        let address = network(ip);
        if self.0.len() >= REMEMBERED && !self.0.contains_key(&address) {
            self.forget(now);
        }
        Arc::clone(self.0.entry(address).or_insert_with(|| Arc::new(Mutex::new(Unproven::new()))))
    }

    /// Makes room: forgets addresses without a connection that owe nothing, and if there are none, those without a connection.
    fn forget(&mut self, now: Time) {
        let whole = |unproven: &Mutex<Unproven>| unproven.lock().unwrap_or_else(PoisonError::into_inner).is_whole(now);
        self.0.retain(|_, unproven| Arc::strong_count(unproven) > 1 || !whole(unproven));
        if self.0.len() >= REMEMBERED {
            self.0.retain(|_, unproven| Arc::strong_count(unproven) > 1);
        }
    }
}

/// Addresses without a connection: a megabyte of memory.
const REMEMBERED: usize = 8192;

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn an_address_is_remembered_while_it_has_a_connection_and_few_others_are() {
        let mut addresses = ByAddress::default();
        let first = addresses.of(Time::ZERO, Ipv4Addr::LOCALHOST.into());
        for bits in 0..3 * REMEMBERED as u32 {
            addresses.of(Time::ZERO, Ipv4Addr::from_bits(bits).into());
            assert!(addresses.0.len() <= REMEMBERED);
        }
        assert!(Arc::ptr_eq(&first, &addresses.of(Time::ZERO, Ipv4Addr::LOCALHOST.to_ipv6_mapped().into())));
    }
}
