//! UDT over UDP sockets.

mod clock;
mod connection;
mod error;
mod listener;
mod messenger;
mod options;
mod port;
mod receive_buffer;
mod send_buffer;
mod service;
mod socket;
mod stats;
mod stream;
mod udp;
mod waker;

pub use cwnd_udt::Settings;
pub use cwnd_udt::connection::MessageOptions;
pub use cwnd_udt::handshake::Refusal;
pub use error::{AcceptError, BindError, CloseError, ConnectError, Ended, ReceiveError, SendError};
pub use listener::{Incoming, UdtListener, UdtMessageListener};
pub use messenger::UdtMessenger;
pub use options::Options;
pub use socket::{Socket, UdtPort};
pub use stats::Stats;
pub use stream::UdtStream;
