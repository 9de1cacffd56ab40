//! `udt serve`

use std::borrow::Cow;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clap::Args;
use cwnd_files::{Directory, Event, Links, ReceiveOptions, ServeOptions, TransferError};
use cwnd_net::{AcceptError, Bundles, UdtBundle, UdtListener, UdtStream};

use cwnd_text::counted;
use serde::Serialize;

use super::channel::Channel;
use super::report::{print_line, print_text};
use super::share::{Rights, Share, ShareOptions};
use super::{LinkOptions, MostStreamsOptions, TransportOptions, demo, reachable, recv};
use crate::clients::{Clients, Place, bounded};
use crate::connect::bind_failure;
use crate::failure::{Failure, with_exit_codes};
use crate::signals;

/// Serves the files of a directory.
#[derive(Args, Debug)]
#[command(after_help = with_exit_codes(concat!(
    "\
Examples:
  udt serve public                              prints an address, and a code to read
  udt serve inbox --writable --once             and one to read and write; ends after a transfer
  udt serve public --expires 1h                 refuses new clients after an hour
  udt serve public --path lossy                 for clients at the far end of a path that loses packets at random
  udt serve inbox --writable --authorized friends   for clients whose keys are in a file: see `udt key`
  udt serve public --libudt --at 9000            unencrypted, for the demo `recvfile` of libudt on this host
Clients are `udt recv` and `udt send --to`. They see the regular files below the directory, all of them and no others; symbolic
links are left out without --links, and never lead out of it. Everything is encrypted, unless both sides say --plain. A code is new each time; CWND_CODE sets it (that to read and
write, where there are two). Wrong codes are logged and limited. The server ends with Ctrl-C.",
    help_on_paths!()
)))]
pub(crate) struct Arguments {
    /// The directory to serve
    #[arg(default_value = ".")]
    dir: PathBuf,
    /// The address at which clients reach it, as address:port; a port alone is one of the loopback [default: 0.0.0.0:9001, with --libudt
    /// 127.0.0.1:9001]
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address)]
    at: Option<SocketAddr>,
    /// Speak to the demo client `recvfile` of libudt, unencrypted
    #[arg(long, conflicts_with_all = ["writable", "force", "sync", "authorized", "key", "once", "expires"])]
    libudt: bool,
    /// Clients may send files into the directory
    #[arg(long)]
    writable: bool,
    /// Clients may replace existing files
    #[arg(long, requires = "writable")]
    force: bool,
    /// Also sync small files to the disk before they count as received
    #[arg(long, requires = "writable")]
    sync: bool,
    #[command(flatten)]
    share: ShareOptions,
    /// End after the first complete transfer
    #[arg(long, conflicts_with = "plain")]
    once: bool,
    /// Print an object with the address and the codes, and nothing else, on standard output
    #[arg(long)]
    pub(crate) json: bool,
    #[command(flatten)]
    transport: TransportOptions,
    #[command(flatten)]
    streams: MostStreamsOptions,
    #[command(flatten)]
    links: LinkOptions,
}

/// The protocol of all clients.
enum Protocol {
    Secure(Box<Share>),
    Plain,
    /// Unencrypted, to demos of libudt.
    Libudt,
}

/// The first line of a server.
#[derive(Serialize)]
struct Ready<'a> {
    address: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    write_code: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    server_key: Option<String>,
    dir: Cow<'a, str>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let Arguments { dir, at, libudt, writable, force, sync, share, once, json, transport, streams, links } = arguments;
    let listen =
        at.unwrap_or(SocketAddr::from((if *libudt { Ipv4Addr::LOCALHOST } else { Ipv4Addr::UNSPECIFIED }, PORT)));
    let once = *once;
    let directory = super::open_directory(dir)?;
    let rights = if *writable { &[Rights::Read, Rights::ReadWrite][..] } else { &[Rights::Read] };
    let protocol = Arc::new(match share.share(rights)? {
        _ if *libudt => Protocol::Libudt,
        Some(share) => Protocol::Secure(Box::new(share)),
        None => Protocol::Plain,
    });
    transport.announce();
    signals::listen(|| ())?;
    let listener: UdtListener =
        UdtListener::bind_with(listen, &bounded(transport.options())).map_err(|error| bind_failure(&listen, error))?;
    listener.set_timeout(Some(POLL));
    announce(dir, listener.local_addr(), &protocol, *json);
    let receive = ReceiveOptions::new().overwrite(*force).sync(*sync).keep_free(recv::KEEP_FREE).links(links.links());
    let serving = if *writable { ServeOptions::writable(receive) } else { ServeOptions::read_only() };
    let serving = serving.links(links.links());
    let clients = Clients::default();
    let bundles = Arc::new(Bundles::new(streams.streams));
    let is_over = || matches!(&*protocol, Protocol::Secure(share) if share.is_over());
    while !signals::interrupted() && !is_over() {
        clients.sweep();
        let (stream, client) = match listener.accept() {
            Ok(accepted) => accepted,
            Err(AcceptError::Timeout) => continue,
            Err(error) => return Err(Failure::Run(error.to_string())),
        };
        let Some(place) = clients.admit(&stream, client) else {
            print_line(&format!("{client}: too many clients"));
            stream.abort();
            continue;
        };
        let (directory, protocol, bundles) = (directory.clone(), Arc::clone(&protocol), Arc::clone(&bundles));
        let rejected = stream.clone();
        let thread = thread::Builder::new().spawn(move || {
            set_timeouts(&stream.clone().into());
            let share = match &*protocol {
                Protocol::Libudt => return serve_demo(stream, client, &directory, serving.links, &place),
                Protocol::Plain => None,
                Protocol::Secure(share) => Some(share),
            };
            let (bundle, places) = match bundles.join(stream, place) {
                Ok(Some(joined)) => joined,
                Ok(None) => return,
                Err(error) => return print_line(&format!("{client}: {error}")),
            };
            set_timeouts(&bundle);
            let Some(share) = share else {
                serve(Channel::Plain(bundle), client, &directory, &serving, &places);
                return;
            };
            let Some((channel, rights)) = share.admit(bundle, client) else { return };
            Place::is_proven(&places);
            let serving = if rights == Rights::Read { ServeOptions::read_only().links(serving.links) } else { serving };
            if serve(channel, client, &directory, &serving, &places) && once {
                share.end();
            }
        });
        if let Err(error) = thread {
            print_line(&format!("{client}: no thread: {error}"));
            rejected.abort();
        }
    }
    // Those that began before the share was over go on.
    while !signals::interrupted() && !clients.is_empty() {
        clients.sweep();
        thread::sleep(LAST_POLL);
    }
    // Transfers end with their next event, and the received parts of large files are kept. Clients that send nothing cause no event.
    for polls in 0..LAST_POLLS {
        if clients.is_empty() {
            break;
        }
        if polls == POLLS_BEFORE_ABORT {
            clients.abort();
        }
        thread::sleep(LAST_POLL);
    }
    Ok(String::new())
}

/// Serves one client, and logs the outcome. Returns whether the transfer was complete.
fn serve(
    mut channel: Channel,
    client: SocketAddr,
    directory: &Directory,
    serving: &ServeOptions,
    places: &[Place],
) -> bool {
    let stream = channel.stream().clone();
    let mut active = false;
    let result = cwnd_files::serve(&mut channel, directory, serving, &mut |event| {
        if !active {
            active = true;
            Place::is_busy(places);
            super::set_timeouts(&stream);
        }
        match event {
            Event::Completed { name, size, .. } => print_line(&format!("{client}: {name}, {}", counted(size, "byte"))),
            Event::Linked { name } => print_line(&format!("{client}: {name}, a link")),
            Event::Failed { name, reason } | Event::Skipped { name, reason } => {
                print_line(&format!("{client}: {name}: {reason}"));
            }
            _ => {}
        }
        // A client that has left while nothing is transferred shows in the state of its connection only.
        !signals::interrupted() && (!matches!(event, Event::Waiting) || stream.stats().is_some())
    });
    let complete = result.as_ref().is_ok_and(|outcome| outcome.failed == 0);
    match &result {
        // A client that has read nothing for that long will not read the rest.
        Err(TransferError::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => stream.abort(),
        _ => {
            let _closed = channel.close();
        }
    }
    match result {
        Ok(outcome) => print_line(&format!(
            "{client}: done, {} completed, {} unchanged, {}, {} left out, {} failed",
            outcome.completed,
            outcome.unchanged,
            counted(outcome.linked, "link"),
            counted(outcome.skipped, "link"),
            outcome.failed
        )),
        Err(TransferError::Interrupted) if signals::interrupted() => {}
        Err(TransferError::Interrupted) => print_line(&format!("{client}: has left")),
        Err(error) => print_line(&format!("{client}: {error}")),
    }
    complete
}

/// Prints the address of the server, and how clients prove themselves.
fn announce(dir: &Path, bound: SocketAddr, protocol: &Protocol, json: bool) {
    let address = reachable(bound);
    say!("serving {} at {address}", dir.display());
    let share = match protocol {
        Protocol::Secure(share) => Some(&**share),
        Protocol::Plain | Protocol::Libudt => None,
    };
    let code = |wanted| {
        share.and_then(|share| share.codes().find(|(_, rights)| *rights == wanted).map(|(code, _)| code.to_string()))
    };
    let (code, write_code) = (code(Rights::Read), code(Rights::ReadWrite));
    let server_key = share.and_then(Share::key).map(|key| key.to_string());
    if json {
        let (address, dir) = (address.to_string(), dir.to_string_lossy());
        let ready = Ready { address, code, write_code, server_key, dir };
        print_text(&(serde_json::to_string(&ready).unwrap_or_default() + "\n"));
        return;
    }
    for (what, value) in [
        ("code to read", code),
        ("code to read and write", write_code),
        ("for those who are authorized, with --server-key", server_key),
    ] {
        if let Some(value) = value {
            say!("{what}: {value}");
        }
    }
    if share.is_none() && !bound.ip().is_loopback() {
        say!("nothing is encrypted or authenticated: all who reach this address can use it");
    }
}

/// Serves one client that is a demo of libudt, and logs the outcome.
fn serve_demo(mut stream: UdtStream, client: SocketAddr, directory: &Directory, links: Links, place: &Place) {
    let served = demo::serve(&mut stream, directory, links, || Place::is_busy(std::slice::from_ref(place)));
    // Only complete data is worth waiting for.
    let closed = if served.is_ok() {
        stream.close()
    } else {
        stream.abort();
        Ok(())
    };
    print_line(&match (served, closed) {
        (Ok((name, Some(size))), Ok(())) => format!("{client}: {name}, {}", counted(size, "byte")),
        (Ok((name, None)), _) => format!("{client}: {name}: refused"),
        (Ok((name, Some(_))), Err(error)) => format!("{client}: {name}: not delivered: {error}"),
        (Err(error), _) => format!("{client}: {error}"),
    });
}

/// Bounds how long a client may request nothing. For a demo client it also bounds how long the client may read nothing, which would occupy
/// its thread forever.
pub(super) fn set_timeouts(stream: &UdtBundle) {
    stream.set_read_timeout(Some(REQUEST_TIMEOUT));
    stream.set_write_timeout(Some(REQUEST_TIMEOUT));
}

/// An address with its port, or a port of the loopback.
pub(super) fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let alone = text.parse().map(|port: u16| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    alone.or_else(|_| {
        text.parse().map_err(|_| "expected address:port or a port, as in 192.0.2.1:9001 or 9001".to_owned())
    })
}

/// The default port of a server.
const PORT: u16 = 9001;

/// The interval between checks for the end of the server.
pub(super) const POLL: Duration = Duration::from_millis(200);

/// Polls in the 2 s that transfers have to end, 0.2 s of them to have an event.
const LAST_POLLS: u32 = 100;
const POLLS_BEFORE_ABORT: u32 = 10;
const LAST_POLL: Duration = Duration::from_millis(20);

/// How long a client may request nothing.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_of_the_loopback() {
        let read = |text| listen_address(text).map(|address| address.to_string()).ok();
        assert_eq!(read("9000").as_deref(), Some("127.0.0.1:9000"));
        assert_eq!(read("0.0.0.0:9000").as_deref(), Some("0.0.0.0:9000"));
        assert_eq!(read("[::1]:9000").as_deref(), Some("[::1]:9000"));
        assert!(["example.org:9000", "", "70000"].iter().all(|text| read(text).is_none()));
    }
}
