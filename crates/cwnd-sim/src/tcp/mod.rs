//! TCP-like endpoints: packets are acknowledged as they arrive, losses are found and repaired by one of five schemes and a
//! retransmission timer (RFC 6298).

mod aggregate;
mod receiver;
pub(crate) mod recovery;
mod sender;
mod timer;

pub(crate) use aggregate::Aggregate;
pub use receiver::{AckEcho, Reassembly};
pub(crate) use receiver::{Receiver, ReceiverOptions};
pub(crate) use sender::{Released, Sender};
