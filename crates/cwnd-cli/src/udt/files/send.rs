//! `cwnd udt send`

use std::path::PathBuf;

use clap::Args;
use cwnd_files::Source;

use super::TransportOptions;
use super::client::Client;
use crate::arguments::whole;
use crate::failure::Failure;
use crate::udt::server_address;

/// Sends files and folders.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd udt send big.iso photos 192.0.2.1:9001
  cwnd udt send big.iso 192.0.2.1:9001 --rate-limit 200mbit --json-stream
The server is `cwnd udt serve --writable`. Every file is checked with BLAKE3 as it arrives and gets its name once it is complete.
What was received of a large file when a transfer ends early is kept: the same command resumes from there. Links and devices are left
out. Nothing is encrypted or authenticated.
Exit codes: 0 if all files are there, 1 if some are not or the connection was lost for good, 2 for a wrong argument, 130 after Ctrl-C.")]
pub(crate) struct Arguments {
    /// Files and folders
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Where they go, as host:port
    #[arg(value_name = "HOST:PORT", value_parser = server_address)]
    server: String,
    #[command(flatten)]
    transport: TransportOptions,
    /// How often in a row a lost connection is replaced before this counts as failed
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = whole::<u32>(0..=u32::MAX))]
    retries: u32,
    /// Print a JSON object per line and event, and nothing else
    #[arg(long)]
    json_stream: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let Arguments { paths, server, transport, retries, json_stream } = arguments;
    let open =
        |path: &PathBuf| Source::at(path).map_err(|error| Failure::Input(format!("{}: {error}", path.display())));
    let sources = paths.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let client = Client { server, folder: None, options: transport.options(), retries: *retries, json: *json_stream };
    client.run(|stream, observer| cwnd_files::send(stream, &sources, observer))
}
