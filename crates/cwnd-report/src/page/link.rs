//! A scenario of a page as a link to the page of `cwnd live` or `cwnd site`.

use std::env;

use cwnd::Spec;
use cwnd_run::address::{Linked, MOST_FLOWS, MOST_RECORDINGS, Recording};
use cwnd_run::scenario::{Document, Scenario, Written};
use cwnd_trace::{FlowTrace, Trace};

/// The link of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The fragment of the address, with `#` in front: the whole scenario.
    pub fragment: String,
    /// The address of the page before it, from the environment variable [`SITE`]; empty if that is not set.
    pub site: String,
    /// The labels of senders of others in whose places ours run, without a recording of them.
    pub replaced: Vec<String>,
}

/// The environment variable with the address of a page of `cwnd site`.
pub const SITE: &str = "CWND_SITE";

/// The environment variable with the releases of stacks, such as `quinn=0.11.19,noq=1.4.0`, which `cargo xtask foreign` sets.
pub const STACKS: &str = "CWND_STACKS";

impl Link {
    /// The link of `document`, each group of flows alone on the path if `apart`. None if the page does not run it: it reads a file, has too many
    /// flows, or its
    /// senders are not in the registry. `digest` is that of its first seed, where it was run.
    #[must_use]
    pub fn of(document: &Document, apart: bool, digest: Option<u64>) -> Option<Self> {
        if is_too_large(document) || senders(document).any(|algorithm| Spec::parse(algorithm).is_err()) {
            return None;
        }
        Self::linked(&Linked { toml: document.to_toml(), apart, digest, ..Linked::default() })
    }

    /// The link of a run of which no curves are left, each flow on the same path: as [`Self::of`], or else with ours of the same controller in
    /// place of the senders of others, which the title says. None if a controller is not in the registry too.
    #[must_use]
    pub fn without_curves(document: &Document, digest: Option<u64>) -> Option<Self> {
        let mut replaced: Vec<String> = Vec::new();
        for label in senders(document).filter(|algorithm| Spec::parse(algorithm).is_err()) {
            let label = label.trim().to_string();
            if !replaced.contains(&label) {
                replaced.push(label);
            }
        }
        if replaced.is_empty() {
            return Self::of(document, false, digest);
        }
        let what = format!("ours in place of {}", replaced.join(", "));
        let title = document.title.as_ref().map_or_else(|| what.clone(), |title| format!("{title}: {what}"));
        let link = Self::with(&Document { title: Some(title), ..document.clone() }, false, &[])?;
        Some(Self { replaced, ..link })
    }

    /// The link of `document` with the flows that were recorded from senders of others, which do not run on the page: of each trace one flow
    /// of each such sender. Ours of the same controller take their places. None if such a controller is not in the registry, or if the link
    /// would be longer than 4096 characters.
    #[must_use]
    pub fn replaced(document: &Document, apart: bool, traces: &[&Trace]) -> Option<Self> {
        let releases = env::var(STACKS).unwrap_or_default();
        let flows: Vec<(String, &Trace, &FlowTrace)> = of_others(traces)
            .into_iter()
            .map(|(label, trace, flow)| (with_release(label, &releases), trace, flow))
            .collect();
        let flows: Vec<(&str, &Trace, &FlowTrace)> =
            flows.iter().map(|(label, trace, flow)| (&**label, *trace, *flow)).collect();
        Self::with(document, apart, &flows)
    }

    /// The link of `document` with these flows, each with its label and the trace that it is of, under the same conditions.
    pub(super) fn with(document: &Document, apart: bool, flows: &[(&str, &Trace, &FlowTrace)]) -> Option<Self> {
        let mut document = document.clone();
        let (groups, arrivals) = (document.flow.iter_mut(), document.arrivals.iter_mut());
        let algorithms = groups.map(|group| &mut group.algorithm).chain(arrivals.map(|group| &mut group.algorithm));
        for algorithm in algorithms {
            if Spec::parse(algorithm.text()).is_err() {
                *algorithm = ours(algorithm.text())?;
            }
        }
        if is_too_large(&document) || Scenario::check(document.clone()).is_err() {
            return None;
        }
        POINTS.into_iter().find_map(|points| {
            let flows = flows.iter().take(MOST_RECORDINGS);
            let recorded = flows.map(|(label, trace, flow)| Recording::of(trace, flow, label, points)).collect();
            let link = Self::linked(&Linked { toml: document.to_toml(), apart, recorded, ..Linked::default() })?;
            (link.fragment.len() <= LONGEST).then_some(link)
        })
    }

    fn linked(linked: &Linked) -> Option<Self> {
        let fragment = linked.fragment();
        Linked::read(&fragment).ok()?;
        Some(Self::to(fragment))
    }

    /// The link of a scenario as text, under the same conditions.
    pub(super) fn of_toml(toml: &str) -> Option<Self> {
        let scenario = Scenario::read("scenario.toml", toml, &[]).ok()?;
        Self::of(scenario.document(), false, None)
    }

    /// The link with this fragment.
    pub(super) fn to(fragment: String) -> Self {
        let site = env::var(SITE).ok().filter(|site| site.starts_with("https://") || site.starts_with("http://"));
        let site = site.as_deref().map(|site| site.split('#').next().unwrap_or_default().to_string());
        Self { fragment, site: site.unwrap_or_default(), replaced: Vec::new() }
    }
}

/// The algorithm of each group of flows.
fn senders(document: &Document) -> impl Iterator<Item = &str> {
    let arrivals = document.arrivals.iter().map(|group| group.algorithm.text());
    document.flow.iter().map(|group| group.algorithm.text()).chain(arrivals)
}

/// Whether it has more flows than the page runs.
fn is_too_large(document: &Document) -> bool {
    let counts = document.flow.iter().map(|group| group.count).chain(document.cbr.iter().map(|group| group.count));
    counts.map(u64::from).sum::<u64>() > MOST_FLOWS
}

/// The controller of the registry that a label such as `quinn:cubic` names.
fn ours(label: &str) -> Option<Written<Spec>> {
    let (_, controller) = label.trim().split_once(':')?;
    Spec::parse(controller).is_ok().then(|| controller.parse().ok())?
}

/// A label with the release of its stack, where that is one of `releases`: `quinn-0.11.19:cubic`. A name may have its release already.
fn with_release(label: &str, releases: &str) -> String {
    let known = label.split_once(':').and_then(|(stack, controller)| {
        let (_, release) =
            releases.split(',').filter_map(|one| one.split_once('=')).find(|(name, _)| *name == stack)?;
        Some(format!("{stack}-{release}:{controller}"))
    });
    known.unwrap_or_else(|| label.to_string())
}

/// The first flow of each sender of others in each trace.
fn of_others<'a>(traces: &[&'a Trace]) -> Vec<(&'a str, &'a Trace, &'a FlowTrace)> {
    let mut found: Vec<(&str, &Trace, &FlowTrace)> = Vec::new();
    for trace in traces {
        let own = found.len();
        for flow in trace.flows.iter().filter(|flow| Spec::parse(&flow.algorithm).is_err()) {
            if found[own..].iter().all(|(label, ..)| *label != flow.algorithm) {
                found.push((&flow.algorithm, trace, flow));
            }
        }
    }
    found
}

/// The points of a recorded flow in a link: as many as the link has room for.
const POINTS: [u32; 4] = [160, 80, 40, 20];
/// The longest link with recorded flows, characters.
const LONGEST: usize = 4096;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cwnd_run::run::run;

    use super::*;

    fn document(text: &str) -> Document {
        Scenario::read("test.toml", text, &[]).unwrap_or_else(|error| panic!("{error}")).document().clone()
    }

    #[test]
    fn a_link_of_senders_of_others_runs_ours_next_to_their_recordings() {
        let text = "duration = \"4s\"\nwarmup = \"1s\"\nseeds = 1\n[dumbbell]\nrate = \"7mbit\"\n[[flow]]\nalgorithm = \"reno\"\n[[flow]]\nalgorithm = \"cubic\"\n";
        let scenario = Scenario::read("test.toml", text, &[]).unwrap_or_else(|error| panic!("{error}"));
        let expected = scenario.document().to_toml();
        let mut runs = run(vec![scenario], &()).expect("nothing interrupts it").remove(0);
        let trace = &mut runs.traces[0];
        trace.flows[1].algorithm = "quinn:cubic".to_string();
        let with = |label: &str| {
            let mut document = document(text);
            document.flow[1].algorithm = Spec::stack(label, Arc::new(())).into();
            document
        };
        let document = with("quinn:cubic");
        assert_eq!(Link::of(&document, false, None), None);
        let link = Link::replaced(&document, false, &[trace]).expect("a link");
        assert!(link.fragment.len() <= LONGEST, "{} characters", link.fragment.len());
        let linked = Linked::read(&link.fragment).expect("its own link");
        assert_eq!((linked.toml, linked.digest), (expected, None));
        let [recording] = &linked.recorded[..] else { panic!("{:?}", linked.recorded) };
        assert_eq!((&*recording.label, recording.every_ms, recording.window.len()), ("quinn:cubic", 25, 161));
        let flow = &trace.flows[1];
        let last = recording.window[160].expect("a window");
        assert!((f64::from(last) - flow.window.last().expect("a sample")).abs() <= 0.5, "{last}");
        // Over five round trips of 50 ms, as the page averages that of its own flows: bursts of single points are no goodput.
        // Between two samples packets arrive evenly.
        let delivered = |ms: u64| {
            let (at, last) = (ms * 1_000_000, trace.at.len() - 1);
            let nth = (trace.at.partition_point(|sampled| *sampled <= at) - 1).min(last - 1);
            let [from, to] = [nth, nth + 1].map(|nth| (trace.at[nth] as f64, flow.delivered[nth] as f64));
            from.1 + (to.1 - from.1) * (at as f64 - from.0) / (to.0 - from.0)
        };
        for (nth, from, to) in [(2, 0, 50), (8, 0, 200), (40, 750, 1000), (160, 3750, 4000)] {
            let bits = ((delivered(to) - delivered(from)) * f64::from(flow.payload) * 8.0).round() as u64;
            let [found, expected] = [u64::from(recording.goodput[nth].expect("a goodput")), bits / (to - from)];
            // The round trip without queueing is a little longer than the delays of the links.
            assert!(found.abs_diff(expected) <= expected / 50, "{nth}: {found} and {expected}");
        }
        assert!(recording.goodput.iter().flatten().all(|kbps| *kbps < 7_500), "{recording:?}");
        for unknown in ["quinn", "quinn:bbr2", "own"] {
            assert_eq!(Link::replaced(&with(unknown), false, &[trace]), None, "{unknown}");
        }
    }

    #[test]
    fn a_run_of_senders_of_others_without_curves_has_a_link_that_runs_ours() {
        let text = "seeds = 1\n[dumbbell]\nrate = \"7mbit\"\n[[flow]]\nalgorithm = \"reno\"\n[[flow]]\nalgorithm = \"cubic\"\n";
        let with = |label: &str, title: Option<&str>| {
            let mut document = document(text);
            document.title = title.map(str::to_string);
            document.flow[1].algorithm = Spec::stack(label, Arc::new(())).into();
            document
        };
        let said = |title: Option<&str>| {
            let link = Link::without_curves(&with("quinn:cubic", title), Some(7)).expect("a link");
            let linked = Linked::read(&link.fragment).expect("its own link");
            assert_eq!(
                (linked.recorded.len(), linked.digest, link.replaced),
                (0, None, vec!["quinn:cubic".to_string()])
            );
            let scenario = Scenario::read("link.toml", &linked.toml, &[]).unwrap_or_else(|error| panic!("{error}"));
            let read = scenario.document();
            assert_eq!(senders(read).collect::<Vec<_>>(), ["reno", "cubic"]);
            read.title.clone().expect("a title")
        };
        assert_eq!(said(None), "ours in place of quinn:cubic");
        assert_eq!(said(Some("A fast path")), "A fast path: ours in place of quinn:cubic");
        assert_eq!(Link::without_curves(&with("quiche:bbr2", None), None), None);
        let own = document(text);
        assert_eq!(Link::without_curves(&own, Some(7)), Link::of(&own, false, Some(7)));
    }

    #[test]
    fn what_was_recorded_has_the_release_of_its_stack() {
        let releases = "quinn=0.11.19,quiche=0.30.0,gvisor=v0.0.0-20260905035102-160fafc42237";
        let labels = ["quinn:cubic", "quinn-0.11.14:cubic", "gvisor:reno", "kernel", "noq:bbr3"];
        let named = labels.map(|label| with_release(label, releases));
        assert_eq!(
            named,
            [
                "quinn-0.11.19:cubic",
                "quinn-0.11.14:cubic",
                "gvisor-v0.0.0-20260905035102-160fafc42237:reno",
                "kernel",
                "noq:bbr3"
            ]
        );
        assert_eq!(with_release("quinn:cubic", ""), "quinn:cubic");
    }

    #[test]
    fn the_link_holds_the_scenario() {
        let document = document("[dumbbell]\nrate = \"7mbit\"\n[[flow]]\nalgorithm = \"reno\"\n");
        for apart in [false, true] {
            let link = Link::of(&document, apart, Some(7)).expect("a link");
            let read = Linked::read(&link.fragment).expect("its own link");
            assert_eq!((read.toml, read.apart, read.digest), (document.to_toml(), apart, Some(7)));
        }
    }
}
