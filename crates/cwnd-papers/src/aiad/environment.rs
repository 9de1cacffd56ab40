//! The 13 environments, the settings of recovery and router, and the runs over both.

use serde::Deserialize;

use crate::{Bench, Ours, PaperError};
use cwnd_run::measure::{Best, mean, ranks};
use cwnd_run::probe::{Kept, available};
use cwnd_run::scenario::Scenario;

/// An environment of Table 2.
#[derive(Clone, Debug)]
pub(super) enum Environment {
    /// Traffic that yields to nobody leaves a bandwidth that changes.
    Available(Bandwidth),
    /// Finite flows come and go and are served first.
    Crossed(Gap),
}

/// How the available bandwidth changes; Mbit/s per test flow.
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

/// How often finite flows arrive.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Gap {
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

/// An algorithm and what it is called here.
#[derive(Clone, Debug)]
pub(super) struct Scheme {
    pub(super) name: String,
    pub(super) algorithm: String,
}

/// What some schemes scored: by scheme, environment and seed.
#[derive(Debug)]
pub(super) struct Scores(Vec<Vec<Vec<Kept>>>);

impl Environment {
    /// All 13.
    pub(super) fn all(bench: &Bench<'_>) -> Result<Vec<Self>, PaperError> {
        let mut all = Self::available(bench)?;
        all.extend(bench.data::<Vec<Gap>>("arrivals")?.into_iter().map(Self::Crossed));
        Ok(all)
    }

    /// 1 to 10, in which the paper compares the schemes.
    pub(super) fn available(bench: &Bench<'_>) -> Result<Vec<Self>, PaperError> {
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
    pub(super) fn scenarios(
        &self,
        bench: &Bench<'_>,
        setting: Setting,
        scheme: &Scheme,
    ) -> Result<Vec<Scenario>, PaperError> {
        match (self, setting.router) {
            (Self::Available(bandwidth), Router::Drr) => fair(bench, bandwidth, setting, scheme),
            (Self::Available(bandwidth), _) => {
                let changes = common(bench, setting, scheme)?;
                let more = [
                    format!("dumbbell.rate={}bit", bits(capacity(bench)?)),
                    format!("dumbbell.queue={}", setting.router.queue(bench)?),
                    format!("cbr.0.rate={}", bandwidth.cross(bench)?),
                ];
                Ok(vec![bench.scenario("available", &[changes, more.to_vec()].concat())?])
            }
            (Self::Crossed(gap), _) => {
                let changes = common(bench, setting, scheme)?;
                let rate = bits(capacity(bench)?);
                let packets = bdp(bench)?;
                let more = [
                    format!("flow.1.count={}", flows(bench)?),
                    format!("arrivals.0.gap={}", gap.gap),
                    format!("link.0.rate={rate}bit"),
                    format!("link.1.rate={rate}bit"),
                    format!("link.0.queue=drr:{packets}p"),
                    format!("link.1.queue={}", setting.router.prioritised(bench, packets)?),
                ];
                Ok(vec![bench.scenario("crossed", &[changes, more.to_vec()].concat())?])
            }
        }
    }
}

impl Bandwidth {
    /// The rate of traffic that leaves this bandwidth to the test flows together.
    fn cross(&self, bench: &Bench<'_>) -> Result<String, PaperError> {
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
        Ok(format!("{rule},floor={floor}bit,ceiling={rest}bit,rest_of={rest}bit"))
    }
}

impl Router {
    /// The queue of topology (a).
    fn queue(self, bench: &Bench<'_>) -> Result<String, PaperError> {
        match self {
            Self::DropTail => bench.assumed("droptail"),
            Self::Red => bench.assumed("red"),
            Self::RedEcn => Ok(format!("{},ecn=yes", bench.assumed("red")?)),
            Self::Drr => bench.assumed("drr"),
        }
    }

    /// The queue of topology (b), whose bandwidth-delay product is `bdp` packets: cross traffic is dropped only where twice as
    /// much waits as the test flows may have waiting.
    fn prioritised(self, bench: &Bench<'_>, bdp: u32) -> Result<String, PaperError> {
        let two_classes = |limit: u32, out: &str| {
            let (room, above) = (2 * limit, 2 * limit + 1);
            format!("rio:{room}p,in_min={room}p,in_max={above}p,in_gentle=no,{out}")
        };
        match self {
            Self::DropTail => {
                // The present queue, and certain loss from the limit on.
                let out = format!("out_weight=1,out_min={bdp}p,out_max={}p,out_gentle=no", bdp + 1);
                Ok(two_classes(bdp, &out))
            }
            Self::Red | Self::RedEcn => {
                let queue = self.queue(bench)?;
                let mut parts = queue.trim_start_matches("red:").split(',').map(str::trim);
                let limit = parts.next().and_then(|limit| limit.strip_suffix("bdp")?.trim().parse::<f64>().ok());
                let limit = limit.ok_or_else(|| PaperError::Assumption {
                    key: "red".to_string(),
                    value: queue.clone(),
                    reason: "environments 11 to 13 need a size in bdp, such as `red:2bdp`".to_string(),
                })?;
                let limit = (limit * f64::from(bdp)).round() as u32;
                let out: Vec<String> = parts
                    .map(|part| match part.split_once('=') {
                        // Shares are of the limit, which is twice as large for both classes together.
                        Some((key @ ("min" | "max"), share)) => {
                            let packets = share.parse::<f64>().unwrap_or_default() * f64::from(limit);
                            format!("out_{key}={}p", packets.round())
                        }
                        _ => format!("out_{part}"),
                    })
                    .collect();
                Ok(two_classes(limit, &out.join(",")))
            }
            Self::Drr => Ok(format!("drr:{bdp}p")),
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
    pub(super) fn chosen(bench: &Bench<'_>) -> Result<Vec<Self>, PaperError> {
        let assumed = |name: &str, key| -> Result<Self, PaperError> {
            Ok(Self { name: name.to_string(), algorithm: bench.assumed(key)? })
        };
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
    ) -> Result<Self, PaperError> {
        let (mut scenarios, mut lengths) = (Vec::new(), Vec::new());
        for scheme in schemes {
            for environment in environments {
                let here = environment.scenarios(bench, setting, scheme)?;
                lengths.push(here.len());
                scenarios.extend(here);
            }
        }
        let mut runs = bench.run(&scenarios, available::SCORES)?.into_iter();
        let mut cells = lengths.into_iter().map(|length| runs.by_ref().take(length).flatten().collect());
        Ok(Self(schemes.iter().map(|_| cells.by_ref().take(environments.len()).collect()).collect()))
    }

    /// A score of a scheme in an environment, one value per seed.
    pub(super) fn score(&self, scheme: usize, environment: usize, name: &str) -> Ours {
        Ours::mean(&self.0[scheme][environment], name)
    }

    /// A score of a scheme, the mean over environments, one value per seed.
    pub(super) fn mean(&self, scheme: usize, name: &str) -> Ours {
        let over = |values: Vec<f64>| mean(&values);
        Ours::Runs(self.seeds().filter_map(|seed| over(self.values(scheme, seed, name)?)).collect())
    }

    /// The same less, or more: `of` of the means of all schemes, seed by seed.
    pub(super) fn each(&self, name: &str, of: impl Fn(&[f64]) -> f64) -> Ours {
        let means = |seed| -> Option<Vec<f64>> {
            (0..self.0.len()).map(|scheme| mean(&self.values(scheme, seed, name)?)).collect()
        };
        Ours::Runs(self.seeds().filter_map(|seed| Some(of(&means(seed)?))).collect())
    }

    /// D and C of every scheme by a score, one value per seed.
    pub(super) fn ranks(&self, name: &str, best: Best) -> Vec<(Ours, Ours)> {
        let per_seed = self.seeds().filter_map(|seed| {
            let values: Option<Vec<Vec<f64>>> =
                (0..self.0.len()).map(|scheme| self.values(scheme, seed, name)).collect();
            ranks(&values?, best)
        });
        let per_seed: Vec<_> = per_seed.collect();
        let scheme = |index: usize| {
            let of = |part: fn(&cwnd_run::measure::Rank) -> f64| {
                Ours::Runs(per_seed.iter().map(|ranks| part(&ranks[index])).collect())
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

/// What is alike in every scenario: recovery, algorithm, number of flows, marks.
fn common(bench: &Bench<'_>, setting: Setting, scheme: &Scheme) -> Result<Vec<String>, PaperError> {
    let mut changes = vec![
        format!("flow.0.recovery={}", setting.recovery),
        format!("flow.0.algorithm={}", scheme.algorithm),
        format!("flow.0.count={}", flows(bench)?),
    ];
    if setting.router == Router::RedEcn {
        changes.push("flow.0.ecn=latch".to_string());
    }
    Ok(changes)
}

/// The environment under deficit round robin: the link itself follows what the cross traffic would leave with the same seed.
fn fair(
    bench: &Bench<'_>,
    bandwidth: &Bandwidth,
    setting: Setting,
    scheme: &Scheme,
) -> Result<Vec<Scenario>, PaperError> {
    let capacity = capacity(bench)?;
    // The draws depend on the seed alone, so packets may be as large as they come and flows as few.
    let drawn = [
        format!("dumbbell.rate={}bit", bits(capacity)),
        format!("cbr.0.rate={}", bandwidth.cross(bench)?),
        "cbr.0.packet=64kB".to_string(),
        "sampling=10ms".to_string(),
        "dumbbell.queue=droptail:unlimited".to_string(),
        "flow.0.size=1p".to_string(),
        "flow.0.count=1".to_string(),
    ];
    let drawn = bench.scenario("available", &drawn)?;
    let seeds: Vec<u64> = drawn.seeds().collect();
    let rates = bench.run(&[drawn], available::DRAWN)?.remove(0);
    let changes = common(bench, setting, scheme)?;
    let queue = setting.router.queue(bench)?;
    let one = |(seed, kept): (u64, Kept)| {
        let left: Vec<u64> = kept.all("cross_bps").iter().map(|cross| bits(capacity - cross * 1e-6)).collect();
        // Without a draw nothing crosses.
        let first = left.first().copied().unwrap_or_else(|| bits(capacity));
        let mut changes_at: Vec<(f64, u64)> = kept.all("from_s").iter().copied().zip(left).skip(1).collect();
        if changes_at.is_empty() {
            // A schedule has a step; where the bandwidth is constant it changes nothing.
            changes_at.push((1.0, first));
        }
        let steps = changes_at.iter().map(|(at, rate)| format!("{{at=\"{at}s\",rate=\"{rate}bit\"}}"));
        let steps = format!("dumbbell.schedule={{steps=[{}]}}", steps.collect::<Vec<_>>().join(","));
        let path = [
            format!("dumbbell.rate={first}bit"),
            format!("dumbbell.queue={queue}"),
            "seeds=1".to_string(),
            format!("first_seed={seed}"),
            steps,
        ];
        bench.scenario("fair", &[changes.clone(), path.to_vec()].concat())
    };
    seeds.into_iter().zip(rates).map(one).collect()
}

/// The number of test flows.
pub(super) fn flows(bench: &Bench<'_>) -> Result<f64, PaperError> {
    bench.assumed_as("test-flows")
}

/// The rate of the link, Mbit/s.
fn capacity(bench: &Bench<'_>) -> Result<f64, PaperError> {
    Ok(flows(bench)? * bench.assumed_as::<f64>("capacity-per-flow")?)
}

/// The bandwidth-delay product of the whole link, packets.
fn bdp(bench: &Bench<'_>) -> Result<u32, PaperError> {
    let template = bench.scenario("available", &[])?;
    let document = template.document();
    let rtt = document.dumbbell.as_ref().map_or(0.0, |dumbbell| dumbbell.rtt.value().as_secs_f64());
    Ok((capacity(bench)? * 1e6 * rtt / (f64::from(document.packet.value().0) * 8.0)).round() as u32)
}

/// Mbit/s as whole bit/s.
pub(super) fn bits(mbit: f64) -> u64 {
    (mbit * 1e6).round() as u64
}
