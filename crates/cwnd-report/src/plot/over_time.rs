//! Window, rate, queue, round-trip time and utilisation over time, and the phase plane, of one section of the page.

use cwnd_trace::Trace;
use serde_json::{Value, json};

use super::axis::Axis;
use super::bands::{self, Band};
use super::downsample::extremes;
use super::flows::{DrawnFlow, by_algorithm, many, mixed};
use super::frame::Frame;
use super::lines::Lines;
use super::phase::Phase;
use super::run::RunPlots;
use super::spec::{DataSet, Group, Plot, number};
use super::time::{rises, seconds};

/// The plots of the runs at `index`, in the order of the page.
pub(crate) fn plots(frame: &Frame<'_>, index: usize) -> Vec<Plot> {
    let trace = frame.shown[index].trace;
    let drawn = if many(trace) { frame.all(index) } else { frame.drawn(index) };
    let scene = Scene { frame, trace, run: RunPlots::new(trace, frame.bottleneck), drawn, index };
    let plots = [scene.window(), scene.rate(), scene.queue(), scene.rtt(), scene.utilisation(), scene.phase()];
    plots.into_iter().flatten().collect()
}

struct Scene<'a> {
    frame: &'a Frame<'a>,
    trace: &'a Trace,
    run: RunPlots<'a>,
    drawn: Vec<DrawnFlow>,
    index: usize,
}

impl Scene<'_> {
    fn window(&self) -> Option<Plot> {
        let lines = self.column("window_packets")?;
        let timeouts = self.timeouts();
        let mut caption = format!("Packets the algorithm allows in flight.{}", self.common());
        let mut events = Vec::new();
        if !timeouts.is_empty() {
            caption.push_str(" Crosses below the line: retransmission timeouts.");
            events.push(self.events("timeouts", "cross", "var(--drop)", "bottom"));
        }
        self.finish("window", "Window", &caption, &lines, (events, vec![timeouts]))
    }

    fn rate(&self) -> Option<Plot> {
        let mut lines = self.run.goodput_of(&self.drawn, self.frame.interval);
        // Each of many flows has so little of the rate that it would lie along the axis.
        let least = if many(self.trace) { 1.0 } else { self.frame.rate };
        let largest = lines.lines.iter().flat_map(|line| &line.y).copied().fold(least, f64::max);
        if many(self.trace) {
            lines.rules.clear();
        }
        lines.y = lines.y.within(0.0, largest);
        let mut caption =
            format!("Goodput: payload delivered for the first time, averaged over {}.{}", self.millis(), self.common());
        if !lines.rules.is_empty() {
            caption.push_str(" Horizontal rule: rate of the bottleneck.");
        }
        self.finish("rate", "Rate", &caption, &lines, Default::default())
    }

    fn queue(&self) -> Option<Plot> {
        let link = self.run.bottleneck()?;
        let mut lines = self.column("queue_packets")?;
        lines.y = lines.y.within(0.0, self.frame.queue.max(1.0) * 1.15);
        lines.lines[0].colour = self.frame.colour(self.index);
        let event = |name, column, values: &[u64]| {
            let (times, counts) = rises(self.trace, values, self.frame.columns);
            DataSet::new(name, ["time_s", column], vec![Group { texts: vec![], numbers: vec![times, counts] }])
        };
        let drops = event("drops", "dropped_packets", &link.dropped);
        let losses = event("losses", "lost_packets", &link.lost);
        let marks = event("marks", "marked_packets", &link.marked);

        let mut caption = format!("Packets waiting at the bottleneck.{}", self.shading());
        let mut events = Vec::new();
        for (data, shape, colour, words) in [
            (&drops, "triangle-down", "var(--drop)", "Triangles at the top: packets dropped by the queue."),
            (&losses, "cross", "var(--drop)", "Crosses at the top: packets lost at random."),
            (&marks, "circle", "var(--mark)", "Dots at the top: packets marked."),
        ] {
            if !data.is_empty() {
                caption.push(' ');
                caption.push_str(words);
                events.push(self.events(data.name, shape, colour, "top"));
            }
        }
        self.finish("queue", "Queue", &caption, &lines, (events, vec![drops, losses, marks]))
    }

    fn rtt(&self) -> Option<Plot> {
        let mut lines = self.column("srtt_s")?;
        lines.y = lines.y.within(0.0, self.frame.rtt * 1.05);
        let caption = format!("Smoothed round-trip time as the sender sees it.{}", self.common());
        self.finish("rtt", "Round-trip time", &caption, &lines, Default::default())
    }

    fn utilisation(&self) -> Option<Plot> {
        let mut lines = self.run.utilisation_over(self.frame.interval)?;
        lines.lines[0].colour = self.frame.colour(self.index);
        let caption =
            format!("Share of the bottleneck’s capacity that was carried, over {}.{}", self.millis(), self.shading());
        self.finish("utilisation", "Utilisation", &caption, &lines, Default::default())
    }

    fn phase(&self) -> Option<Plot> {
        // Two of many flows say little of all, and lie in a corner.
        let pair = Phase::flows(self.trace).filter(|_| !many(self.trace))?;
        let (interval, colour) = (self.frame.interval, self.frame.colour(self.index));
        let phase = Phase::of(self.trace, pair, interval, self.frame.bottleneck, colour)?;
        let name =
            |flow: usize| self.drawn.iter().find(|drawn| drawn.index == flow).map_or("", |drawn| drawn.label.as_str());
        let mut caption = format!(
            "Goodput of {} (x₁) against that of {} (x₂), averaged over {}; later points are stronger, the ring is the end. \
             Dashed: max-min fair shares.",
            name(pair.0),
            name(pair.1),
            self.millis()
        );
        if phase.full_bps.is_some() {
            caption.push_str(" Dotted: the bottleneck is full.");
        }
        let words = ("Phase plane", self.frame.labels[self.index].as_str(), caption.as_str());
        Some(phase.captioned(format!("phase-{}", self.index + 1), words))
    }

    /// A column of the trace at the resolution of the page.
    fn column(&self, name: &str) -> Option<Lines> {
        let mut lines = self.run.column(name, &self.drawn).ok()?;
        if lines.series == "flow" && many(self.trace) {
            return Some(lines);
        }
        for line in &mut lines.lines {
            let kept = extremes(&line.x, &line.y, self.frame.columns);
            let pick = |from: &[f64]| kept.iter().map(|index| from[*index]).collect();
            (line.x, line.y) = (pick(&line.x), pick(&line.y));
        }
        (!lines.lines.is_empty()).then_some(lines)
    }

    fn timeouts(&self) -> DataSet {
        let of = |label: &str, flows: &[usize]| {
            let all = flows.iter().map(|flow| &self.trace.flows[*flow].timeouts);
            let mut sum = vec![0; self.trace.at.len()];
            for counts in all {
                sum.iter_mut().zip(counts.iter()).for_each(|(sum, count)| *sum += count);
            }
            let (times, counts) = rises(self.trace, &sum, self.frame.columns);
            Group { texts: vec![label.to_string()], numbers: vec![times, counts] }
        };
        let groups = match many(self.trace) {
            true => by_algorithm(self.trace).iter().map(|(algorithm, flows)| of(algorithm, flows)).collect(),
            false => self.drawn.iter().map(|flow| of(&flow.label, &[flow.index])).collect(),
        };
        DataSet::new("timeouts", ["flow", "time_s", "timeouts"], groups)
    }

    /// The lines of many flows as a band for each algorithm.
    fn bands(&self, lines: &Lines) -> Vec<Band> {
        let groups = by_algorithm(self.trace).into_iter().filter_map(|(algorithm, flows)| {
            let known = self.drawn.iter().zip(&lines.lines).filter(|(flow, _)| flows.contains(&flow.index));
            let own: Vec<_> = known.map(|(_, line)| line.clone()).collect();
            let colour = match mixed(self.trace) {
                true => self.frame.palette.variable(algorithm),
                false => self.frame.colour(self.index),
            };
            Band::of(algorithm, colour, &own, self.frame.columns)
        });
        groups.collect()
    }

    /// A symbol along the upper or lower edge wherever the data set `name` has a row.
    fn events(&self, name: &str, shape: &str, colour: &str, edge: &str) -> Value {
        let y = if edge == "top" { json!(5) } else { json!({ "expr": "height - 5" }) };
        json!({
            "data": { "name": name },
            "mark": { "type": "point", "shape": shape, "filled": true, "size": 22, "opacity": 1, "color": colour, "tooltip": { "content": "data" } },
            "encoding": { "x": Axis::time(self.frame.end_s).channel(), "y": { "value": y } },
        })
    }

    /// The interval of averages, as a caption says it.
    fn millis(&self) -> String {
        format!("{} ms", number(seconds(self.frame.interval) * 1e3))
    }

    fn common(&self) -> String {
        format!("{}{}", if many(self.trace) { bands::CAPTION } else { "" }, self.shading())
    }

    fn shading(&self) -> &'static str {
        if self.trace.warmup > 0 { " Shaded: warm-up." } else { "" }
    }

    /// The lines with marks of events over them; none where there is nothing to draw.
    fn finish(
        &self,
        id: &str,
        title: &str,
        caption: &str,
        lines: &Lines,
        (events, more): (Vec<Value>, Vec<DataSet>),
    ) -> Option<Plot> {
        let lines = Lines { x: Axis::time(self.frame.end_s), ..lines.clone() };
        let (layers, data) = match lines.series == "flow" && many(self.trace) {
            true => bands::layers(&lines, &self.bands(&lines)),
            false => (lines.layers(), lines.data()),
        };
        if data.is_empty() {
            return None;
        }
        let layers = [layers, events].concat();
        let data = std::iter::once(data).chain(more.into_iter().filter(|data| !data.is_empty())).collect();
        let words = (title, self.frame.labels[self.index].as_str(), caption);
        Some(Plot::new(format!("{id}-{}", self.index + 1), words, ("container".into(), HEIGHT), &layers, data))
    }
}

/// Pixels; low enough for four plots on a screen.
const HEIGHT: u32 = 210;
