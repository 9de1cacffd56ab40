//! The declaration of an algorithm: name, parameters and properties.

use alloc::boxed::Box;
use core::error::Error;

use crate::control::ReceiverSide;
use crate::parameter::{Parameter, Values};
use crate::signal::Start;

/// The declaration of the algorithm `A`; in the registry `A` is [`Algorithm`](crate::Algorithm).
#[derive(Debug)]
#[non_exhaustive]
pub struct Entry<A> {
    /// Its name everywhere: the kernel's where one exists, otherwise the paper's.
    pub name: &'static str,
    /// One line.
    pub title: &'static str,
    /// Why it is here.
    pub family: Family,
    /// Requirements on its transport.
    pub transport: Transport,
    /// The signals that it decides by.
    pub basis: Basis,
    /// Paper and equation, RFC and section, or the code it follows.
    pub source: &'static str,
    /// Where it departs from its source, a sentence each.
    pub deviations: &'static [&'static str],
    /// Its parameters.
    pub parameters: &'static [Parameter],
    /// Makes the algorithm from checked values; refuses combinations that no single range excludes.
    pub build: Build<A>,
    /// Makes its half at the receiver, if it has one.
    pub receiver: Option<BuildReceiver>,
}

/// Makes an algorithm from checked values.
pub type Build<A> = fn(&Values, &Start) -> Result<A, InvalidParameter>;

/// Makes the receiver's half of an algorithm from checked values.
pub type BuildReceiver = fn(&Values, &Start) -> Box<dyn ReceiverSide>;

/// Why an algorithm is in the registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "lists of algorithms have a word for each family")]
pub enum Family {
    /// The subject of one of the five papers.
    Core,
    /// A reference for comparisons, of papers or of today.
    Baseline,
    /// Only named by a paper.
    Named,
    /// A rule that the user writes.
    Own,
}

/// Requirements of an algorithm on the transport below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a host runs or refuses each transport")]
pub enum Transport {
    /// Every packet acknowledged as it arrives, as in TCP.
    Acked,
    /// Reports on a clock and negative acknowledgements, as in UDT.
    Reported,
    /// No retransmissions; every packet carries the sender's round-trip time, and the receiver's half of the algorithm decides on the
    /// content and the time of reports, as in DCCP (RFC 4340).
    Datagram,
    /// As [`Acked`](Self::Acked), and packets carry a header between the algorithm and the routers; an acknowledgement brings it
    /// back in a signal of its own, which acknowledges nothing.
    Routed,
    /// None: the stack has endpoints of its own, with an algorithm inside ([`Spec::stack`](crate::Spec::stack)).
    Stack,
}

/// The signals that an algorithm decides by. A host or a model without them would make another algorithm of it: Reno, if a queue never
/// grows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a host runs or refuses each basis")]
pub enum Basis {
    /// Losses, and marks as if they were losses; or nothing of the path.
    Losses,
    /// The share of packets that are marked.
    MarkedShare,
    /// The delay of a queue.
    Delay,
    /// The rate at which packets are delivered, of which each carries a sample.
    DeliveryRate,
    /// The rate at which acknowledgements arrive.
    AckRate,
    /// The headers that routers write on packets.
    Routers,
}

impl Transport {
    /// Whether senders over it hear of congestion marks. Reports and negative acknowledgements have no place for them here. A stack decides
    /// itself.
    const fn answers_marks(self) -> bool {
        matches!(self, Self::Acked | Self::Routed | Self::Stack)
    }
}

/// A combination of values that an algorithm refuses, or a text that it cannot read.
#[derive(Debug)]
#[non_exhaustive]
pub struct InvalidParameter {
    /// The parameter to change.
    pub parameter: &'static str,
    /// The accepted values, or the error of the algorithm's own reader.
    pub reason: Box<dyn Error + Send + Sync>,
}

impl InvalidParameter {
    /// A refusal of `parameter`.
    #[must_use]
    pub fn new(parameter: &'static str, reason: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self { parameter, reason: reason.into() }
    }
}

/// The deviation of an algorithm that does not answer congestion marks although its transport brings them.
pub(crate) const IGNORES_MARKS: &str = "a congestion mark changes nothing: its source has no answer to one";

impl<A> Entry<A> {
    /// Whether its senders answer congestion marks. Packets of one that does not must not be ECN-capable (RFC 3168 section 5).
    #[must_use]
    pub fn answers_marks(&self) -> bool {
        self.transport.answers_marks() && !self.deviations.contains(&IGNORES_MARKS)
    }

    /// This declaration for an algorithm made by `build`.
    pub(crate) const fn built_by<B>(&self, build: Build<B>) -> Entry<B> {
        let Self { name, title, family, transport, basis, source, deviations, parameters, receiver, .. } = *self;
        Entry { name, title, family, transport, basis, source, deviations, parameters, build, receiver }
    }
}
