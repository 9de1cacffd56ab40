//! The stream below a transfer, encrypted or not.

use std::io::{self, Read, Write};

use cwnd_net::{CloseError, UdtBundle};
use cwnd_secure::SecureStream;

pub(super) enum Channel {
    Plain(UdtBundle),
    Secure(Box<SecureStream<UdtBundle>>),
}

impl Channel {
    /// The connections below.
    pub(super) fn stream(&self) -> &UdtBundle {
        match self {
            Self::Plain(stream) => stream,
            Self::Secure(stream) => stream.get_ref(),
        }
    }

    /// Sends the final record, and closes the connections below once everything is delivered.
    pub(super) fn close(self) -> Result<(), CloseError> {
        let stream = self.stream().clone();
        if let Self::Secure(mut secure) = self {
            // It fails where the stream has ended, which closing reports.
            let _ = secure.finish();
        }
        stream.close()
    }
}

impl Read for Channel {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(out),
            Self::Secure(stream) => stream.read(out),
        }
    }
}

impl Write for Channel {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Secure(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Secure(stream) => stream.flush(),
        }
    }
}
