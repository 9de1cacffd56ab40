//! Who marks packets, and who answers marks.

use cwnd::Spec;
use cwnd_sim::{
    AckEcho, Class, Discipline, FlowSetup, FqCoDelSetup, Impairments, LinkSetup, Loss, Mangling, Phase, RedSetup,
};

use super::paths::{Party, Paths};

/// Why `ecn` of a flow has no effect.
pub(super) fn without_marks(party: &Party<'_>, flow: &FlowSetup, paths: &Paths<'_>) -> Option<String> {
    if !flow.algorithm.entry().answers_marks() {
        return Some(unanswered(&flow.algorithm));
    }
    if party.own.contains_key("mark") {
        return None;
    }
    // The probability of a step is 1.
    let marks = |red: &RedSetup| red.mark && !(is_step(red) && red.mark_limit < 1.0);
    let marked = |link: &LinkSetup| match &link.discipline {
        Discipline::Red(red) => marks(red),
        Discipline::Rio(rio) => {
            if flow.class == Class::In {
                marks(&rio.inside)
            } else {
                marks(&rio.outside)
            }
        }
        Discipline::CoDel(codel) | Discipline::FqCoDel(FqCoDelSetup { codel, .. }) => {
            codel.mark
                || codel.ce_threshold.is_some()
                || codel.l4s_threshold.is_some() && is_scalable(party, flow, paths)
        }
        Discipline::Cake(cake) => cake.mark,
        Discipline::Pie(pie) => pie.mark,
        Discipline::DualPi2(_) => true,
        Discipline::DropTail | Discipline::Drr(_) | Discipline::Xcp(_) | Discipline::Vcp(_) | Discipline::DecBit(_) => {
            false
        }
    };
    let marks_all = |phase: &Phase| phase.impairments.mangling == Some(Mangling::Congestion);
    let marked = |link: &LinkSetup| marked(link) || link.all_phases().iter().any(marks_all);
    let none = !paths.links_of(&party.ways[0]).any(marked) && !may_assume_marks(flow, paths.links_of(&party.ways[1]));
    none.then(|| "no queue on its path marks packets: take one with `ecn=yes`, such as `red:1bdp,ecn=yes`".to_string())
}

/// Whether a sender may assume marks that there are not: its acknowledgements count them modulo 8, and one may stand for eight packets.
pub(crate) fn may_assume_marks<'a>(flow: &FlowSetup, mut back: impl Iterator<Item = &'a LinkSetup>) -> bool {
    let plain = |link: &LinkSetup| {
        let otherwise = Impairments { bleach: false, mangling: None, ..link.impairments.clone() };
        link.loss == Loss::None && otherwise == Impairments::default()
    };
    flow.ecn.is_some_and(AckEcho::counts_modulo_8) && (flow.host.gro.is_some() || !back.all(plain))
}

/// Whether a flow's packets arrive at links with ECT(1), from its sender or from a link that writes it.
pub(super) fn is_scalable(party: &Party<'_>, flow: &FlowSetup, paths: &Paths<'_>) -> bool {
    let writes = |phase: &Phase| phase.impairments.mangling == Some(Mangling::Scalable);
    let Some(echo) = flow.ecn else { return false };
    echo.is_scalable() || paths.links_of(&party.ways[0]).any(|link| link.all_phases().iter().any(writes))
}

/// Why `ecn` has no effect on an algorithm that does not answer marks.
pub(super) fn unanswered(algorithm: &Spec) -> String {
    format!("senders of `{}` do not answer marks", algorithm.entry().name)
}

/// Whether there is no slope of the probability between two thresholds.
pub(super) fn is_step(red: &RedSetup) -> bool {
    red.min == red.max
}
