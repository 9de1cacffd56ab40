//! What datagrams carry while they are on a link.

use quinn_udp::EcnCodepoint;

/// The bytes of datagrams, by tag. Memory is used again; it grows with what is on the link at most.
#[derive(Debug, Default)]
pub(crate) struct Payloads {
    slots: Vec<Payload>,
    free: Vec<u32>,
}

/// A datagram: its bytes, whose they are, and the mark it came with.
#[derive(Debug, Default)]
pub(crate) struct Payload {
    pub(crate) client: u32,
    pub(crate) ecn: Option<EcnCodepoint>,
    pub(crate) bytes: Vec<u8>,
}

impl Payloads {
    /// Keeps a copy; none if too many are kept already.
    pub(crate) fn keep(&mut self, client: u32, ecn: Option<EcnCodepoint>, bytes: &[u8]) -> Option<u64> {
        let index = match self.free.pop() {
            Some(index) => index,
            None if self.slots.len() < MOST => {
                self.slots.push(Payload::default());
                self.slots.len() as u32 - 1
            }
            None => return None,
        };
        let slot = &mut self.slots[index as usize];
        (slot.client, slot.ecn) = (client, ecn);
        slot.bytes.clear();
        slot.bytes.extend_from_slice(bytes);
        Some(u64::from(index))
    }

    /// What is kept under a tag.
    pub(crate) fn get(&self, tag: u64) -> &Payload {
        &self.slots[tag as usize]
    }

    /// A tag is no longer needed.
    pub(crate) fn free(&mut self, tag: u64) {
        self.free.push(tag as u32);
    }
}

/// Three seconds of 1 Gbit/s in packets of 1500 bytes, about 400 MB.
const MOST: usize = 1 << 18;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again() {
        let mut payloads = Payloads::default();
        let first = payloads.keep(1, None, b"first").expect("there is room");
        let second = payloads.keep(2, None, b"second").expect("there is room");
        payloads.free(first);
        let third = payloads.keep(3, None, b"3").expect("there is room");
        assert_eq!((first, payloads.slots.len()), (third, 2));
        assert_eq!((payloads.get(third).client, payloads.get(third).bytes.as_slice()), (3, b"3".as_slice()));
        assert_eq!(payloads.get(second).bytes, b"second");
    }

    #[test]
    fn memory_is_bounded() {
        let mut payloads = Payloads::default();
        assert!((0..MOST).all(|_| payloads.keep(0, None, b"").is_some()));
        assert_eq!(payloads.keep(0, None, b""), None);
        payloads.free(7);
        assert_eq!(payloads.keep(0, None, b""), Some(7));
    }
}
