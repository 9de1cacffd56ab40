//! `cwnd udt send`

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use cwnd_files::{Name, Source};

use super::client::Client;
use super::proof::ProofOptions;
use super::{LinkOptions, StreamOptions, TransportOptions};
use crate::arguments::whole;
use crate::failure::{Failure, Kind, with_exit_codes};
use crate::signals;
use crate::udt::server_address;

/// Sends files and folders.
#[derive(Args, Debug)]
#[command(after_help = with_exit_codes(concat!(
    "\
Examples:
  cwnd udt send big.iso photos 192.0.2.1:9001
  cwnd udt send big.iso 192.0.2.1:9001 --rate-limit 200mbit --json-stream
  cwnd udt send big.iso 192.0.2.1:9001 --path lossy       packets are lost at random: not the default, and much faster there
  cwnd udt send big.iso 192.0.2.1:9001 --streams 4
The server is `cwnd serve --writable`, whose code to read and write is asked for on the terminal or taken from CWND_CODE. Everything is
encrypted, unless both sides say --plain. `cwnd send` needs no server: there this side waits for `cwnd recv`. Every file is checked with
BLAKE3 as it arrives and gets its name once it is complete. What was received of a large file when a transfer ends early is kept: the
same command resumes from there. Devices are left out, and so are
symbolic links without --links.",
    help_on_paths!()
)))]
pub(crate) struct Arguments {
    /// Files and folders; `-` is standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The name of what comes from standard input [default: stdin]
    #[arg(long, value_parser = name)]
    name: Option<Name>,
    /// Where they go, as host:port
    #[arg(value_name = "HOST:PORT", value_parser = server_address)]
    server: String,
    #[command(flatten)]
    proof: ProofOptions,
    #[command(flatten)]
    transport: TransportOptions,
    #[command(flatten)]
    streams: StreamOptions,
    #[command(flatten)]
    links: LinkOptions,
    /// How often in a row a lost connection is replaced before this counts as failed
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<u32>(0..=u32::MAX))]
    retries: u32,
    /// Print a JSON object per line and event, and nothing else
    #[arg(long, alias = "json")]
    pub(crate) json_stream: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let Arguments { paths, name, server, proof, transport, streams, links, retries, json_stream } = arguments;
    let sources = sources(paths, name.as_ref(), links)?;
    transport.announce();
    let client = Client {
        server,
        folder: None,
        algorithm: Some(transport.algorithm()),
        options: transport.options_of_each(streams),
        meeting: None,
        proof: proof.proof()?,
        streams: streams.streams,
        retries: *retries,
        json: *json_stream,
        to_output: false,
    };
    client.run(|channel, observer| cwnd_files::send(channel, &sources, observer))
}

/// What is to be sent.
pub(super) fn sources(paths: &[PathBuf], name: Option<&Name>, links: &LinkOptions) -> Result<Vec<Source>, Failure> {
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
/// a name in the folder for temporary files.
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

/// The name of a file that has no folder.
pub(super) fn name(text: &str) -> Result<Name, String> {
    let name = Name::new(text.as_bytes()).map_err(|error| format!("{error}: expected a name without `/`"))?;
    if text.contains('/') { Err("expected a name without `/`".to_owned()) } else { Ok(name) }
}
