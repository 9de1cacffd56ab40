//! TCP congestion control, and the recovery around it.

mod runs;

use super::limited;
use super::small;
use super::timer;
use super::{threshold_floor, timeout_threshold, timeout_window};
use crate::check::{Absence, Applies, Check, Level, Looks, Range, Suite};
use crate::subject::Law;

const BASE: Check = Check {
    id: "",
    suite: Suite::Rfc5681,
    section: "",
    level: Level::Must,
    requirement: "",
    looks: Looks::Window,
    applies: Applies::Law(Law::Reno),
    measured: "",
    accepted: Range::within(0.97, 1.03),
    basis: "",
    absence: Absence::Deviates,
    assumes: "",
    measure: runs::halve,
};

pub(crate) const CHECKS: &[Check] = &[
    Check {
        id: "5681-initial",
        section: "3.1, RFC 6928 section 2",
        requirement: "the first flight has ten packets at most",
        looks: Looks::Wire,
        applies: Applies::All,
        measured: "packets of the usual size or larger in the first half round trip of data",
        accepted: Range::at_most(11.0),
        basis: "a handshake that ends in the same flight has smaller packets; one more for it where it has not",
        measure: runs::first_flight,
        ..BASE
    },
    Check {
        id: "5681-slow-start",
        section: "3.1",
        requirement: "slow start grows by one packet at most for each one acknowledged",
        applies: Applies::Plain,
        measured: "growth of the window per packet acknowledged in the first three round trips, packets",
        accepted: Range::within(0.5, 1.02),
        basis: "half as much is allowed, and a packet for each acknowledgement, however many packets it is for: where the growth per packet is smaller than a half, the one per acknowledgement is measured; a fiftieth for rounding",
        measure: runs::slow_start,
        ..BASE
    },
    Check {
        id: "5681-slow-start-wire",
        section: "3.1",
        requirement: "so that the sent data at most doubles with each round trip",
        looks: Looks::Wire,
        applies: Applies::Loss,
        measured: "packets sent in the fourth round trip over those in the third",
        accepted: Range::within(1.05, 2.15),
        basis: "round trips are counted from the first packet and vary by a few in a hundred; a packet for each acknowledgement of eight packets is 1.12",
        measure: runs::doubling,
        ..BASE
    },
    Check {
        id: "5681-avoidance",
        section: "3.1",
        requirement: "congestion avoidance grows by one packet per round trip",
        measured: "growth over twenty round trips, packets per round trip",
        accepted: Range::within(0.45, 1.05),
        basis: "a tenth less for rules that count whole packets; where it is less than that, a rule counts acknowledgements, and what one of them adds is measured for all the packets that it is for",
        measure: runs::avoidance,
        ..BASE
    },
    Check {
        id: "5681-halve",
        section: "3.1, equation 4",
        requirement: "a loss leaves half of the window",
        measured: "window after the cut over the one before",
        accepted: Range::within(0.4, 0.51),
        basis: "whole packets at windows of a hundred and more; it is half of the flight, which is smaller where a sender paces, or where one acknowledgement covers eight packets",
        measure: runs::halve,
        ..BASE
    },
    Check {
        id: "5681-small-window",
        section: "3.1, equation 4",
        requirement: "a loss halves a small window too: nothing but two packets bounds it",
        looks: Looks::Window,
        applies: Applies::Loss,
        measured: "least window that one of eight losses leaves, four round trips apart, the first in the first flight, packets",
        accepted: Range::at_most(8.0),
        basis: "by hand 3 to 5 for a half or seven tenths and the growth between two losses; what a timeout leaves is not counted",
        measure: small::small_window,
        ..BASE
    },
    Check {
        id: "5681-flight-size",
        section: "3.1, equation 4",
        requirement: "a loss leaves half of the flight, not of a window that the application did not fill",
        looks: Looks::Window,
        measured: "threshold after a loss over the packets sent in the round trip before it, where a fifth of the window or less is used",
        accepted: Range::at_most(0.75),
        basis: "a half, and packets that leave until the loss is found; half of the window is 3 and more. RFC 9002 section 7.3.2 reduces the window itself, and RFC 9438 section 4.6 lets a CUBIC do so",
        measure: limited::flight_size,
        ..BASE
    },
    Check {
        id: "5681-timeout-window",
        section: "3.1",
        requirement: "a timeout leaves one packet, whatever the initial window (two in QUIC)",
        measured: "least window during an outage of 8 s, packets",
        accepted: Range::at_most(2.0),
        basis: "exact",
        measure: timeout_window,
        ..BASE
    },
    Check {
        id: "5681-timeout-threshold",
        section: "3.1, equation 4",
        requirement: "after a timeout slow start ends at half of the flight, and further expiries for one packet change nothing",
        measured: "threshold after the outage over the largest window before",
        accepted: Range::within(0.45, 0.55),
        basis: "losses found before the timer expires cut a window that is a little smaller",
        measure: timeout_threshold,
        ..BASE
    },
    Check {
        id: "5681-slow-start-after-timeout",
        section: "3.1",
        requirement: "below the threshold slow start takes the window back, and not beyond it",
        applies: Applies::Loss,
        measured: "largest growth per round trip above the threshold, as a factor",
        accepted: Range::at_most(1.2),
        basis: "the round trip in which slow start ends is not counted",
        measure: runs::after_timeout,
        ..BASE
    },
    Check {
        id: "5681-rate-after-timeout",
        section: "3.1, RFC 3465 section 2.3",
        requirement: "the slow start after a timeout grows by one packet at most for each one acknowledged",
        looks: Looks::Window,
        applies: Applies::Loss,
        measured: "growth of the window per packet acknowledged from four packets to eight tenths of the threshold, packets",
        accepted: Range::at_most(1.05),
        basis: "whole packets",
        measure: runs::rate_after_timeout,
        ..BASE
    },
    Check {
        id: "5681-loss-after-timeout",
        section: "3.1, 3.2",
        requirement: "a loss in the slow start after a timeout is congestion too",
        looks: Looks::Window,
        applies: Applies::Loss,
        measured: "window after the loss of a new packet, at 24 packets, over the one before",
        accepted: Range::at_most(0.9),
        basis: "0.5 for Reno and 0.7 for CUBIC",
        assumes: "a timeout within 8 s of an outage of 2.6 s",
        measure: limited::loss_after_timeout,
        ..BASE
    },
    Check {
        id: "5681-threshold-floor",
        section: "3.1, equation 4",
        requirement: "the threshold is at least two packets",
        applies: Applies::Loss,
        measured: "packets by which the threshold falls below two while three of ten packets are lost for 20 s",
        accepted: Range::at_most(0.0),
        basis: "exact",
        measure: threshold_floor,
        ..BASE
    },
    Check {
        id: "5681-duplicates",
        section: "3.2",
        level: Level::Should,
        requirement: "packets that one or two others overtake are no losses",
        looks: Looks::Wire,
        applies: Applies::All,
        measured: "packets that the sender found lost, per thousand",
        accepted: Range::at_most(5.0),
        basis: "nothing is lost, and ten in a thousand are overtaken; a sender that skips packet numbers may find a few of them lost",
        measure: runs::duplicates,
        ..BASE
    },
    Check {
        id: "5681-fast-retransmit",
        section: "3.2, RFC 9002 section 6.1.1",
        level: Level::Should,
        requirement: "a packet that four others overtake is lost, and is sent again at once",
        looks: Looks::Wire,
        applies: Applies::All,
        measured: "round trips of 100 ms from the loss of the fifth packet from the end until all 60 have arrived",
        accepted: Range::at_most(2.3),
        basis: "one to find it and half of one or one to repair it, and what a sender paces; a probe or a timer takes longer",
        measure: timer::fast_retransmit,
        ..BASE
    },
    Check {
        id: "5681-restart",
        section: "4.1",
        level: Level::Should,
        requirement: "after a pause longer than the timeout no more than the initial window leaves at once",
        looks: Looks::Wire,
        applies: Applies::Loss,
        measured: "packets in the first half round trip after a pause of 4 s at 50 ms",
        accepted: Range::at_most(12.0),
        basis: "a sender that paces sends the window over the round trip, and begins with less",
        measure: runs::restart,
        ..BASE
    },
    Check {
        id: "5681-restart-threshold",
        section: "4.1",
        level: Level::Should,
        requirement: "a restart leaves the threshold: slow start takes back what it allows, and no more",
        applies: Applies::Loss,
        measured: "window twenty round trips after a pause of 4 s at 50 ms over the one before",
        accepted: Range::within(0.5, 1.4),
        basis: "half of it by slow start, and a packet per round trip; by hand 0.3 at most where the threshold is the restart window, and a thousand where there is none",
        assumes: "a timeout below 4 s, or no restart",
        measure: runs::restart_threshold,
        ..BASE
    },
    Check {
        id: "5681-restart-window",
        section: "4.1",
        requirement: "the restart window is not larger than the window before the pause: min(IW, cwnd)",
        looks: Looks::Window,
        applies: Applies::Loss,
        measured: "largest window from a second after the begin of a pause of 4 s to the first flight after it over the one before, at less than nine packets",
        accepted: Range::at_most(1.05),
        basis: "exact",
        measure: small::restart_window,
        ..BASE
    },
    Check {
        id: "5681-restart-late",
        section: "4.1",
        level: Level::Should,
        requirement: "a pause shorter than the timeout leaves the window",
        looks: Looks::Window,
        applies: Applies::Loss,
        measured: "window after some milliseconds without data, at 50 ms, over the one before",
        accepted: Range::within(0.95, 1.1),
        basis: "growth of a round trip",
        assumes: "a timeout of a round trip and 10 ms at least",
        measure: small::short_pause,
        ..BASE
    },
    Check {
        id: "6298-backoff",
        section: "RFC 6298 section 5.5, RFC 9002 section 6.2.1",
        requirement: "each expiry of the timer doubles it",
        looks: Looks::Wire,
        applies: Applies::All,
        measured: "the last interval between probes in an outage over the one before",
        accepted: Range::within(1.8, 2.2),
        basis: "a timer may have a granularity",
        assumes: "the last three probes of 40 s; the first three after a second where the least timeout is below a second",
        measure: runs::backoff,
        ..BASE
    },
    Check {
        id: "6298-first",
        section: "RFC 6298 section 2.1, RFC 9002 section 6.2.2",
        level: Level::Should,
        requirement: "until a round trip is measured the timer waits for a second",
        looks: Looks::Wire,
        applies: Applies::All,
        measured: "seconds from the first flight until something follows it, where nothing arrives",
        accepted: Range::within(0.9, 3.1),
        basis: "a tenth for the ticks of a timer; three seconds in RFC 2988",
        measure: timer::first_timeout,
        ..BASE
    },
    Check {
        id: "6298-reset",
        section: "RFC 6298 section 5.7, RFC 9002 section 6.2.1",
        level: Level::Step,
        requirement: "a round trip that is measured ends the doubling of the timer",
        looks: Looks::Wire,
        applies: Applies::All,
        measured: "time to the first probe after a second of an outage of 8 s over that of the same half a minute before",
        accepted: Range::at_most(4.0),
        basis: "one probe more or less is a factor of two where the timer is short; by hand 7 for a timer that stays doubled",
        measure: timer::timer_reset,
        ..BASE
    },
    Check {
        id: "6582-one-cut",
        section: "RFC 6582 section 3.2",
        level: Level::Step,
        requirement: "several losses in one window are one congestion event",
        measured: "window after losses of an eighth of a window over the one before",
        accepted: Range::within(0.46, 0.54),
        basis: "one cut; two would leave a quarter. What one acknowledgement adds in slow start may hide two packets of the window before",
        measure: runs::one_cut,
        ..BASE
    },
    Check {
        id: "6675-repair",
        section: "RFC 6675 section 5",
        level: Level::Step,
        requirement: "five losses of one window are repaired without a timeout",
        looks: Looks::Wire,
        applies: Applies::All,
        measured: "round trips from the first loss until all that was sent before it has arrived",
        accepted: Range::at_most(5.0),
        basis: "a round trip to find them, one to repair them, and whoever paces takes more",
        measure: runs::repair,
        ..BASE
    },
    Check {
        id: "6675-recovery-rate",
        section: "RFC 6675 section 5",
        level: Level::Step,
        requirement: "in recovery no more is sent than the reduced window allows",
        looks: Looks::Wire,
        measured: "bytes sent in the second round trip after the loss was found over those in the one before",
        applies: Applies::Loss,
        accepted: Range::within(0.3, 0.85),
        basis: "0.5 for Reno and 0.7 for CUBIC, with growth of a round trip and a tenth for where round trips begin",
        measure: runs::recovery_rate,
        ..BASE
    },
];
