//! The slow start of RFC 9406.

use cwnd::{Span, View};

use super::rules::HyStart;

/// The first slow start by RFC 9406 section 4.2.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlowStart {
    round: u64,
    /// The least round-trip time of this round and of the last.
    current: Option<Span>,
    last: Option<Span>,
    samples: u32,
    /// The round-trip time at which conservative slow start began, and its rounds.
    pub(crate) careful: Option<(Span, u32)>,
}

impl SlowStart {
    /// Takes in a round-trip time; whether slow start ends now.
    pub(crate) fn on_ack(&mut self, rules: &HyStart, view: &View) -> bool {
        let Some(rtt) = view.rtt else { return false };
        if view.round != self.round {
            (self.round, self.samples, self.last, self.current) = (view.round, 0, self.current, None);
            if let Some((_, rounds)) = &mut self.careful {
                *rounds += 1;
                if *rounds > rules.rounds {
                    return true;
                }
            }
        }
        let current = self.current.map_or(rtt.latest, |least| least.min(rtt.latest));
        self.current = Some(current);
        self.samples += 1;
        if self.samples < rules.samples {
            return false;
        }
        match (self.careful, self.last) {
            (Some((begun, _)), _) if current < begun && rules.resumes => self.careful = None,
            (None, Some(last)) => {
                let rise = (last / rules.part).max(rules.least).min(rules.most);
                if current >= last + rise {
                    self.careful = Some((current, 1));
                }
            }
            _ => {}
        }
        false
    }
}
