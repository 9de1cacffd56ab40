//! The payloads of datagrams on a link.

/// The bytes of datagrams, by tag. Memory is reused; it grows to the maximum that was on the link at once.
#[derive(Debug, Default)]
pub(crate) struct Payloads {
    slots: Vec<Payload>,
    free: Vec<u32>,
}

/// A datagram: its bytes and its client.
#[derive(Debug, Default)]
pub(crate) struct Payload {
    pub(crate) client: u32,
    pub(crate) bytes: Vec<u8>,
}

impl Payloads {
    /// Stores a copy and returns its tag; none if too many are stored.
    pub(crate) fn store(&mut self, client: u32, bytes: &[u8]) -> Option<u64> {
        let index = match self.free.pop() {
            Some(index) => index,
            None if self.slots.len() < MAX_PAYLOADS => {
                self.slots.push(Payload::default());
                self.slots.len() as u32 - 1
            }
            None => return None,
        };
        let slot = &mut self.slots[index as usize];
        slot.client = client;
        slot.bytes.clear();
        slot.bytes.extend_from_slice(bytes);
        Some(u64::from(index))
    }

    /// The payload with a tag.
    pub(crate) fn get(&self, tag: u64) -> &Payload {
        &self.slots[tag as usize]
    }

    /// A tag is no longer needed.
    pub(crate) fn free(&mut self, tag: u64) {
        self.free.push(tag as u32);
    }
}

/// Three seconds of 1 Gbit/s in packets of 1500 bytes, about 400 MB.
const MAX_PAYLOADS: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again() {
        let mut payloads = Payloads::default();
        let first = payloads.store(1, b"first").expect("there is room");
        let second = payloads.store(2, b"second").expect("there is room");
        payloads.free(first);
        let third = payloads.store(3, b"3").expect("there is room");
        assert_eq!((first, payloads.slots.len()), (third, 2));
        assert_eq!((payloads.get(third).client, payloads.get(third).bytes.as_slice()), (3, b"3".as_slice()));
        assert_eq!(payloads.get(second).bytes, b"second");
    }

    #[test]
    fn memory_is_bounded() {
        let mut payloads = Payloads::default();
        assert!((0..MAX_PAYLOADS).all(|_| payloads.store(0, b"").is_some()));
        assert_eq!(payloads.store(0, b""), None);
        payloads.free(7);
        assert_eq!(payloads.store(0, b""), Some(7));
    }
}
