//! Steps and outages of links that change nothing: a link does the same without them.

use cwnd::Span;

use super::Found;
use crate::scenario::document::Document;
use crate::scenario::quantity::Written;
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

/// Values, each from an instant on.
type Steps<T> = Vec<(Span, T)>;

/// What changes a link; what was found to change nothing is taken out.
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
