//! Which flows of a run are drawn, and how they are distinguished.

use cwnd_trace::{FlowTrace, Trace};

use super::colour;

/// A flow as it is drawn.
#[derive(Clone, Debug)]
pub(crate) struct DrawnFlow {
    /// Indexes the flows of the trace.
    pub(crate) index: usize,
    /// Its name, made unique; with the algorithm where several share the run and the name does not say it.
    pub(crate) label: String,
    /// As CSS writes it.
    pub(crate) colour: String,
    /// Flows of one plot differ by it.
    pub(crate) dash: &'static [u8],
}

/// The flows at `indices`, in colours by algorithm.
pub(crate) fn drawn(trace: &Trace, indices: &[usize], colour: impl Fn(&str) -> String) -> Vec<DrawnFlow> {
    let mixed = mixed(trace);
    let label = |flow: &FlowTrace| match mixed && !flow.name.contains(&flow.algorithm) {
        true => format!("{} · {}", flow.name, flow.algorithm),
        false => flow.name.clone(),
    };
    let labels = unique(&indices.iter().map(|index| label(&trace.flows[*index])).collect::<Vec<_>>());
    let places = indices.iter().enumerate().zip(labels);
    let flows = places.map(|((place, index), label)| {
        let colour = colour(&trace.flows[*index].algorithm);
        DrawnFlow { index: *index, label, colour, dash: colour::dash(place) }
    });
    flows.collect()
}

/// A few flows of each algorithm, the same number of each, in the order of the scenario: one of each where there are many algorithms.
pub(crate) fn few(trace: &Trace) -> Vec<usize> {
    let mut algorithms: Vec<&str> = trace.flows.iter().map(|flow| flow.algorithm.as_str()).collect();
    algorithms.sort_unstable();
    algorithms.dedup();
    let each = (MAX_FLOWS / algorithms.len().max(1)).max(1);
    let mut taken = vec![0; algorithms.len()];
    let wanted = |(index, flow): (usize, &FlowTrace)| {
        let group = algorithms.binary_search(&flow.algorithm.as_str()).ok()?;
        taken[group] += 1;
        (taken[group] <= each).then_some(index)
    };
    trace.flows.iter().enumerate().filter_map(wanted).collect()
}

/// All flows by their algorithm, in the order of the scenario.
pub(crate) fn by_algorithm(trace: &Trace) -> Vec<(&str, Vec<usize>)> {
    let mut groups: Vec<(&str, Vec<usize>)> = Vec::new();
    for (index, flow) in trace.flows.iter().enumerate() {
        match groups.iter_mut().find(|(known, _)| *known == flow.algorithm) {
            Some((_, flows)) => flows.push(index),
            None => groups.push((&flow.algorithm, vec![index])),
        }
    }
    groups
}

/// Whether there are more flows than lines that can be told apart: each algorithm is then one band.
pub(crate) fn many(trace: &Trace) -> bool {
    trace.flows.len() > MAX_FLOWS
}

/// Whether the flows have several algorithms.
pub(crate) fn mixed(trace: &Trace) -> bool {
    trace.flows.windows(2).any(|pair| pair[0].algorithm != pair[1].algorithm)
}

/// The labels made unique: those that occur twice, or say nothing, get their position in front.
pub(crate) fn unique(labels: &[String]) -> Vec<String> {
    let repeated =
        |label: &String| label.trim().is_empty() || labels.iter().filter(|other| *other == label).count() > 1;
    let numbered = labels.iter().enumerate();
    numbered
        .map(|(index, label)| if repeated(label) { format!("{}. {label}", index + 1) } else { label.clone() })
        .collect()
}

/// More lines than this in one plot cannot be told apart.
pub(crate) const MAX_FLOWS: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(algorithms: &[&str]) -> Trace {
        let flow = |algorithm: &&str| FlowTrace { algorithm: (*algorithm).to_string(), ..FlowTrace::default() };
        Trace { flows: algorithms.iter().map(flow).collect(), ..Trace::default() }
    }

    #[test]
    fn each_algorithm_has_the_same_number_of_lines() {
        assert_eq!(few(&trace(&[["reno"; 20], ["simd"; 20]].concat())), [0, 1, 2, 3, 20, 21, 22, 23]);
        assert!(few(&Trace::default()).is_empty());
        let names: Vec<String> = (0..12).map(|nth| format!("a{nth}")).collect();
        let twelve: Vec<&str> = names.iter().map(String::as_str).collect();
        assert_eq!(few(&trace(&twelve)).len(), 12, "no algorithm is hidden");
    }

    #[test]
    fn flows_are_grouped_by_their_algorithm() {
        assert_eq!(by_algorithm(&trace(&["reno", "simd", "reno"])), [("reno", vec![0, 2]), ("simd", vec![1])]);
        assert!(many(&trace(&["reno"; 9])) && !many(&trace(&["reno"; 8])));
    }

    #[test]
    fn flows_differ_by_their_dashes_whatever_their_colours() {
        let mut trace = trace(&["reno", "simd", "reno"]);
        trace.flows.iter_mut().zip(["a", "simd 1", "b"]).for_each(|(flow, name)| flow.name = name.to_string());
        let drawn = drawn(&trace, &[0, 1, 2], str::to_string);
        assert_eq!(drawn.iter().map(|flow| &*flow.label).collect::<Vec<_>>(), ["a · reno", "simd 1", "b · reno"]);
        assert_eq!(drawn[0].colour, drawn[2].colour);
        let dashes: std::collections::BTreeSet<&[u8]> = drawn.iter().map(|flow| flow.dash).collect();
        assert_eq!(dashes.len(), 3);
    }

    #[test]
    fn labels_become_unique() {
        let labels = ["a", "b", "a", " "].map(str::to_string);
        assert_eq!(unique(&labels), ["1. a", "b", "3. a", "4.  "]);
    }
}
