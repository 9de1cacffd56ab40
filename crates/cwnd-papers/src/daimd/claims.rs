//! Claims of the text about steps, TCP, and other algorithms: sections I, II, III, V and VIII.

use cwnd::estimate::RttEstimator;
use cwnd::host::{Facts, Moment};
use cwnd::rate::daimd::{Alpha, Increase};
use cwnd::rate::udt::increase;
use cwnd::signal::Congestion;
use cwnd::units::{BitRate, Rate, Time};
use cwnd::{CongestionControl as _, Packets, Span, Start};
use cwnd_model::fluid;
use cwnd_model::friendly::tcp_recovery_time;
use cwnd_model::rounds::{Setup, run};
use cwnd_model::udt::{is_friendly, stage, tcp_friendliness};

use super::PACKET;
use crate::model::{flows, registered};
use crate::{Bench, Computed, Findings, MaxError, Result};
use cwnd_run::measure::jain;
use cwnd_run::probe::{Probe, Reduction};

pub(super) fn tcp_recovery(_: &Bench<'_>, findings: &mut Findings) -> Result {
    for (name, rate) in [("1 Gbit/s", 1e9), ("10 Gbit/s", 1e10)] {
        for payload in [1472.0, 1500.0] {
            let minutes = tcp_recovery_time(rate, 0.2, payload) / 60.0;
            findings.value(format!("{name}, packets that carry {payload} bytes"), minutes);
        }
    }
    Ok(())
}

pub(super) fn friendliness(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let capacities = (-30..=30).map(|n| 1e8 * libm::pow(10.0, f64::from(n) / 10.0));
    let broken = capacities.filter(|l| (stage(*l, 0, PACKET).increase >= 1.0 - ROUNDING) != (*l > 1e8));
    findings
        .value("capacities where alpha_0 >= 1 packet and L <= 100 Mbit/s, or neither, of 61", broken.count() as f64);
    let mut largest: f64 = 0.0;
    for e in 6..=11 {
        for l in [libm::pow(10.0, f64::from(e)), libm::pow(10.0, f64::from(e - 1)) * (1.0 + 1e-6)] {
            let friendly =
                (0..=600).map(|n| 1e-6 * libm::pow(10.0, f64::from(n) / 100.0)).filter(|rtt| is_friendly(l, *rtt));
            largest = friendly.map(|rtt| tcp_friendliness(l, 0, rtt)).fold(largest, f64::max);
        }
    }
    findings.value("eq. 20 holds: largest TF of stage 0, on 10^e and 10^(e-1) (1 + 1e-6)", largest);
    for (name, l, rtt, k) in [
        ("L = 1 Gbit/s, RTT 100 ms, k = 0", 1e9, 0.1, 0),
        ("L = 1 Gbit/s, RTT 100 ms, k = 1", 1e9, 0.1, 1),
        ("L = 100 Mbit/s, RTT 100 ms, k = 0", 1e8, 0.1, 0),
        ("L = 100 Mbit/s, RTT 10 ms, k = 0", 1e8, 0.01, 0),
    ] {
        findings.value(format!("TF: {name}"), tcp_friendliness(l, k, rtt));
    }
    Ok(())
}

const ROUNDING: f64 = 1e-9;

pub(super) fn fairness_index(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let power = Alpha::parse(POWER, PACKET).expect("an increase as the registry reads it");
    let eq8 = |x: f64| increase(BitRate(CAPACITY - Rate(x).to_bits(PACKET).0), PACKET) / cwnd::rate::udt::SYN;
    let mut cut = MaxError::default();
    let (mut least, mut stuck, mut least_eq8) = (f64::INFINITY, 0, f64::INFINITY);
    for rates in draws() {
        let change = |step: &dyn Fn(f64) -> f64| {
            let after: Vec<f64> = rates.iter().map(|x| step(*x)).collect();
            jain(&after).zip(jain(&rates)).map_or(f64::NAN, |(after, before)| after - before)
        };
        cut.absolute(change(&|x| x / 1.125));
        let rise = change(&|x| x + power.alpha(Rate(x)).0);
        least = least.min(rise);
        let largest = rates.iter().copied().fold(0.0, f64::max);
        let smallest = rates.iter().copied().fold(f64::INFINITY, f64::min);
        stuck += u32::from(largest > 1.01 * smallest && rise <= 0.0);
        least_eq8 = least_eq8.min(change(&|x| x + eq8(x).0));
    }
    findings.value("a cut of all: largest change of FI", cut);
    findings.value("increase that falls as a power: smallest change of FI", least);
    findings.value(
        "increase that falls as a power: draws with rates 1 % apart in which FI does not rise",
        f64::from(stuck),
    );
    findings.value("eq. 8 with L = 1 Gbit/s: smallest change of FI", least_eq8);
    Ok(())
}

/// The condition from which section II derives stability: eq. 4 in the form of eq. 5, for the increase of eq. 8.
pub(super) fn utility(_: &Bench<'_>, findings: &mut Findings) -> Result {
    let fluid = fluid::udt(BitRate(CAPACITY), PACKET);
    let per_syn = |rate: f64| BitRate(rate).to_packets(PACKET).0 * cwnd::rate::udt::SYN.as_secs_f64();
    let k = |x: f64| x * (fluid.increase)(x) + fluid.b * x * x;
    let marginal = |x: f64| (fluid.increase)(x) / k(x);
    let mut least = f64::INFINITY;
    for n in 1..RATES - 1 {
        let [x, next] = [n, n + 1].map(|n| per_syn(CAPACITY * f64::from(n) / f64::from(RATES)));
        least = least.min(1.0 - marginal(next) / marginal(x));
    }
    findings.value("U'(x): smallest fall from one rate to the next, of 10,000 rates below L, over U'(x)", least);
    let ends = (0..STAGES).map(|index| stage(CAPACITY, index, PACKET).to);
    // A bit per second before the end of a stage, and one after it: the last of these ends is 1000 bit/s below the capacity.
    let falls: Vec<f64> = ends.filter(|end| k(per_syn(end + 1.0)) < k(per_syn(end - 1.0))).collect();
    findings.value("k(x): stages of the first six at whose end it falls", falls.len() as f64);
    let last = falls.last().copied().unwrap_or(0.0);
    findings.value("k(x): end of the last of these stages, over L", last / CAPACITY);
    for (text, p) in [("1e-4", 1e-4), ("1e-5", 1e-5), ("1e-6", 1e-6)] {
        let ends = [1e6, 1e8, 5e8, 9.99e8].map(|from| fluid.integrate(per_syn(from), p, INTERVALS, STEPS));
        let largest = ends.into_iter().fold(0.0, f64::max);
        let smallest = ends.into_iter().fold(f64::INFINITY, f64::min);
        let row = format!("eq. 4 from 1, 100, 500 and 999 Mbit/s, p = {text}: largest end over smallest");
        findings.value(row, largest / smallest);
    }
    Ok(())
}

const RATES: u32 = 10_000;
const STAGES: i32 = 6;
/// Control intervals until eq. 4 is at rest, from below 750 for each stage passed, and steps of its integration.
const INTERVALS: f64 = 20_000.0;
const STEPS: u32 = 100_000;

/// A thousand lists of 2 to 50 rates between 100 kbit/s and just below 1 Gbit/s, packets per second; an even sequence of the golden
/// ratio over the logarithm. Every fourth list lies within a percent, where steps of eq. 8 can make two rates change places.
fn draws() -> impl Iterator<Item = Vec<f64>> {
    let mut k = 0.0;
    (0..1000).map(move |n| {
        let mut part = || {
            k += 1.0;
            (k * GOLDEN_RATIO).fract()
        };
        let middle = 8.0 + part();
        let count = 2 + n % 49;
        let draw = |_| {
            let log10 = if n % 4 == 0 { middle + 0.004 * (part() - 0.5) } else { 5.0 + 4.0 * part() };
            BitRate(libm::pow(10.0, log10).min(0.9999 * CAPACITY)).to_packets(PACKET).0
        };
        (0..count).map(draw).collect()
    })
}

const GOLDEN_RATIO: f64 = 0.618_033_988_749_894_9;
/// `x + alpha(x)` does not fall: alpha is at most a 83rd of the rate from which it falls.
const POWER: &str = "120kbit@10mbit^-0.5";
const CAPACITY: f64 = 1e9;

pub(super) fn related_work(bench: &Bench<'_>, findings: &mut Findings) -> Result {
    let flows = flows("scalable", &[100.0, 300.0]);
    let setup = Setup { flows, capacity: Packets(1000.0), rounds: 1e6, events: 100, ..Setup::default() };
    let mut change = MaxError::default();
    for event in run(&setup).events {
        change.absolute(event.after[1] / event.after[0] - 3.0);
    }
    findings.value("Scalable: change of the ratio of two windows over 100 synchronous events", change);
    let runs = bench.run(bench.scenario("fast", |_| Ok(()))?, Probe::SUMMARY)?;
    let ratio = |kept: &Reduction| match kept.all("flow_goodput_bps") {
        [one, two] => Some(two / one),
        _ => None,
    };
    findings.value("FAST: rates of two flows with alpha 100 and 200", Computed::over(&runs, ratio));
    findings.value("FAST: window after a loss over that before", kept_by_fast());
    let runs = bench.run(bench.scenario("xcp", |_| Ok(()))?, Probe::SUMMARY)?;
    let farthest = |kept: &Reduction| {
        let flows = kept.all("flow_goodput_bps");
        // Of every packet a part is goodput; the shares are of the link.
        let fair = MAX_MIN.map(|share| share * kept.one("payload_bytes").unwrap_or(f64::NAN) / f64::from(PACKET.0));
        (flows.len() == fair.len())
            .then(|| flows.iter().zip(fair).map(|(flow, fair)| (flow / fair - 1.0).abs()).fold(0.0, f64::max))
    };
    findings.value("XCP: largest distance from max-min fair shares", Computed::over(&runs, farthest));
    for (nth, name) in ["over both links", "at the first", "at the second"].into_iter().enumerate() {
        let rate = |kept: &Reduction| Some(kept.all("flow_goodput_bps").get(nth)? * 1e-6);
        findings.extra(format!("XCP: goodput of the flow {name}"), "Mbit/s", Computed::over(&runs, rate));
    }
    Ok(())
}

/// The max-min fair shares of 100 and 50 Mbit/s, for a flow over both links, one at the first and one at the second, bit/s.
const MAX_MIN: [f64; 3] = [25e6, 75e6, 25e6];

/// The part of its window that FAST keeps at a loss.
fn kept_by_fast() -> f64 {
    let before = Packets(1000.0);
    let start = Start::default().with_window(before).with_threshold(before);
    let mut fast = registered("fast").start(&start);
    let mut facts = Facts::new(Time::ZERO, u64::MAX, PACKET, PACKET);
    facts.rtt = RttEstimator::fixed(Span::from_millis(100));
    let moment = Moment::new(Time::ZERO, 1, 1000);
    fast.on_congestion(&facts.view(&moment), &Congestion::loss(0, 1));
    fast.control().window.0 / before.0
}
