//! Scalable senders: RFC 9331, section 4.3.

use cwnd::{Span, Spec};
use cwnd_sim::{AckEcho, CoDelSetup, Discipline, DualPi2Setup, Fault, Loss, QueueLimit, ReorderBy};

use super::{Measured, first, later_cut, marked, need, wide};
use crate::check::{Absence, Applies, Check, Level, Looks, Range, Suite};
use crate::lab::Lab;
use crate::record::Record;
use crate::testbed::{PACKET, Testbed};
use crate::unfit::Unfit;

const BASE: Check = Check {
    id: "",
    suite: Suite::Rfc9331,
    section: "4.3",
    level: Level::Must,
    requirement: "",
    looks: Looks::Window,
    applies: Applies::Scalable,
    measured: "",
    accepted: Range::at_most(0.0),
    basis: "",
    absence: Absence::Deviates,
    assumes: "",
    measure: small_cuts,
};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "9331-small-cuts",
        level: Level::Should,
        requirement: "a few marks in each round trip take a few packets, not half of the window",
        measured: "smallest window over the largest in the last 8 s of 16 s behind a dual queue of 50 Mbit/s and 20 ms",
        accepted: Range::at_least(0.65),
        basis: "two marks of 83 packets take 2 % at a time; a classic sender halves",
        measure: small_cuts,
        ..BASE
    },
    Check {
        id: "9331-proportion",
        level: Level::Should,
        requirement: "the window follows the inverse of the share of marked packets",
        measured: "mean window with each hundredth packet marked over that with each tenth",
        accepted: Range::within(6.0, 16.0),
        basis: "10, or 11 where marked packets do not count for growth; 3.2 for a classic sender",
        measure: proportion,
        ..BASE
    },
    Check {
        id: "9331-signals",
        level: Level::Should,
        requirement: "the time between two marks does not grow with the rate",
        looks: Looks::Wire,
        measured: "marks per round trip behind a dual queue of 160 Mbit/s over those behind one of 20 Mbit/s, both 20 ms",
        accepted: Range::at_least(0.4),
        basis: "1 for a scalable sender; 1/8 for Reno",
        measure: signals,
        ..BASE
    },
    Check {
        id: "9331-loss",
        requirement: "a loss is answered so that the sender coexists with Reno",
        measured: "window after a loss in congestion avoidance over the one before",
        accepted: Range::within(0.3, 0.75),
        basis: "0.5 for Reno, 0.7 for CUBIC",
        measure: loss,
        ..BASE
    },
    Check {
        id: "9331-loss-rate",
        requirement: "and takes no larger share than Reno where each thousandth packet is lost",
        looks: Looks::Wire,
        measured: "goodput over that of Reno on the same path of 40 ms",
        accepted: Range::at_most(1.5),
        basis: "1 for Reno's response",
        measure: loss_rate,
        ..BASE
    },
    Check {
        id: "9331-rtt-bias",
        requirement: "the growth of the rate does not depend on the round-trip time, as far as possible, below the typical one",
        measured: "growth of the rate in congestion avoidance at 5 ms over that at 20 ms, from 10 s on",
        accepted: Range::at_most(4.0),
        basis: "1 without bias; 16 for Reno",
        measure: rtt_bias,
        ..BASE
    },
    Check {
        id: "9331-below-two",
        level: Level::Should,
        requirement: "the sender stays responsive where less than two packets fit into a round trip",
        measured: "smallest window behind a dual queue of 1 Mbit/s and 5 ms, packets",
        accepted: Range::at_most(1.0),
        basis: "half a packet fits",
        measure: below_two,
        ..BASE
    },
    Check {
        id: "9331-time",
        level: Level::Should,
        requirement: "losses are found by time, not by the number of packets",
        looks: Looks::Wire,
        measured: "packets sent again when one is overtaken by an eighth of a round trip, the second time that this happens",
        accepted: Range::at_most(0.0),
        basis: "exact",
        assumes: "the detection of losses is the host's in this program, not the algorithm's",
        measure: by_time,
        ..BASE
    },
    Check {
        id: "9331-classic-queue",
        level: Level::Should,
        requirement: "behind a classic queue that marks, the sender adapts to classic senders",
        looks: Looks::Wire,
        measured: "goodput over that of a Reno with classic ECN next to it, behind CoDel of 50 Mbit/s and 20 ms",
        accepted: Range::at_most(4.0),
        basis: "a judgement: RFC 9331 asks for monitoring and gives no ratio; without a response it is 20 to 60",
        measure: classic_queue,
        ..BASE
    },
];

fn small_cuts(lab: &Lab<'_>) -> Measured {
    let record = dual(lab, 50, 20, 16.0)?;
    Ok(record.smallest(8.0, 16.0)? / record.largest(8.0, 16.0)?)
}

fn proportion(lab: &Lab<'_>) -> Measured {
    let mean = |each: u64, most: u64| {
        let marks = (1..most).map(|nth| Fault::MarkData { flow: 0, number: nth * each, transmission: 1 });
        let testbed = scalable(lab.testbed(1000, 40, 20_000, 14.0));
        let record = lab.run(&testbed.with(|setup| setup.taps[0].faults.extend(marks)))?;
        marked(&record)?;
        Ok(record.goodput(6.0, 14.0))
    };
    let rare: f64 = mean(100, 2_000)?;
    let often: f64 = mean(10, 2_000)?;
    Ok(rare / often)
}

fn signals(lab: &Lab<'_>) -> Measured {
    let marks = |mbit: u64| {
        let record = dual(lab, mbit, 20, 16.0)?;
        Ok(after_warmup(&record, &record.trace.flows[0].marked))
    };
    let slow: f64 = marks(20)?;
    need(slow > 0.0, "nothing is marked at 20 Mbit/s")?;
    let fast: f64 = marks(160)?;
    Ok(fast / slow)
}

fn loss(lab: &Lab<'_>) -> Measured {
    Ok(later_cut(lab, 100, 1.5)?.ratio())
}

fn loss_rate(lab: &Lab<'_>) -> Measured {
    let lossy = |spec: Spec| {
        let testbed = scalable(lab.testbed_of(spec, 200, 40, 20_000, 20.0));
        let record = lab.run(&testbed.with(|setup| setup.links[0].loss = Loss::Periodic(1000)))?;
        Ok(record.goodput(4.0, 20.0))
    };
    let reno: f64 = lossy(reno()?)?;
    let own: f64 = lossy(lab.subject().spec().clone())?;
    Ok(own / reno)
}

fn rtt_bias(lab: &Lab<'_>) -> Measured {
    let acceleration = |rtt_ms: u64| {
        let at = first(lab, rtt_ms);
        let record = lab.run(&scalable(lab.testbed(1000, rtt_ms, 20_000, 14.0)).lose(at, 1))?;
        record.cut(at)?;
        Ok(record.slope(10.0, 14.0)? / record.rtt / record.rtt)
    };
    let short: f64 = acceleration(5)?;
    let long: f64 = acceleration(20)?;
    need(long > 0.0, "the window does not grow at 20 ms")?;
    Ok(short / long)
}

fn below_two(lab: &Lab<'_>) -> Measured {
    dual(lab, 1, 5, 16.0)?.smallest(8.0, 16.0)
}

fn by_time(lab: &Lab<'_>) -> Measured {
    let at = first(lab, 100);
    let testbed = scalable(wide(lab, 100, 9.0)).lose(at, 1);
    let plain = lab.run(&testbed)?;
    let held: Vec<u64> =
        [1.0, 2.0].into_iter().filter_map(|later| plain.numbers(at + later, at + later + 0.1).next()).collect();
    need(held.len() == 2, "too little is sent")?;
    let by = ReorderBy::Time(Span::from_secs_f64(plain.rtt / 8.0));
    let hold = |number: &u64| Fault::HoldData { flow: 0, number: *number, transmission: 1, by };
    let record = lab.run(&testbed.with(|setup| setup.taps[0].faults.extend(held.iter().map(hold))))?;
    let from = ((at + 1.9) * 1e9) as u64;
    Ok(record.data.iter().filter(|sent| sent.again && sent.at >= from).count() as f64)
}

fn classic_queue(lab: &Lab<'_>) -> Measured {
    let codel = CoDelSetup { mark: true, mtu: PACKET, ..CoDelSetup::default() };
    let testbed =
        scalable(lab.testbed(50, 20, 2_000, 24.0)).with(|setup| setup.links[0].discipline = Discipline::CoDel(codel));
    let other = reno()?;
    let record = lab.run(&testbed.with(|setup| {
        let mut flow = setup.flows[0].clone();
        (flow.algorithm, flow.ecn) = (other, Some(AckEcho::Latch));
        setup.flows.push(flow);
    }))?;
    let [own, other] = [0, 1].map(|flow| after_warmup(&record, &record.trace.flows[flow].delivered));
    need(other > 0.0, "Reno sends nothing next to it")?;
    Ok(own / other)
}

/// A path with a coupled dual queue.
fn dual(lab: &Lab<'_>, mbit: u64, rtt_ms: u64, seconds: f64) -> Result<Record, Unfit> {
    let testbed = scalable(lab.testbed(mbit, rtt_ms, 10_000, seconds));
    let record = lab.run(&testbed.with(|setup| {
        let link = &mut setup.links[0];
        link.discipline = Discipline::DualPi2(DualPi2Setup { mtu: PACKET, ..DualPi2Setup::LINUX });
        link.queue = QueueLimit::Packets(10_000);
    }))?;
    marked(&record)?;
    Ok(record)
}

/// The packets of the subject carry ECT(1).
fn scalable(testbed: Testbed) -> Testbed {
    testbed.with(|setup| {
        setup.warmup = WARMUP;
        let answers = setup.flows[0].algorithm.entry().answers_marks();
        setup.flows[0].ecn = answers.then_some(AckEcho::Scalable);
    })
}

/// The rise of a count after the warm-up.
fn after_warmup(record: &Record, counts: &[u64]) -> f64 {
    let from = record.trace.at.partition_point(|at| *at < WARMUP.as_nanos());
    counts.last().zip(counts.get(from)).map_or(0, |(last, from)| last - from) as f64
}

fn reno() -> Result<Spec, Unfit> {
    Spec::parse("reno").map_err(|error| Unfit::Unclear(error.to_string()))
}

/// Counts begin here; the first seconds have slow start and, for Prague, 500 round trips without its scaling.
const WARMUP: Span = Span::from_secs(8);
