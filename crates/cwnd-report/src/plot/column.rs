//! The columns of sampled traces by their names, which are those of the files of traces.

use cwnd_trace::{FlowTrace, LinkTrace, Trace};

use super::error::PlotError;

/// Whose column it is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Column {
    /// Cumulative packets, or those in flight, of each flow.
    Count(fn(&FlowTrace) -> &[u64]),
    /// An internal of the algorithms of flows.
    Internal(&'static str),
    /// Values of each link.
    Link(fn(&LinkTrace) -> &[u64]),
    /// A state of each flow.
    State(fn(&FlowTrace) -> &[f64]),
}

impl Column {
    /// The column called `name`.
    ///
    /// # Errors
    /// The trace has none of the name, or it holds text.
    pub(crate) fn named(trace: &Trace, name: &str) -> Result<Self, PlotError> {
        let internals = internals(trace);
        let flows = COUNTS.iter().map(|(known, of)| (*known, Self::Count(*of)));
        let states = STATES.iter().map(|(known, of)| (*known, Self::State(*of)));
        let own = internals.iter().map(|known| (*known, Self::Internal(known)));
        let links = LINKS.iter().map(|(known, of)| (*known, Self::Link(*of)));
        let all: Vec<(&str, Self)> = flows.chain(states).chain(own).chain(links).collect();
        match all.iter().find(|(known, _)| *known == name) {
            Some((_, column)) => Ok(*column),
            None if TEXTS.contains(&name) => Err(PlotError::Text(name.to_string())),
            None => {
                let known = all.iter().map(|(known, _)| *known).collect::<Vec<_>>().join(", ");
                Err(PlotError::Column { name: name.to_string(), known })
            }
        }
    }

    /// Whether it is a state of the sender, which means something during the life of the flow only, and no count.
    pub(crate) fn is_state(self) -> bool {
        matches!(self, Self::Internal(_) | Self::State(_))
    }

    /// Its values for a flow, one per sampled instant; none of a column of links.
    pub(crate) fn of_flow(self, flow: &FlowTrace) -> Option<Vec<f64>> {
        match self {
            Self::Count(of) => Some(of(flow).iter().map(|count| *count as f64).collect()),
            Self::State(of) => Some(of(flow).to_vec()),
            Self::Internal(name) => {
                let found = flow.internals.iter().find(|(internal, _)| *internal == name);
                Some(found.map_or_else(|| vec![f64::NAN; flow.sent.len()], |(_, values)| values.to_vec()))
            }
            Self::Link(_) => None,
        }
    }
}

/// The names of all internals, in the order of their first appearance.
fn internals(trace: &Trace) -> Vec<&'static str> {
    let mut names = Vec::new();
    for (name, _) in trace.flows.iter().flat_map(|flow| &flow.internals) {
        if !names.contains(name) {
            names.push(*name);
        }
    }
    names
}

type Counts = fn(&FlowTrace) -> &[u64];
type States = fn(&FlowTrace) -> &[f64];
type OfLink = fn(&LinkTrace) -> &[u64];

const COUNTS: [(&str, Counts); 10] = [
    ("sent_packets", |flow| &flow.sent),
    ("retransmitted_packets", |flow| &flow.retransmitted),
    ("delivered_packets", |flow| &flow.delivered),
    ("lost_packets", |flow| &flow.lost),
    ("dropped_packets", |flow| &flow.dropped),
    ("marked_packets", |flow| &flow.marked),
    ("timeouts", |flow| &flow.timeouts),
    ("source_limited_ns", |flow| &flow.source_limited),
    ("peer_limited_ns", |flow| &flow.peer_limited),
    ("in_flight_packets", |flow| &flow.in_flight),
];

const STATES: [(&str, States); 3] = [
    ("window_packets", |flow| &flow.window),
    ("srtt_s", |flow| &flow.srtt),
    ("pacing_rate_packets_per_s", |flow| &flow.pacing_rate),
];

/// Flows have some of these names too: there they mean the flow's.
const LINKS: [(&str, OfLink); 8] = [
    ("offered_packets", |link| &link.offered),
    ("dropped_packets", |link| &link.dropped),
    ("lost_packets", |link| &link.lost),
    ("marked_packets", |link| &link.marked),
    ("carried_packets", |link| &link.carried),
    ("carried_bytes", |link| &link.carried_bytes),
    ("queue_packets", |link| &link.queue_packets),
    ("queue_bytes", |link| &link.queue_bytes),
];

const TEXTS: [&str; 3] = ["algorithm", "flow", "link"];
