//! BBRv3 in the registry.

use super::{Bbr3, Rule, Settings};
use crate::entry::{Basis, Entry, Family, Transport};
use crate::parameter::Parameter;

/// Registered as `bbr3`.
pub const BBR3: Entry<Bbr3> = Entry {
    name: "bbr3",
    title: "BBRv3: a model of bandwidth, round trip and safe volume, each probed in turn",
    family: Family::Baseline,
    transport: Transport::Acked,
    basis: Basis::DeliveryRate,
    source: "draft-ietf-ccwg-bbr, the working group's text of 3 August 2026 (after -06)",
    deviations: &[
        "volumes count packets, whole ones in flight; the draft counts bytes",
        "the first round-trip sample sets the first pacing rate anew: the hosts have none when a flow begins (section 5.6.2)",
        "a cautious probe ends where the packets in flight before an acknowledgement reach inflight_longterm; after one they never do \
         (section 5.3.3.7)",
        "the gains of every state are those of the table in section 5.6.1; the pseudocode does not assign all of them",
        "what a spurious recovery restores is saved when the recovery begins (section 5.5.11.1), not again in each of its rounds",
        "the recovery after a timeout ends when as much has arrived as was in flight; the host does not report its end",
        "a congestion mark is noted as the loss of a packet outside probes is; the draft leaves the response open (section 3.7)",
        "ProbeRTT marks packets as limited here, not in the host: from the state they left with",
    ],
    parameters: &[
        Parameter::number("offload", 1.0, "offload_budget: 1 for QUIC, 3 for TCP (section 5.5.8)")
            .unit("send quanta")
            .at_least(0.0)
            .at_most(100.0),
        Parameter::choice(
            "caution",
            &["before", "after"],
            "C.inflight that ends a cautious probe: before or after the acknowledgement (section 5.3.3.7)",
        ),
        Parameter::choice(
            "first_rate",
            &["sample", "millisecond"],
            "round trip of the first pacing rate: the first sample, or 1 ms (section 5.6.2)",
        ),
        Parameter::choice(
            "undo",
            &["recovery", "round"],
            "what a spurious recovery restores is saved when it begins, or in each of its rounds with losses (section 5.5.10.2)",
        ),
        Parameter::choice(
            "without",
            &[
                "nothing",
                "short-term",
                "short-term-rate",
                "short-term-volume",
                "long-term",
                "limited-loss",
                "probe-rtt",
                "patience",
                "margin",
                "timeout-saves",
            ],
            "a rule of the draft that is left out, to see what it causes: docs/bbr.md names them",
        ),
    ],
    build: |values, start| {
        let without = Rule::ALL.into_iter().find_map(|(name, rule)| (name == values.choice("without")).then_some(rule));
        let settings = Settings {
            offload: values.number("offload"),
            // Only the long-term bound ends a cautious probe.
            caution_before: without == Some(Rule::LongTerm) || values.choice("caution") == "before",
            pace_by_first_rtt: values.choice("first_rate") == "sample",
            save_every_round: values.choice("undo") == "round",
            without,
        };
        Ok(Bbr3::new(settings, start))
    },
    receiver: None,
};
