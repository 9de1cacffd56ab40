//! Flows of several runs, each with instants of its own, in the same plots.

use cwnd_lab::overlay::Part;
use cwnd_run::measure::{Curve, Window, lifetime};
use cwnd_text::counted;
use cwnd_trace::{FlowTrace, LinkTrace, Trace};

use super::axis::Axis;
use super::bands::{self, Band};
use super::colour::{self, Palette};
use super::downsample::extremes;
use super::flows::MAX_FLOWS;
use super::lines::{Line, Lines};
use super::spec::Plot;
use super::time::seconds;

/// The keys of the colours of flows: the algorithm, and the input where several have the algorithm.
pub(crate) fn keys(parts: &[Part]) -> Vec<String> {
    parts.iter().flat_map(|part| flows(part).map(|(_, flow)| key(part, flow))).collect()
}

/// The window, the goodput, the packets in flight and the round-trip time of the flows, and the queues, over time.
pub(crate) fn plots(parts: &[Part], palette: &Palette) -> Vec<Plot> {
    let end = parts.iter().map(Part::end).max().unwrap_or(0);
    let warmup = parts.iter().flat_map(|part| &part.traces).map(|trace| trace.warmup).max().unwrap_or(0);
    let scene = Scene { parts, palette, end, warmup, interval: SHORTEST.max(end / MOST_INTERVALS) };
    let silent = parts.iter().filter(|part| !part.knows_delivered);
    let silent: Vec<&str> = silent.flat_map(|part| flows(part).map(|(_, flow)| &*flow.name)).collect();
    let plots = [
        scene.plot("window", "Window", "Packets the algorithm allows in flight.", "window_packets", window),
        scene.plot("goodput", "Goodput", &scene.goodput_caption(), "goodput_bps", |flow, trace| {
            if silent.contains(&&*flow.name) { Points::default() } else { goodput(flow, trace, scene.interval) }
        }),
        scene.plot("rtt", "Round-trip time", "Smoothed round-trip time at the sender.", "srtt_s", srtt),
        scene.plot("in-flight", "In flight", "Packets sent and not acknowledged.", "in_flight_packets", in_flight),
        scene.flights(),
        scene.queues(),
    ];
    plots.into_iter().flatten().collect()
}

/// A curve: times in seconds, and values.
type Points = (Vec<f64>, Vec<f64>);

struct Scene<'a> {
    parts: &'a [Part],
    palette: &'a Palette,
    end: u64,
    warmup: u64,
    /// Nanoseconds over which rates are averaged.
    interval: u64,
}

impl Scene<'_> {
    /// A plot of one curve for each flow, or of a band for each algorithm of an input where there are many; none without numbers.
    fn plot(
        &self,
        id: &str,
        title: &str,
        caption: &str,
        column: &str,
        points: impl Fn(&FlowTrace, &Trace) -> Points,
    ) -> Option<Plot> {
        let groups = groups(self.parts);
        let count = groups.iter().map(|group| group.flows.len()).sum::<usize>();
        let curves = |group: &Group<'_>| -> Vec<Points> {
            group.flows.iter().map(|(trace, flow)| points(flow, trace)).collect()
        };
        let drawn = groups.iter().take(MOST);
        let (drawing, shown) = if count > MAX_FLOWS && groups.len() < count {
            let bands = drawn.clone().filter_map(|group| {
                let colour = self.palette.variable(&group.key);
                Band::of_curves(&group.name, colour, &curves(group), (seconds(self.end), COLUMNS))
            });
            (Drawing::Bands(bands.collect()), drawn.map(|group| group.flows.len()).sum())
        } else {
            let flows = drawn.flat_map(|group| group.flows.iter().map(|(trace, flow)| (&group.key, *trace, *flow)));
            let lines = flows.enumerate().map(|(nth, (key, trace, flow))| {
                let (x, y) = points(flow, trace);
                self.line(&flow.name, self.palette.variable(key), nth, &x, &y)
            });
            let lines: Vec<Line> = lines.collect();
            let shown = lines.len();
            (Drawing::Lines(lines), shown)
        };
        let more = match count - shown {
            0 => String::new(),
            some => format!(" Not drawn: {}.", counted(some, "flow")),
        };
        self.finish(id, title, &format!("{caption}{more}"), column, drawing)
    }

    /// The packets in flight of a few flows, each with its window: it fills it, or its application limits it.
    fn flights(&self) -> Option<Plot> {
        let groups = groups(self.parts);
        let flows = groups.iter().flat_map(|group| group.flows.iter().map(|(trace, flow)| (&group.key, *trace, *flow)));
        let curves = flows.flat_map(|(key, trace, flow)| {
            let both = [("window", window(flow, trace)), ("in flight", in_flight(flow, trace))];
            both.map(|(word, points)| (format!("{}, {word}", flow.name), self.palette.variable(key), points))
        });
        let lines = curves.enumerate().map(|(nth, (name, colour, (x, y)))| self.line(&name, colour, nth, &x, &y));
        let lines: Vec<Line> = lines.collect();
        let caption = "Packets sent and not acknowledged, and packets the algorithm allows in flight.";
        let few = lines.len() <= 2 * MOST_FLIGHTS;
        few.then(|| self.finish("flight", "Window and flight", caption, "in_flight_packets", Drawing::Lines(lines)))?
    }

    /// The fullest queue of each run.
    fn queues(&self) -> Option<Plot> {
        let mut lines = Vec::new();
        for part in self.parts {
            for trace in &part.traces {
                let fullest = |link: &&LinkTrace| link.queue_packets.iter().copied().max().unwrap_or(0);
                // Of links as full as each other, the first.
                let Some(link) = trace.links.iter().rev().max_by_key(fullest).filter(|link| fullest(link) > 0) else {
                    continue;
                };
                let x: Vec<f64> = trace.at.iter().map(|at| seconds(*at)).collect();
                let y: Vec<f64> = link.queue_packets.iter().map(|packets| *packets as f64).collect();
                let colour =
                    trace.flows.first().map_or_else(colour::neutral, |flow| self.palette.variable(&key(part, flow)));
                lines.push(self.line(&link.name, colour, lines.len(), &x, &y));
                if lines.len() >= MOST {
                    break;
                }
            }
        }
        self.finish(
            "queue",
            "Queue",
            "Packets waiting at the link with the longest queue.",
            "queue_packets",
            Drawing::Lines(lines),
        )
    }

    fn line(&self, name: &str, colour: String, nth: usize, x: &[f64], y: &[f64]) -> Line {
        let kept = extremes(x, y, COLUMNS);
        let pick = |from: &[f64]| kept.iter().map(|index| from[*index]).collect();
        Line { name: name.to_string(), colour, dash: colour::dash(nth), x: pick(x), y: pick(y) }
    }

    fn finish(&self, id: &str, title: &str, caption: &str, column: &str, mut drawing: Drawing) -> Option<Plot> {
        if let Drawing::Lines(lines) = &mut drawing {
            lines.retain(|line| !line.y.is_empty());
        }
        if drawing.is_empty() {
            return None;
        }
        let largest = drawing.largest();
        let axis = match column {
            "goodput_bps" => Axis::bit_rate(column, "Goodput"),
            _ => Axis::of_column(column),
        };
        let axis = if largest > 0.0 { axis.within(0.0, 1.05 * largest) } else { axis };
        let shaded = if self.warmup > 0 { " Shaded: warm-up." } else { "" };
        let (lines, bands) = match drawing {
            Drawing::Lines(lines) => (lines, None),
            Drawing::Bands(bands) => (Vec::new(), Some(bands)),
        };
        let mut lines = Lines::new(title, Axis::time(seconds(self.end)), axis, lines);
        lines.warmup = seconds(self.warmup);
        Some(match bands {
            None => lines.captioned(id, &format!("{caption}{shaded}")),
            Some(bands) => {
                let (layers, data) = bands::layers(&lines, &bands);
                let caption = format!("{caption}{BANDS}{shaded}");
                let words = (title, "", caption.as_str());
                Plot::new(id.to_string(), words, ("container".into(), HEIGHT), &layers, vec![data])
            }
        })
    }

    fn goodput_caption(&self) -> String {
        format!("Payload delivered for the first time, averaged over {:.0} ms.", self.interval as f64 * 1e-6)
    }
}

/// The quantities of the axes.
enum Drawing {
    Lines(Vec<Line>),
    Bands(Vec<Band>),
}

impl Drawing {
    fn is_empty(&self) -> bool {
        match self {
            Self::Lines(lines) => lines.is_empty(),
            Self::Bands(bands) => bands.is_empty(),
        }
    }

    fn largest(&self) -> f64 {
        match self {
            Self::Lines(lines) => lines.iter().flat_map(|line| &line.y).copied().fold(0.0, f64::max),
            Self::Bands(bands) => bands.iter().map(Band::largest).fold(0.0, f64::max),
        }
    }
}

/// The flows of one algorithm in one input.
struct Group<'a> {
    key: String,
    name: String,
    flows: Vec<(&'a Trace, &'a FlowTrace)>,
}

/// All flows by their input and their algorithm, in their order.
fn groups(parts: &[Part]) -> Vec<Group<'_>> {
    let mut groups: Vec<Group<'_>> = Vec::new();
    for part in parts {
        for (trace, flow) in flows(part) {
            let key = key(part, flow);
            match groups.iter_mut().find(|group| group.key == key) {
                Some(group) => group.flows.push((trace, flow)),
                None => {
                    let name = format!("{}: {}", part.label, flow.algorithm);
                    groups.push(Group { key, name, flows: vec![(trace, flow)] });
                }
            }
        }
    }
    groups
}

/// The flows of an input, each with its trace.
fn flows(part: &Part) -> impl Iterator<Item = (&Trace, &FlowTrace)> {
    part.traces.iter().flat_map(|trace| trace.flows.iter().map(move |flow| (trace, flow)))
}

/// The second and later variants of an algorithm have colours of their own: here its inputs are the variants.
fn key(part: &Part, flow: &FlowTrace) -> String {
    let name = flow.algorithm.split(':').next().unwrap_or_default();
    let plain = name.strip_suffix(" (Linux)").unwrap_or(name);
    format!("{plain}:{} {}", part.label, flow.algorithm)
}

fn window(flow: &FlowTrace, trace: &Trace) -> Points {
    state(trace, flow, flow.window.iter().copied())
}

fn srtt(flow: &FlowTrace, trace: &Trace) -> Points {
    state(trace, flow, flow.srtt.iter().copied())
}

fn in_flight(flow: &FlowTrace, trace: &Trace) -> Points {
    state(trace, flow, flow.in_flight.iter().map(|packets| *packets as f64))
}

/// A column while the flow is there.
fn state(trace: &Trace, flow: &FlowTrace, values: impl Iterator<Item = f64>) -> Points {
    let life = lifetime(trace, flow);
    let there = trace.at.iter().zip(values).filter(|(at, _)| (life.from..=life.to).contains(*at));
    there.map(|(at, value)| (seconds(*at), value)).unzip()
}

/// Rates over intervals in the flow's life, each at the middle of its interval.
fn goodput(flow: &FlowTrace, trace: &Trace, interval: u64) -> Points {
    let life = lifetime(trace, flow);
    let curve = Curve::new(&trace.at, &flow.delivered);
    let bits = f64::from(flow.payload) * 8.0;
    let starts = (life.from..life.to).step_by(usize::try_from(interval).unwrap_or(usize::MAX));
    let pieces = starts.map(|from| Window { from, to: from.saturating_add(interval) });
    let whole = pieces.filter(|piece| piece.to <= life.to);
    whole.filter_map(|piece| Some((seconds(piece.from + interval / 2), curve.per_second(piece)? * bits))).unzip()
}

/// Flows whose windows and flights one plot can show.
const MOST_FLIGHTS: usize = 4;
/// More inputs and algorithms than this cannot be told apart.
const MOST: usize = 12;
/// The text of a caption about bands.
const BANDS: &str = " Bands: smallest to largest of the flows of an algorithm in an input. Lines: their median.";
/// Pixels.
const HEIGHT: u32 = 210;
/// Pixel columns of a plot.
const COLUMNS: usize = 400;
/// Nanoseconds over which rates are averaged at least.
const SHORTEST: u64 = 200_000_000;
/// Rates of a run at most.
const MOST_INTERVALS: u64 = 300;

#[cfg(test)]
mod tests {
    use cwnd_lab::overlay::Source;

    use super::*;

    /// An input whose flows have these algorithms, each with a trace of its own.
    fn part(label: &str, algorithms: &[&str]) -> Part {
        let trace = |(nth, algorithm): (usize, &&str)| {
            let flow = FlowTrace {
                name: format!("{label}: {nth}"),
                algorithm: (*algorithm).to_string(),
                window: vec![f64::NAN, 1.0, 1.0 + nth as f64].into(),
                delivered: vec![0, 100, 200].into(),
                in_flight: vec![0, 1, 1].into(),
                srtt: vec![f64::NAN, 0.1, 0.1].into(),
                payload: 1000,
                ..FlowTrace::default()
            };
            let at = vec![0, 1_000_000_000, 2_000_000_000 + nth as u64];
            Trace { end: at[2], at: at.into(), flows: vec![flow], ..Trace::default() }
        };
        let traces = algorithms.iter().enumerate().map(trace).collect();
        Part { source: Source::Kernel, ..Part::simulated(label, traces, 0) }
    }

    fn names(parts: &[Part]) -> (Vec<String>, String) {
        let keys = keys(parts);
        let plots = plots(parts, &Palette::new(keys.iter().map(String::as_str)));
        let window = plots.iter().find(|plot| plot.id == "window").expect("there are windows");
        (window.data[0].groups.iter().map(|group| group.texts[0].clone()).collect(), window.caption.clone())
    }

    #[test]
    fn many_flows_are_a_band_for_each_algorithm_of_an_input() {
        let (few, _) = names(&[part("a", &["reno"; 4]), part("b", &["reno"; 4])]);
        assert_eq!(few.len(), 8, "{few:?}");
        let mixed = [["reno"; 5], ["cubic"; 5]].concat();
        let (bands, caption) = names(&[part("a", &mixed), part("b", &["reno"; 9])]);
        assert_eq!(bands, ["a: reno, 5 flows", "a: cubic, 5 flows", "b: reno, 9 flows"]);
        assert!(caption.contains("Bands: smallest to largest") && !caption.contains("Not drawn"), "{caption}");
        // No band is made of one flow each; flows that cannot be distinguished are counted.
        let single: Vec<Part> = (0..15).map(|nth| part(&format!("p{nth}"), &["reno"])).collect();
        let (lines, caption) = names(&single);
        assert_eq!(lines.len(), MOST);
        assert!(caption.contains("Not drawn: 3 flows."), "{caption}");
    }

    #[test]
    fn a_few_flows_have_their_windows_and_flights_in_one_plot() {
        let drawn = |parts: &[Part], id: &str| {
            let keys = keys(parts);
            let plots = plots(parts, &Palette::new(keys.iter().map(String::as_str)));
            let plot = plots.into_iter().find(|plot| plot.id == id)?;
            Some(plot.data[0].groups.iter().map(|group| group.texts[0].clone()).collect::<Vec<_>>())
        };
        let log = Part { knows_delivered: false, ..part("log", &["reno"]) };
        let both = [part("a", &["reno"]), log];
        let names = ["a: a: 0, window", "a: a: 0, in flight", "log: log: 0, window", "log: log: 0, in flight"];
        assert_eq!(drawn(&both, "flight"), Some(names.map(str::to_string).to_vec()));
        assert_eq!(drawn(&both, "goodput"), Some(vec!["a: a: 0".to_string()]), "the log does not tell");
        assert_eq!(drawn(&[part("a", &["reno"; 5])], "flight"), None);
    }
}
