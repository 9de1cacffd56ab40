//! `udt key`

use std::env;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use clap::Args;
use cwnd_secure::PrivateKey;
use cwnd_text::read_limited;

use crate::failure::Failure;

/// Prints the public key of this user, and makes a key if there is none.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  udt key                                      this user's public key, for the other side
  udt key server.key                           a separate key for a server
  udt serve public --authorized friends --key server.key
  udt recv 192.0.2.1:9001 --server-key cwnd-public-...
The file holds the private key, belongs to you alone (mode 0600), and stays on this machine. The public key may be known to all: the
owner of a server puts that of each client into the file of --authorized, and publishes that of the server for --server-key.")]
pub(crate) struct Arguments {
    /// The file of the private key [default: cwnd/key in the user's configuration directory]
    file: Option<PathBuf>,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let path = place(arguments.file.as_deref())?;
    let key = match read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let key = PrivateKey::generate().map_err(|error| Failure::Run(error.to_string()))?;
            write(&path, &key, arguments.file.is_none()).map_err(|error| at(&path, &error))?;
            say!("a new key is in {}", path.display());
            key
        }
        read => read.map_err(|error| at(&path, &error))?,
    };
    Ok(format!("{}\n", key.public()))
}

/// The private key in `file`, or in the default file.
pub(super) fn load(file: Option<&Path>) -> Result<PrivateKey, Failure> {
    let path = place(file)?;
    read(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::Input(format!("{}: there is no key; `udt key` makes one", path.display())),
        _ => at(&path, &error),
    })
}

fn read(path: &Path) -> io::Result<PrivateKey> {
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    let mode = fs::metadata(path)?.mode();
    if mode & 0o077 != 0 {
        let mode = mode & 0o777;
        return Err(invalid(format!("others can read or write it (mode {mode:o}): a private key has mode 600")));
    }
    let text = read_limited(path, MOST)?;
    String::from_utf8_lossy(&text).trim().parse().map_err(|error| invalid(format!("{error}")))
}

/// Writes a key to a new file that only this user can read.
fn write(path: &Path, key: &PrivateKey, make_directory: bool) -> io::Result<()> {
    if let (true, Some(directory)) = (make_directory, path.parent()) {
        DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    writeln!(file, "{}", key.to_secret_text())?;
    file.sync_all()
}

fn place(file: Option<&Path>) -> Result<PathBuf, Failure> {
    let directory = || {
        let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))
    };
    let default = || directory().map(|directory| directory.join("cwnd/key"));
    let place = file.map(Path::to_owned).or_else(default);
    place.ok_or_else(|| Failure::Input("HOME is not set: name the file of the key".to_owned()))
}

fn at(path: &Path, error: &io::Error) -> Failure {
    Failure::Input(format!("{}: {error}", path.display()))
}

/// The maximum size of the file of a key, which has about a hundred bytes.
const MOST: u64 = 1 << 20;
