//! The packets of this side, as read by a dissector that knows nothing of this project.

use std::time::Duration;

use crate::interop::capture::Capture;
use crate::interop::{Error, expect};
use cwnd::Span;
use cwnd_sim::emulate::Emulation;
use cwnd_sim::{Loss, QueueLimit};

use crate::interop::bench::Bench;
use crate::interop::bench::Side::{Ours, Theirs};
use crate::interop::scenarios::link;
use crate::ports::free;

/// Sessions with every kind of packet there is, at the port of this side's server. Without offload: on a loopback the capture
/// would show dozens of packets as one.
pub(crate) fn dissected(bench: &Bench) -> Result<String, Error> {
    let sessions = [
        ("type=stream", "receive:3000000 send:3000000", "send:3000000 receive:3000000 pause:60000"),
        ("type=message", "expect:100 messages:200,3000,30,0 pause:1000", "messages:100,3000,-1,1 pause:60000"),
    ];
    let mut kinds = std::collections::BTreeMap::new();
    for (kind, server, client) in sessions {
        let at = free()?;
        let file = bench.file(&format!("{kind}.pcap"));
        let capture = Capture::start(&file, at.port())?;
        let emulation = Emulation {
            loss: Loss::Bernoulli(0.03),
            ..Emulation::new(Some(50_000_000), Span::from_millis(10), QueueLimit::Packets(300))
        };
        let path = link::between(at, &emulation)?;
        let here = bench.start(Ours, &format!("{kind} offload=0 server {at} {server}"))?;
        let there = bench.start(Theirs, &format!("{kind} client {} {client}", path.at()))?;
        here.finish(TIMEOUT)?.succeeded()?;
        drop(there);
        let dissection = capture.dissect(at.port())?;
        expect(dissection.strange.is_empty(), || {
            let first: Vec<_> = dissection.strange.iter().take(3).cloned().collect();
            format!("{} strange packets, such as {}", dissection.strange.len(), first.join("; "))
        })?;
        for (kind, count) in dissection.known {
            *kinds.entry(kind).or_insert(0) += count;
        }
    }
    let seen = |kind: &str| kinds.keys().any(|known| known == kind);
    // Handshake, acknowledgement, loss report, its confirmation, shutdown: the numbers of their types.
    for kind in ["data", "0", "2", "3", "5", "6"] {
        expect(seen(kind), || format!("no packet of kind {kind} among {kinds:?}"))?;
    }
    let total: u64 = kinds.values().sum();
    Ok(format!("{total} packets of {} kinds", kinds.len()))
}

const TIMEOUT: Duration = Duration::from_secs(60);
