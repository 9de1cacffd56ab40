//! UDT-like endpoints: reports every 10 ms, negative acknowledgements at once, packets spaced by a rate.
//!
//! This is the smallest protocol that rate algorithms can be hosted on, a stand-in with UDT's timing but not its packets: reports
//! acknowledge cumulatively, a gap is reported as soon as it is seen and again after a round trip, and if the receiver falls
//! silent everything outstanding is sent again. Every answer is a real packet with queueing and loss.

mod receiver;
mod sender;

pub(crate) use receiver::Receiver;
pub(crate) use sender::Sender;

use cwnd::Span;

/// UDT's SYN: the clock of reports.
const SYN: Span = Span::from_millis(10);
