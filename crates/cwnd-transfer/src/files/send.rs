//! `udt send`

use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use clap::Args;
use cwnd::Span;
use cwnd_files::{Name, Source};
use cwnd_net::MAX_STREAMS;
use cwnd_secure::{Proof, PublicKey};

use super::client::Client;
use super::proof::{self, ProofOptions};
use super::serve::listen_address;
use super::share::{self, Rights, Share, ShareOptions};
use super::{LinkOptions, TransportOptions};
use crate::arguments::whole;
use crate::connect::server_address;
use crate::failure::{Failure, Kind, with_exit_codes};
use crate::signals;

/// Sends files and directories, to a receiver with the code or to a server.
#[derive(Args, Debug)]
#[command(after_help = with_exit_codes(concat!(
    "\
Examples:
  udt send photos big.iso                   prints an address and a code, and waits for the other side
  udt recv 192.0.2.1:40123                  there; it asks for the code
  udt send photos big.iso --to 192.0.2.1:9001   to a running server: `udt serve --writable`
  udt send photos --path lossy              for random loss: much faster there than the default
  udt send photos --at 192.0.2.1:9001       at an address and port that others reach, through a firewall for example
  udt send photos --meet meet.example.org:9002   both sides behind NAT: see `udt meet`
  tar c photos | udt send - --name photos.tar    standard input; the other side: udt recv ADDRESS -o - | tar x
  udt send photos --json                    the address and the code as the first line, for programs
Give the other person the code over a call or an encrypted message: everyone with it gets the files. It is new each time, is valid for one
transfer, and ends with this command. With --to the code is the server's, to read and write: it is asked for on the terminal or taken
from CWND_CODE. Everything is encrypted, names and sizes too, unless both sides say --plain. Every file is checked with BLAKE3 as it
arrives and gets its name once it is complete; if a transfer ends early, the next one resumes. Devices are left out, and so are symbolic
links without --links.",
    help_on_paths!()
)))]
pub(crate) struct Arguments {
    /// Files and directories; `-` is standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The file name for standard input [default: stdin]
    #[arg(long, value_parser = name)]
    name: Option<Name>,
    /// Send to the server at this address, instead of waiting for the other side
    #[arg(long, value_name = "HOST:PORT", value_parser = server_address, conflicts_with_all = ["at", "meet", "authorized", "expires"])]
    pub(super) to: Option<String>,
    /// The address at which the other side reaches this one, as address:port; a port alone is one of the loopback
    #[arg(long, value_name = "ADDRESS", value_parser = listen_address, default_value = "0.0.0.0:0")]
    pub(super) at: SocketAddr,
    /// Meet the other side at a `udt meet`, as host:port, instead of waiting at an address of this host
    #[arg(long, value_name = "HOST:PORT", value_parser = server_address, conflicts_with_all = ["at", "plain", "authorized"])]
    pub(super) meet: Option<String>,
    #[command(flatten)]
    access: AccessOptions,
    #[command(flatten)]
    pub(super) transport: TransportOptions,
    /// Parallel connections, 1 to 8: with --to the number to use [default: 1], else the maximum for the other side [default: 8]. On a
    /// shared path each takes a share
    #[arg(long, value_name = "N", value_parser = whole::<u8>(1..=MAX_STREAMS), help_heading = "Transport")]
    streams: Option<u8>,
    #[command(flatten)]
    links: LinkOptions,
    /// How often in a row a lost connection is replaced before the transfer fails
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<u32>(0..=u32::MAX), requires = "to", help_heading = "Transport")]
    retries: u32,
    /// Print a JSON object per line and event, and nothing else; without --to the first has the address and the code
    #[arg(long, alias = "json-stream")]
    pub(super) json: bool,
}

/// How the two ends prove themselves.
#[derive(Args, Debug)]
struct AccessOptions {
    /// Neither encrypt nor authenticate; required on both sides
    #[arg(long, conflicts_with_all = ["authorized", "server_key", "key", "expires"])]
    plain: bool,
    /// Let in clients with a public key of this file, which has one key a line with `read` or `write` after it, instead of a code
    #[arg(long, value_name = "FILE", group = "keys")]
    authorized: Option<PathBuf>,
    /// The public key of the server, which was started with --authorized, instead of a code
    #[arg(long, value_name = "KEY", value_parser = proof::public_key, group = "keys", requires = "to")]
    server_key: Option<PublicKey>,
    /// The file with this end's own key [default: that of `udt key`]
    #[arg(long, value_name = "FILE", requires = "keys")]
    key: Option<PathBuf>,
    /// Refuse new clients after this time, and end: `1h`, `10min`
    #[arg(long, value_name = "TIME", value_parser = share::span)]
    expires: Option<Span>,
}

impl Arguments {
    /// The share from which the other side fetches.
    pub(super) fn share(&self) -> Result<Option<Share>, Failure> {
        let AccessOptions { plain, authorized, key, expires, .. } = &self.access;
        let options =
            ShareOptions { plain: *plain, authorized: authorized.clone(), key: key.clone(), expires: *expires };
        options.share(&[Rights::Read])
    }

    /// The proof of this end to a server.
    fn proof(&self) -> Result<Option<Proof>, Failure> {
        let AccessOptions { plain, server_key, key, .. } = &self.access;
        ProofOptions { plain: *plain, server_key: *server_key, key: key.clone() }.proof()
    }

    /// The files and directories to send.
    pub(super) fn sources(&self) -> Result<Vec<Source>, Failure> {
        sources(&self.paths, self.name.as_ref(), &self.links)
    }

    /// The maximum number of connections for the other side.
    pub(super) fn most_streams(&self) -> u8 {
        self.streams.unwrap_or(MAX_STREAMS)
    }
}

/// Sends to the server `--to`.
pub(super) fn run(arguments: &Arguments, server: &str) -> Result<String, Failure> {
    let Arguments { transport, streams, retries, json, .. } = arguments;
    let streams = streams.unwrap_or(1);
    let sources = arguments.sources()?;
    transport.announce();
    let client = Client {
        server,
        directory: None,
        algorithm: Some(transport.algorithm()),
        options: transport.options_of_each(streams),
        meeting: None,
        proof: arguments.proof()?,
        streams,
        retries: *retries,
        json: *json,
        to_output: false,
    };
    client.run(|channel, observer| cwnd_files::send(channel, &sources, observer))
}

/// The files and directories to send.
fn sources(paths: &[PathBuf], name: Option<&Name>, links: &LinkOptions) -> Result<Vec<Source>, Failure> {
    let failed = |path: &PathBuf, error: io::Error| {
        let kind = if error.kind() == io::ErrorKind::InvalidInput { Kind::Usage } else { Kind::File };
        Failure::Transfer(kind, format!("{}: {error}", path.display()))
    };
    match paths.iter().filter(|path| is_input(path)).count() {
        0 if name.is_some() => {
            return Err(Failure::Input("--name: expected `-` among the paths, whose name it is".to_owned()));
        }
        0 | 1 => {}
        _ => return Err(Failure::Input("-: standard input can be sent once".to_owned())),
    }
    let open = |path: &PathBuf| match is_input(path) {
        true => read_input(name),
        false => Source::with_links(path, links.links()).map_err(|error| failed(path, error)),
    };
    let sources: Vec<Source> = paths.iter().map(open).collect::<Result<_, _>>()?;
    let mut names = BTreeMap::new();
    for (source, path) in sources.iter().zip(paths) {
        if source.name().is_empty() {
            continue;
        }
        if let Some(other) = names.insert(source.name(), path) {
            let (other, path) = (other.display(), path.display());
            return Err(Failure::Input(format!("{path}: has the name of {other} at the receiver: send one of them")));
        }
    }
    Ok(sources)
}

fn is_input(path: &Path) -> bool {
    path == Path::new("-")
}

/// Standard input as a file. Its length is announced before its first byte is sent, so that all of it is stored first, in a file without
/// a name in the directory for temporary files.
fn read_input(name: Option<&Name>) -> Result<Source, Failure> {
    let unnamed = Name::new(b"stdin").map_err(|error| Failure::Run(error.to_string()))?;
    signals::listen(|| ())?;
    let store = || {
        let mut file = tempfile::tempfile()?;
        io::copy(&mut io::stdin().lock(), &mut file)?;
        Ok(file)
    };
    let stored = signals::unless_stopped(signals::interrupted, store).ok_or(Failure::Interrupted)?;
    stored
        .and_then(|file| Source::of_file(file, name.unwrap_or(&unnamed)))
        .map_err(|error: io::Error| Failure::Transfer(Kind::File, format!("standard input: {error}")))
}

/// The name of a file that has no directory.
fn name(text: &str) -> Result<Name, String> {
    let name = Name::new(text.as_bytes()).map_err(|error| format!("{error}: expected a name without `/`"))?;
    if text.contains('/') { Err("expected a name without `/`".to_owned()) } else { Ok(name) }
}
