//! `cwnd udt serve`

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::Args;
use cwnd_files::{Event, Folder, ReceiveOptions, ServeOptions, TransferError};
use cwnd_net::{AcceptError, UdtListener, UdtStream};

use super::report::print_line;
use super::{TransportOptions, demo, recv};
use crate::failure::Failure;
use crate::udt::bind_failure;
use crate::udt::clients::{Clients, Place, bounded};

/// Serves files.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd udt serve                                         this folder, for this host only: 127.0.0.1:9001
  cwnd udt serve --dir public 0.0.0.0:9001               for every host that reaches this one
  cwnd udt serve --dir inbox --writable 192.0.2.1:9001   clients may also send
  cwnd udt serve --libudt --dir public 9000              for the demo `recvfile` of libudt
Clients are `cwnd udt recv` and `cwnd udt send`. They see the regular files below the folder, all of them and no others; links are not
followed out of it. Nothing is encrypted or authenticated. The server ends with Ctrl-C.")]
pub(crate) struct Arguments {
    /// Speak to the demo client `recvfile` of libudt
    #[arg(long, conflicts_with_all = ["writable", "force", "sync"])]
    libudt: bool,
    /// The folder whose files are served
    #[arg(long, default_value = ".")]
    dir: PathBuf,
    /// Clients may send files into the folder
    #[arg(long)]
    writable: bool,
    /// Clients may replace files that are there
    #[arg(long, requires = "writable")]
    force: bool,
    /// Bring small files to the disk too before they count
    #[arg(long, requires = "writable")]
    sync: bool,
    #[command(flatten)]
    transport: TransportOptions,
    /// Where clients reach it, as address:port; a port alone is one of the loopback
    #[arg(value_parser = listen_address, default_value = super::LOCAL)]
    listen: SocketAddr,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let Arguments { libudt, dir, writable, force, sync, transport, listen } = arguments;
    let folder = Folder::open(dir).map_err(|error| Failure::Input(format!("--dir: {}: {error}", dir.display())))?;
    super::handle_interrupts(|| {})?;
    let listener: UdtListener =
        UdtListener::bind_with(*listen, &bounded(transport.options())).map_err(|error| bind_failure(listen, error))?;
    listener.set_timeout(Some(POLL));
    eprintln!("serving {} at {}", dir.display(), listener.local_addr());
    if !listen.ip().is_loopback() {
        eprintln!("nothing is encrypted or authenticated: all who reach this address can use it");
    }
    let receive = ReceiveOptions::new().overwrite(*force).sync(*sync).keep_free(recv::KEEP_FREE);
    let serving = if *writable { ServeOptions::writable(receive) } else { ServeOptions::read_only() };
    let clients = Clients::default();
    while !super::interrupted() {
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
        let (folder, libudt, rejected) = (folder.clone(), *libudt, stream.clone());
        let thread = thread::Builder::new().spawn(move || match libudt {
            true => serve_demo(stream, client, &folder, &place),
            false => serve(stream, client, &folder, &serving, &place),
        });
        if let Err(error) = thread {
            print_line(&format!("{client}: no thread: {error}"));
            rejected.abort();
        }
    }
    // Transfers end with their next event, and what was received of large files is kept. Those whose clients say nothing have none.
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

/// Serves one client, and logs the outcome.
fn serve(stream: UdtStream, client: SocketAddr, folder: &Folder, serving: &ServeOptions, place: &Place) {
    set_timeouts(&stream);
    let mut active = false;
    let result = cwnd_files::serve(&stream, folder, serving, &mut |event| {
        if !active {
            active = true;
            place.activate();
            super::set_timeouts(&stream);
        }
        match event {
            Event::Completed { name, size, .. } => print_line(&format!("{client}: {name}, {size} bytes")),
            Event::Failed { name, reason } => print_line(&format!("{client}: {name}: {reason}")),
            _ => {}
        }
        // A client that has left while nothing is transferred shows in the state of its connection only.
        !super::interrupted() && (!matches!(event, Event::Waiting) || stream.stats().is_some())
    });
    match (result, stream.close()) {
        (Ok(outcome), _) => print_line(&format!(
            "{client}: done, {} completed, {} unchanged, {} failed",
            outcome.completed, outcome.unchanged, outcome.failed
        )),
        (Err(TransferError::Interrupted), _) if super::interrupted() => {}
        (Err(TransferError::Interrupted), _) => print_line(&format!("{client}: has left")),
        (Err(error), _) => print_line(&format!("{client}: {error}")),
    }
}

/// Serves one client that is a demo of libudt, and logs the outcome.
fn serve_demo(mut stream: UdtStream, client: SocketAddr, folder: &Folder, place: &Place) {
    set_timeouts(&stream);
    let served = demo::serve(&mut stream, folder, || place.activate());
    print_line(&match (served, stream.close()) {
        (Ok((name, Some(size))), Ok(())) => format!("{client}: {name}, {size} bytes"),
        (Ok((name, None)), _) => format!("{client}: {name}: refused"),
        (Ok((name, Some(_))), Err(error)) => format!("{client}: {name}: not delivered: {error}"),
        (Err(error), _) => format!("{client}: {error}"),
    });
}

/// Bounds how long a client may request nothing; one that is a demo also how long it may read nothing, which would hold its thread for
/// good.
fn set_timeouts(stream: &UdtStream) {
    stream.set_read_timeout(Some(REQUEST_TIMEOUT));
    stream.set_write_timeout(Some(REQUEST_TIMEOUT));
}

/// An address with its port, or a port of the loopback.
fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let alone = text.parse().map(|port: u16| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    alone.or_else(|_| {
        text.parse().map_err(|_| "expected address:port or a port, as in 192.0.2.1:9001 or 9001".to_owned())
    })
}

/// How often the end of the server is checked for.
const POLL: Duration = Duration::from_millis(200);

/// 2 s for transfers to end, of which 0.2 s for them to have an event.
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
