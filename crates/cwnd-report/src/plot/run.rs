//! Plots of one run: columns over time, rates, fairness, distributions, the phase plane.

use cwnd_run::measure::{
    SHORT_INTERVAL, Window, goodput_series, goodputs_over_time, is_there, jain, mean_capacity, stages,
    utilisation_series,
};
use cwnd_trace::{LinkTrace, Trace};

use super::axis::Axis;
use super::colour;
use super::column::Column;
use super::error::PlotError;
use super::flows::{DrawnFlow, drawn, few};
use super::lines::{Line, Lines, Rule};
use super::phase::Phase;
use super::time::{coarsest_sampling, middles, seconds, whole};

/// Plots of one run, in the colours of the light theme. Flows are named as in the scenario; where none are named, up to eight are drawn,
/// the same number of each algorithm.
#[derive(Clone, Copy, Debug)]
pub struct RunPlots<'a> {
    trace: &'a Trace,
    bottleneck: usize,
}

impl<'a> RunPlots<'a> {
    /// Plots of `trace`, whose link at index `bottleneck` is the one to show.
    #[must_use]
    pub const fn new(trace: &'a Trace, bottleneck: usize) -> Self {
        Self { trace, bottleneck }
    }

    /// A column of the traces over time: of each flow, internals of algorithms included, or of the bottleneck.
    ///
    /// # Errors
    /// There is no such column or flow, or the column holds text.
    pub fn series(&self, column: &str, flows: Option<&[String]>) -> Result<Lines, PlotError> {
        self.column(column, &self.chosen(flows)?)
    }

    /// The goodput of each flow, averaged over intervals of `interval` seconds, with the rate of the bottleneck.
    ///
    /// # Errors
    /// There is no such flow, or the samples are too far apart for the interval.
    pub fn goodput(&self, interval: Option<f64>, flows: Option<&[String]>) -> Result<Lines, PlotError> {
        Ok(self.goodput_of(&self.chosen(flows)?, self.interval(interval)?))
    }

    /// The used share of the bottleneck's rate, over intervals of `interval` seconds.
    ///
    /// # Errors
    /// The bottleneck has no rate, or the samples are too far apart for the interval.
    pub fn utilisation(&self, interval: Option<f64>) -> Result<Lines, PlotError> {
        self.utilisation_over(self.interval(interval)?).ok_or(PlotError::NoRate)
    }

    /// Jain's index of the goodputs of the present flows, each over its life, in intervals of `interval` seconds.
    ///
    /// # Errors
    /// The samples are too far apart for the interval.
    pub fn fairness(&self, interval: f64) -> Result<Lines, PlotError> {
        let interval = self.interval(Some(interval))?;
        let rates = goodputs_over_time(self.trace, whole(self.trace), interval).unwrap_or_default();
        let line = Line {
            name: "Jain's index".to_string(),
            colour: colour::neutral(),
            dash: colour::dash(0),
            x: middles(rates.len(), interval),
            y: rates.iter().map(|rates| jain(rates).unwrap_or(f64::NAN)).collect(),
        };
        let mut lines = self.over_time("Fairness", Axis::new("jain", "Jain's index").within(0.0, 1.05), vec![line]);
        let most = rates.iter().map(Vec::len).max().unwrap_or(0);
        let least = 1.0 / most.max(1) as f64;
        lines.rules.push(Rule { at: least, name: "one flow has everything".to_string() });
        Ok(lines)
    }

    /// The distribution of a column over the sampled instants after the warm-up; of `goodput_bps`, over averages.
    ///
    /// # Errors
    /// There is no such column or flow, the column holds text, or no number.
    pub fn cdf(&self, column: &str, flows: Option<&[String]>) -> Result<Lines, PlotError> {
        let found = if column == "goodput_bps" { self.goodput(None, flows)? } else { self.series(column, flows)? };
        let from = seconds(self.trace.warmup);
        let mut lines = found.lines;
        for line in &mut lines {
            let pairs = line.x.iter().zip(&line.y).filter(|(at, value)| **at >= from && value.is_finite());
            *line = line.distribution_of(pairs.map(|(_, value)| *value).collect());
        }
        if lines.iter().all(|line| line.x.is_empty()) {
            return Err(PlotError::Empty(column.to_string()));
        }
        Ok(distributions(Axis { domain: None, ..found.y }, lines))
    }

    /// The goodput of one flow against that of another; of the first and the first of another algorithm where none are named.
    ///
    /// # Errors
    /// The run has one flow or none of the name, or the samples are too far apart for the interval.
    pub fn phase(&self, flows: Option<[&str; 2]>, interval: Option<f64>) -> Result<Phase, PlotError> {
        let pair = match flows {
            Some([first, second]) => (self.flow(first)?, self.flow(second)?),
            None => Phase::flows(self.trace).ok_or(PlotError::OneFlow)?,
        };
        let interval = self.interval(interval)?;
        let phase = Phase::of(self.trace, pair, interval, self.bottleneck, self.colour());
        let mut phase = phase.ok_or(PlotError::OneFlow)?;
        for (axis, flow) in [(&mut phase.x, pair.0), (&mut phase.y, pair.1)] {
            axis.title = format!("Goodput of {} (Mbit/s)", self.trace.flows[flow].name);
        }
        Ok(phase)
    }

    /// A column over time, of flows as they are drawn, or of the bottleneck.
    pub(crate) fn column(&self, name: &str, flows: &[DrawnFlow]) -> Result<Lines, PlotError> {
        let column = Column::named(self.trace, name)?;
        let at: Vec<f64> = self.trace.at.iter().map(|at| seconds(*at)).collect();
        let axis = Axis::of_column(name);
        let title = axis.words().to_string();
        if let Column::Link(of) = column {
            let values = self.bottleneck().map(|link| of(link).iter().map(|count| *count as f64).collect());
            let lines = values.into_iter().map(|values| self.of_link(at.clone(), values)).collect();
            return Ok(Lines { series: "link", ..self.over_time(title, axis, lines) });
        }
        let values = |flow: &DrawnFlow| {
            let flow = &self.trace.flows[flow.index];
            let mut values = column.of_flow(flow)?;
            if column.is_state() {
                let stages: Vec<Window> = stages(self.trace, flow, whole(self.trace)).collect();
                let there = |at: u64| {
                    let begun = stages.partition_point(|stage| stage.from <= at);
                    stages[..begun].last().is_some_and(|stage| at <= stage.to)
                };
                let apart = self.trace.at.iter().zip(&mut values).filter(|(at, _)| !there(**at));
                apart.for_each(|(_, value)| *value = f64::NAN);
            }
            Some(values)
        };
        let lines = flows.iter().filter_map(|flow| Some(flow.line(at.clone(), finite(values(flow)?))));
        Ok(self.over_time(title, axis, lines.collect()))
    }

    /// Goodputs of flows as they are drawn, averaged over `interval` nanoseconds.
    pub(crate) fn goodput_of(&self, flows: &[DrawnFlow], interval: u64) -> Lines {
        let line = |flow: &DrawnFlow| {
            let rates = self.rates(flow.index, interval)?;
            Some(flow.line(middles(rates.len(), interval), rates))
        };
        let lines: Vec<Line> = flows.iter().filter_map(line).collect();
        let rate = self.bottleneck().and_then(|link| mean_capacity(self.trace, link, whole(self.trace)));
        let largest = lines.iter().flat_map(|line| &line.y).copied().fold(rate.unwrap_or(0.0), f64::max);
        let axis = Axis::bit_rate("goodput_bps", "Goodput").within(0.0, 1.05 * largest);
        let mut lines = self.over_time("Goodput", axis, lines);
        lines.rules.extend(rate.map(|at| Rule { at, name: "rate of the bottleneck".to_string() }));
        lines
    }

    /// The utilisation of the bottleneck, averaged over `interval` nanoseconds; none of a link of pure delay.
    pub(crate) fn utilisation_over(&self, interval: u64) -> Option<Lines> {
        let shares = utilisation_series(self.trace, self.bottleneck()?, whole(self.trace), interval)?;
        let line = self.of_link(middles(shares.len(), interval), shares);
        let axis = Axis::of_column("utilisation").within(0.0, 1.05);
        Some(Lines { series: "link", ..self.over_time("Utilisation", axis, vec![line]) })
    }

    /// The link that is shown.
    pub(crate) fn bottleneck(&self) -> Option<&'a LinkTrace> {
        self.trace.links.get(self.bottleneck)
    }

    fn over_time(&self, title: impl Into<String>, y: Axis, lines: Vec<Line>) -> Lines {
        let mut lines = Lines::new(title, Axis::time(seconds(self.trace.end)), y, lines);
        lines.warmup = seconds(self.trace.warmup);
        lines
    }

    fn of_link(&self, x: Vec<f64>, y: Vec<f64>) -> Line {
        let name = self.bottleneck().map_or_else(String::new, |link| link.name.clone());
        Line { name, colour: colour::neutral(), dash: colour::dash(0), x, y }
    }

    fn rates(&self, flow: usize, interval: u64) -> Option<Vec<f64>> {
        let flow = &self.trace.flows[flow];
        let mut rates = goodput_series(self.trace, flow, whole(self.trace), interval)?;
        // A flow has no rate where it is not there at all.
        for (from, rate) in (0..).map(|k| k * interval).zip(&mut rates) {
            if !is_there(self.trace, flow, Window { from, to: from + interval }) {
                *rate = f64::NAN;
            }
        }
        Some(rates)
    }

    /// The colour of a pair of flows: that of the first flow.
    fn colour(&self) -> String {
        self.trace.flows.first().map_or_else(colour::neutral, |flow| colour::of(&flow.algorithm).light)
    }

    fn chosen(&self, flows: Option<&[String]>) -> Result<Vec<DrawnFlow>, PlotError> {
        let indices = match flows {
            Some(names) => names.iter().map(|name| self.flow(name)).collect::<Result<_, _>>()?,
            None => few(self.trace),
        };
        Ok(drawn(self.trace, &indices, |algorithm| colour::of(algorithm).light))
    }

    fn flow(&self, name: &str) -> Result<usize, PlotError> {
        self.trace.flows.iter().position(|flow| flow.name == name).ok_or_else(|| {
            let known: Vec<String> = self.trace.flows.iter().map(|flow| format!("`{}`", flow.name)).collect();
            PlotError::Flow { name: name.to_string(), known: known.join(", ") }
        })
    }

    /// The requested interval, nanoseconds; by default no finer than a round trip, than samples, or than the resolution of the plot.
    fn interval(&self, asked: Option<f64>) -> Result<u64, PlotError> {
        let finest = coarsest_sampling(self.trace);
        let Some(given) = asked else {
            let longest = self.trace.flows.iter().map(|flow| flow.base_rtt).max().unwrap_or(0);
            return Ok(SHORT_INTERVAL.max(longest).max(finest).max(self.trace.end / MAX_INTERVALS));
        };
        let nanos = (given * 1e9).round();
        if (finest as f64..=self.trace.end as f64).contains(&nanos) && nanos > 0.0 {
            Ok(nanos as u64)
        } else {
            Err(PlotError::Interval { finest: seconds(finest), duration: seconds(self.trace.end), given })
        }
    }
}

impl DrawnFlow {
    fn line(&self, x: Vec<f64>, y: Vec<f64>) -> Line {
        Line { name: self.label.clone(), colour: self.colour.clone(), dash: self.dash, x, y }
    }
}

impl Line {
    /// The distribution of `values`: each, in order, and the share of values up to it.
    pub(crate) fn distribution_of(&self, mut values: Vec<f64>) -> Self {
        values.sort_unstable_by(f64::total_cmp);
        let count = values.len() as f64;
        let y = (1..=values.len()).map(|nth| nth as f64 / count).collect();
        Self { x: values, y, ..self.clone() }
    }
}

/// Distributions over a column.
pub(crate) fn distributions(x: Axis, lines: Vec<Line>) -> Lines {
    let title = format!("Distribution of {}", x.words().to_lowercase());
    let mut lines = Lines::new(title, x, Axis::new("share", "Share of samples").within(0.0, 1.0), lines);
    lines.steps = true;
    lines
}

/// A threshold that is infinite at first has no place on an axis.
fn finite(values: Vec<f64>) -> Vec<f64> {
    values.into_iter().map(|value| if value.is_finite() { value } else { f64::NAN }).collect()
}

/// More points than this along an axis cannot be seen.
const MAX_INTERVALS: u64 = 800;

#[cfg(test)]
mod tests {
    use cwnd_trace::FlowTrace;

    use super::*;

    /// Two flows of 300 and 100 packets/s on a link of 4 Mbit/s, sampled every 100 ms for 4 s.
    fn trace() -> Trace {
        let flow = |name: &str, algorithm: &str, each: u64| FlowTrace {
            name: name.to_string(),
            algorithm: algorithm.to_string(),
            packet: 1250,
            payload: 1000,
            delivered: (0..=40).map(|k| k * each).collect(),
            window: (0..=40).map(f64::from).collect(),
            ..FlowTrace::default()
        };
        let link = LinkTrace {
            name: "bottleneck".to_string(),
            rate: Some(4_000_000),
            carried_bytes: (0..=40).map(|k| k * 40 * 1250).collect(),
            queue_packets: vec![3; 41].into(),
            ..LinkTrace::default()
        };
        Trace {
            at: (0..=40).map(|k| k * 100_000_000).collect(),
            warmup: 1_000_000_000,
            end: 4_000_000_000,
            flows: vec![flow("reno", "reno", 30), flow("simd", "simd", 10)],
            links: vec![link],
            ..Trace::default()
        }
    }

    #[test]
    fn columns_and_rates_are_those_of_the_trace() {
        let trace = trace();
        let run = RunPlots::new(&trace, 0);
        let window = run.series("window_packets", Some(&["simd".to_string()])).expect("a column");
        assert_eq!(window.lines[0].y, trace.flows[1].window[..]);
        assert_eq!((window.title.as_str(), window.warmup, window.lines.len()), ("Window", 1.0, 1));
        let queue = run.series("queue_packets", None).expect("a column");
        assert_eq!((queue.lines[0].name.as_str(), queue.lines[0].y[7]), ("bottleneck", 3.0));
        assert_eq!(queue.lines[0].colour, "#59616b", "it belongs to no flow");
        let goodput = run.goodput(Some(0.5), None).expect("rates");
        assert!(goodput.lines[0].y.iter().all(|rate| (rate - 2.4e6).abs() < 1.0), "{:?}", goodput.lines[0].y);
        assert_eq!((goodput.lines[0].x[0], goodput.rules[0].at), (0.25, 4e6));
        let fairness = run.fairness(1.0).expect("an index");
        assert!(fairness.lines[0].y.iter().all(|index| (index - 0.8).abs() < 1e-9));
        assert_eq!((fairness.lines[0].y.len(), fairness.rules[0].at), (4, 0.5));
        let utilisation = run.utilisation(None).expect("shares");
        assert!(utilisation.lines[0].y.iter().all(|share| (share - 1.0).abs() < 1e-9));
    }

    #[test]
    fn flows_that_are_not_there_yet_do_not_starve() {
        // Four flows that start a second apart and share 400 packets/s evenly.
        let mut trace = trace();
        let total = |from: u64, k: u64| (from * 10..k).map(|at| 40 / (at / 10 + 1).min(4)).sum::<u64>();
        trace.flows = (0..4)
            .map(|from| FlowTrace {
                name: format!("from {from} s"),
                start: from * 1_000_000_000,
                payload: 1000,
                delivered: (0..=40).map(|k| total(from, k)).collect(),
                window: vec![4.0; 41].into(),
                ..FlowTrace::default()
            })
            .collect();
        let run = RunPlots::new(&trace, 0);
        let fairness = run.fairness(1.0).expect("an index");
        assert!(fairness.lines[0].y.iter().all(|index| (index - 1.0).abs() < 1e-9), "{:?}", fairness.lines[0].y);
        assert_eq!((fairness.lines[0].y.len(), fairness.rules[0].at), (4, 0.25));
        let goodput = run.goodput(Some(1.0), None).expect("rates");
        let absent: Vec<usize> =
            goodput.lines.iter().map(|line| line.y.iter().filter(|rate| rate.is_nan()).count()).collect();
        assert_eq!(absent, [0, 1, 2, 3]);
        let window = run.cdf("window_packets", None).expect("numbers");
        // From 1, 1, 2 and 3 s on, every tenth of a second.
        assert_eq!(window.lines.iter().map(|line| line.x.len()).collect::<Vec<_>>(), [31, 31, 21, 11]);
    }

    #[test]
    fn a_distribution_has_every_sample_after_the_warm_up() {
        let trace = trace();
        let cdf = RunPlots::new(&trace, 0).cdf("window_packets", None).expect("numbers");
        let line = &cdf.lines[0];
        assert_eq!((line.x[0], line.x.len(), line.y[30]), (10.0, 31, 1.0));
        assert!(cdf.steps && cdf.title == "Distribution of window");
    }

    #[test]
    fn errors_name_what_there_is() {
        let trace = trace();
        let run = RunPlots::new(&trace, 0);
        let message = |result: Result<Lines, PlotError>| result.expect_err("refused").to_string();
        assert!(
            message(run.series("windows", None))
                .starts_with("column: no `windows` in the traces, which have sent_packets, ")
        );
        assert_eq!(message(run.series("algorithm", None)), "column: `algorithm` is text");
        let cubic = ["cubic".to_string()];
        assert_eq!(message(run.goodput(None, Some(&cubic))), "flows: no `cubic`, expected some of `reno`, `simd`");
        assert_eq!(message(run.fairness(0.01)), "interval: expected 0.1 to 4 seconds, got 0.01");
        assert_eq!(message(run.cdf("srtt_s", None)), "column: `srtt_s` has no numbers after the warm-up");
    }

    #[test]
    fn the_phase_plane_sets_two_flows_against_each_other() {
        let trace = trace();
        let phase = RunPlots::new(&trace, 0).phase(None, Some(1.0)).expect("two flows");
        assert!((phase.first_bps[3] - 2.4e6).abs() < 1.0 && (phase.second_bps[3] - 0.8e6).abs() < 1.0);
        assert_eq!((phase.full_bps, phase.x.title.as_str()), (Some(3.2e6), "Goodput of reno (Mbit/s)"));
        let spec = phase.plot("phase").specification();
        assert_eq!(spec["datasets"]["table"].as_array().map(Vec::len), Some(4));
        assert!(!spec.to_string().contains("var("));
    }
}
