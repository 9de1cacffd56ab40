//! Timers and duplicate acknowledgements: what a transport does, and no congestion control. All of it is to be seen on the wire.

use cwnd_sim::{RateSchedule, Source};

use super::{Measured, first};
use crate::lab::Lab;
use crate::record::Record;
use crate::unfit::Unfit;

/// Seconds from the first flight until a packet follows it, where nothing arrives.
pub(super) fn first_timeout(lab: &Lab<'_>) -> Measured {
    let record = lab.run(&lab.testbed(100, 50, 20_000, 8.0).lose_share(0.0, 8.0, 1000))?;
    let gap = record.data.windows(2).map(|pair| (pair[1].at - pair[0].at) as f64 / 1e9).find(|gap| *gap > 0.2);
    gap.ok_or_else(|| Unfit::Absent("nothing is sent again".to_string()))
}

/// How long the first probe takes that comes a second after the begin of an outage, over the same in an outage half a minute before.
pub(super) fn timer_reset(lab: &Lab<'_>) -> Measured {
    const OUTAGE: f64 = 8.0;
    let once = first(lab, 50);
    let again = once + OUTAGE + 30.0;
    let testbed = lab.testbed(100, 50, 20_000, again + 3.0 * OUTAGE);
    let testbed = testbed.lose_share(once, once + OUTAGE, 1000).lose_share(again, again + OUTAGE, 1000);
    let record =
        lab.run(&testbed.with(|setup| setup.flows[0].source = Source::Rate(RateSchedule::constant(10_000_000))))?;
    Ok(late_probe(&record, again)? / late_probe(&record, once)?)
}

/// Seconds from the begin of an outage until its first probe after a second: a packet after half a round trip without one. A second is the
/// least timeout of RFC 6298; timers that are shorter have been doubled by then.
fn late_probe(record: &Record, from: f64) -> Measured {
    let sent: Vec<f64> = record.data.iter().map(|sent| sent.at as f64 / 1e9).filter(|at| *at > from).collect();
    let mut probes = sent.windows(2).filter(|pair| pair[1] - pair[0] > 0.5 * record.rtt).map(|pair| pair[1] - from);
    let probe = probes.find(|after| *after > 1.0);
    probe.ok_or_else(|| Unfit::Absent("no probe follows an outage".to_string()))
}

/// Round trips from the loss of the fifth packet from the end until all have arrived.
pub(super) fn fast_retransmit(lab: &Lab<'_>) -> Measured {
    const SIZE: u64 = 60;
    let whole = lab.testbed(100, 100, 20_000, 10.0).with(|setup| setup.flows[0].source = Source::Packets(SIZE));
    let lossless = lab.run(&whole)?;
    let [.., fifth, _, _, _, _] = lossless.data.as_slice() else {
        return Err(Unfit::Unclear("too little is sent".to_string()));
    };
    let lost = fifth.at as f64 / 1e9;
    let record = lab.run(&whole.lose(lost - 1e-6, 1))?;
    let flow = &record.trace.flows[0];
    let completed = flow.completed.ok_or_else(|| Unfit::Absent("the transfer is not completed".to_string()))?;
    Ok((completed as f64 / 1e9 + flow.start as f64 / 1e9 - lost) / record.rtt)
}
