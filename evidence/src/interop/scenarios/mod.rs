//! The scenarios.

mod capture;
mod demos;
mod faults;
mod link;
mod transfers;
mod wire;

use crate::interop::Error;

use crate::interop::bench::Bench;

/// Something that is played on real sockets.
pub(crate) struct Scenario {
    pub(crate) name: &'static str,
    /// Plays it; what there is to say about it.
    pub(crate) play: fn(&Bench) -> Result<String, Error>,
}

/// All of them.
pub(crate) const ALL: &[Scenario] = &[
    Scenario { name: "stream-clean", play: transfers::streams_on_a_clean_path },
    Scenario { name: "stream-lossy", play: transfers::streams_on_a_lossy_path },
    Scenario { name: "stream-wrap", play: transfers::numbers_wrap },
    Scenario { name: "message-clean", play: transfers::messages_on_a_clean_path },
    Scenario { name: "message-lossy", play: transfers::messages_on_a_lossy_path },
    Scenario { name: "message-order", play: transfers::messages_in_order },
    Scenario { name: "message-time-to-live", play: transfers::messages_out_of_time },
    Scenario { name: "slow-reader", play: transfers::slow_readers },
    Scenario { name: "rendezvous", play: transfers::rendezvous },
    Scenario { name: "other-type", play: transfers::other_type },
    Scenario { name: "nobody-there", play: transfers::nobody_there },
    Scenario { name: "killed", play: transfers::killed },
    Scenario { name: "demo-fetch", play: demos::fetch },
    Scenario { name: "demo-serve", play: demos::serve },
    Scenario { name: "demo-without-end", play: demos::without_end },
    Scenario { name: "wire-dissected", play: wire::dissected },
    Scenario { name: "capture-simulated", play: capture::simulated },
    Scenario { name: "fault-mss", play: faults::packets_without_room },
    Scenario { name: "fault-window", play: faults::a_window_beyond_the_buffer_is_accepted },
    Scenario { name: "fault-cookie", play: faults::a_cookie_is_worked_out },
    Scenario { name: "fault-first-ack", play: faults::the_first_ack_is_late },
    Scenario { name: "fault-early-loss", play: faults::an_early_loss_stalls },
    Scenario { name: "fault-lost-response", play: faults::data_overtakes_the_response },
    Scenario { name: "fault-drop-request", play: faults::a_drop_request_names_one_too_many },
    Scenario { name: "fault-one-packet", play: faults::one_packet_breaks_a_connection },
];
