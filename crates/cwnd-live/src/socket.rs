//! A WebSocket that one thread reads and others write.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};

use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Message, WebSocket};

/// The half that reads.
pub(crate) struct Receiver(WebSocket<Wire>);

/// The half that writes, for any thread.
pub(crate) struct Sender {
    socket: Mutex<WebSocket<Wire>>,
    stream: TcpStream,
}

/// Both halves of a connection whose handshake is done.
pub(crate) fn split(stream: TcpStream) -> io::Result<(Receiver, Sender)> {
    let write = Arc::new(Mutex::new(stream.try_clone()?));
    let half = || -> io::Result<WebSocket<Wire>> {
        let wire = Wire { read: stream.try_clone()?, write: Arc::clone(&write) };
        Ok(WebSocket::from_raw_socket(wire, Role::Server, Some(config())))
    };
    let (read, write) = (half()?, half()?);
    Ok((Receiver(read), Sender { socket: Mutex::new(write), stream }))
}

impl Receiver {
    /// The next text; none when the connection has ended. `ping` is called when nothing came for as long as the stream waits; one that answers
    /// nothing for as long again has left without a word.
    pub(crate) fn text(&mut self, ping: impl Fn()) -> Option<String> {
        let mut is_asked = false;
        loop {
            match self.0.read() {
                Ok(Message::Text(text)) => return Some(text.as_str().to_string()),
                Ok(Message::Close(_)) => return None,
                Ok(_) => is_asked = false,
                Err(tungstenite::Error::Io(error)) if is_late(&error) && !is_asked => {
                    is_asked = true;
                    ping();
                }
                Err(_) => return None,
            }
        }
    }
}

/// Whether it says that nothing came in time.
fn is_late(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

impl Sender {
    /// Sends a message. A visitor that takes none for [`WRITE_TIMEOUT`](crate::server::WRITE_TIMEOUT) has left.
    pub(crate) fn send(&self, message: Message) {
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        if socket.send(message).is_err() {
            // Wakes the thread that reads, which then ends the session.
            let _ = self.stream.shutdown(Shutdown::Both);
        }
    }
}

/// The stream of both halves. What one of them writes at once is not interrupted by the other, and a frame is written at once.
struct Wire {
    read: TcpStream,
    write: Arc<Mutex<TcpStream>>,
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.read.read(buffer)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut stream = self.write.lock().unwrap_or_else(PoisonError::into_inner);
        stream.write_all(bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(8 << 10)
        .write_buffer_size(0)
        .max_message_size(Some(MAX_MESSAGE))
        .max_frame_size(Some(MAX_MESSAGE))
}

/// A scenario of thousands of lines.
const MAX_MESSAGE: usize = 256 << 10;
