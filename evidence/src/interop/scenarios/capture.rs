//! The simulator's packets, as read by a dissector that knows nothing of this project.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use crate::interop::capture::tshark;
use crate::interop::{Error, expect};
use cwnd::{Span, Spec};
use cwnd_export::{About, pcapng};
use cwnd_sim::{Dumbbell, Era, Loss, QueueLimit, RecoveryScheme, Setup, Trace};
use cwnd_trace::{FlowTrace, Protocol, Seen};
use cwnd_udt::{Control, Packet};

use crate::interop::bench::Bench;

/// Two TCP-like flows and one of UDT on a lossy path: Wireshark's analysis finds as many retransmissions and duplicate
/// acknowledgements as there were, and its dissector of UDT as many packets of each kind.
pub(crate) fn simulated(bench: &Bench) -> Result<String, Error> {
    let trace = trace();
    let path = bench.file("simulated.pcapng");
    let mut file = BufWriter::new(File::create(&path)?);
    let about = About { title: "interop", program: "cwnd-evidence", command: "cargo xtask test interop", seed: SEED };
    pcapng::write(&mut file, &trace, &about)?;
    file.flush()?;

    let strange = count(&path, "_ws.malformed || (udp && !udt)")?;
    expect(strange.is_empty(), || format!("strange packets: {strange:?}"))?;
    let analysed = [
        ("retransmissions", "tcp.analysis.retransmission", retransmissions as fn(&FlowTrace) -> u64),
        ("duplicate acknowledgements", "tcp.analysis.duplicate_ack", duplicates),
    ];
    let mut said = Vec::new();
    for (what, filter, ours) in analysed {
        let theirs = count(&path, filter)?;
        for flow in trace.flows.iter().filter(|flow| flow.log.protocol == Protocol::Tcp) {
            let (ours, theirs) = (ours(flow), theirs.get(&flow.name).copied().unwrap_or(0));
            expect(ours > 0 && ours == theirs, || format!("{}: {ours} {what}, Wireshark finds {theirs}", flow.name))?;
            said.push(format!("{ours} {what}"));
        }
    }
    let kinds = [("data", "udt.iscontrol==0"), ("ACK", "udt.type==2"), ("NAK", "udt.type==3"), ("ACK2", "udt.type==6")];
    for (kind, filter) in kinds {
        let theirs = count(&path, filter)?;
        for flow in trace.flows.iter().filter(|flow| flow.log.protocol == Protocol::Udt) {
            let (ours, theirs) = (of_kind(flow, kind), theirs.get(&flow.name).copied().unwrap_or(0));
            expect(ours > 0 && ours == theirs, || format!("{}: {ours} {kind}, Wireshark finds {theirs}", flow.name))?;
            said.push(format!("{ours} {kind}"));
        }
    }
    Ok(said.join(", "))
}

fn trace() -> Trace {
    let bell = Dumbbell {
        loss: Loss::Bernoulli(2e-3),
        ..Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(60))
    };
    let specs = ["reno", "cubic", "udt"].map(|name| Spec::parse(name).expect("registered"));
    let mut setup = bell.setup(&specs, Era::MODERN, Span::from_secs(20), Span::from_secs(1), SEED);
    setup.flows[1].recovery = RecoveryScheme::NewReno;
    cwnd_sim::run(&Setup { packet_log: Some(usize::MAX), ..setup }, &mut |_| true).expect("a valid setup")
}

/// How many packets of each flow a filter passes. A flow is an interface of the capture.
fn count(path: &Path, filter: &str) -> Result<BTreeMap<String, u64>, Error> {
    let printed = tshark(path, &["-Y", filter, "-T", "fields", "-e", "frame.interface_name"])?;
    let mut counts = BTreeMap::new();
    for name in printed.lines() {
        *counts.entry(name.to_owned()).or_insert(0) += 1;
    }
    Ok(counts)
}

fn retransmissions(flow: &FlowTrace) -> u64 {
    flow.retransmitted.last().copied().unwrap_or(0)
}

/// Acknowledgements that arrived and acknowledged nothing more than the one before.
fn duplicates(flow: &FlowTrace) -> u64 {
    let mut last = 0;
    let mut count = 0;
    for packet in &flow.log.packets {
        if let Seen::Ack { cumulative, .. } = packet.seen {
            count += u64::from(cumulative == last);
            last = cumulative;
        }
    }
    count
}

fn of_kind(flow: &FlowTrace, kind: &str) -> u64 {
    let is = |seen: Seen, bytes: &[u8]| match seen {
        Seen::Data { .. } => kind == "data",
        Seen::Ack { .. } | Seen::Report { .. } => false,
        Seen::Control { .. } => match Packet::parse(bytes) {
            Ok(Packet::Control { control, .. }) => match control {
                Control::LightAck(_) | Control::Ack(_) => kind == "ACK",
                Control::Nak(_) => kind == "NAK",
                Control::Ack2(_) => kind == "ACK2",
                _ => false,
            },
            _ => false,
        },
    };
    flow.log.iter().filter(|(packet, bytes)| is(packet.seen, bytes)).count() as u64
}

/// Any; the queue overflows and the line loses.
const SEED: u64 = 1;
