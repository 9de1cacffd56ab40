//! The protocol of a measurement.
//!
//! The client sends a request, in one frame. The sender of the measurement then sends blocks, and an empty one at the end. The receiver
//! answers with its measurements, and receives those of the sender. A frame, like a block, is a length of four bytes and that many bytes of
//! content.

use std::io::{self, Read, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cwnd_files::Printable;
use cwnd_net::UdtStream;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::clock::Stopwatch;
use crate::usage::Usage;

/// The request of a client.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
pub(super) struct Request {
    /// The version of this exchange.
    pub(super) perf: u32,
    /// Whether the server sends the blocks.
    pub(super) reverse: bool,
    /// When the sender stops.
    pub(super) until: Until,
}

/// When enough has been sent.
#[derive(Clone, Copy, Debug, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Until {
    Bytes(u64),
    Seconds(f64),
}

impl Until {
    /// The bytes of the next block after `sent` bytes; none at the end.
    fn next(self, sent: u64, clock: &Stopwatch) -> usize {
        match self {
            Self::Bytes(bytes) => (bytes - sent).min(BLOCK as u64) as usize,
            Self::Seconds(seconds) if clock.elapsed().as_secs_f64() >= seconds => 0,
            Self::Seconds(_) => BLOCK,
        }
    }
}

impl Until {
    /// Whether a sender may be asked to stop then.
    ///
    /// # Errors
    /// It is a time that is not above zero, or longer than [`MAX_SECONDS`].
    pub(super) fn check(self) -> io::Result<()> {
        match self {
            Self::Seconds(seconds) if !(seconds > 0.0 && seconds <= MAX_SECONDS) => Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a measurement of {seconds:e} s: expected above 0 and at most {MAX_SECONDS} s"),
            )),
            Self::Seconds(_) | Self::Bytes(_) => Ok(()),
        }
    }
}

/// The measurement of one end.
#[derive(Clone, Copy, Debug, Default, Deserialize, Serialize)]
pub(super) struct Side {
    /// Bytes of blocks.
    pub(super) bytes: u64,
    /// From the first to the last of them.
    pub(super) seconds: f64,
    pub(super) cpu: Usage,
    /// Packets sent again.
    pub(super) retransmits: u64,
}

impl Side {
    /// The measurement of `stream`, which has moved `count` bytes in this time; `before` is the processor time used before.
    pub(super) fn measured(stream: &UdtStream, count: &AtomicU64, time: Duration, before: Usage) -> Self {
        Self {
            bytes: count.load(Ordering::Relaxed),
            seconds: time.as_secs_f64(),
            cpu: Usage::so_far() - before,
            retransmits: stream.stats().map_or(0, |stats| stats.udt.retrans),
        }
    }
}

/// The version of the exchange.
pub(super) const VERSION: u32 = 1;
/// The longest measurement in seconds: a week.
pub(super) const MAX_SECONDS: f64 = 604_800.0;

/// Sends a frame.
pub(super) fn send(stream: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_vec(what)?;
    let length = u32::try_from(text.len()).map_err(io::Error::other)?;
    stream.write_all(&[length.to_be_bytes().as_slice(), &text].concat())
}

/// Receives a frame.
pub(super) fn receive<T: DeserializeOwned>(stream: &mut impl Read) -> io::Result<T> {
    let length = length(stream)?;
    if length > MAX_FRAME {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the other end is not `udt perf`"));
    }
    let mut text = vec![0; length];
    stream.read_exact(&mut text)?;
    // The error quotes the frame, which any host may have sent.
    serde_json::from_slice(&text)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, Printable::new(&error.to_string()).to_string()))
}

/// Sends blocks, and the empty one at the end. Counts the bytes written in `count`.
pub(super) fn send_blocks(stream: &mut impl Write, until: Until, count: &AtomicU64) -> io::Result<()> {
    let clock = Stopwatch::start();
    let mut block = block();
    let mut sent = 0;
    loop {
        let size = until.next(sent, &clock);
        // A block is at most 128 KiB.
        block[..HEADER].copy_from_slice(&(size as u32).to_be_bytes());
        stream.write_all(&block[..HEADER + size])?;
        if size == 0 {
            return Ok(());
        }
        sent += size as u64;
        count.store(sent, Ordering::Relaxed);
    }
}

/// Sends bytes without any form, as libudt's `appclient` does.
pub(super) fn send_plain(stream: &mut impl Write, until: Until, count: &AtomicU64) -> io::Result<()> {
    let clock = Stopwatch::start();
    let block = block();
    let mut sent = 0;
    loop {
        let size = until.next(sent, &clock);
        if size == 0 {
            return Ok(());
        }
        stream.write_all(&block[..size])?;
        sent += size as u64;
        count.store(sent, Ordering::Relaxed);
    }
}

/// Receives blocks until the empty one. Returns the time from the first to the last.
pub(super) fn receive_blocks(stream: &mut impl Read, count: &AtomicU64) -> io::Result<Duration> {
    let mut buffer = block();
    let mut clock = None;
    let mut received = 0;
    loop {
        let mut left = length(stream)?;
        let clock = clock.get_or_insert_with(Stopwatch::start);
        if left == 0 {
            return Ok(clock.elapsed());
        }
        received += left as u64;
        while left > 0 {
            let size = left.min(buffer.len());
            stream.read_exact(&mut buffer[..size])?;
            left -= size;
        }
        count.store(received, Ordering::Relaxed);
    }
}

/// Receives bytes until the stream ends. Returns the time from the first to the last. A sender that has sent something may end without
/// closing the stream: `appclient` sends until it is killed.
pub(super) fn receive_plain(stream: &mut impl Read, count: &AtomicU64) -> io::Result<Duration> {
    let mut buffer = block();
    let mut clock: Option<Stopwatch> = None;
    let mut last = Duration::ZERO;
    let mut received = 0;
    loop {
        let size = match stream.read(&mut buffer) {
            Ok(0) => return Ok(last),
            Ok(size) => size,
            Err(error) if received > 0 && ENDS_OF_A_STOPPED_SENDER.contains(&error.kind()) => return Ok(last),
            Err(error) => return Err(error),
        };
        received += size as u64;
        count.store(received, Ordering::Relaxed);
        last = clock.get_or_insert_with(Stopwatch::start).elapsed();
    }
}

fn length(stream: &mut impl Read) -> io::Result<usize> {
    let mut length = [0; HEADER];
    stream.read_exact(&mut length)?;
    Ok(u32::from_be_bytes(length) as usize)
}

/// Room for a block, with its length.
fn block() -> Vec<u8> {
    vec![0x55; HEADER + BLOCK]
}

/// The errors with which the stream of a killed sender ends.
const ENDS_OF_A_STOPPED_SENDER: [io::ErrorKind; 2] = [io::ErrorKind::TimedOut, io::ErrorKind::ConnectionReset];
/// Bytes of a block: iperf3's default for TCP.
pub(super) const BLOCK: usize = 128 * 1024;
const HEADER: usize = 4;
/// Bytes of a frame; requests and outcomes have a few hundred.
const MAX_FRAME: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream that ends with an error.
    struct Ends(io::ErrorKind);

    impl Read for Ends {
        fn read(&mut self, _out: &mut [u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
    }

    #[test]
    fn a_sender_that_is_stopped_has_been_measured() {
        let attempt = |sent: &[u8], end| {
            let count = AtomicU64::new(0);
            receive_plain(&mut sent.chain(Ends(end)), &count).map(|_| count.into_inner()).map_err(|error| error.kind())
        };
        assert_eq!(attempt(&[1; 1000], io::ErrorKind::TimedOut), Ok(1000));
        assert_eq!(attempt(&[1; 1000], io::ErrorKind::ConnectionReset), Ok(1000));
        assert_eq!(attempt(&[1; 1000], io::ErrorKind::ConnectionAborted), Err(io::ErrorKind::ConnectionAborted));
        assert_eq!(attempt(&[], io::ErrorKind::TimedOut), Err(io::ErrorKind::TimedOut), "it never sent");
    }

    #[test]
    fn blocks_are_counted_at_both_ends() {
        let (sent, received) = (AtomicU64::new(0), AtomicU64::new(0));
        let mut wire = Vec::new();
        send_blocks(&mut wire, Until::Bytes(300_000), &sent).unwrap();
        let mut rest = &wire[..];
        receive_blocks(&mut rest, &received).unwrap();
        assert_eq!((sent.into_inner(), received.into_inner(), rest.len()), (300_000, 300_000, 0));
    }

    #[test]
    fn frames_are_read_back_and_other_bytes_are_refused() {
        let mut wire = Vec::new();
        send(&mut wire, &Request { perf: 1, reverse: true, until: Until::Seconds(2.5) }).unwrap();
        let request: Request = receive(&mut &wire[..]).unwrap();
        assert!(request.reverse && matches!(request.until, Until::Seconds(seconds) if seconds == 2.5));
        assert!(receive::<Request>(&mut &[0x55; 100][..]).is_err());
        assert!(receive::<Request>(&mut &b"\0\0\0\x02{}"[..]).is_err());
        let long = [&65_537_u32.to_be_bytes()[..], &wire[4..], &[b' '; 70_000]].concat();
        assert_eq!(receive::<Request>(&mut &long[..]).unwrap_err().kind(), io::ErrorKind::InvalidData);
        assert!(receive::<Request>(&mut &long[..]).unwrap_err().to_string().contains("is not `udt perf`"), "too long");
    }

    #[test]
    fn a_request_ends_within_a_week() {
        let until = |text: &str| serde_json::from_str::<Until>(text).unwrap().check();
        for text in [r#"{"seconds": 1e-3}"#, r#"{"seconds": 604800}"#, r#"{"bytes": 18446744073709551615}"#] {
            assert!(until(text).is_ok(), "{text}");
        }
        for seconds in ["-1", "0", "-0.0", "604801", "1e300"] {
            let error = until(&format!(r#"{{"seconds": {seconds}}}"#)).unwrap_err().to_string();
            assert!(error.contains("expected above 0 and at most 604800 s"), "{seconds}: {error}");
        }
        assert!(Until::Seconds(f64::NAN).check().is_err());
    }

    #[test]
    fn a_frame_cannot_act_on_a_terminal_or_forge_a_line_of_a_log() {
        let mut wire = Vec::new();
        let forged = "x\n192.0.2.1:9: sent\u{1b}[2J\u{202e}\u{200b}";
        send(&mut wire, &serde_json::json!({"perf": 1, "reverse": true, "until": {forged: 1}})).unwrap();
        let error = receive::<Request>(&mut &wire[..]).unwrap_err().to_string();
        assert!(error.contains(r"x\n192.0.2.1:9: sent\u{1b}[2J\u{202e}\u{200b}"), "{error}");
    }
}
