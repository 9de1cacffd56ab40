//! The 13 environments, the settings of recovery and router, and the runs over both.

use cwnd::BitRate;
use cwnd_sim::notation::DEFAULT_RIO;
use cwnd_sim::{AckEcho, Class, Discipline, DrrSetup, RateSchedule, RedSetup, RioSetup};
use serde::Deserialize;

use crate::change::{self, bit_rate, set_algorithm};
use crate::{Bench, Computed, PaperError, Result};
use cwnd_run::measure::{Best, mean, ranks};
use cwnd_run::probe::{Reduction, available};
use cwnd_run::scenario::{Document, Queue, QueueSize, Scenario, Schedule, Step, Threshold, Written};

/// An environment of Table 2.
#[derive(Clone, Debug)]
pub(super) enum Environment {
    /// Traffic without congestion control leaves a bandwidth that changes.
    Available(Bandwidth),
    /// Finite flows come and go and are served first.
    Crossed(ArrivalInterval),
}

/// The changes of the available bandwidth; Mbit/s per test flow.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Bandwidth {
    id: String,
    rule: String,
    b0: f64,
    other: Option<f64>,
    reach: Option<f64>,
    factor: Option<String>,
}

/// The rate of arrivals of finite flows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ArrivalInterval {
    id: String,
    gap: String,
}

/// A router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Router {
    DropTail,
    Red,
    RedEcn,
    Drr,
}

/// A recovery scheme and a router.
#[derive(Clone, Copy, Debug)]
pub(super) struct Setting {
    pub(super) recovery: &'static str,
    pub(super) router: Router,
}

/// An algorithm and its name here.
#[derive(Clone, Debug)]
pub(super) struct Scheme {
    pub(super) name: String,
    pub(super) algorithm: String,
}

/// The scores of some schemes: by scheme, environment and seed.
#[derive(Debug)]
pub(super) struct Scores(Vec<Vec<Vec<Reduction>>>);

impl Environment {
    /// All 13.
    pub(super) fn all(bench: &Bench<'_>) -> Result<Vec<Self>> {
        let mut all = Self::available(bench)?;
        all.extend(bench.data::<Vec<ArrivalInterval>>("arrivals")?.into_iter().map(Self::Crossed));
        Ok(all)
    }

    /// 1 to 10, in which the paper compares the schemes.
    pub(super) fn available(bench: &Bench<'_>) -> Result<Vec<Self>> {
        Ok(bench.data::<Vec<Bandwidth>>("environments")?.into_iter().map(Self::Available).collect())
    }

    /// Its id in Table 2.
    pub(super) fn id(&self) -> &str {
        match self {
            Self::Available(bandwidth) => &bandwidth.id,
            Self::Crossed(gap) => &gap.id,
        }
    }

    /// The scenarios of one scheme here: one over all seeds, or one per seed where the seed decides the path itself.
    pub(super) fn scenarios(&self, bench: &Bench<'_>, setting: Setting, scheme: &Scheme) -> Result<Vec<Scenario>> {
        match self {
            Self::Available(bandwidth) if setting.router == Router::Drr => fair(bench, bandwidth, setting, scheme),
            Self::Available(bandwidth) => {
                let packets = bdp(bench)?;
                let scenario = bench.scenario("available", |document| {
                    let bottleneck = change::dumbbell(document);
                    let early = matches!(setting.router, Router::Red | Router::RedEcn);
                    let spared = early && !bench.assumed_as::<bool>("red-drops-cross")?;
                    let queue = setting.router.queue(bench)?;
                    (bottleneck.rate, bottleneck.queue) = (link_rate(bench)?, queue);
                    if spared {
                        bottleneck.queue = setting.router.prioritised(bench, packets)?;
                        document.cbr[0].class = Class::In.into();
                    }
                    document.cbr[0].rate = bandwidth.cross(bench)?;
                    test_flows(document, bench, setting, scheme)
                });
                Ok(vec![scenario?])
            }
            Self::Crossed(gap) => {
                let packets = bdp(bench)?;
                let scenario = bench.scenario("crossed", |document| {
                    document.arrivals[0].gap = Some(gap.gap.parse()?);
                    let queues = [drr(packets), setting.router.prioritised(bench, packets)?];
                    for (link, queue) in document.link.iter_mut().zip(queues) {
                        (link.rate, link.queue) = (Some(link_rate(bench)?), Some(queue));
                    }
                    test_flows(document, bench, setting, scheme)?;
                    document.flow[1].count = document.flow[0].count;
                    Ok(())
                });
                Ok(vec![scenario?])
            }
        }
    }
}

impl Bandwidth {
    /// The rate of traffic that leaves this bandwidth to the test flows together.
    fn cross(&self, bench: &Bench<'_>) -> Result<Written<RateSchedule>> {
        let flows = flows(bench)?;
        let all = |per_flow: f64| bits(per_flow * flows);
        let rest = bits(capacity(bench)?);
        let floor = all(bench.assumed_as("least-available")?);
        let step = bench.assumed("step")?;
        let b0 = all(self.b0);
        let reach = self.reach.map(all).unwrap_or_default();
        let rule = match self.rule.as_str() {
            "constant" => format!("cbr:{b0}bit"),
            "square" => format!("square:{b0}bit,{}bit,step={step}", self.other.map(all).unwrap_or_default()),
            "uniform" => format!("uniform:{b0}bit,step={step}"),
            "multiplicative-walk" => {
                let factor = self.factor.as_deref().unwrap_or_default();
                format!("multiplicative-walk:{b0}bit,factor={factor},step={step}")
            }
            walk => format!("{walk}:{b0}bit,reach={reach}bit,step={step}"),
        };
        Ok(format!("{rule},floor={floor}bit,ceiling={rest}bit,rest_of={rest}bit").parse()?)
    }
}

impl Router {
    /// The queue of topology (a).
    fn queue(self, bench: &Bench<'_>) -> Result<Written<Queue>> {
        Ok(match self {
            Self::DropTail => bench.assumed("droptail")?.parse()?,
            Self::Red => bench.assumed("red")?.parse()?,
            Self::RedEcn => format!("{},ecn=yes", bench.assumed("red")?).parse()?,
            Self::Drr => bench.assumed("drr")?.parse()?,
        })
    }

    /// The queue that spares cross traffic: that of topology (b), and of (a) under early detection. The bandwidth-delay product is
    /// `bdp` packets; cross traffic is dropped only where twice as much waits as the test flows may have waiting.
    fn prioritised(self, bench: &Bench<'_>, bdp: u32) -> Result<Written<Queue>> {
        match self {
            // The present queue, and certain loss from the limit on.
            Self::DropTail => {
                let (min, max) = (packets(bdp), packets(bdp + 1));
                let outside = RedSetup { min, max, weight: 1.0, gentle: false, ..DEFAULT_RIO.outside };
                Ok(two_classes(bdp, outside))
            }
            Self::Red | Self::RedEcn => {
                let queue = self.queue(bench)?;
                prioritised_red(*queue.value(), bdp).ok_or_else(|| PaperError::Assumption {
                    key: "red".to_string(),
                    value: queue.to_string(),
                    reason: "what spares the cross traffic is random early detection, such as `red:2bdp`".to_string(),
                })
            }
            Self::Drr => Ok(drr(bdp)),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::DropTail => "DropTail",
            Self::Red => "RED",
            Self::RedEcn => "RED with marks",
            Self::Drr => "DRR",
        }
    }
}

impl Setting {
    /// Such as `Reno + DropTail`.
    pub(super) fn name(self) -> String {
        let recovery = if self.recovery == "reno" { "Reno" } else { "SACK" };
        format!("{recovery} + {}", self.router.name())
    }
}

impl Scheme {
    /// AIMD by its printed parameters: the increase, and the part of the window that is kept.
    pub(super) fn aimd(increase: f64, kept: f64) -> Self {
        // To whole millionths, so that 1 - 0.65 is written 0.35.
        let removed = libm::round((1.0 - kept) * 1e6) / 1e6;
        Self { name: format!("AIMD({increase}, {kept})"), algorithm: format!("aimd:a={increase},b={removed}") }
    }

    /// AIAD by its printed parameters, packets.
    pub(super) fn aiad(increase: f64, decrease: f64) -> Self {
        Self { name: format!("AIAD({increase}, {decrease})"), algorithm: format!("aiad:a={increase},d={decrease}") }
    }

    /// The four that are compared, AIMD first, then AIAD, MIMD and MIAD.
    pub(super) fn chosen(bench: &Bench<'_>) -> Result<Vec<Self>> {
        let assumed =
            |name: &str, key| -> Result<Self> { Ok(Self { name: name.to_string(), algorithm: bench.assumed(key)? }) };
        let aimd = Self { name: "AIMD".to_string(), ..Self::aimd(1.0, 0.8) };
        let aiad = Self { name: "AIAD".to_string(), ..Self::aiad(1.0, 3.0) };
        Ok(vec![aimd, aiad, assumed("MIMD", "mimd")?, assumed("MIAD", "miad")?])
    }

    /// AIAD with a small multiplicative part in its decrease.
    pub(super) fn with_part(part: f64) -> Self {
        Self { name: format!("AIAD with c = {part}"), algorithm: format!("aiad:a=1,d=3,c={part}") }
    }
}

impl Scores {
    /// Runs every scheme in every environment, all at once.
    pub(super) fn of(
        bench: &Bench<'_>,
        setting: Setting,
        schemes: &[Scheme],
        environments: &[Environment],
    ) -> Result<Self> {
        let (mut scenarios, mut lengths) = (Vec::new(), Vec::new());
        for scheme in schemes {
            for environment in environments {
                let here = environment.scenarios(bench, setting, scheme)?;
                lengths.push(here.len());
                scenarios.extend(here);
            }
        }
        let mut runs = bench.run_all(scenarios.into_iter().map(Ok), available::SCORES)?.into_iter();
        let mut cells = lengths.into_iter().map(|length| runs.by_ref().take(length).flatten().collect());
        Ok(Self(schemes.iter().map(|_| cells.by_ref().take(environments.len()).collect()).collect()))
    }

    /// A score of a scheme in an environment, one value per seed.
    pub(super) fn score(&self, scheme: usize, environment: usize, name: &str) -> Computed {
        Computed::mean(&self.0[scheme][environment], name)
    }

    /// A score of a scheme, the mean over environments, one value per seed.
    pub(super) fn mean(&self, scheme: usize, name: &str) -> Computed {
        let over = |values: Vec<f64>| mean(&values);
        Computed::Runs(self.seeds().filter_map(|seed| over(self.values(scheme, seed, name)?)).collect())
    }

    /// `of` applied to the means of all schemes, one value per seed.
    pub(super) fn each(&self, name: &str, of: impl Fn(&[f64]) -> f64) -> Computed {
        let means = |seed| -> Option<Vec<f64>> {
            (0..self.0.len()).map(|scheme| mean(&self.values(scheme, seed, name)?)).collect()
        };
        Computed::Runs(self.seeds().filter_map(|seed| Some(of(&means(seed)?))).collect())
    }

    /// D and C of every scheme by a score, one value per seed.
    pub(super) fn ranks(&self, name: &str, best: Best) -> Vec<(Computed, Computed)> {
        let per_seed = self.seeds().filter_map(|seed| {
            let values: Option<Vec<Vec<f64>>> =
                (0..self.0.len()).map(|scheme| self.values(scheme, seed, name)).collect();
            ranks(&values?, best)
        });
        let per_seed: Vec<_> = per_seed.collect();
        let scheme = |index: usize| {
            let of = |part: fn(&cwnd_run::measure::Rank) -> f64| {
                Computed::Runs(per_seed.iter().map(|ranks| part(&ranks[index])).collect())
            };
            (of(|rank| rank.total), of(|rank| rank.worst))
        };
        (0..self.0.len()).map(scheme).collect()
    }

    /// For each seed, the score of every scheme (outer) in every environment (inner); seeds without all of them are left out.
    pub(super) fn tables(&self, name: &str) -> Vec<Vec<Vec<f64>>> {
        let table = |seed| (0..self.0.len()).map(|scheme| self.values(scheme, seed, name)).collect();
        self.seeds().filter_map(table).collect()
    }

    fn seeds(&self) -> std::ops::Range<usize> {
        0..self.0.iter().flatten().map(Vec::len).min().unwrap_or(0)
    }

    fn values(&self, scheme: usize, seed: usize, name: &str) -> Option<Vec<f64>> {
        self.0[scheme].iter().map(|cells| cells[seed].one(name)).collect()
    }
}

/// A queue of two classes in which test flows, which are `outside`, may have `limit` packets waiting.
fn two_classes(limit: u32, outside: RedSetup<Threshold>) -> Written<Queue> {
    let room = 2 * limit;
    let (min, max) = (packets(room), packets(room + 1));
    let inside = RedSetup { min, max, gentle: false, ..DEFAULT_RIO.inside };
    Queue { limit: QueueSize::Packets(room), discipline: Discipline::Rio(RioSetup { inside, outside }) }.into()
}

/// Random early detection as the class of the test flows, before a path of `bdp` packets; none of another queue.
fn prioritised_red(queue: Queue, bdp: u32) -> Option<Written<Queue>> {
    let in_packets = |size| match size {
        QueueSize::Bdp(times) => Some(times * f64::from(bdp)),
        QueueSize::Packets(packets) => Some(f64::from(packets)),
        QueueSize::Time(_) | QueueSize::Bytes(_) | QueueSize::Unlimited => None,
    };
    let limit = in_packets(queue.limit)?.round();
    // Shares are of the limit, which is twice as large for both classes together.
    let threshold = |threshold| match threshold {
        Threshold::Share(share) => Some((share * limit).round()),
        Threshold::Size(size) => in_packets(size).map(f64::round),
    };
    let Discipline::Red(red) = queue.discipline else { return None };
    let [min, max] = [threshold(red.min)?, threshold(red.max)?].map(|most| packets(most as u32));
    Some(two_classes(limit as u32, RedSetup { min, max, ..red }))
}

/// Deficit round robin over `packets` packets.
fn drr(packets: u32) -> Written<Queue> {
    let discipline = Discipline::Drr(DrrSetup { quantum: None });
    Queue { limit: QueueSize::Packets(packets), discipline }.into()
}

fn packets(packets: u32) -> Threshold {
    Threshold::Size(QueueSize::Packets(packets))
}

/// The test flows of every scenario: recovery, algorithm, number, marks.
fn test_flows(document: &mut Document, bench: &Bench<'_>, setting: Setting, scheme: &Scheme) -> Result {
    let flow = &mut document.flow[0];
    flow.recovery = Some(Written::literal(setting.recovery));
    flow.count = flows(bench)? as u32;
    if setting.router == Router::RedEcn {
        flow.ecn = Some(AckEcho::Latch.into());
    }
    set_algorithm(&mut document.flow[..1], &scheme.algorithm)
}

/// The environment under deficit round robin: the link itself follows what the cross traffic would leave with the same seed.
fn fair(bench: &Bench<'_>, bandwidth: &Bandwidth, setting: Setting, scheme: &Scheme) -> Result<Vec<Scenario>> {
    let capacity = capacity(bench)?;
    // The draws depend on the seed alone, so packets may be as large as they come and flows as few.
    let drawn = bench.scenario("available", |document| {
        document.sampling = Written::literal("10ms");
        let bottleneck = change::dumbbell(document);
        (bottleneck.rate, bottleneck.queue) = (link_rate(bench)?, Written::literal("droptail:unlimited"));
        document.cbr[0].rate = bandwidth.cross(bench)?;
        document.cbr[0].packet = Some(Written::literal("64kB"));
        (document.flow[0].count, document.flow[0].size) = (1, Some(Written::literal("1p")));
        Ok(())
    })?;
    let seeds = drawn.seeds();
    let rates = bench.run(drawn, available::DRAWN)?;
    let one = |(seed, kept): (u64, Reduction)| {
        let left = kept.all("cross_bps").iter().map(|cross| bit_rate(bits(capacity - cross * 1e-6) as f64));
        let left = left.collect::<Result<Vec<_>>>()?;
        // Without a draw nothing crosses.
        let first = left.first().cloned().map_or_else(|| link_rate(bench), Ok)?;
        let step = |at: f64, rate: &Written<BitRate>| -> Result<Step> {
            Ok(Step { rate: Some(rate.text().parse()?), ..Step::new(format!("{at}s").parse()?) })
        };
        let from = kept.all("from_s").iter().zip(&left).skip(1);
        let mut steps = from.map(|(at, rate)| step(*at, rate)).collect::<Result<Vec<_>>>()?;
        if steps.is_empty() {
            // A schedule has a step; where the bandwidth is constant it changes nothing.
            steps.push(step(1.0, &first)?);
        }
        bench.scenario("fair", |document| {
            (document.seeds, document.first_seed) = (1, seed);
            let bottleneck = change::dumbbell(document);
            (bottleneck.rate, bottleneck.queue) = (first, setting.router.queue(bench)?);
            bottleneck.schedule = Some(Schedule { repeat: None, steps });
            test_flows(document, bench, setting, scheme)
        })
    };
    seeds.zip(rates).map(one).collect()
}

/// The number of test flows.
pub(super) fn flows(bench: &Bench<'_>) -> Result<f64> {
    bench.assumed_as("test-flows")
}

/// The rate of the link, Mbit/s.
fn capacity(bench: &Bench<'_>) -> Result<f64> {
    Ok(flows(bench)? * bench.assumed_as::<f64>("capacity-per-flow")?)
}

/// The rate of the link.
fn link_rate(bench: &Bench<'_>) -> Result<Written<BitRate>> {
    bit_rate(bits(capacity(bench)?) as f64)
}

/// The bandwidth-delay product of the whole link, packets.
fn bdp(bench: &Bench<'_>) -> Result<u32> {
    let template = bench.scenario("available", |_| Ok(()))?;
    let document = template.document();
    let rtt = document.dumbbell.as_ref().map_or(0.0, |dumbbell| dumbbell.rtt.value().as_secs_f64());
    Ok((capacity(bench)? * 1e6 * rtt / (f64::from(document.packet.value().0) * 8.0)).round() as u32)
}

/// Mbit/s as whole bit/s.
pub(super) fn bits(mbit: f64) -> u64 {
    (mbit * 1e6).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn early_detection_for_one_of_two_classes_keeps_every_legal_form() {
        let outside = |red: &str| {
            let queue = prioritised_red(Queue::read(red).expect("a queue"), 100).expect("RED");
            match queue.value().discipline {
                Discipline::Rio(RioSetup { outside, .. }) => (queue.value().limit, outside),
                other => panic!("{other:?}"),
            }
        };
        for (text, min, max) in [
            ("red:2bdp,min=20p,max=1/2", 20, 100),
            ("red: 200p, min = 1/4, max=0.5bdp", 50, 50),
            ("red:2bdp,max=1", 30, 200),
        ] {
            let (limit, red) = outside(text);
            assert_eq!((limit, red.min, red.max), (QueueSize::Packets(400), packets(min), packets(max)), "{text}");
        }
        let (_, red) = outside("red:2bdp,max_p=1/3,weight=1e-4,gentle=no,wait=no,bytes=yes,ecn=yes,mark_limit=0.1");
        assert_eq!((red.max_p, red.weight, red.mark_limit), (1.0 / 3.0, 1e-4, 0.1));
        assert_eq!([red.gentle, red.wait, red.byte_mode, red.mark], [false, false, true, true]);
        assert!(prioritised_red(Queue::read("droptail:2bdp").expect("a queue"), 100).is_none());
    }
}
