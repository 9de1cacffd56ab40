//! TCP-like endpoints: every packet is acknowledged as it arrives, losses are found and mended by selective acknowledgements
//! (RFC 2018, RFC 6675) and a retransmission timer (RFC 6298).

mod proportional;
mod receiver;
mod scoreboard;
mod sender;
mod timer;

pub(crate) use receiver::Receiver;
pub(crate) use sender::Sender;
