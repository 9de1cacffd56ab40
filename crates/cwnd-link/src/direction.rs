//! One direction of a relay.

use cwnd::{Bytes, Span, Time};
use cwnd_sim::SetupError;
use cwnd_sim::emulate::{Codepoint, Datagram, EmulatedLink, Emulation};
use cwnd_trace::Histogram;
use quinn_udp::EcnCodepoint;

use crate::clock::Clock;
use crate::payloads::Payloads;
use crate::report::{Counts, DirectionReport, Sample};

/// A link with the payloads of the datagrams on it.
#[derive(Debug)]
pub(crate) struct Direction {
    link: EmulatedLink,
    payloads: Payloads,
    /// Bytes that a datagram takes on the line in addition to its payload.
    header: u32,
    pub(crate) counts: Counts,
    lateness: Histogram,
}

/// A datagram to be sent now.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Released<'a> {
    pub(crate) client: u32,
    pub(crate) ecn: Option<EcnCodepoint>,
    pub(crate) bytes: &'a [u8],
}

impl Direction {
    /// The two directions of a relay.
    pub(crate) fn both(emulations: [&Emulation; 2], seed: u64, header: u32) -> Result<[Self; 2], SetupError> {
        let [forth, back] = emulations;
        let links = EmulatedLink::both([("forth", forth), ("back", back)], seed)?;
        Ok(links.map(|link| {
            let (payloads, counts, lateness) = (Payloads::default(), Counts::default(), Histogram::default());
            Self { link, payloads, header, counts, lateness }
        }))
    }

    /// Enqueues a datagram that arrived at `at`.
    pub(crate) fn offer(&mut self, at: Time, client: u32, ecn: Option<EcnCodepoint>, bytes: &[u8]) {
        let Some(tag) = self.payloads.store(client, bytes) else {
            self.counts.not_stored += 1;
            return;
        };
        let size = Bytes(bytes.len() as u32 + self.header);
        self.link.offer(at, &Datagram { tag, size, flow: client, ecn: codepoint(ecn) });
        self.free_payloads();
    }

    /// Passes every datagram that is due to `send`, which returns whether it was sent.
    pub(crate) fn release(&mut self, clock: Clock, send: &mut dyn FnMut(Released<'_>) -> bool) {
        // The clock is read for every datagram: sending those before took time, and more may have become due.
        loop {
            let now = clock.now();
            let released = self.link.release(now);
            self.free_payloads();
            let Some(release) = released else { return };
            let payload = self.payloads.get(release.tag);
            let ecn = field(release.ecn);
            if !send(Released { client: payload.client, ecn, bytes: &payload.bytes }) {
                self.counts.unsent += 1;
            }
            self.lateness.record(now.since(release.due).as_nanos());
            if !release.again {
                self.payloads.free(release.tag);
            }
        }
    }

    /// Frees the payloads of datagrams that left the link.
    fn free_payloads(&mut self) {
        while let Some(gone) = self.link.gone() {
            self.payloads.free(gone);
        }
    }

    pub(crate) fn next_due(&self) -> Option<Time> {
        self.link.next_due()
    }

    /// The state at `now`, which is `unix_s` by the time of day.
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

    pub(crate) fn report(&self, elapsed: Span) -> DirectionReport {
        DirectionReport::new(&self.link.tally(), self.counts, &self.lateness, elapsed)
    }
}

/// The ECN field as sockets know it.
fn field(ecn: Codepoint) -> Option<EcnCodepoint> {
    match ecn {
        Codepoint::NotEct => None,
        Codepoint::Ect0 => Some(EcnCodepoint::Ect0),
        Codepoint::Ect1 => Some(EcnCodepoint::Ect1),
        Codepoint::Ce => Some(EcnCodepoint::Ce),
    }
}

/// The ECN field as the link knows it.
fn codepoint(ecn: Option<EcnCodepoint>) -> Codepoint {
    match ecn {
        None => Codepoint::NotEct,
        Some(EcnCodepoint::Ect0) => Codepoint::Ect0,
        Some(EcnCodepoint::Ect1) => Codepoint::Ect1,
        Some(EcnCodepoint::Ce) => Codepoint::Ce,
    }
}
