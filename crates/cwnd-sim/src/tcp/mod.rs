//! TCP-like endpoints: packets are acknowledged as they arrive, losses are found and repaired by one of five schemes and a
//! retransmission timer (RFC 6298).

mod accecn;
mod aggregate;
mod linux;
mod linux_sender;
mod marks;
mod merging;
mod receiver;
pub(crate) mod recovery;
mod right_sizing;
mod sender;
mod timer;
mod totals;

pub(crate) use aggregate::Aggregate;
pub use linux::LinuxHost;
pub(crate) use linux::largest_window;
pub use receiver::Reassembly;
pub(crate) use receiver::{Receiver, ReceiverOptions};
pub(crate) use sender::{Released, Sender};
