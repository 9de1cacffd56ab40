//! A client's transfer, over as many connections as it needs.

use std::io;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use cwnd_files::{Event, Outcome, TransferError};
use cwnd_net::{ConnectError, Options, UdtBundle};
use cwnd_secure::{Proof, SecureError, connect};

use super::channel::Channel;
use super::meeting::{MeetError, Meeting, PEER_TIMEOUT};
use super::proof::{self, explain};
use super::report::{Report, print_text};
use crate::connect::{MAY_BE_FULL, connect_failure, connect_reason, is_end};
use crate::failure::{Failure, Kind};
use crate::output;
use crate::signals;

/// The server, and how lost connections are replaced.
pub(super) struct Client<'a> {
    pub(super) server: &'a str,
    /// The directory that received files go into; `None` for a client that sends.
    pub(super) directory: Option<&'a Path>,
    /// The congestion control of a client that sends.
    pub(super) algorithm: Option<&'a str>,
    pub(super) options: Options,
    /// With whom, if the server is a meeting place.
    pub(super) meeting: Option<Meeting>,
    /// How this end proves itself; `None` for a transfer in the clear.
    pub(super) proof: Option<Proof>,
    /// Connections at once.
    pub(super) streams: u8,
    pub(super) retries: u32,
    pub(super) json: bool,
    /// Received data goes to standard output. The thread that writes it may block until the reader reads, so a signal ends the process at
    /// once.
    pub(super) to_output: bool,
}

/// A connection, and by a meeting place also where to, and whether through it.
type Connected = (UdtBundle, Option<(SocketAddr, bool)>);

/// Called with every event; `false` ends the transfer.
type Observer<'a> = &'a mut dyn FnMut(Event<'_>) -> bool;

impl Client<'_> {
    /// Runs `transfer` over one connection after another until it has ended, and returns its report.
    pub(super) fn run(
        &self,
        transfer: impl Fn(&mut Channel, Observer<'_>) -> Result<Outcome, TransferError>,
    ) -> Result<String, Failure> {
        // Reading and writing may block: an interruption aborts the connection, which wakes them.
        let current: Arc<Mutex<Option<UdtBundle>>> = Arc::default();
        let open = Arc::clone(&current);
        let (to_output, json) = (self.to_output, self.json);
        signals::listen(move || {
            if to_output {
                crate::report(&stopped(), json);
                std::process::exit(stopped().code().into());
            }
            if let Some(stream) = open.lock().unwrap_or_else(PoisonError::into_inner).take() {
                stream.abort();
            }
        })?;
        let report = Report::new(self.json, self.algorithm.map(str::to_owned));
        let mut failures = 0;
        loop {
            let (mut answered, mut transferred) = (false, false);
            let (again, kind, error) = match self.connect() {
                None => (false, Kind::NoAnswer, String::new()),
                Some(Ok((stream, met))) => {
                    if let Some((peer, relayed)) = met {
                        report.met(peer, relayed);
                    }
                    super::set_timeouts(&stream);
                    *current.lock().unwrap_or_else(PoisonError::into_inner) = Some(stream.clone());
                    let result = self.secure(stream.clone()).map(|mut channel| {
                        answered = self.proof.is_some();
                        let _following = report.follow(&stream);
                        let result = transfer(&mut channel, &mut |event| {
                            answered = true;
                            transferred |= matches!(event, Event::Transferred(_));
                            report.handle(&event, &stream);
                            !signals::interrupted() && !output::is_closed()
                        });
                        (channel, result)
                    });
                    drop(current.lock().unwrap_or_else(PoisonError::into_inner).take());
                    let (channel, result) = match result {
                        Ok(ended) => ended,
                        Err(error) if error.is_retryable() => {
                            (Channel::Plain(stream), Err(TransferError::Io(error.into())))
                        }
                        Err(_) if signals::interrupted() => return Err(stopped()),
                        Err(error) => {
                            let why = format!("{}: {}", self.server, explain(&error));
                            return Err(Failure::Transfer(proof::kind(&error), why));
                        }
                    };
                    match result {
                        Ok(outcome) => {
                            // Both ends have sent their end: an error here changes nothing.
                            let _closed = channel.close();
                            return finish(&report, &outcome);
                        }
                        Err(TransferError::File { name, error }) => {
                            print_text(&report.end_early());
                            let path = self.directory.unwrap_or(Path::new("")).join(name.to_string());
                            return Err(Failure::Transfer(Kind::File, format!("{}: {error}", path.display())));
                        }
                        Err(TransferError::Io(error)) if !answered && is_end(&error) => {
                            (true, Kind::Refused, MAY_BE_FULL.to_owned())
                        }
                        Err(error) => {
                            if matches!(error, TransferError::Output(_)) && kind(&error) == Kind::File {
                                print_text(&report.end_early());
                            }
                            (error.is_retryable(), kind(&error), error.to_string())
                        }
                    }
                }
                Some(Err(MeetError::Connect(error @ ConnectError::Bind(_)))) => {
                    return Err(connect_failure(self.server, error));
                }
                // The first connection must succeed, unless there was no room for it; later, a server that is gone may come back.
                Some(Err(error)) => {
                    let why = match &error {
                        MeetError::Connect(error) => connect_reason(self.server, error),
                        error => error.to_string(),
                    };
                    (failures > 0 || error.is_full(), error.kind(), why)
                }
            };
            if signals::interrupted() {
                return Err(stopped());
            }
            if output::is_closed() {
                return Err(Failure::closed());
            }
            failures = if transferred { 1 } else { failures + 1 };
            if !again || failures > self.retries {
                return Err(Failure::Transfer(kind, format!("{}: {error}", self.server)));
            }
            let wait = Duration::from_secs(1 << (failures - 1).min(4));
            report.retry(wait, &error);
            for _ in 0..wait.as_millis() / signals::CHECK.as_millis() {
                thread::sleep(signals::CHECK);
                if signals::interrupted() {
                    return Err(stopped());
                }
            }
        }
    }

    /// Proves both ends to each other, unless the transfer is in the clear.
    fn secure(&self, stream: UdtBundle) -> Result<Channel, SecureError> {
        match &self.proof {
            Some(proof) => connect(stream, proof).map(|secure| Channel::Secure(Box::new(secure))),
            None => Ok(Channel::Plain(stream)),
        }
    }

    /// A connection to the other side; none if an interruption came first.
    fn connect(&self) -> Option<Result<Connected, MeetError>> {
        let (server, options, streams) = (self.server.to_owned(), self.options.clone(), self.streams);
        let meeting = self.meeting.clone();
        signals::unless_stopped(signals::interrupted, move || match meeting {
            Some(meeting) => meeting
                .connect(Some(PEER_TIMEOUT))
                .map(|met| (met.stream.clone().into(), Some((met.peer, met.relayed)))),
            None => Ok((UdtBundle::connect_with(&*server, &options, streams)?, None)),
        })
    }
}

/// The kind of a failed transfer, for scripts.
fn kind(error: &TransferError) -> Kind {
    match error {
        TransferError::Busy => Kind::Busy,
        TransferError::CutOff(_) => Kind::NoAnswer,
        TransferError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe => Kind::Closed,
        TransferError::Output(_) => Kind::File,
        TransferError::File { .. } => Kind::File,
        TransferError::Io(_) if error.is_retryable() => Kind::NoAnswer,
        TransferError::ReadOnly | TransferError::Refused(_) | TransferError::Version(_) => Kind::Refused,
        _ => Kind::Failed,
    }
}

fn stopped() -> Failure {
    Failure::Stopped("interrupted; the received part of large files is kept for the next time".to_owned())
}

/// The last line of a transfer, or that it was not complete.
pub(super) fn finish(report: &Report, outcome: &Outcome) -> Result<String, Failure> {
    let text = report.end(outcome);
    if outcome.failed == 0 {
        return Ok(text);
    }
    print_text(&text);
    let files = if outcome.failed == 1 { "a file has" } else { "some files have" };
    if outcome.failed_here > 0 {
        let why = format!("{files} not transferred: this side cannot read or write them, or has no room");
        return Err(Failure::Transfer(Kind::File, why));
    }
    Err(Failure::Run(format!("{files} not transferred")))
}
