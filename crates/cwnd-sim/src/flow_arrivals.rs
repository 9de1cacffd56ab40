//! Groups of arriving flows under way: finite flows that arrive at random, and end when their data has been acknowledged.

use cwnd::{Span, Time};
use cwnd_trace::Histogram;

use crate::flow::{Finite, Flow, FlowParameters, FlowPath, Member};
use crate::handshake::Handshake;
use crate::net::route::FlowRoutes;
use crate::net::setup::HostPair;
use crate::random::Stream;
use crate::setup::{FlowArrivalsSetup, Setup};
use crate::traffic::arrivals::Poisson;
use crate::traffic::source::Backlog;
use crate::traffic::web::WebUsers;

/// A group under way.
#[derive(Debug)]
pub(crate) struct FlowArrivals {
    setup: FlowArrivalsSetup,
    path: FlowPath,
    arrivals: Poisson,
    sizes: Stream,
    users: Option<WebUsers>,
    flows: Stream,
    /// Its pending event; those at other times are out of date.
    pub(crate) armed: Time,
    pub(crate) tally: Tally,
}

/// A flow that is requested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    session: u32,
    size: u64,
}

/// What became of the flows of a group.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    /// Flows requested, of these refused, of the others complete at the receiver.
    pub(crate) arrived: u64,
    pub(crate) refused: u64,
    pub(crate) completed: u64,
    /// Packets requested by flows that were not refused.
    pub(crate) requested: u64,
    /// Flows that are there.
    pub(crate) present: u32,
    /// Of flows that have ended.
    pub(crate) past: Totals,
    /// Sizes of the flows that arrived after the warm-up and were not refused.
    pub(crate) sizes: Histogram,
    /// Their completion times by size, in the order of [`CLASSES`].
    pub(crate) classes: [Completions; CLASSES.len()],
}

/// Packets of several flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(crate) sent: u64,
    pub(crate) retransmitted: u64,
    pub(crate) delivered: u64,
    pub(crate) dropped: u64,
    pub(crate) marked: u64,
    pub(crate) timeouts: u64,
}

/// Times from a flow's start, nanoseconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct Completions {
    /// To the arrival of its last packet.
    pub(crate) arrived: Histogram,
    /// To the acknowledgement of everything.
    pub(crate) acknowledged: Histogram,
}

impl FlowArrivals {
    /// The group that is number `index` of `setup`, and of which no flow has arrived.
    pub(crate) fn new(setup: &Setup, index: usize, path: FlowPath) -> Self {
        let stream = |what| Stream::new(setup.seed, format_args!("crowd {index}: {what}"));
        let group = setup.flow_arrivals[index].clone();
        Self {
            path,
            arrivals: Poisson::new(group.gap, group.flow.start, stream("arrivals")),
            sizes: stream("sizes"),
            users: group.pages.map(|pages| WebUsers::new(pages, stream("sessions"))),
            flows: stream("flows"),
            armed: Time::MAX,
            tally: Tally::default(),
            setup: group,
        }
    }

    /// The round-trip time of its flows without queueing or transmission, before the draws of each.
    pub(crate) fn base_rtt(&self) -> Span {
        self.path.base_rtt(0.5)
    }

    /// The hosts of its flows, and their routes.
    pub(crate) fn ends(&self) -> (HostPair, FlowRoutes) {
        (self.setup.flow.hosts, self.path.routes)
    }

    /// The route of its data.
    pub(crate) fn forward(&self) -> u32 {
        self.path.routes.forward
    }

    /// When the next flows are requested.
    pub(crate) fn due(&self) -> Time {
        let arrival = self.arrivals.due();
        let arrival = if self.setup.flow.stop.is_some_and(|stop| arrival >= stop) { Time::MAX } else { arrival };
        self.users.as_ref().map_or(arrival, |users| arrival.min(users.due()))
    }

    /// The flows requested at the time that is due.
    pub(crate) fn pass(&mut self, requests: &mut Vec<Request>) {
        let sizes = self.setup.sizes;
        let mut request = |session, size| requests.push(Request { session, size });
        let arrives = self.due() == self.arrivals.due();
        match &mut self.users {
            None => request(0, sizes.draw(&mut self.sizes)),
            Some(users) if arrives => users.begin(sizes, request),
            Some(users) => return users.pass(sizes, request),
        }
        self.arrivals.pass();
    }

    /// The flow that was requested, as the member of group number `index`, and its handshake, if its flows have one; none if there are
    /// too many.
    pub(crate) fn open(
        &mut self,
        index: u32,
        now: Time,
        request: Request,
        measured: bool,
    ) -> Option<(Flow, Option<Handshake>)> {
        self.tally.arrived += 1;
        if self.tally.present == self.setup.limit.get() {
            self.tally.refused += 1;
            self.object_arrived(now, request.session);
            return None;
        }
        self.tally.present += 1;
        self.tally.requested += request.size;
        if measured {
            self.tally.sizes.record(request.size);
        }
        let draws = &mut self.flows;
        let longer = self.setup.rtt_spread.mul_f64(draws.unit());
        let (spread, seed) = (draws.unit(), draws.seed());
        let member = Member { group: index, session: request.session, measured };
        let parameters = FlowParameters {
            start: now,
            backlog: Backlog::packets(request.size),
            finite: Some(Box::new(Finite::new(request.size, now, Some(member)))),
            spread,
            longer,
            seed,
            jitter: Stream::seeded(draws.seed()),
        };
        let flow = &self.setup.flow;
        Some((Flow::controlled(flow, &self.path, parameters), Handshake::of(flow, now, seed)))
    }

    /// All packets of a flow of `size` have arrived, `after` its start.
    pub(crate) fn complete(&mut self, now: Time, size: u64, after: Span, member: Member) {
        self.tally.completed += 1;
        if member.measured {
            self.tally.classes[class_of(size)].arrived.record(after.as_nanos());
        }
        self.object_arrived(now, member.session);
    }

    /// All packets of a flow of `size` have been acknowledged, `after` its start.
    pub(crate) fn acknowledge(&mut self, size: u64, after: Span, member: Member) {
        if member.measured {
            self.tally.classes[class_of(size)].acknowledged.record(after.as_nanos());
        }
    }

    /// A flow has ended.
    pub(crate) fn close(&mut self, flow: &Flow) {
        self.tally.present -= 1;
        self.tally.past.add(flow);
    }

    fn object_arrived(&mut self, now: Time, session: u32) {
        if let Some(users) = &mut self.users {
            users.object_arrived(now, session);
        }
    }
}

impl Totals {
    /// Adds the packets of a flow.
    pub(crate) fn add(&mut self, flow: &Flow) {
        let counts = flow.sender.state().counts();
        self.sent += counts.sent;
        self.retransmitted += counts.retransmitted;
        self.timeouts += counts.timeouts;
        self.delivered += flow.delivered;
        self.dropped += flow.dropped;
        self.marked += flow.marked;
    }
}

fn class_of(size: u64) -> usize {
    CLASSES.iter().position(|up_to| size <= *up_to).unwrap_or(CLASSES.len() - 1)
}

/// Upper limits of the classes of flow sizes, packets. Ten fit into today's initial window (RFC 6928); each further class takes
/// about three round trips of slow start more.
pub(crate) const CLASSES: [u64; 4] = [10, 100, 1000, u64::MAX];
