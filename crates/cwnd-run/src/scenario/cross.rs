//! From `[[cbr]]`, `[[arrivals]]` and the sources of flows to what the simulator takes.

use std::num::NonZeroU32;

use cwnd::registry::Transport;
use cwnd::{Span, Spec, Time};
use cwnd_sim::{AckEcho, CbrSetup, FlowArrivalsSetup, FlowSetup, Interarrival, LinuxHost, Pages, Pause, Source};
use cwnd_text::decimal;

use super::document::{Document, FlowGroup};
use super::error::{Fault, Located, range};
use super::quantity::Written;
use super::topology::{Topology, ends, hosts, route};
use super::traffic::{Arrivals, Cbr, Direction, Ecn, Stage};

/// When a flow hands over data.
#[derive(Debug)]
pub(super) struct Times {
    pub(super) start: Time,
    pub(super) stop: Option<Time>,
    pub(super) pauses: Vec<Pause>,
}

/// What the application of a flow hands over.
pub(super) fn source(document: &Document, group: &FlowGroup, key: &str) -> Result<Source, Located> {
    match (&group.size, &group.source) {
        (None, None) => Ok(Source::Bulk),
        (Some(size), None) => Ok(Source::Packets(size.value().whole_packets(*document.payload.value()))),
        (None, Some(rate)) => Ok(Source::Rate(*rate.value())),
        (Some(_), Some(rate)) => Err(range(key, "source", &format!("`{rate}`"), "none with a `size`")),
    }
}

/// Times from `start` and `stop`, or from `on`.
pub(super) fn times(
    document: &Document,
    (start, stop): (&Option<Written<Span>>, &Option<Written<Span>>),
    on: &[Written<Stage>],
    key: &str,
) -> Result<Times, Located> {
    let at = |span: Span| Time::ZERO + span;
    let within = |begin: Span, name, given: &str| {
        let accepted = format!("less than the duration, {}", document.duration);
        if begin < *document.duration.value() { Ok(()) } else { Err(range(key, name, &given, &accepted)) }
    };
    let Some(first) = on.first() else {
        let begin = start.as_ref().map_or(Span::ZERO, |start| *start.value());
        start.as_ref().map_or(Ok(()), |start| within(begin, "start", start.text()))?;
        let stop = stop.as_ref().map(|stop| at(*stop.value()));
        return Ok(Times { start: at(begin), stop, pauses: Vec::new() });
    };
    if start.is_some() || stop.is_some() {
        return Err(range(key, "on", &format!("`{first}`"), "none with a `start` or `stop`"));
    }
    within(first.value().from, "on", &format!("`{first}`"))?;
    let pauses = on.windows(2).map(|pair| {
        let (from, to) = (pair[0].value().to, pair[1].value().from);
        match from.filter(|from| *from < to) {
            Some(from) => Ok(Pause { from: at(from), to: at(to) }),
            None => {
                Err(range(key, "on", &format!("`{}` after `{}`", pair[1], pair[0]), "times that follow each other"))
            }
        }
    });
    let stop = on.last().and_then(|last| last.value().to);
    Ok(Times { start: at(first.value().from), stop: stop.map(at), pauses: pauses.collect::<Result<_, _>>()? })
}

/// What the hosts of flows of `algorithm` do as those of Linux: what they have of their own, or, for TCP, what the scenario says.
pub(super) fn host(own: Option<&Written<LinuxHost>>, document: &Document, algorithm: &Spec) -> LinuxHost {
    let common = document.host.as_ref().filter(|_| algorithm.entry().transport == Transport::Acked);
    own.or(common).map_or_else(LinuxHost::default, |host| *host.value())
}

/// The flows of a `[[cbr]]`.
pub(super) fn cbr(document: &Document, topology: &Topology, group: &Cbr, key: &str) -> Result<Vec<CbrSetup>, Located> {
    if group.count == 0 {
        return Err(range(key, "count", &0, "at least 1"));
    }
    let (from, to) = ends(topology, (&group.from, &group.to), group.direction, key)?;
    let Times { start, stop, pauses } = times(document, (&group.start, &group.stop), &group.on, key)?;
    let setup = CbrSetup {
        name: group.name.clone().unwrap_or_else(|| "cbr".to_string()),
        from,
        to,
        start,
        stop,
        pauses,
        access_delay: topology.access_rtt / 2,
        packet: *group.packet.as_ref().unwrap_or(&document.packet).value(),
        class: *group.class.value(),
        hosts: hosts(topology, (&group.src_host, &group.dst_host), key)?,
        rate: *group.rate.value(),
    };
    Ok(vec![setup; group.count as usize])
}

/// The group of an `[[arrivals]]`.
pub(super) fn group(
    document: &Document,
    topology: &Topology,
    group: &Arrivals,
    key: &str,
) -> Result<FlowArrivalsSetup, Located> {
    let ends = ends(topology, (&group.from, &group.to), group.direction, key)?;
    let scheme = group.recovery.as_ref().or(document.recovery.as_ref());
    let Times { start, stop, .. } = times(document, (&group.start, &group.stop), &[], key)?;
    let limit = NonZeroU32::new(group.limit).ok_or_else(|| range(key, "limit", &0, "at least 1"))?;
    let span = |written: &Option<Written<Span>>| written.as_ref().map_or(Span::ZERO, |span| *span.value());
    let name = group.name.clone().unwrap_or_else(|| group.algorithm.text().trim().to_string());
    let access_rtt = topology.access_rtt + span(&group.extra_rtt);
    let era = *group.era.as_ref().unwrap_or(&document.era).value();
    let pages =
        group.web.as_ref().map(|web| Pages { pages: web.pages, objects: web.objects, think: *web.think.value() });
    let usual = FlowSetup::bulk(name, group.algorithm.value().clone(), era, ends, access_rtt);
    Ok(FlowArrivalsSetup {
        flow: FlowSetup {
            start,
            stop,
            packet: *document.packet.value(),
            payload: *document.payload.value(),
            ack: *document.ack.value(),
            host: host(None, document, group.algorithm.value()),
            slow_start: document.slow_start.as_ref().map(|growth| *growth.value()),
            rate_limited: document.rate_limited.as_ref().map(|policy| *policy.value()),
            ecn: ecn(group.ecn.as_ref(), group.algorithm.value()),
            class: *group.class.value(),
            hosts: hosts(topology, (&group.src_host, &group.dst_host), key)?,
            handshake: group.handshake,
            delayed_ack: group.delayed_ack.as_ref().map_or(usual.delayed_ack, |delay| delayed(*delay.value())),
            recovery: scheme.map_or(usual.recovery, |scheme| *scheme.value()),
            via: route(topology, &group.via, ends, (key, "via"))?,
            via_back: route(topology, &group.via_back, (ends.1, ends.0), (key, "via_back"))?,
            ..usual
        },
        gap: gap(document, group, key)?,
        sizes: group.size.value().of(*document.payload.value()),
        pages,
        rtt_spread: span(&group.rtt_spread),
        limit,
    })
}

/// How marks come back; none where the sender would not answer them, whose packets must not carry any.
pub(super) fn ecn(own: Option<&Ecn>, algorithm: &Spec) -> Option<AckEcho> {
    own.filter(|_| algorithm.entry().answers_marks()).map(|echo| *echo.value())
}

/// A delay of zero is none.
pub(super) fn delayed(delay: Span) -> Option<Span> {
    (delay > Span::ZERO).then_some(delay)
}

fn gap(document: &Document, group: &Arrivals, key: &str) -> Result<Interarrival, Located> {
    let load = match (group.load, &group.gap) {
        (None, Some(gap)) => return Ok(*gap.value()),
        (Some(load), Some(_)) => return Err(range(key, "load", &load, "none with a `gap`")),
        (None, None) => {
            return Err(Located::at(key, Fault::Missing { key: "load", why: "arrivals have a `load` or a `gap`" }));
        }
        (Some(load), None) => load,
    };
    if !(load > 0.0 && load.is_finite()) {
        return Err(range(key, "load", &load, "above 0"));
    }
    let rate = match (&document.dumbbell, &document.parking_lot) {
        (Some(dumbbell), _) => {
            let back = dumbbell.reverse_rate.as_ref().filter(|_| group.direction == Direction::Reverse);
            back.unwrap_or(&dumbbell.rate)
        }
        (None, Some(lot)) => &lot.rate,
        (None, None) => {
            let accepted = "given as a `gap`: a graph has no rate of its own";
            return Err(range(key, "load", &load, accepted));
        }
    };
    let flows = group.web.as_ref().map_or(1.0, |web| web.pages * web.objects);
    let rate = rate.value().0.round() as u64;
    let sizes = group.size.value().of(*document.payload.value());
    let gap = |load: f64| Interarrival::of_load(load / flows, rate, sizes, *document.packet.value());
    // The simulator checks a gap that is given. Gaps are inverse to loads.
    if let (Interarrival::Constant(own), Interarrival::Constant(of_one)) = (gap(load), gap(1.0))
        && own < LEAST_GAP
    {
        let most = of_one.as_secs_f64() / LEAST_GAP.as_secs_f64();
        return Err(range(
            key,
            "load",
            &load,
            &format!("at most {} here, an arrival every microsecond", decimal(most, 0)),
        ));
    }
    Ok(gap(load))
}

/// The least mean time between arrivals, as the simulator has it.
const LEAST_GAP: Span = Span::from_micros(1);
