//! One direction of a relay.

use cwnd::{Bytes, Span, Time};
use cwnd_sim::SetupError;
use cwnd_sim::emulate::{Datagram, EmulatedLink, Emulation};
use cwnd_trace::Histogram;
use quinn_udp::EcnCodepoint;

use crate::clock::Clock;
use crate::payloads::Payloads;
use crate::report::{Sample, WayReport};

/// A link with the bytes of what is on it.
#[derive(Debug)]
pub(crate) struct Way {
    link: EmulatedLink,
    payloads: Payloads,
    /// What a datagram costs on the line beside its bytes.
    header: u32,
    pub(crate) counts: Counts,
    lateness: Histogram,
}

/// What the link itself knows nothing of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// No memory left to keep it.
    pub(crate) unkept: u64,
    /// The kernel would not take it, or its client had gone.
    pub(crate) unsent: u64,
}

/// A datagram to be sent now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outgoing<'a> {
    pub(crate) client: u32,
    pub(crate) ecn: Option<EcnCodepoint>,
    pub(crate) bytes: &'a [u8],
}

impl Way {
    pub(crate) fn new(name: &str, emulation: &Emulation, seed: u64, header: u32) -> Result<Self, SetupError> {
        let link = EmulatedLink::new(name, emulation, seed)?;
        let (payloads, counts, lateness) = (Payloads::default(), Counts::default(), Histogram::default());
        Ok(Self { link, payloads, header, counts, lateness })
    }

    /// Takes a datagram in that came at `at`.
    pub(crate) fn offer(&mut self, at: Time, client: u32, ecn: Option<EcnCodepoint>, bytes: &[u8]) {
        let Some(tag) = self.payloads.keep(client, ecn, bytes) else {
            self.counts.unkept += 1;
            return;
        };
        let size = Bytes(bytes.len() as u32 + self.header);
        self.link.offer(at, &Datagram { tag, size, flow: client, capable: ecn.is_some() });
        self.let_go();
    }

    /// Hands everything that is due to `send`, which says whether it was sent.
    pub(crate) fn release(&mut self, clock: Clock, send: &mut dyn FnMut(Outgoing<'_>) -> bool) {
        // The clock is read for every datagram: sending those before took time, and more may have become due.
        loop {
            let now = clock.now();
            let released = self.link.release(now);
            self.let_go();
            let Some(release) = released else { return };
            let payload = self.payloads.get(release.tag);
            let ecn = if release.marked { Some(EcnCodepoint::Ce) } else { payload.ecn };
            if !send(Outgoing { client: payload.client, ecn, bytes: &payload.bytes }) {
                self.counts.unsent += 1;
            }
            self.lateness.record(now.since(release.due).as_nanos());
            if !release.again {
                self.payloads.free(release.tag);
            }
        }
    }

    /// Forgets the payloads of datagrams that are gone.
    fn let_go(&mut self) {
        while let Some(gone) = self.link.gone() {
            self.payloads.free(gone);
        }
    }

    pub(crate) fn next_due(&self) -> Option<Time> {
        self.link.next_due()
    }

    /// The state at `now`, which the calendar calls `unix_s`.
    pub(crate) fn sample(&mut self, now: Time, unix_s: f64) -> Sample {
        let (queue_packets, queue_bytes) = self.link.queue(now);
        let tally = self.link.tally();
        Sample {
            unix_s,
            offered: tally.offered,
            lost: tally.lost,
            dropped: tally.dropped,
            marked: tally.marked,
            carried: tally.carried,
            carried_bytes: tally.carried_bytes,
            queue_packets,
            queue_bytes,
        }
    }

    pub(crate) fn report(&self, elapsed: Span) -> WayReport {
        WayReport::new(&self.link.tally(), self.counts, &self.lateness, elapsed)
    }
}
