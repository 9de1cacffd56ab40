//! Traffic that nothing controls, and flows that come and go: rates over time, and how long the flows took.

use serde_json::{Value, json};

use super::axis::Axis;
use super::colour;
use super::flows::{MAX_FLOWS, unique};
use super::frame::Frame;
use super::spec::{DataSet, Group, Plot, by_text, number};
use super::time::{middles, whole};
use cwnd_run::measure::Curve;
use cwnd_text::counted;
use cwnd_trace::{Histogram, Trace};

/// The plots of the runs at `index`: none where all its traffic is long flows.
pub(crate) fn plots(frame: &Frame<'_>, index: usize) -> Vec<Plot> {
    let scene = Scene { frame, trace: frame.shown[index].trace, index };
    [scene.cbr(), scene.flow_arrivals(), scene.completion()].into_iter().flatten().collect()
}

struct Scene<'a> {
    frame: &'a Frame<'a>,
    trace: &'a Trace,
    index: usize,
}

/// Something that asks for packets, and gets some through.
struct Stream<'a> {
    name: &'a str,
    colour: String,
    /// Cumulative packets.
    asked: &'a [u64],
    asked_bytes: u32,
    delivered: &'a [u64],
    delivered_bytes: u32,
}

impl Scene<'_> {
    fn cbr(&self) -> Option<Plot> {
        let streams = self.trace.cbr.iter().map(|flow| Stream {
            name: &flow.name,
            colour: "var(--text)".to_string(),
            asked: &flow.sent,
            asked_bytes: flow.packet,
            delivered: &flow.delivered,
            delivered_bytes: flow.packet,
        });
        let caption = "Flows without congestion control, headers included: received rate. Faint: sent rate.";
        self.streams(
            "cbr",
            "Uncontrolled traffic",
            caption,
            ("sent_bps", "delivered_bps"),
            &streams.collect::<Vec<_>>(),
        )
    }

    fn flow_arrivals(&self) -> Option<Plot> {
        let streams = self.trace.flow_arrivals.iter().map(|group| Stream {
            name: &group.name,
            colour: self.frame.palette.variable(&group.algorithm),
            asked: &group.requested,
            asked_bytes: group.payload,
            delivered: &group.delivered,
            delivered_bytes: group.payload,
        });
        let caption =
            "Flows that come and go, together: payload that arrived. Faint: what the admitted flows asked for.";
        self.streams(
            "arrivals",
            "Arriving flows",
            caption,
            ("requested_bps", "goodput_bps"),
            &streams.collect::<Vec<_>>(),
        )
    }

    /// Requested and received rates over time, a line each per stream.
    fn streams(
        &self,
        id: &str,
        title: &str,
        caption: &str,
        (asked, arrived): (&'static str, &'static str),
        streams: &[Stream<'_>],
    ) -> Option<Plot> {
        let interval = self.frame.interval;
        let rate = |packets: &[u64], bytes: u32| -> Option<Vec<f64>> {
            let series = Curve::new(&self.trace.at, packets).series(whole(self.trace), interval)?;
            Some(series.into_iter().map(|packets| packets * 8.0 * f64::from(bytes)).collect())
        };
        // As many streams as there are: those that would be too many lines are drawn together, by what they follow.
        let drawn: Vec<(String, Vec<&Stream<'_>>)> = if streams.len() <= MAX_FLOWS {
            let labels = unique(&streams.iter().map(|stream| stream.name.to_string()).collect::<Vec<_>>());
            labels.into_iter().zip(streams.iter().map(|stream| vec![stream])).collect()
        } else {
            let mut groups: Vec<(String, Vec<&Stream<'_>>)> = Vec::new();
            for stream in streams {
                match groups.iter_mut().find(|(_, known)| known[0].colour == stream.colour) {
                    Some((_, known)) => known.push(stream),
                    None => groups.push((String::new(), vec![stream])),
                }
            }
            groups
                .iter_mut()
                .for_each(|(label, of)| *label = format!("{} and {} more, together", of[0].name, of.len() - 1));
            groups
        };
        let labels: Vec<String> = drawn.iter().map(|(label, _)| label.clone()).collect();
        let groups = drawn.iter().filter_map(|(label, of)| {
            let sum = |one: &dyn Fn(&Stream<'_>) -> Option<Vec<f64>>| {
                let mut all = of.iter().filter_map(|stream| one(stream));
                let first = all.next()?;
                Some(all.fold(first, |sum, one| sum.iter().zip(one).map(|(sum, one)| sum + one).collect()))
            };
            let asked = sum(&|stream| rate(stream.asked, stream.asked_bytes))?;
            let arrived = sum(&|stream| rate(stream.delivered, stream.delivered_bytes))?;
            Some(Group { texts: vec![label.clone()], numbers: vec![middles(asked.len(), interval), asked, arrived] })
        });
        let table = DataSet::new("table", ["flow", "time_s", asked, arrived], groups.collect());
        let largest = table.groups.iter().flat_map(|group| &group.numbers[1..]).flatten().copied().fold(0.0, f64::max);
        let colours: Vec<Value> = drawn.iter().map(|(_, of)| of[0].colour.clone().into()).collect();
        let dashes: Vec<Value> = (0..drawn.len()).map(|nth| json!(colour::dash(nth))).collect();
        let line = |field: &str, opacity: f64| {
            json!({
                "mark": { "type": "line", "strokeWidth": 1.2, "strokeJoin": "round", "opacity": opacity },
                "encoding": {
                    "x": Axis::time(self.frame.end_s).channel(),
                    "y": Axis::bit_rate(field, "Rate").within(0.0, largest.max(1.0)).channel(),
                    "color": by_text("flow", &labels, &colours),
                    "strokeDash": by_text("flow", &labels, &dashes),
                },
            })
        };
        let caption = format!("{caption} Averaged over {} ms.", number(interval as f64 / 1e6));
        self.finish(id, title, &caption, &[line(asked, FAINT), line(arrived, 1.0)], table)
    }

    /// The distribution of completion times, one curve per group and class of size.
    fn completion(&self) -> Option<Plot> {
        let (mut groups, mut colours) = (Vec::new(), Vec::new());
        for group in &self.trace.flow_arrivals {
            let mut above = 0;
            for class in &group.classes {
                let sizes = match class.up_to {
                    u64::MAX => format!("more than {}", counted(above, "packet")),
                    up_to => format!("{} to {up_to} packets", above + 1),
                };
                above = class.up_to;
                if let Some((times, shares)) = distribution(&class.arrived) {
                    let name = format!("{}, {sizes}", group.name);
                    groups.push(Group { texts: vec![name], numbers: vec![times, shares] });
                    colours.push(Value::from(self.frame.palette.variable(&group.algorithm)));
                }
            }
        }
        let labels: Vec<String> = groups.iter().map(|group| group.texts[0].clone()).collect();
        let dashes: Vec<Value> = (0..labels.len()).map(|nth| json!(colour::dash(nth))).collect();
        let table = DataSet::new("table", ["flows", "completion_s", "share"], groups);
        let layer = json!({
            "mark": { "type": "line", "interpolate": "step-after", "strokeWidth": 1.4 },
            "encoding": {
                "x": { "field": "completion_s", "type": "quantitative", "title": "Completion time (s)", "scale": { "type": "log" } },
                "y": Axis::share("share", "Share of flows").within(0.0, 1.0).channel(),
                "color": by_text("flows", &labels, &colours),
                "strokeDash": by_text("flows", &labels, &dashes),
            },
        });
        let caption = "Share of the flows of a size that were complete within this time, from their start to the arrival of the last \
                       packet; those admitted after the warm-up, and complete at the end of the run.";
        self.finish("completion", "Completion times", caption, &[layer], table)
    }

    fn finish(&self, id: &str, title: &str, caption: &str, layers: &[Value], table: DataSet) -> Option<Plot> {
        if table.is_empty() {
            return None;
        }
        let words = (title, self.frame.labels[self.index].as_str(), caption);
        let size = (json!("container"), HEIGHT);
        Some(Plot::new(format!("{id}-{}", self.index + 1), words, size, layers, vec![table]))
    }
}

/// Times in seconds and the share of flows that took no longer, in steps that can be seen; none of no flows.
fn distribution(times: &Histogram) -> Option<(Vec<f64>, Vec<f64>)> {
    let (mut at, mut shares) = (Vec::new(), Vec::new());
    let (mut seen, mut kept) = (0, -1.0);
    for (nanos, count) in times.buckets() {
        seen += count;
        let share = seen as f64 / times.count() as f64;
        if nanos > 0 && (share - kept >= STEP || seen == times.count()) {
            at.push(nanos as f64 / 1e9);
            shares.push(share);
            kept = share;
        }
    }
    (!at.is_empty()).then_some((at, shares))
}

/// Pixels, as the adjacent plots.
const HEIGHT: u32 = 210;
/// The opacity of requested rates, which are drawn behind the received ones.
const FAINT: f64 = 0.35;
/// Steps finer than this cannot be seen at this height.
const STEP: f64 = 1.0 / 200.0;
