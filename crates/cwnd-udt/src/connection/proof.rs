//! Proof that acknowledged packets have arrived.
//!
//! An acknowledgement does not prove that the packets have arrived, and a receiver that acknowledges missing packets makes its sender
//! faster than the path. The sender therefore withholds a packet now and then: it uses the number, and sends the packets after it. An
//! honest receiver reports the packet missing, and the sender then sends it. A receiver that acknowledges it is lying. A peer cannot
//! guess which packet is withheld. Every receiver of UDT reports it, libudt's too: to it the packet is a lost one.
//!
//! Sherwood, Bhattacharjee and Braud, "Misbehaving TCP receivers can cause Internet-wide congestion collapse", ACM CCS 2005: randomly
//! skipped segments. RFC 9000 section 21.4 does so in QUIC, where the skipped numbers stay unused.

/// The withheld packet, and the choice of the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Proof {
    /// State of a generator that the peer does not know.
    random: u64,
    /// The number from which packets may be withheld; the largest number means never.
    next: u64,
    withheld: Option<u64>,
    /// The peer has reported it missing.
    reported: bool,
    /// It may be sent without a report.
    released: bool,
    /// The packets among which the next one, or the one withheld, was drawn.
    drawn: Drawn,
    /// The packets of the last proof that was reported, until all of them are acknowledged.
    judged: Option<Drawn>,
    /// A withheld packet was sent without a report, because acknowledgements had stopped. Until the peer reports another one, its
    /// acknowledgements prove nothing.
    doubtful: bool,
    /// [`Drawn::share`] of the last packets that were judged.
    share: f64,
    /// Before this number a packet may be sent that was withheld and not reported, so that nothing waits for it.
    deadline: u64,
}

/// Packets among which one is drawn.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    from: u64,
    end: u64,
    /// The number of them that the peer has reported missing although they were sent.
    missed: u64,
}

impl Drawn {
    fn on_missed(&mut self, number: u64) {
        self.missed += u64::from((self.from..self.end).contains(&number));
    }

    /// The fraction of the proven packets within which the next withheld packet is drawn, 0 to 1. A peer that has received nothing passes
    /// with a probability equal to the share `m` that it reports missing. If the permitted data grows by at most `1 + share`, and `m (1 +
    /// share)` is at most 1/4, all further proofs together let the peer draw at most a third of the data that this proof permits.
    fn share(&self) -> f64 {
        let missed = self.missed as f64 / (self.end - self.from) as f64;
        (0.25 / missed - 1.0).clamp(0.0, 1.0)
    }
}

impl Proof {
    /// The state before the first packet. Nothing is withheld unless `wanted`.
    pub(super) fn new(wanted: bool, seed: u64) -> Self {
        let mut proof = Self {
            random: seed ^ STREAM,
            next: u64::MAX,
            withheld: None,
            reported: false,
            released: false,
            drawn: Drawn { from: 1, end: 1 + FIRST, missed: 0 },
            judged: None,
            doubtful: false,
            share: 1.0,
            deadline: FIRST,
        };
        if wanted {
            proof.plan(1, FIRST);
        }
        proof
    }

    /// Whether packet `number` should be withheld, and whether it must be even if it delays much.
    pub(super) fn wants(&self, number: u64) -> (bool, bool) {
        let wanted = number >= self.next && self.withheld.is_none();
        (wanted, wanted && number - self.next >= FIRST)
    }

    /// The withheld packet.
    pub(super) fn withheld(&self) -> Option<u64> {
        self.withheld
    }

    /// The withheld packet, until the peer has reported it missing.
    pub(super) fn unreported(&self) -> Option<u64> {
        self.withheld.filter(|_| !self.reported)
    }

    /// The withheld packet, if it may be sent without a report: the peer has proven enough for all packets below `next` to be sent.
    pub(super) fn release(&mut self, next: u64) -> Option<u64> {
        let released = self.unreported().filter(|_| next < self.deadline);
        self.released |= released.is_some();
        released
    }

    /// Withholds packet `number` until it is reported missing.
    pub(super) fn withhold(&mut self, number: u64) {
        (self.withheld, self.reported, self.released) = (Some(number), false, false);
    }

    /// Whether a peer that acknowledges all packets below `upto` acknowledges one that was never sent.
    pub(super) fn is_broken_by(&self, upto: u64) -> bool {
        self.withheld.is_some_and(|withheld| withheld < upto)
    }

    /// Records the report of the withheld packet.
    pub(super) fn on_report(&mut self) {
        self.reported = true;
        self.doubtful = false;
    }

    /// Whether the acknowledgements of the peer prove nothing at present.
    pub(super) fn is_doubtful(&self) -> bool {
        self.doubtful
    }

    /// Records that the peer has reported packet `number`, which was sent, missing for the first time.
    pub(super) fn on_missed(&mut self, number: u64) {
        self.drawn.on_missed(number);
        if let Some(judged) = &mut self.judged {
            judged.on_missed(number);
        }
    }

    /// Handles an acknowledgement of all packets below `upto`: the reports of missing ones among them are complete. `next` is the next
    /// new packet.
    pub(super) fn on_acknowledged(&mut self, upto: u64, next: u64) {
        let Some(judged) = self.judged.take_if(|judged| judged.end <= upto) else { return };
        let before = std::mem::replace(&mut self.share, judged.share());
        if self.share < before && self.withheld.is_none() && next < self.next {
            self.plan(next, self.interval(next).min(self.next - next));
        }
    }

    /// The number of packets among which the next one is drawn when those below `number` are proven.
    fn interval(&self, number: u64) -> u64 {
        let least = if self.share < 1.0 { LEAST } else { FIRST };
        ((2.0 * self.share * number as f64) as u64).clamp(least, MAX_INTERVAL)
    }

    /// Records that packet `number` is sent after all, and returns whether it was withheld.
    pub(super) fn on_send(&mut self, number: u64) -> bool {
        let withheld = self.withheld == Some(number);
        if withheld {
            self.withheld = None;
            // One that was not reported has proven nothing.
            let mut interval = FIRST;
            self.doubtful |= !self.reported && !self.released;
            if self.reported {
                interval = self.interval(number);
                self.deadline = number + 1 + interval;
                self.judged.get_or_insert(self.drawn);
            }
            self.plan(number + 1, interval);
        }
        withheld
    }

    /// Draws the next one among `interval` packets.
    fn plan(&mut self, from: u64, interval: u64) {
        self.drawn = Drawn { from, end: from + interval, missed: 0 };
        self.next = from + self.draw(interval);
    }

    /// A uniform draw below `end`.
    fn draw(&mut self, end: u64) -> u64 {
        // SplitMix64 (Steele, Lea and Flood, OOPSLA 2014).
        self.random = self.random.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.random ^ (self.random >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (mixed ^ (mixed >> 31)) % end
    }
}

/// The first packet is withheld among this number of packets: a third of a megabyte, which slow start sends in five round trips.
const FIRST: u64 = 256;
/// However much a peer reports missing.
const LEAST: u64 = 32;
/// The largest interval: another packet is withheld within 760 MB, or every few seconds at 1 Gbit/s, however much was proven.
const MAX_INTERVAL: u64 = 1 << 19;
/// The algorithm draws from the same seed.
const STREAM: u64 = 0x70726f6f66;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_withheld_within_each_doubling() {
        for seed in 0..200 {
            let mut proof = Proof::new(true, seed);
            let (mut number, mut count) = (0, 0);
            while number < 1 << 21 {
                if !proof.wants(number).0 {
                    number += 1;
                    continue;
                }
                proof.withhold(number);
                assert!(!proof.is_broken_by(number) && proof.is_broken_by(number + 1));
                proof.on_report();
                let before = number;
                assert!(proof.on_send(number));
                assert!(
                    proof.next - before <= (2 * before).clamp(FIRST, MAX_INTERVAL),
                    "{before}, then {}",
                    proof.next
                );
                count += 1;
            }
            assert!((6..40).contains(&count), "{count} of two million");
        }
    }

    #[test]
    fn one_may_be_released_while_enough_is_proven() {
        let mut proof = Proof::new(true, 1);
        proof.withhold(100);
        assert_eq!(proof.release(FIRST - 1), Some(100));
        assert_eq!(proof.release(FIRST), None, "nothing is proven yet");
        proof.on_report();
        assert_eq!(proof.release(101), None, "it is being sent");
        assert!(proof.on_send(100));
        proof.withhold(200);
        assert_eq!(proof.release(101 + FIRST - 1), Some(200));
        assert_eq!(proof.release(101 + FIRST), None);
        // One that was released proves nothing.
        assert!(proof.on_send(200));
        proof.withhold(300);
        assert_eq!(proof.release(101 + FIRST), None);
    }

    #[test]
    fn one_that_is_not_reported_is_soon_followed_by_another() {
        let mut proof = Proof::new(true, 1);
        proof.withhold(1 << 20);
        assert!(!proof.on_send(7), "another packet");
        assert!(proof.on_send(1 << 20));
        assert!(proof.next - (1 << 20) <= FIRST);
        assert!(!Proof::new(false, 1).wants(u64::MAX - 1).0);
    }
}
