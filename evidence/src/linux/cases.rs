//! The experiments that run on both sides.

use std::path::Path;

use cwnd::{BitRate, Span};
use cwnd_run::scenario::{Queue, Scenario, Written};
use cwnd_sim::emulate::Emulation;
use cwnd_sim::{Loss, QueueLimit};
use serde::{Deserialize, Serialize};

use crate::Error;

/// `evidence/linux/cases.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cases {
    pub(super) repeats: u32,
    /// Measured, behind the warm-up.
    pub(super) seconds: u64,
    pub(super) warmup: u64,
    algorithms: Vec<String>,
    /// Recorded, and not compared.
    #[serde(default)]
    unjudged: Vec<String>,
    pub(super) tolerance: Tolerance,
    path: Vec<PathCase>,
    #[serde(default)]
    pub(super) variant: Vec<Variant>,
}

/// Another form of an algorithm in the simulator, to see what a difference comes from.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Variant {
    /// The algorithm that differs.
    pub(super) of: String,
    /// As it is then; the same if not given.
    #[serde(default)]
    algorithm: Option<String>,
    /// The paths on which it is run; all on which the algorithm differs if none is given.
    #[serde(default)]
    paths: Vec<String>,
    /// Further features of the hosts of the simulator, as in a scenario.
    #[serde(default)]
    host: Option<String>,
    /// How slow start grows, as in a scenario.
    #[serde(default)]
    slow_start: Option<String>,
    /// The packets that are lost at random are those that the emulated link lost: the draws are the same, packet by packet.
    #[serde(default)]
    same_losses: bool,
    /// Runs in the simulator; as many as the kernel's if not given.
    #[serde(default)]
    repeats: Option<u32>,
    /// The change.
    pub(super) change: String,
}

/// Relative differences.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tolerance {
    pub(super) goodput: f64,
    pub(super) goodput_with_loss: f64,
    pub(super) queue_delay: f64,
    pub(super) retransmitted: f64,
}

/// A path and how many flows share it.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PathCase {
    name: String,
    pub(super) rate: Written<BitRate>,
    pub(super) rtt: Written<Span>,
    pub(super) queue: Written<Queue>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) loss: Option<Written<Loss>>,
    #[serde(default = "one")]
    pub(super) flows: u32,
}

/// An algorithm on a path.
#[derive(Debug)]
pub(super) struct Experiment<'a> {
    pub(super) name: String,
    pub(super) algorithm: &'a str,
    pub(super) judged: bool,
    pub(super) path: PathCase,
    pub(super) seconds: u64,
    pub(super) warmup: u64,
    /// The host option of the simulator; as for the following ones see [`Variant`].
    host: Option<&'a str>,
    slow_start: Option<&'a str>,
    same_losses: bool,
    repeats: Option<u32>,
}

impl Cases {
    pub(super) fn read(root: &Path) -> Result<Self, Error> {
        let path = root.join("evidence/linux/cases.toml");
        let text = std::fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
        toml::from_str(&text).map_err(|source| Error::Cases { path, source })
    }

    /// Every algorithm on every path.
    pub(super) fn experiments(&self) -> impl Iterator<Item = Experiment<'_>> {
        self.path.iter().flat_map(move |path| {
            self.algorithms.iter().map(move |algorithm| Experiment {
                name: format!("{algorithm}-{}", path.name),
                algorithm,
                judged: !self.unjudged.contains(algorithm),
                path: path.clone(),
                seconds: self.seconds,
                warmup: self.warmup,
                host: None,
                slow_start: None,
                same_losses: false,
                repeats: None,
            })
        })
    }
}

impl PathCase {
    /// The link to the receiver; the one back has the same line and no loss.
    pub(super) fn emulation(&self) -> Emulation {
        let (rate, rtt) = (*self.rate.value(), *self.rtt.value());
        let (queue, discipline) = self.queue.value().setup(rate, rtt, PACKET);
        let loss = self.loss.as_ref().map_or(Loss::None, |loss| *loss.value());
        Emulation { discipline, loss, ..Emulation::new(Some(rate.0.round() as u64), rtt / 2, queue) }
    }

    /// Packets.
    pub(super) fn queue_limit(&self) -> u32 {
        match self.emulation().queue {
            QueueLimit::Packets(packets) => packets,
            QueueLimit::Bytes(_) | QueueLimit::Unlimited => u32::MAX,
        }
    }

    pub(super) fn loses(&self) -> bool {
        self.loss.is_some()
    }

    fn loss(&self) -> &str {
        self.loss.as_ref().map_or("0", Written::text)
    }

    /// In a scenario.
    fn dumbbell(&self) -> String {
        let (rate, rtt, loss, limit) = (&self.rate, &self.rtt, self.loss(), self.queue_limit());
        format!(
            "[dumbbell]\nrate = \"{rate}\"\nrtt = \"{rtt}\"\nqueue = \"droptail:{limit}p\"\n\
             reverse_queue = \"droptail:{limit}p\"\nloss = \"{loss}\"\n"
        )
    }

    /// The links as two, with the names of those of [`cwnd_link::TunLink`]: the random numbers of a link depend on its name and the seed. A
    /// packet is then lost on both sides if as many were sent before it, except for about twenty at the start of a connection of the
    /// kernel's.
    fn links(&self) -> String {
        let (rate, loss, limit) = (&self.rate, self.loss(), self.queue_limit());
        let delay = self.rtt.value().as_nanos() / 2;
        let link = |name: &str, from: &str, to: &str, loss: &str| {
            format!(
                "[[link]]\nname = \"{name}\"\nfrom = \"{from}\"\nto = \"{to}\"\nboth_ways = false\nrate = \"{rate}\"\n\
                 delay = \"{delay}ns\"\nqueue = \"droptail:{limit}p\"\nloss = \"{loss}\"\n"
            )
        };
        link("forth", "near", "far", loss) + &link("back", "far", "near", "0")
    }
}

impl Variant {
    /// `experiment` with this change in the simulator.
    pub(super) fn applied<'a>(&'a self, experiment: &Experiment<'a>) -> Experiment<'a> {
        let Experiment { name, algorithm, judged, path, seconds, warmup, .. } = experiment;
        Experiment {
            name: name.clone(),
            algorithm: self.algorithm.as_deref().unwrap_or(algorithm),
            judged: *judged,
            path: path.clone(),
            seconds: *seconds,
            warmup: *warmup,
            host: self.host.as_deref(),
            slow_start: self.slow_start.as_deref(),
            same_losses: self.same_losses,
            repeats: self.repeats,
        }
    }

    /// Whether `experiment`, if it differs, is run with this change.
    pub(super) fn concerns(&self, experiment: &Experiment<'_>) -> bool {
        let on = |path: &String| *path == experiment.path.name;
        experiment.algorithm == self.of && (self.paths.is_empty() || self.paths.iter().any(on))
    }

    /// As it is written in a scenario.
    pub(super) fn label(&self) -> String {
        let written = |key: &str, value: &Option<String>| value.as_ref().map(|value| format!("{key} = {value}"));
        let parts = [
            self.algorithm.clone(),
            written("host", &self.host),
            written("slow_start", &self.slow_start),
            self.same_losses.then(|| "the same losses".to_owned()),
            self.repeats.map(|repeats| format!("seeds = {repeats}")),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

impl Experiment<'_> {
    /// The scenario of the simulator, with the defaults of the kernel: segments of 1448 bytes with timestamps, acknowledgements of 52
    /// bytes, and no pacing, for there is no fair queue in front of the device.
    pub(super) fn scenario(&self, repeats: u32) -> Result<Scenario, Error> {
        let Self { algorithm, path, seconds, warmup, host, slow_start, .. } = self;
        let text = format!(
            "duration = \"{}s\"\nwarmup = \"{warmup}s\"\nseeds = {}\npacket = \"1500B\"\npayload = \"1448B\"\nack = \"52B\"\n\
             host = \"{}\"\n{}[variation]\nstart = \"0ms\"\nrtt = 0.0\njitter = 0.0\n\
             {}[[flow]]\nalgorithm = \"{algorithm}\"\ncount = {}\n",
            seconds + warmup,
            self.repeats.unwrap_or(repeats),
            host.unwrap_or("plain"),
            slow_start.map_or(String::new(), |growth| format!("slow_start = \"{growth}\"\n")),
            if self.same_losses { path.links() } else { path.dumbbell() },
            path.flows,
        );
        let text = if self.same_losses { text + "from = \"near\"\nto = \"far\"\n" } else { text };
        Scenario::read(&self.name, &text, &[]).map_err(|error| Error::Scenario(Box::new(error)))
    }
}

fn one() -> u32 {
    1
}

/// The packet size in which bandwidth-delay products are counted.
const PACKET: cwnd::Bytes = cwnd::Bytes(1500);

#[cfg(test)]
mod tests {
    use super::super::here::{Simulated, simulate};
    use super::*;
    use crate::root;

    #[test]
    fn the_list_is_short_enough_and_every_judged_case_is_a_scenario() -> Result<(), Error> {
        let cases = Cases::read(root())?;
        let experiments: Vec<_> = cases.experiments().collect();
        assert!(experiments.len() <= 40);
        let seconds = experiments.len() as u64 * u64::from(cases.repeats) * (cases.seconds + cases.warmup + 2);
        assert!(seconds <= 75 * 60, "{seconds} s");
        for variant in &cases.variant {
            let concerned = experiments.iter().filter(|experiment| variant.concerns(experiment)).collect::<Vec<_>>();
            assert!(!concerned.is_empty() && concerned.len() >= variant.paths.len(), "{}", variant.label());
            for experiment in concerned {
                variant.applied(experiment).scenario(1)?;
            }
        }
        for experiment in experiments.iter().filter(|experiment| experiment.judged) {
            let links = experiment.scenario(1)?.setup(1).into_setup().links;
            assert_eq!(links[0].queue, experiment.path.emulation().queue, "{}", experiment.name);
        }
        Ok(())
    }
    /// But for where a packet waits for a part of its delay: a dumbbell has some of it on the access links.
    #[test]
    fn a_path_is_the_same_as_two_links() -> Result<(), Error> {
        let cases = Cases::read(root())?;
        let found = cases.experiments().find(|experiment| !experiment.path.loses());
        let dumbbell = found.expect("most paths lose nothing at random");
        let (name, path) = (dumbbell.name.clone(), dumbbell.path.clone());
        let links = Experiment { name, path, same_losses: true, ..dumbbell };
        let runs = simulate(&[&dumbbell, &links], 1)?;
        let apart = |of: fn(&Simulated) -> f64| (of(&runs[1]) / of(&runs[0]) - 1.0).abs();
        let apart = [apart(|run| run.goodput_bps[0]), apart(|run| run.queue_delay_s[0])];
        assert!(apart[0] < 0.001 && apart[1] < 0.02, "{apart:?}");
        Ok(())
    }
}
