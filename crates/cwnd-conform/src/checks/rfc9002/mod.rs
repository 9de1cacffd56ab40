//! Loss detection and congestion control of QUIC. The checks apply to other transports too.

mod runs;

use super::limited;
use crate::check::{Absence, Applies, Check, Level, Looks, Range, Suite};
use crate::subject::Law;

const BASE: Check = Check {
    id: "",
    suite: Suite::Rfc9002,
    section: "",
    level: Level::Must,
    requirement: "",
    looks: Looks::Window,
    applies: Applies::Loss,
    measured: "",
    accepted: Range::at_most(1.0),
    basis: "exact",
    absence: Absence::Deviates,
    assumes: "",
    measure: runs::initial,
};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "9002-initial",
        section: "7.2",
        level: Level::Should,
        requirement: "the initial window is ten datagrams",
        applies: Applies::All,
        measured: "window at the first packet, packets",
        accepted: Range::within(8.0, 12.5),
        basis: "ten of the largest datagrams, 14,720 bytes of smaller ones, or ten of the 1200 bytes that QUIC begins with, in packets of 1472",
        measure: runs::initial,
        ..BASE
    },
    Check {
        id: "9002-in-flight",
        section: "7",
        requirement: "no packet is sent that makes more than the window be in flight",
        measured: "most packets in flight over the window, until something is lost",
        accepted: Range::at_most(1.02),
        basis: "a window that has just grown by a part of a packet",
        measure: runs::in_flight,
        ..BASE
    },
    Check {
        id: "9002-paced-start",
        section: "7.7",
        level: Level::Should,
        requirement: "a sender that paces sends fast enough in slow start to use its window",
        measured: "most packets in flight over the window in the fifth and sixth round trip",
        accepted: Range::at_least(0.84),
        basis: "by hand 0.92 at one and a quarter windows per round trip, 0.76 at one, where slow start grows by 1.76 in place of 2",
        measure: runs::paced_start,
        ..BASE
    },
    Check {
        id: "9002-slow-start",
        section: "7.3.1",
        level: Level::Step,
        requirement: "slow start grows by what each acknowledgement acknowledges",
        applies: Applies::Plain,
        measured: "growth of the window per packet acknowledged in the first three round trips, packets",
        accepted: Range::within(0.95, 1.02),
        basis: "acknowledgements and datagrams that are not of full size",
        measure: runs::slow_start,
        ..BASE
    },
    Check {
        id: "9002-slow-start-acks",
        section: "7.3.1",
        level: Level::Step,
        requirement: "and does not depend on how many packets an acknowledgement names",
        measured: "window after three round trips with an acknowledgement for four packets over the one with one for each",
        accepted: Range::within(0.8, 1.1),
        basis: "the rest of a flight waits for the next",
        measure: runs::slow_start_acks,
        ..BASE
    },
    Check {
        id: "9002-exit-on-loss",
        section: "7.3.1",
        requirement: "a loss ends slow start",
        measured: "largest growth per round trip in the ten round trips after recovery, as a factor",
        accepted: Range::at_most(1.2),
        basis: "slow start would double; CUBIC grows by some in a hundred here",
        measure: runs::exit_on_loss,
        ..BASE
    },
    Check {
        id: "9002-exit-on-mark",
        section: "7.3.1",
        requirement: "a mark ends slow start",
        measured: "largest growth per round trip in the ten round trips after the mark, as a factor",
        accepted: Range::at_most(1.2),
        basis: "slow start would double",
        measure: runs::exit_on_mark,
        ..BASE
    },
    Check {
        id: "9002-halve",
        section: "7.3.2",
        level: Level::Step,
        requirement: "a loss halves the window",
        applies: Applies::Law(Law::Reno),
        measured: "window after the cut over the one before",
        accepted: Range::within(0.49, 0.51),
        basis: "whole packets at windows of a hundred and more",
        measure: runs::halve,
        ..BASE
    },
    Check {
        id: "9002-recovery-once",
        section: "7.3.2",
        level: Level::Step,
        requirement: "losses of packets sent before recovery began change nothing more",
        measured: "window left by losses of an eighth of a window over the one left by one loss",
        accepted: Range::at_least(0.85),
        basis: "1 for one cut; a second leaves 0.5 or 0.7 of it",
        measure: runs::recovery_once,
        ..BASE
    },
    Check {
        id: "9002-recovery-still",
        section: "7.3.2",
        level: Level::Step,
        requirement: "the window does not grow during recovery",
        measured: "largest window in nine tenths of a round trip after the cut began over the least one before it",
        accepted: Range::at_most(1.005),
        basis: "rounding",
        measure: runs::recovery_still,
        ..BASE
    },
    Check {
        id: "9002-recovery-ends",
        section: "7.3.2",
        level: Level::Step,
        requirement: "a loss of a packet sent after recovery began is another congestion event",
        measured: "cuts for two losses three round trips apart",
        accepted: Range::within(2.0, 2.0),
        basis: "exact",
        measure: runs::recovery_ends,
        ..BASE
    },
    Check {
        id: "9002-recovery-last",
        section: "7.3.2, RFC 6582 section 3.2",
        level: Level::Step,
        requirement: "the last packet sent before recovery began belongs to it",
        measured: "window where it is lost too over the one where it is not, four round trips after the cut",
        accepted: Range::at_least(0.9),
        basis: "a second cut leaves 0.5 or 0.7; a repair that takes a round trip longer costs a packet or two of growth",
        measure: runs::recovery_last,
        ..BASE
    },
    Check {
        id: "9002-recovery-first",
        section: "7.3.2, RFC 6582 section 3.2",
        level: Level::Step,
        requirement: "the first packet sent after recovery began does not",
        measured: "window where it is lost too over the one where it is not, four round trips after the cut",
        accepted: Range::at_most(0.9),
        basis: "a second cut leaves 0.5 or 0.7, and a round trip or two of growth",
        measure: runs::recovery_first,
        ..BASE
    },
    Check {
        id: "9002-avoidance",
        section: "7.3.3",
        requirement: "congestion avoidance grows by one packet at most per window acknowledged",
        applies: Applies::Law(Law::Reno),
        measured: "growth over twenty round trips, packets per round trip",
        accepted: Range::within(0.1, 1.02),
        basis: "less is allowed: rules that count acknowledgements; none at all is no growth",
        measure: runs::avoidance,
        ..BASE
    },
    Check {
        id: "9002-acks",
        section: "7.3.3",
        level: Level::Step,
        requirement: "nor does congestion avoidance depend on how many packets an acknowledgement names",
        applies: Applies::Plain,
        measured: "largest growth in 2 s with an acknowledgement for 1, 2, 5 and 10 packets over the smallest",
        accepted: Range::at_most(1.05),
        basis: "five in a hundred",
        measure: runs::acks,
        ..BASE
    },
    Check {
        id: "9002-persistent",
        section: "7.6.2",
        requirement: "persistent congestion leaves the least window",
        measured: "least window from an outage of 8 s at 50 ms to a second after it, packets",
        accepted: Range::at_most(2.0),
        basis: "two datagrams, one packet in TCP",
        measure: runs::persistent,
        ..BASE
    },
    Check {
        id: "9002-persistent-resumes",
        section: "7.6.2",
        level: Level::Step,
        requirement: "after which slow start takes the window back",
        applies: Applies::Loss,
        looks: Looks::Wire,
        measured: "packets sent per round trip 25 round trips after the first acknowledgement over those before the outage",
        accepted: Range::at_least(0.3),
        basis: "half of the window and the lag of a few round trips; by hand a tenth where congestion avoidance begins at the least window",
        measure: runs::persistent_resumes,
        ..BASE
    },
    Check {
        id: "9002-tail-loss",
        section: "6.2.4",
        requirement: "when the last packets are lost a probe is sent, and the data arrives",
        looks: Looks::Wire,
        applies: Applies::All,
        measured: "seconds from the loss of the last three packets of 60 until all have arrived, at 50 ms",
        accepted: Range::at_most(1.5),
        basis: "a probe within two round trips, or a timeout of a second",
        measure: runs::tail_loss,
        ..BASE
    },
    Check {
        id: "9002-burst",
        section: "7.7",
        level: Level::Should,
        requirement: "bursts are no longer than the initial window",
        looks: Looks::Wire,
        measured: "packets that are sent at once after a pause of 4 s at 50 ms: two packet times apart at most at 1 Gbit/s",
        accepted: Range::at_most(12.0),
        basis: "ten, and the rest of probes",
        measure: runs::burst,
        ..BASE
    },
    Check {
        id: "9002-pace-limited",
        section: "7.7",
        requirement: "a sender whose application writes forty packets every 2.5 s paces them, or sends the initial window at once and no more",
        looks: Looks::Wire,
        applies: Applies::All,
        measured: "packets in the first tenth of a round trip of 50 ms after each write, over all of it: the median of ten writes",
        accepted: Range::at_most(0.6),
        basis: "ten at once are a quarter; the rest lets a window of twice the write be paced at one and a half windows per round trip",
        measure: runs::pace_limited,
        ..BASE
    },
    Check {
        id: "9002-underused",
        section: "7.8",
        level: Level::Should,
        requirement: "a window that the application does not fill does not grow: three packets per round trip",
        applies: Applies::Loss,
        measured: "window after ten seconds over the largest of the first second",
        accepted: Range::within(0.9, 1.02),
        basis: "a window that is not validated may shrink a little",
        measure: runs::underused,
        ..BASE
    },
    Check {
        id: "9002-underused-avoidance",
        section: "7.8",
        level: Level::Should,
        requirement: "nor does it in congestion avoidance: twenty packets per round trip of a window of a hundred",
        looks: Looks::Window,
        applies: Applies::Loss,
        measured: "window after eight seconds over the one before, at 20 ms",
        accepted: Range::at_most(1.02),
        basis: "exact; a Reno that grows with 8000 packets from a window of 200 to 300 has 1.08 to 1.18",
        measure: limited::unused,
        ..BASE
    },
    Check {
        id: "9002-paced-is-used",
        section: "7.8",
        level: Level::Should,
        requirement: "a sender that its pacer holds back uses its window: it grows as without",
        applies: Applies::Plain,
        measured: "growth of the window per packet acknowledged in the first three round trips with pacing, packets",
        accepted: Range::within(0.9, 1.02),
        basis: "a tenth for the first packets, which no pacer holds",
        measure: runs::paced,
        ..BASE
    },
];
