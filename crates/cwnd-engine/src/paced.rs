//! A run that follows the clock, and whose bottleneck changes while it runs.
//!
//! It is an ordinary run of an ordinary scenario: a pull becomes a step in the schedule of the bottleneck at its simulated
//! time. A link knows when a packet leaves as soon as it arrives, so that a rate cannot be changed behind its back; instead
//! the run is done again up to the present with the step in its schedule, which is quick, and continues from there. The resulting
//! scenario can be exported, and gives an equal run.

use std::time::Duration;

use cwnd::quantity::{bit_rate, exact, span};
use cwnd::{Span, Time};
use cwnd_run::scenario::Document;
use cwnd_sim::{CheckedSetup, SetupError, Simulation};
use serde_json::{Value, json};

use crate::columns::{describe, rows};
use crate::host::Host;
use crate::message::Frame;
use crate::scenario::{PageError, scenario, to_toml};
use crate::take;

/// A run that follows the clock of its host.
pub struct Paced {
    id: u32,
    /// What runs: as long as a page may follow it, and measured from the start.
    document: Value,
    /// The scenario as the page exports it: `document` with the duration and the warm-up of the request.
    exported: Value,
    /// The path had a schedule before the first pull.
    scheduled: bool,
    /// Simulated seconds in a second.
    speed: f64,
    /// Where the clock was last set: the simulated time then, and the time of the host.
    base: f64,
    from: Duration,
    /// Rows of the trace that the page has.
    sent: usize,
    run: Run,
}

/// Changes of a run that follows the clock.
#[derive(Debug, Default)]
pub struct Pulled {
    /// The rate of the bottleneck.
    pub rate: Option<String>,
    /// Simulated seconds in a second.
    pub speed: Option<f64>,
}

/// Why a run that follows the clock has ended. [`tell`](Self::tell) says it to the page.
#[derive(Debug)]
pub enum Ended {
    /// It has come to its end.
    Whole,
    /// The page wants it no more.
    Superseded,
    /// The scenario is none that a page may run.
    Refused(PageError),
    /// It cannot go on.
    Failed(String),
}

impl From<PageError> for Ended {
    fn from(refusal: PageError) -> Self {
        Self::Refused(refusal)
    }
}

impl Ended {
    /// Tells the page how its run `id` has ended, unless the page ended it.
    pub fn tell(self, host: &dyn Host, id: u32) {
        let frame = match self {
            Self::Whole => Frame::from(json!({ "kind": "held", "id": id })),
            Self::Superseded => return,
            Self::Refused(refusal) => refusal.frame(id),
            Self::Failed(message) => Frame::from(json!({ "kind": "error", "id": id, "message": message })),
        };
        host.send(&frame);
    }
}

impl Paced {
    /// A run of `document` with `speed` simulated seconds in a second. Tells `host` how it is exported.
    ///
    /// # Errors
    /// The document is none that a page may run.
    pub fn new(host: &dyn Host, id: u32, document: &Value, speed: f64) -> Result<Self, Ended> {
        let exported = document.clone();
        let mut document = document.clone();
        let keys =
            document.as_object_mut().ok_or_else(|| PageError::Document("expected a table of keys".to_string()))?;
        keys.insert("duration".to_string(), json!(format!("{LONGEST}s")));
        keys.insert("warmup".to_string(), json!("0s"));
        let scheduled = !document["dumbbell"]["schedule"].is_null();
        let run = Run::new(&document, host)?;
        let paced = Self {
            id,
            document,
            exported,
            scheduled,
            speed: accepted(speed),
            base: 0.0,
            from: host.now(),
            sent: 0,
            run,
        };
        paced.export(host)?;
        Ok(paced)
    }

    /// Applies changes, advances to the time of the host's clock and sends the new rows. To be called every [`SLICE`].
    ///
    /// # Errors
    /// The run has ended.
    pub fn step(&mut self, host: &dyn Host, pulled: Pulled) -> Result<(), Ended> {
        if let Some(speed) = pulled.speed {
            self.set_clock(host);
            self.speed = accepted(speed);
        }
        if let Some(rate) = pulled.rate.filter(|rate| bit_rate(rate).is_ok()) {
            if !self.document["dumbbell"].is_object() {
                return Err(Ended::Failed("only the rate of a `dumbbell` can change during a run".to_string()));
            }
            if self.scheduled {
                // Its later steps would not follow, and those of a repetition have no place for one more.
                return Err(Ended::Failed(
                    "the path has a `schedule` of its own, which a change would break".to_string(),
                ));
            }
            let until = self.run.now;
            pull(&mut self.document, until, &rate);
            pull(&mut self.exported, until, &rate);
            outlast(&mut self.exported, until);
            self.run = Run::new(&self.document, host)?;
            self.run.advance(until, host)?;
            self.set_clock(host);
            self.export(host)?;
        }
        let target = self.base + host.now().saturating_sub(self.from).as_secs_f64() * self.speed;
        // A host too slow for the speed falls behind it, and does not try to make up for that.
        let step = target.min(self.run.seconds() + self.speed * SLICE.as_secs_f64() * 2.0);
        self.run.advance(time(step), host)?;
        if target > self.run.seconds() + self.speed {
            self.set_clock(host);
        }
        self.send_rows(host);
        if self.run.seconds() >= LONGEST { Err(Ended::Whole) } else { Ok(()) }
    }

    /// Tells `host` the scenario of the run up to now.
    fn export(&self, host: &dyn Host) -> Result<(), PageError> {
        let (toml, at) = (to_toml(&self.exported)?, self.run.seconds());
        let (address, command) = (take::address(&toml, false), take::RUN);
        host.send(&Frame::from(json!({
            "kind": "pulled", "id": self.id, "at": at, "toml": toml, "address": address, "command": command,
        })));
        Ok(())
    }

    /// From now on the run follows the clock of the host from where it is.
    fn set_clock(&mut self, host: &dyn Host) {
        (self.base, self.from) = (self.run.seconds(), host.now());
    }

    fn send_rows(&mut self, host: &dyn Host) {
        let (trace, bottleneck) = (self.run.simulation.recorded(), self.run.bottleneck);
        if trace.at.len() > self.sent {
            let mut header = describe(trace, bottleneck);
            header["kind"] = json!("more");
            header["id"] = json!(self.id);
            header["from"] = json!(self.sent);
            header["rows"] = json!(trace.at.len() - self.sent);
            host.send(&Frame { header, columns: rows(trace, bottleneck, self.sent) });
            self.sent = trace.at.len();
        }
    }
}

/// A simulation that has come to some time.
struct Run {
    setup: CheckedSetup,
    simulation: Simulation,
    bottleneck: usize,
    now: Time,
}

impl Run {
    fn new(document: &Value, host: &dyn Host) -> Result<Self, Ended> {
        let mut document = document.clone();
        document["sampling"] = json!(SAMPLING);
        let scenario = scenario("live.toml", &to_toml(&document)?, &document, &[])?;
        let setup = scenario.setup(scenario.document().first_seed);
        let simulation = Simulation::of(&setup).within(host.limits().clocked_memory);
        Ok(Self { setup, simulation, bottleneck: scenario.bottleneck(), now: Time::ZERO })
    }

    fn seconds(&self) -> f64 {
        self.now.as_secs_f64()
    }

    fn advance(&mut self, until: Time, host: &dyn Host) -> Result<(), Ended> {
        let (from, limit) = (host.now(), host.limits().time);
        let mut goes_on = |_| host.wanted() && host.now().saturating_sub(from) < limit;
        self.now = until.max(self.now).min(self.simulation.end());
        self.simulation.proceed(self.now, &self.setup, &mut goes_on).map_err(|error| match error {
            SetupError::Interrupted if !host.wanted() => Ended::Superseded,
            SetupError::Interrupted => Ended::Failed("this machine is too slow for this run".to_string()),
            error @ SetupError::Memory { .. } => Ended::Failed(format!("{error}{}", host.limits().more_memory)),
            error => Ended::Failed(error.to_string()),
        })
    }
}

/// Adds a step to the schedule of the bottleneck: the rate from `at` on.
fn pull(document: &mut Value, at: Time, rate: &str) {
    let schedule = &mut document["dumbbell"]["schedule"];
    if schedule.is_null() {
        *schedule = json!({ "steps": [] });
    }
    let Some(steps) = schedule["steps"].as_array_mut() else { return };
    // The page has the rows before.
    let at = exact(Span::from_millis(at.as_nanos().div_ceil(1_000_000)));
    if steps.last().is_some_and(|last| last["at"] == at.as_str()) {
        steps.pop();
    }
    steps.push(json!({ "at": at, "rate": rate }));
}

/// Lengthens a document whose end would be before the change at `at` has shown its effect.
fn outlast(document: &mut Value, at: Time) {
    let least = Span::from_secs(at.as_nanos().div_ceil(1_000_000_000)) + AFTER_PULL;
    let given = document["duration"].as_str().and_then(|text| span(text).ok());
    if given.unwrap_or_else(|| *Document::default().duration.value()) < least {
        document["duration"] = json!(exact(least));
    }
}

fn accepted(speed: f64) -> f64 {
    if speed > 0.0 { speed.clamp(SLOWEST, FASTEST) } else { 0.0 }
}

fn time(seconds: f64) -> Time {
    Time::from_nanos((seconds.clamp(0.0, LONGEST) * 1e9) as u64)
}

/// Simulated seconds: the simulation after a pull takes a second or two for this length.
const LONGEST: f64 = 600.0;
/// From the last pull to the end of the exported scenario, at least.
const AFTER_PULL: Span = Span::from_secs(10);
const SLOWEST: f64 = 0.1;
const FASTEST: f64 = 1000.0;
/// Between two steps: 25 pictures a second.
pub const SLICE: Duration = Duration::from_millis(40);
const SAMPLING: &str = "20ms";

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::host::Limits;

    struct Nobody;

    impl Host for Nobody {
        fn send(&self, _: &Frame) {}

        fn wanted(&self) -> bool {
            true
        }

        fn now(&self) -> Duration {
            Duration::ZERO
        }

        fn limits(&self) -> Limits {
            let time = Duration::from_secs(1);
            Limits { threads: NonZeroUsize::MIN, memory: 1 << 20, clocked_memory: 1 << 20, time, more_memory: "" }
        }
    }

    #[test]
    fn a_pull_without_a_dumbbell_says_so() {
        let document = json!({
            "duration": "1s", "warmup": "0s", "seeds": 1,
            "link": [{ "name": "a", "from": "x", "to": "y", "rate": "8mbit", "delay": "10ms", "queue": "droptail:20p" }],
            "flow": [{ "algorithm": "reno", "from": "x", "to": "y", "extra_rtt": "10ms" }],
        });
        let mut run = Paced::new(&Nobody, 1, &document, 1.0).expect("a scenario with links");
        let pulled = Pulled { rate: Some("1mbit".to_string()), ..Pulled::default() };
        let ended = run.step(&Nobody, pulled).err();
        assert!(matches!(&ended, Some(Ended::Failed(reason)) if reason.contains("`dumbbell`")), "{ended:?}");
    }

    #[test]
    fn a_pull_on_a_path_with_a_schedule_says_so() {
        let schedule = json!({ "repeat": "20s", "steps": [{ "at": "5s", "rate": "2mbit" }] });
        let document = json!({
            "duration": "60s", "seeds": 1, "dumbbell": { "rate": "8mbit", "rtt": "20ms", "schedule": schedule },
            "flow": [{ "algorithm": "reno" }],
        });
        let mut run = Paced::new(&Nobody, 1, &document, 1.0).expect("a scenario");
        let pulled = Pulled { rate: Some("1mbit".to_string()), ..Pulled::default() };
        let ended = run.step(&Nobody, pulled).err();
        assert!(matches!(&ended, Some(Ended::Failed(reason)) if reason.contains("`schedule`")), "{ended:?}");
    }

    #[test]
    fn a_document_that_is_no_table_is_refused() {
        for document in [json!(null), json!(5), json!("text"), json!([]), json!({ "dumbbell": 1 })] {
            let ended = Paced::new(&Nobody, 1, &document, 1.0).err();
            assert!(matches!(ended, Some(Ended::Refused(_))), "{document}: {ended:?}");
        }
    }
}
