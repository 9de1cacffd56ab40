//! `udt send` without --to: this end waits for the other one.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use cwnd_files::{BUSY, Event, Outcome, Source, TransferError};
use cwnd_meet::Role;
use cwnd_net::{AcceptError, Bundles, UdtBundle, UdtListener, UdtStream};
use serde::Serialize;

use super::meeting::{MeetError, Meeting, PeerConnection};
use super::reachable;
use super::report::{Report, print_line, print_text};
use super::send::Arguments;
use super::serve::POLL;
use super::share::Share;
use crate::clients::{Clients, Place, bounded};
use crate::clock::Stopwatch;
use crate::connect::{bind_failure, connect_failure};
use crate::failure::{Failure, Kind};
use crate::output;
use crate::signals;

/// The first line of `--json`.
#[derive(Serialize)]
struct Ready {
    event: &'static str,
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_key: Option<String>,
}

/// How clients come here.
enum Way {
    Listener(UdtListener),
    /// By a `udt meet` at this host and port.
    Meeting(String, Box<Meeting>),
}

/// The state that all clients share.
struct Offer {
    sources: Vec<Source>,
    share: Option<Share>,
    clients: Clients,
    bundles: Bundles<Place>,
    /// The connection that is served now, or was served last.
    current: Mutex<Option<UdtBundle>>,
    /// Held while one is served.
    turn: Mutex<()>,
    report: Report,
    ended: Mutex<Option<Outcome>>,
}

pub(super) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let Arguments { at, meet, transport, json, .. } = arguments;
    // Reading standard input listens to signals, and this may wait for a pipe.
    let share = arguments.share()?;
    let sources = arguments.sources()?;
    let way = match (meet, share.as_ref().and_then(|share| share.codes().next())) {
        (Some(place), Some((code, _))) => {
            Way::Meeting(place.clone(), Box::new(Meeting::new(place, code, Role::Host, transport.options())))
        }
        _ => {
            let listener: UdtListener =
                UdtListener::bind_with(*at, &bounded(transport.options())).map_err(|error| bind_failure(at, error))?;
            listener.set_timeout(Some(POLL));
            Way::Listener(listener)
        }
    };
    transport.announce();
    let offer = Arc::new(Offer {
        sources,
        share,
        clients: Clients::default(),
        bundles: Bundles::new(arguments.most_streams()),
        current: Mutex::default(),
        turn: Mutex::default(),
        report: Report::new(*json, Some(transport.algorithm().to_owned())),
        ended: Mutex::default(),
    });
    let open = Arc::clone(&offer);
    // Reading and writing may block: an interruption aborts the connections, which wakes them.
    signals::listen(move || open.clients.abort())?;
    // Whoever reads this line may send a signal.
    announce(&way, offer.share.as_ref(), *json);
    while !output::is_closed() {
        let ended = lock(&offer.ended).take();
        if let Some(outcome) = ended {
            return super::client::finish(&offer.report, &outcome);
        }
        if signals::interrupted() {
            let kept = "the other side keeps the received part of large files for the next time";
            return Err(Failure::Stopped(format!("interrupted; {kept}")));
        }
        if offer.is_over() && offer.clients.is_empty() {
            return Err(Failure::Transfer(Kind::NoAnswer, "no receiver fetched the files in time".to_owned()));
        }
        match &way {
            Way::Listener(listener) => offer.accept(listener)?,
            Way::Meeting(place, meeting) => offer.meet(place, meeting)?,
        }
    }
    offer.clients.abort();
    Err(Failure::closed())
}

impl Offer {
    /// Waits a moment for a client, which a thread of its own then serves.
    fn accept(self: &Arc<Self>, listener: &UdtListener) -> Result<(), Failure> {
        self.clients.sweep();
        let (stream, client) = match listener.accept() {
            Ok(accepted) => accepted,
            Err(AcceptError::Timeout) => return Ok(()),
            Err(error) => return Err(Failure::Run(error.to_string())),
        };
        let Some(place) = self.clients.admit(&stream, client) else {
            stream.abort();
            return Ok(());
        };
        self.serve_apart(stream, client, place, None);
        Ok(())
    }

    /// Waits for a client at a meeting place, and serves it.
    fn meet(self: &Arc<Self>, place: &str, meeting: &Meeting) -> Result<(), Failure> {
        let meeting = meeting.clone();
        let stop = || signals::interrupted() || output::is_closed() || self.is_over() || lock(&self.ended).is_some();
        let PeerConnection { stream, peer, relayed } =
            match signals::unless_stopped(stop, move || meeting.connect(None)) {
                None => return Ok(()),
                Some(Ok(met)) => met,
                Some(Err(error @ MeetError::Unreachable)) => {
                    self.report.lost(&format!("{error}; waiting for it to reconnect"));
                    return Ok(());
                }
                Some(Err(MeetError::Connect(error))) => return Err(connect_failure(place, error)),
                Some(Err(error)) => return Err(Failure::Transfer(error.kind(), format!("{place}: {error}"))),
            };
        match self.clients.admit(&stream, peer) {
            // To wait for another one there would end this one's use of the relay.
            Some(place) if relayed => self.serve(stream, peer, place, Some(relayed)),
            Some(place) => self.serve_apart(stream, peer, place, Some(relayed)),
            None => {}
        }
        Ok(())
    }

    /// Serves one client in a thread of its own.
    fn serve_apart(self: &Arc<Self>, stream: UdtStream, client: SocketAddr, place: Place, relayed: Option<bool>) {
        let (offer, rejected) = (Arc::clone(self), stream.clone());
        if let Err(error) = thread::Builder::new().spawn(move || offer.serve(stream, client, place, relayed)) {
            print_line(&format!("{client}: no thread: {error}"));
            rejected.abort();
        }
    }

    /// Makes this connection the one that is served, unless the other side of the one before is still there. One that has lost its
    /// connection sends nothing on it, and takes its place back.
    fn take_turn(&self, stream: &UdtBundle) -> bool {
        let mut current = lock(&self.current);
        if current.as_ref().is_some_and(is_heard) {
            return false;
        }
        if let Some(before) = current.replace(stream.clone()) {
            before.abort();
        }
        true
    }

    /// Whether no more clients are admitted.
    fn is_over(&self) -> bool {
        self.share.as_ref().is_some_and(Share::is_over)
    }

    /// Serves one client, which was met at a meeting place if it is known whether it is `relayed`.
    fn serve(&self, stream: UdtStream, client: SocketAddr, place: Place, relayed: Option<bool>) {
        super::serve::set_timeouts(&stream.clone().into());
        let (stream, places) = match self.bundles.join(stream, place) {
            Ok(Some(joined)) => joined,
            Ok(None) => return,
            Err(error) => return print_line(&format!("{client}: {error}")),
        };
        super::serve::set_timeouts(&stream);
        let mut channel = match &self.share {
            None => {
                Place::is_busy(&places);
                super::channel::Channel::Plain(stream.clone())
            }
            Some(share) => match share.admit(stream.clone(), client) {
                Some((channel, _)) => {
                    Place::is_proven(&places);
                    channel
                }
                None => return,
            },
        };
        super::set_timeouts(&stream);
        if !self.take_turn(&stream) {
            print_line(&format!("{client}: refused, another receiver has this transfer"));
            let _refused = cwnd_files::refuse(&mut channel, BUSY);
            let _closed = channel.close();
            return;
        }
        let _turn = lock(&self.turn);
        let report = &self.report;
        if let Some(relayed) = relayed {
            report.met(client, relayed);
        }
        let following = report.follow(&stream);
        let result = cwnd_files::offer(&mut channel, &self.sources, &mut |event| {
            report.handle(&event, &stream);
            !signals::interrupted()
                && !output::is_closed()
                && (!matches!(event, Event::Waiting) || stream.stats().is_some())
        });
        drop(following);
        match result {
            Ok(outcome) => {
                let _closed = channel.close();
                *lock(&self.ended) = Some(outcome);
            }
            Err(TransferError::Interrupted) if signals::interrupted() || output::is_closed() => stream.abort(),
            Err(error) => {
                report.lost(&format!("{client}: {error}; waiting for it to reconnect"));
                let _closed = channel.close();
            }
        }
    }
}

/// Whether the other side sends anything, as one that is there does every second.
fn is_heard(stream: &UdtBundle) -> bool {
    let clock = Stopwatch::start();
    while clock.elapsed() < SILENCE && !signals::interrupted() {
        let waited = clock.elapsed().as_nanos();
        let mut open = stream.streams().iter().filter_map(UdtStream::stats).peekable();
        if open.peek().is_none() {
            return false;
        }
        if open.any(|stats| u128::from(stats.udt.lastrcv.as_nanos()) < waited) {
            return true;
        }
        thread::sleep(signals::CHECK);
    }
    false
}

/// Prints the address of this end, and the command for the other one.
fn announce(way: &Way, share: Option<&Share>, json: bool) {
    let (address, meet) = match way {
        Way::Listener(listener) => (reachable(listener.local_addr()).to_string(), ""),
        Way::Meeting(place, _) => (place.clone(), "--meet "),
    };
    let code = share.and_then(|share| share.codes().next().map(|(code, _)| code.to_string()));
    let server_key = share.and_then(Share::key).map(|key| key.to_string());
    if json {
        let ready = Ready { event: "ready", address, code, server_key };
        print_text(&(serde_json::to_string(&ready).unwrap_or_default() + "\n"));
        return;
    }
    let option = match (share, &server_key) {
        (None, _) => " --plain".to_owned(),
        (_, Some(key)) => format!(" --server-key {key}"),
        _ => String::new(),
    };
    say!("address: {address}");
    if let Some(code) = code {
        say!("code:    {code}");
    }
    say!("on the other side: udt recv {meet}{address}{option}");
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Two of the packets that keep an idle connection alive, and a round trip.
const SILENCE: Duration = Duration::from_millis(2500);
