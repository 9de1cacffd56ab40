//! Steps and outages of links that change nothing: a link does the same without them.

use cwnd::Span;
use cwnd_sim::{LinkSetup, Phase, QueueLimit};

use super::Found;
use super::links::{NO_ACKS, carries_acks, without_ecn};
use super::paths::Paths;
use crate::scenario::document::Document;
use crate::scenario::quantity::Written;
use crate::scenario::queue::Queue;
use crate::scenario::schedule::{Schedule, Step, with_outages};
use crate::scenario::traffic::Stage;

impl Found {
    /// A link of `rate`, bit/s, that changes with time.
    pub(super) fn changes(
        &mut self,
        key: &str,
        rate: u64,
        document: &Document,
        (schedule, outages): (&Option<Schedule>, &[Written<Stage>]),
    ) {
        let duration = *document.duration.value();
        let over = format!("the run ends at {duration}");
        let steps = schedule.as_ref().map_or(&[][..], |schedule| &schedule.steps);
        let repeat = schedule.as_ref().and_then(|schedule| schedule.repeat.as_ref());
        let mut link = Changing {
            rate,
            rates: steps.iter().map(|step| Some((*step.at.value(), step.rate.as_ref()?.value().bits()))).collect(),
            delays: steps.iter().map(|step| Some((*step.at.value(), *step.extra_delay.as_ref()?.value()))).collect(),
            outages: outages.iter().map(|outage| Some(*outage.value())).collect(),
            end: repeat.map_or(duration, |repeat| duration.min(*repeat.value())),
        };
        for (index, outage) in outages.iter().enumerate() {
            if link.is_same_without(|link| &mut link.outages[index]) {
                let late = outage.value().from >= duration;
                let why = if late { over.as_str() } else { "the link transmits nothing then anyway" };
                self.add(format!("{key}.outage.{index}"), outage, why);
            }
        }
        let key = format!("{key}.schedule");
        for (index, step) in steps.iter().enumerate() {
            let key = format!("{key}.steps.{index}");
            let rate = step.rate.as_ref().filter(|_| link.is_same_without(|link| &mut link.rates[index]));
            let delay = step.extra_delay.as_ref().filter(|_| link.is_same_without(|link| &mut link.delays[index]));
            if *step.at.value() >= duration {
                self.add(format!("{key}.at"), &step.at, over.as_str());
                continue;
            }
            let (of_rate, of_delay) =
                ("the link has this rate then without it, or an outage", "the link has this delay then without it");
            if step.changes_phase() {
                continue;
            }
            match (rate, delay) {
                (Some(_), Some(_)) => self.add(format!("{key}.at"), &step.at, CHANGES_NEITHER),
                (Some(rate), None) => self.add(format!("{key}.rate"), rate, of_rate),
                (None, Some(delay)) => self.add(format!("{key}.extra_delay"), delay, of_delay),
                (None, None) => {}
            }
        }
        if let Some(repeat) = repeat {
            let same = link.rates.iter().all(Option::is_none) && link.delays.iter().all(Option::is_none);
            let idle = same && !steps.iter().any(Step::changes_phase);
            if *repeat.value() >= duration {
                self.add(format!("{key}.repeat"), repeat, over.as_str());
            } else if idle {
                self.add(format!("{key}.repeat"), repeat, "no step changes anything");
            }
        }
    }
}

impl Found {
    /// Steps of losses, impairments and queue sizes of the link at index `link`, whose queue is written `queue`.
    pub(super) fn phases(&mut self, key: &str, (schedule, queue): (&Schedule, &str), link: usize, paths: &Paths<'_>) {
        let setup = &paths.setup.links[link];
        let duration = paths.setup.duration;
        // Sizes differ if their texts do.
        let sized = |other: &Written<Queue>, _: &str| {
            let differs =
                |text: &str| QueueLimit::Bytes(text.bytes().fold(7, |sum, byte| sum * 31 % MODULUS + u64::from(byte)));
            Ok((if other.text() == queue { setup.queue } else { differs(other.text()) }, setup.discipline))
        };
        let course = |schedule: &Schedule| {
            let mut link = LinkSetup { phases: cwnd_sim::Schedule::default(), ..setup.clone() };
            let applied = schedule.apply_phases(&mut link, "", sized);
            let mut before = visible(link.first_phase());
            let steps = link.phases.steps.into_iter().filter(|(at, _)| *at < duration);
            let steps = steps.map(|(at, phase)| (at, visible(phase)));
            let differing: Vec<_> =
                steps.filter(|(_, phase)| std::mem::replace(&mut before, phase.clone()) != *phase).collect();
            applied.is_ok().then_some(differing)
        };
        let mut kept = schedule.clone();
        for (index, step) in schedule.steps.iter().enumerate().filter(|(_, step)| *step.at.value() < duration) {
            let key = format!("{key}.schedule.steps.{index}");
            for (name, given, without) in step.phase_keys() {
                let before = course(&kept);
                let shorter = without(kept.steps[index].clone());
                let removed = std::mem::replace(&mut kept.steps[index], shorter);
                if course(&kept) == before {
                    self.add(format!("{key}.{name}"), &given, "the link does the same then without it");
                    continue;
                }
                kept.steps[index] = removed;
                let why = match name {
                    "thin_acks" if !carries_acks(link, paths) => Some(NO_ACKS),
                    "bleach_ecn" | "mangle_ecn" => without_ecn(link, paths),
                    _ => None,
                };
                if let Some(why) = why {
                    self.add(format!("{key}.{name}"), &given, why);
                }
            }
            if let Some(over) = step.over.as_ref().filter(|_| !step.moves()) {
                self.add(format!("{key}.over"), over, "no rate, delay or plain probability of loss moves in this step");
            }
        }
    }
}

/// The phase without what another of its impairments hides: a field that is cleared has no other value.
fn visible(mut phase: Phase) -> Phase {
    if phase.impairments.bleach {
        phase.impairments.mangling = None;
    }
    phase
}

/// Below 2^32, so that products fit.
const MODULUS: u64 = 4_294_967_291;

/// Values, each from an instant on.
type Steps<T> = Vec<(Span, T)>;

/// The changes of a link, without those that were found to have no effect.
#[derive(Clone)]
struct Changing {
    rate: u64,
    rates: Vec<Option<(Span, u64)>>,
    delays: Vec<Option<(Span, Span)>>,
    outages: Vec<Option<Stage>>,
    /// Of the run, or of the first repetition.
    end: Span,
}

impl Changing {
    /// Whether the link does the same without one of the changes, which is then taken out.
    fn is_same_without<T: Copy>(&mut self, change: impl Fn(&mut Self) -> &mut Option<T>) -> bool {
        let before = self.course();
        let taken = change(self).take();
        let same = self.course() == before;
        if !same {
            *change(self) = taken;
        }
        same
    }

    /// The rates and the delays that differ from those before them, each with its instant.
    fn course(&self) -> (Steps<u64>, Steps<Span>) {
        let rates: Steps<u64> = self.rates.iter().flatten().copied().collect();
        let outages: Vec<Stage> = self.outages.iter().flatten().copied().collect();
        let rates = with_outages(self.rate, &rates, &outages);
        let delays = self.delays.iter().flatten().copied();
        (differing(self.rate, self.end, rates.into_iter()), differing(Span::ZERO, self.end, delays))
    }
}

/// Those of `steps` before `end` that change the value, which is `first` before the first of them.
fn differing<T: Copy + PartialEq>(first: T, end: Span, steps: impl Iterator<Item = (Span, T)>) -> Steps<T> {
    let mut now = first;
    let changes = |(at, value): &(Span, T)| *at < end && std::mem::replace(&mut now, *value) != *value;
    steps.filter(changes).collect()
}

const CHANGES_NEITHER: &str = "the link has this rate and this delay then without it";
