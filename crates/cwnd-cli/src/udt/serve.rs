//! `cwnd udt serve`

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use clap::Args;
use cwnd_net::{AcceptError, UdtListener, UdtStream};

use super::demo;
use crate::failure::Failure;

/// Serves files.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd udt serve --libudt --dir public 9000
  cwnd udt serve --libudt --dir public 192.0.2.1:9000
Clients are the demo `recvfile` of libudt and `cwnd udt recv --libudt`. They see the regular files below the folder, all of them
and no others. Nothing is encrypted, and nobody is asked who they are. The server ends with Ctrl-C.")]
pub(crate) struct Arguments {
    /// Speak to the demo client `recvfile` of libudt
    #[arg(long, required = true)]
    libudt: bool,
    /// The folder whose files are served
    #[arg(long)]
    dir: PathBuf,
    /// Where clients reach it, as address:port; a port alone is one of the loopback
    #[arg(value_parser = listen_address)]
    listen: SocketAddr,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let Arguments { dir, listen, .. } = arguments;
    if !dir.is_dir() {
        return Err(Failure::Input(format!("--dir: {} is not a folder", dir.display())));
    }
    let stop = Arc::new(AtomicBool::new(false));
    let interrupted = Arc::clone(&stop);
    ctrlc::set_handler(move || interrupted.store(true, Ordering::Relaxed))
        .map_err(|error| Failure::Run(format!("cannot listen to Ctrl-C: {error}")))?;
    let listener: UdtListener = UdtListener::bind(*listen).map_err(|error| Failure::Run(error.to_string()))?;
    listener.set_timeout(Some(LOOK));
    eprintln!("serving {} at {}", dir.display(), listener.local_addr());
    let busy = Arc::new(AtomicUsize::new(0));
    while !stop.load(Ordering::Relaxed) {
        let (stream, client) = match listener.accept() {
            Ok(accepted) => accepted,
            Err(AcceptError::Timeout) => continue,
            Err(error) => return Err(Failure::Run(error.to_string())),
        };
        if busy.fetch_add(1, Ordering::Relaxed) >= MOST_CLIENTS {
            busy.fetch_sub(1, Ordering::Relaxed);
            eprintln!("{client}: too many clients");
            stream.abort();
            continue;
        }
        let (busy, dir) = (Arc::clone(&busy), dir.clone());
        thread::spawn(move || {
            serve(stream, client, &dir);
            busy.fetch_sub(1, Ordering::Relaxed);
        });
    }
    Ok(String::new())
}

/// Answers one client, and says what came of it.
fn serve(mut stream: UdtStream, client: SocketAddr, dir: &Path) {
    stream.set_read_timeout(Some(PATIENCE));
    let served = demo::answer(&mut stream, dir);
    match (served, stream.close()) {
        (Ok((name, Some(size))), Ok(())) => eprintln!("{client}: {name:?}, {size} bytes"),
        (Ok((name, None)), _) => eprintln!("{client}: {name:?} refused"),
        (Ok((name, Some(_))), Err(error)) => eprintln!("{client}: {name:?} not delivered: {error}"),
        (Err(error), _) => eprintln!("{client}: {error}"),
    }
}

/// An address with its port, or a port of the loopback.
fn listen_address(text: &str) -> Result<SocketAddr, String> {
    let alone = text.parse().map(|port: u16| SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port));
    alone.or_else(|_| text.parse().map_err(|_| "neither address:port nor a port".to_owned()))
}

/// How often Ctrl-C is looked at.
const LOOK: Duration = Duration::from_millis(200);

/// How long a client may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(30);

/// Each has a thread and a send buffer of some megabytes.
const MOST_CLIENTS: usize = 64;

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
