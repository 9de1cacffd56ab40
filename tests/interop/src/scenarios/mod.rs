//! The scenarios.

mod faults;
mod link;

use cwnd_interop::Error;

use crate::bench::Bench;

/// Something that is played on real sockets.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Plays it; what there is to say about it.
    pub(crate) play: fn(&Bench) -> Result<String, Error>,
}

/// All of them.
pub(crate) const ALL: &[Scenario] = &[
    Scenario { name: "fault-mss", play: faults::packets_without_room },
    Scenario { name: "fault-window", play: faults::a_window_is_believed },
    Scenario { name: "fault-cookie", play: faults::a_cookie_is_worked_out },
    Scenario { name: "fault-first-ack", play: faults::the_first_ack_is_late },
    Scenario { name: "fault-early-loss", play: faults::an_early_loss_stalls },
    Scenario { name: "fault-lost-response", play: faults::data_overtakes_the_response },
    Scenario { name: "fault-drop-request", play: faults::a_drop_request_names_one_too_many },
    Scenario { name: "fault-one-packet", play: faults::one_packet_breaks_a_connection },
];
