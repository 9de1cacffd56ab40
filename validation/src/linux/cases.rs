//! What is run on both sides.

use std::path::Path;

use cwnd::{BitRate, Span};
use cwnd_run::scenario::{Queue, Scenario, Written};
use cwnd_sim::emulate::Emulation;
use cwnd_sim::{Loss, QueueLimit};
use serde::{Deserialize, Serialize};

use crate::Error;

/// `validation/linux/cases.toml`.
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
    /// What the hosts of the simulator do besides, as in a scenario.
    #[serde(default)]
    host: Option<String>,
    /// What it changes.
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
    /// Of the simulator; see [`Variant`].
    host: Option<&'a str>,
}

impl Cases {
    pub(super) fn read(root: &Path) -> Result<Self, Error> {
        let path = root.join("validation/linux/cases.toml");
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
}

impl Variant {
    /// `experiment` with this change in the simulator.
    pub(super) fn applied<'a>(&'a self, experiment: &Experiment<'a>) -> Experiment<'a> {
        let Experiment { name, judged, path, seconds, warmup, .. } = experiment;
        let algorithm = self.algorithm.as_deref().unwrap_or(experiment.algorithm);
        let (name, path, host) = (name.clone(), path.clone(), self.host.as_deref());
        Experiment { name, algorithm, judged: *judged, path, seconds: *seconds, warmup: *warmup, host }
    }

    /// As it is written in a scenario.
    pub(super) fn label(&self) -> String {
        let host = self.host.as_ref().map(|host| format!("host = {host}"));
        self.algorithm.iter().cloned().chain(host).collect::<Vec<_>>().join(", ")
    }
}

impl Experiment<'_> {
    /// The same for the simulator, with what the kernel has by default: segments of 1448 bytes with timestamps, acknowledgements of 52
    /// bytes, and no pacing, for there is no fair queue in front of the device.
    pub(super) fn scenario(&self, repeats: u32) -> Result<Scenario, Error> {
        let Self { algorithm, path, seconds, warmup, host, .. } = self;
        let text = format!(
            "duration = \"{}s\"\nwarmup = \"{warmup}s\"\nseeds = {repeats}\npacket = \"1500B\"\npayload = \"1448B\"\nack = \"52B\"\n\
             host = \"{}\"\n[variation]\nstart = \"0ms\"\nrtt = 0.0\njitter = 0.0\n\
             [dumbbell]\nrate = \"{}\"\nrtt = \"{}\"\nqueue = \"{}p\"\nreverse_queue = \"{}p\"\nloss = \"{}\"\n\
             [[flow]]\nalgorithm = \"{algorithm}\"\ncount = {}\n",
            seconds + warmup,
            host.unwrap_or("plain"),
            path.rate,
            path.rtt,
            format_args!("droptail:{}", path.queue_limit()),
            format_args!("droptail:{}", path.queue_limit()),
            path.loss.as_ref().map_or("0", Written::text),
            path.flows,
        );
        Scenario::read(&self.name, &text, &[]).map_err(|error| Error::Scenario(Box::new(error)))
    }
}

fn one() -> u32 {
    1
}

/// What bandwidth-delay products are counted in.
const PACKET: cwnd::Bytes = cwnd::Bytes(1500);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root;

    #[test]
    fn the_list_is_short_enough_and_every_judged_case_is_a_scenario() -> Result<(), Error> {
        let cases = Cases::read(root())?;
        let experiments: Vec<_> = cases.experiments().collect();
        assert!(experiments.len() <= 40);
        let seconds = experiments.len() as u64 * u64::from(cases.repeats) * (cases.seconds + cases.warmup + 2);
        assert!(seconds <= 75 * 60, "{seconds} s");
        for experiment in experiments.iter().filter(|experiment| experiment.judged) {
            let links = experiment.scenario(1)?.setup(1).into_setup().links;
            assert_eq!(links[0].queue, experiment.path.emulation().queue, "{}", experiment.name);
        }
        Ok(())
    }
}
