//! Paths with one flow, and what happens on them.

use cwnd::{Bytes, Span, Time};
use cwnd_sim::{AckEcho, Fault, Pause, Setup};

/// A path with one flow of the subject, and what happens on it. Times are seconds since the start of the run.
#[derive(Clone, Debug)]
pub(crate) struct Testbed {
    pub(crate) setup: Setup,
}

impl Testbed {
    fn fault(mut self, fault: Fault) -> Self {
        self.setup.taps[0].faults.push(fault);
        self
    }

    /// Loses the next `count` packets from `at` on.
    pub(crate) fn lose(self, at: f64, count: u32) -> Self {
        self.fault(Fault::Next { flow: 0, from: time(at), count })
    }

    /// Loses packets by their numbers, the first time each comes by.
    pub(crate) fn lose_numbers(self, numbers: &[u64]) -> Self {
        let fault = |number: &u64| Fault::Data { flow: 0, number: *number, transmission: 1 };
        numbers.iter().map(fault).fold(self, Self::fault)
    }

    /// Loses `per_mille` of a thousand packets between two times.
    pub(crate) fn lose_share(self, from: f64, to: f64, per_mille: u16) -> Self {
        self.fault(Fault::Share { flow: 0, from: time(from), to: time(to), per_mille })
    }

    /// Marks the next `count` packets from `at` on; the path carries ECN.
    pub(crate) fn mark(self, at: f64, count: u32) -> Self {
        self.ecn().fault(Fault::Mark { flow: 0, from: time(at), count })
    }

    /// The path carries ECN, unless the sender does not answer marks.
    pub(crate) fn ecn(mut self) -> Self {
        let answers = self.setup.flows[0].algorithm.entry().answers_marks();
        self.setup.flows[0].ecn = answers.then_some(AckEcho::Latch);
        self
    }

    /// Each mark is echoed once, and not until the sender confirms its reaction. Receivers of whole stacks do as they choose.
    pub(crate) fn echoed_once(mut self) -> Self {
        let flow = &mut self.setup.flows[0];
        flow.ecn = flow.ecn.map(|_| AckEcho::PerPacket);
        self
    }

    /// The path back carries acknowledgements in bunches of a millisecond, and only the last of `packets` in a row. Acknowledgements of a whole
    /// stack come in bunches only: its receiver chooses how many packets each names.
    pub(crate) fn acks_of(mut self, packets: u32) -> Self {
        let impairments = &mut self.setup.links[1].impairments;
        impairments.aggregation = Some(Span::from_millis(1));
        impairments.ack_thinning = Some(packets);
        self
    }

    /// An acknowledgement for each packet, whatever the subject's host does.
    pub(crate) fn acks_of_each(mut self) -> Self {
        let impairments = &mut self.setup.links[1].impairments;
        (impairments.aggregation, impairments.ack_thinning) = (None, None);
        self
    }

    /// The application hands nothing over between two times.
    pub(crate) fn pause(mut self, from: f64, to: f64) -> Self {
        self.setup.flows[0].pauses.push(Pause { from: time(from), to: time(to) });
        self
    }

    /// Between two times the application has data in the first `on_ms` of every `every_ms` only.
    pub(crate) fn trickle(mut self, from: f64, to: f64, on_ms: u64, every_ms: u64) -> Self {
        let mut at = time(from);
        while at < time(to) {
            let next = at + Span::from_millis(every_ms);
            self.setup.flows[0].pauses.push(Pause { from: at + Span::from_millis(on_ms), to: next });
            at = next;
        }
        self
    }

    /// Anything else.
    pub(crate) fn with(mut self, change: impl FnOnce(&mut Setup)) -> Self {
        change(&mut self.setup);
        self
    }
}

fn time(secs: f64) -> Time {
    Time::ZERO + Span::from_secs_f64(secs)
}

/// A packet with its headers, of the flows of a testbed.
pub(crate) const PACKET: Bytes = Bytes(1500);
