//! Proportional rate reduction (RFC 6937, RFC 9937): how much may leave during a recovery.

/// One recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ProportionalReduction {
    /// Packets that had not arrived when the recovery began (RecoverFS).
    flight: u64,
    /// Packets delivered since.
    delivered: u64,
    /// Packets sent since.
    out: u64,
    /// Packets that may leave now.
    allowance: u64,
}

impl ProportionalReduction {
    /// A recovery begins with `flight` packets missing, those newly delivered with this acknowledgement included.
    pub(crate) fn new(flight: u64) -> Self {
        Self { flight: flight.max(1), ..Self::default() }
    }

    /// An acknowledgement delivered `newly` packets; `in_flight` remain, `window` is where the recovery leads. `safe`: the
    /// cumulative acknowledgement advanced and no further loss was found.
    pub(crate) fn on_ack(&mut self, newly: u64, in_flight: u64, window: u64, safe: bool) {
        self.delivered += newly;
        self.allowance = if in_flight > window {
            (self.delivered * window).div_ceil(self.flight).saturating_sub(self.out)
        } else {
            let bound = self.delivered.saturating_sub(self.out).max(newly) + u64::from(safe);
            bound.min(window - in_flight)
        };
        // Something must leave, or nothing would ever be acknowledged again.
        if self.out == 0 {
            self.allowance = self.allowance.max(1);
        }
    }

    /// `lost` more packets were found lost without an acknowledgement that delivered anything: the window stays as it is (RFC 9937 section 6),
    /// so that as many may leave.
    pub(crate) fn on_lost(&mut self, lost: u64) {
        self.allowance += lost;
    }

    /// Packets that may leave now.
    pub(crate) fn allowance(&self) -> u64 {
        self.allowance
    }

    /// `count` packets left.
    pub(crate) fn sent(&mut self, count: u64) {
        self.out += count;
        self.allowance = self.allowance.saturating_sub(count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends all that is allowed; how much that was.
    fn drain(prr: &mut ProportionalReduction) -> u64 {
        let sent = prr.allowance();
        prr.sent(sent);
        sent
    }

    #[test]
    fn one_loss_in_twenty_reaches_half_by_the_end() {
        // RFC 6937's first example: 20 outstanding, the first lost, cut to 10: every other acknowledgement releases a packet.
        let mut prr = ProportionalReduction::new(20);
        let mut in_flight = 20;
        let mut sent = Vec::new();
        for ack in 0..19 {
            in_flight -= if ack == 2 { 2 } else { 1 };
            prr.on_ack(1, in_flight, 10, false);
            let count = drain(&mut prr);
            in_flight += count;
            sent.push(count);
        }
        assert_eq!(sent.iter().sum::<u64>(), 10);
        assert!(sent.iter().all(|count| *count <= 1), "{sent:?}");
    }

    #[test]
    fn heavy_losses_release_no_burst() {
        // Half of 100 lost and found at once: what leaves is bounded by what arrives.
        let mut prr = ProportionalReduction::new(100);
        let mut in_flight: u64 = 50;
        for _ in 0..20 {
            in_flight -= 1;
            prr.on_ack(1, in_flight, 70, false);
            let sent = drain(&mut prr);
            in_flight += sent;
            assert!(sent <= 1, "{sent}");
        }
    }
}
