//! `cwnd udt recv`

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use cwnd_net::UdtStream;
use tempfile::Builder;

use super::demo::{self, FetchError};
use crate::clock;
use crate::failure::Failure;

/// Fetches a file.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd udt recv --libudt 192.0.2.1:9000 data/big.iso
  cwnd udt recv --libudt 192.0.2.1:9000 data/big.iso -o /tmp/big.iso --force
The file appears under its name once all of it has come. Nothing is encrypted, and nobody is asked who they are.")]
pub(crate) struct Arguments {
    /// Speak to the demo server `sendfile` of libudt
    #[arg(long, required = true)]
    libudt: bool,
    /// The server, as host:port
    server: String,
    /// The name of the file at the server
    name: String,
    /// Where it goes [default: the last part of its name, in this folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Replace a file that is there
    #[arg(long)]
    force: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let Arguments { server, name, output, force, .. } = arguments;
    let path = match output {
        Some(path) => path.clone(),
        None => Path::new(name).file_name().map(PathBuf::from).ok_or_else(|| {
            Failure::Input("--output: the name ends in no name of a file, so there must be another".to_owned())
        })?,
    };
    // Looked at before the work too; the rename at its end decides.
    if !force && path.exists() {
        return Err(Failure::Input(format!("--output: {} exists; --force replaces it", path.display())));
    }
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let at = |error: std::io::Error| Failure::Run(format!("{}: {error}", path.display()));
    let mut file = Builder::new().prefix(".cwnd-").permissions(permissions()).tempfile_in(folder).map_err(at)?;

    let failed = |error: FetchError| Failure::Run(format!("{server}: {error}"));
    let mut stream = UdtStream::connect(server).map_err(|error| Failure::Run(format!("{server}: {error}")))?;
    let size = demo::ask(&mut stream, name).map_err(failed)?;
    let mut out = BufWriter::with_capacity(1 << 20, file.as_file_mut());
    let (fetched, took) = clock::timed(|| demo::fetch(&mut stream, size, &mut out));
    fetched.map_err(failed)?;
    out.flush().map_err(at)?;
    drop(out);
    // Everything has come; the server may be gone already.
    stream.abort();
    let persisted = if *force { file.persist(&path) } else { file.persist_noclobber(&path) };
    persisted.map_err(|error| at(error.error))?;
    let seconds = took.as_secs_f64();
    let rate = if seconds > 0.0 { size as f64 * 8e-6 / seconds } else { 0.0 };
    Ok(format!("{}: {size} bytes in {seconds:.2} s, {rate:.1} Mbit/s\n", path.display()))
}

/// What any new file gets, less what the user's mask takes away.
fn permissions() -> std::fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o666)
}
