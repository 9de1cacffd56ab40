//! `udt recv`

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use cwnd_files::{Links, Name, ReceiveOptions};
use cwnd_meet::Role;
use cwnd_secure::Proof;
use cwnd_text::{counted, decimal};
use tempfile::Builder;

use super::client::Client;
use super::demo::{self, ReceiveError};
use super::meeting::Meeting;
use super::proof::ProofOptions;
use super::{StreamOptions, TransportOptions};
use crate::arguments::whole;
use crate::clock;
use crate::connect::{connect_until_signal, server_address};
use crate::failure::{Failure, Kind, with_exit_codes};
use crate::output;
use crate::signals;

/// Fetches files and directories.
#[derive(Args, Debug)]
#[command(after_help = with_exit_codes("\
Examples:
  udt recv 192.0.2.1:9001                               everything the other side has, into this directory
  udt recv 192.0.2.1:9001 data/big.iso photos --dir /srv/in
  CWND_CODE=... udt recv 192.0.2.1:9001 --json          for programs
  udt recv 192.0.2.1:9001 --server-key cwnd-public-...  keys instead of a code: see `udt key`
  udt recv --meet meet.example.org:9002                 both sides behind NAT: see `udt meet`
  udt recv 192.0.2.1:9001 --path lossy --streams 4      packets are lost at random; four connections at once
  udt recv 192.0.2.1:9001 -o - | tar x                  the only file there, to standard output
  udt recv --libudt 192.0.2.1:9000 data/big.iso -o /tmp/big.iso --force
The other side is `udt send` or `udt serve`, which print an address and a code. The code is asked for on the terminal, or taken from
CWND_CODE; it is not an argument, which others on this machine could see. Everything is encrypted, unless both sides say --plain, or
--libudt, for the demo `sendfile` of libudt. Every file is checked with BLAKE3 as it arrives and
gets its name once it is complete. When a transfer ends early, the received part of a large file is kept: the same command resumes
from there. libudt's demo supports neither."))]
pub(crate) struct Arguments {
    /// Speak to the demo server `sendfile` of libudt, which sends one file, unencrypted
    #[arg(long)]
    libudt: bool,
    /// HOST:PORT is the address of a `udt meet`, where the other side is `udt send --meet`
    #[arg(long, conflicts_with_all = ["libudt", "plain", "server_key"])]
    meet: bool,
    /// The other side, as host:port
    #[arg(value_name = "HOST:PORT", value_parser = server_address)]
    server: String,
    /// Names of files and directories at the server [default: everything]
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// The directory for received files
    #[arg(long, default_value = ".", conflicts_with_all = ["libudt", "output"])]
    dir: PathBuf,
    /// `-` writes the only file of the other side to standard output, and all reports to standard error; with --libudt, the path of the
    /// file [default: the last part of its name, in this directory]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace existing files
    #[arg(long)]
    force: bool,
    /// Also sync small files to the disk before they count as received
    #[arg(long, conflicts_with = "libudt")]
    sync: bool,
    #[command(flatten)]
    proof: ProofOptions,
    #[command(flatten)]
    transport: TransportOptions,
    #[command(flatten)]
    streams: StreamOptions,
    /// How to treat symbolic links that the other side keeps: left out and reported, or created if they lead to a place inside the
    /// directory
    #[arg(long, value_name = "LINKS", default_value = "skip", value_parser = ["skip", "keep"], conflicts_with_all = ["libudt", "output"])]
    links: String,
    /// How often in a row a lost connection is replaced before the transfer fails
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<u32>(0..=u32::MAX), conflicts_with = "libudt")]
    retries: u32,
    /// Print a JSON object per line and event, and nothing else
    #[arg(long, alias = "json-stream", conflicts_with = "libudt")]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let to_output = arguments.output.as_deref() == Some(Path::new("-"));
    if to_output {
        output::reserve();
    }
    if arguments.output.is_some() && arguments.libudt == to_output {
        let accepted = "accepted is `-`, standard output, or with --libudt a file";
        return Err(Failure::Input(format!("--output: {accepted}; --dir names the directory for files")));
    }
    if to_output && (arguments.names.len() > 1 || arguments.force || arguments.sync) {
        let why = "standard output takes one file, without --force and --sync";
        return Err(Failure::Input(format!("--output: {why}")));
    }
    if arguments.libudt {
        if arguments.streams.streams > 1 {
            return Err(Failure::Input(
                "--streams: the demo server knows one connection only: leave it out".to_owned(),
            ));
        }
        return match arguments.names.as_slice() {
            [name] => run_demo(arguments, name),
            _ => Err(Failure::Input("--libudt: the demo server gives one file at a time: exactly one name".to_owned())),
        };
    }
    let Arguments { meet, server, names, dir, force, sync, proof, transport, streams, links, retries, json, .. } =
        arguments;
    if *meet && streams.streams > 1 {
        return Err(Failure::Input("--streams: connections by --meet cannot be joined: leave it out".to_owned()));
    }
    let directory = super::open_directory(dir)?;
    let checked = |name: &String| {
        // A slash that shells add to a directory's name.
        let name = name.trim_start_matches("./").trim_end_matches('/');
        Name::new(name.as_bytes()).map_err(|error| Failure::Input(format!("{name:?}: {error}")))
    };
    let names = names.iter().map(checked).collect::<Result<Vec<_>, _>>()?;
    let links = if links == "keep" { Links::Keep } else { Links::Skip };
    let rules = ReceiveOptions::new().overwrite(*force).sync(*sync).keep_free(KEEP_FREE).links(links);
    let proof = proof.proof()?;
    transport.announce();
    let meeting = match &proof {
        Some(Proof::Code(code)) if *meet => Some(Meeting::new(server, code, Role::Guest, transport.options())),
        _ => None,
    };
    let client = Client {
        server,
        directory: Some(dir),
        algorithm: None,
        options: transport.options_of_each(streams.streams),
        meeting,
        proof,
        streams: streams.streams,
        retries: *retries,
        json: *json,
        to_output,
    };
    client.run(|channel, observer| match to_output {
        true => cwnd_files::receive_to(channel, names.first(), &mut io::stdout(), observer),
        false => cwnd_files::receive(channel, &names, &directory, &rules, observer),
    })
}

/// Fetches a file from the demo server.
fn run_demo(arguments: &Arguments, name: &str) -> Result<String, Failure> {
    let Arguments { server, output, force, transport, .. } = arguments;
    let path = match output {
        Some(path) => path.clone(),
        None => Path::new(name).file_name().map(PathBuf::from).ok_or_else(|| {
            Failure::Input("--output: the name ends in no name of a file, so there must be another".to_owned())
        })?,
    };
    // Checked here to fail early; the rename below prevents replacing.
    if !force && path.exists() {
        return Err(Failure::Input(format!("--output: {} exists; --force replaces it", path.display())));
    }
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let at = |error: std::io::Error| Failure::Transfer(Kind::File, format!("{}: {error}", path.display()));
    let mut file = Builder::new().prefix(".cwnd-").permissions(permissions()).tempfile_in(directory).map_err(at)?;

    let failed = |error: ReceiveError| match signals::interrupted() {
        true => Failure::Interrupted,
        false => match error {
            ReceiveError::File(error) => at(error),
            error => Failure::Run(format!("{server}: {error}")),
        },
    };
    let mut stream = connect_until_signal(server, transport.options())?;
    let size = demo::request(&mut stream, name).map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 20, file.as_file_mut());
    let (received, took) = clock::timed(|| demo::receive(&mut stream, size, &mut out));
    received.map_err(failed)?;
    out.flush().map_err(at)?;
    drop(out);
    // Everything was received; the server may be gone already.
    stream.abort();
    let persisted = if *force { file.persist(&path) } else { file.persist_noclobber(&path) };
    persisted.map_err(|error| at(error.error))?;
    let seconds = took.as_secs_f64();
    let rate = if seconds > 0.0 { size as f64 * 8e-6 / seconds } else { 0.0 };
    let (seconds, rate) = (decimal(seconds, 2), decimal(rate, 1));
    Ok(format!("{}: {} in {seconds} s, {rate} Mbit/s\n", path.display(), counted(size, "byte")))
}

/// The permission bits of new files before the umask is applied.
fn permissions() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}

/// Bytes kept free: other programs fail on a full file system.
pub(super) const KEEP_FREE: u64 = 16 << 20;
