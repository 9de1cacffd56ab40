//! UDT over UDP sockets.

mod clock;
mod error;
mod receive_buffer;
mod send_buffer;
mod udp;
mod waker;
