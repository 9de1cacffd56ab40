//! Two flows, round trip by round trip, after the warm-up.

use cwnd_trace::{FlowTrace, LinkTrace, Trace};

use super::Reduction;

/// Windows of the first two flows as means over one round trip each, and when each link first refused a packet.
pub(super) fn rounds(trace: &Trace) -> Reduction {
    let mut kept = Reduction::default();
    let [first, second, ..] = trace.flows.as_slice() else { return kept };
    let flows = [first, second];
    let clock = Clock::new(trace, flows);
    let warmed_up = trace.at.partition_point(|at| *at < trace.warmup);
    let last_before = (0..warmed_up).rev().take_while(|sample| clock.since_warmup(*sample) > -1.0);
    let before = Means::over(last_before, flows);
    kept.keep("window_before", before.all().map(|means| means.to_vec()).unwrap_or_default());
    let mut means = Means::default();
    let mut windows: [Vec<f64>; 2] = Default::default();
    for sample in warmed_up..trace.at.len() {
        if clock.since_warmup(sample) >= (windows[0].len() + 1) as f64 {
            let all = means.all().unwrap_or([f64::NAN; 2]);
            windows.iter_mut().zip(all).for_each(|(column, mean)| column.push(mean));
            means = Means::default();
        }
        means.add(sample, flows);
    }
    for (name, column) in ["window_1", "window_2"].into_iter().zip(windows) {
        kept.keep(name, column);
    }
    let first_drop = |link: &LinkTrace| {
        let before = link.dropped[warmed_up];
        let dropped = (warmed_up..trace.at.len()).find(|sample| link.dropped[*sample] > before);
        dropped.map_or(f64::INFINITY, |sample| clock.since_warmup(sample))
    };
    kept.keep("link_first_drop_round", trace.links.iter().map(first_drop));
    kept
}

/// Counts round trips, fractions included, by the mean of two smoothed round-trip times.
struct Clock {
    /// Round trips since the first sample.
    passed: Vec<f64>,
    /// Those at the end of the warm-up.
    warmup: f64,
}

impl Clock {
    fn new(trace: &Trace, flows: [&FlowTrace; 2]) -> Self {
        let mut passed = Vec::with_capacity(trace.at.len());
        let (mut rounds, mut last) = (0.0, trace.at.first().copied().unwrap_or(0));
        for (sample, at) in trace.at.iter().enumerate() {
            let rtt = (flows[0].srtt[sample] + flows[1].srtt[sample]) / 2.0;
            // Before the first round trip is measured none is counted.
            if rtt > 0.0 {
                rounds += (at - last) as f64 / 1e9 / rtt;
            }
            last = *at;
            passed.push(rounds);
        }
        let warmup = trace.at.partition_point(|at| *at < trace.warmup);
        Self { warmup: passed.get(warmup).copied().unwrap_or(rounds), passed }
    }

    fn since_warmup(&self, sample: usize) -> f64 {
        self.passed[sample] - self.warmup
    }
}

/// Sums of two windows.
#[derive(Default)]
struct Means {
    sums: [f64; 2],
    count: u32,
}

impl Means {
    fn over(samples: impl Iterator<Item = usize>, flows: [&FlowTrace; 2]) -> Self {
        let mut means = Self::default();
        samples.for_each(|sample| means.add(sample, flows));
        means
    }

    fn add(&mut self, sample: usize, flows: [&FlowTrace; 2]) {
        self.sums.iter_mut().zip(flows).for_each(|(sum, flow)| *sum += flow.window[sample]);
        self.count += 1;
    }

    fn all(&self) -> Option<[f64; 2]> {
        (self.count > 0).then(|| self.sums.map(|sum| sum / f64::from(self.count)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TENTH: u64 = 100_000_000;

    #[test]
    fn windows_are_means_over_round_trips_of_both_flows() {
        let flow = |window: Vec<f64>, srtt: f64| FlowTrace {
            window: window.into(),
            srtt: vec![srtt; 9].into(),
            ..FlowTrace::default()
        };
        let first = flow(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0], 0.1);
        let second = flow(vec![9.0, 9.0, 9.0, 9.0, 1.0, 3.0, 5.0, 7.0, 9.0], 0.3);
        let links = vec![
            LinkTrace { dropped: vec![0, 1, 2, 3, 4, 4, 4, 5, 5].into(), ..LinkTrace::default() },
            LinkTrace { dropped: vec![7; 9].into(), ..LinkTrace::default() },
        ];
        let trace = Trace {
            at: (0..9).map(|k| k * TENTH).collect(),
            warmup: 4 * TENTH,
            end: 8 * TENTH,
            flows: vec![first, second],
            links,
            ..Trace::default()
        };
        // A round trip is 0.2 s, two samples; the last one is not complete.
        let kept = rounds(&trace);
        assert_eq!(kept.all("window_before"), [4.0, 9.0]);
        assert_eq!(kept.all("window_1"), [5.5, 7.5]);
        assert_eq!(kept.all("window_2"), [2.0, 6.0]);
        assert_eq!(kept.all("link_first_drop_round"), [1.5, f64::INFINITY]);
    }

    #[test]
    fn of_one_flow_nothing_is_kept() {
        assert_eq!(rounds(&Trace { flows: vec![FlowTrace::default()], ..Trace::default() }), Reduction::default());
    }
}
