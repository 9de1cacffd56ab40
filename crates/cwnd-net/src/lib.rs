//! UDT over UDP sockets.

mod clock;
mod udp;
mod waker;
