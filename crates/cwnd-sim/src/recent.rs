//! Which of the newest packets have arrived, for receivers that put nothing together.

/// The newest packet and the 64 before it: a window against replays as in RFC 4303 section 3.4.3.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Recent {
    /// One past the newest number; 0 before the first packet.
    end: u64,
    /// Bit `n` is set if the packet `n + 1` below the newest one has arrived.
    before: u64,
}

impl Recent {
    /// Packet `number` arrives; whether that is for the first time. One more than 64 below the newest counts as new.
    pub(crate) fn is_new(&mut self, number: u64) -> bool {
        if number >= self.end {
            let steps = number + 1 - self.end;
            let with_newest = u128::from(self.before) << 1 | u128::from(self.end > 0);
            self.before = if steps <= 64 { (with_newest << (steps - 1)) as u64 } else { 0 };
            self.end = number + 1;
            return true;
        }
        let below = self.end - 1 - number;
        if below == 0 || below > 64 {
            return below > 0;
        }
        let bit = 1 << (below - 1);
        let new = self.before & bit == 0;
        self.before |= bit;
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_new_once() {
        let mut recent = Recent::default();
        let arrivals = [0, 0, 1, 3, 1, 2, 2, 3, 67, 3, 4, 4, 66, 2, 200, 136, 136, 199];
        let new = arrivals.map(|number| u8::from(recent.is_new(number)));
        // Number 3 is 64 below 67; number 2 is beyond, and counts again.
        assert_eq!(new, [1, 0, 1, 1, 0, 1, 0, 0, 1, 0, 1, 0, 1, 1, 1, 1, 0, 1]);
    }
}
