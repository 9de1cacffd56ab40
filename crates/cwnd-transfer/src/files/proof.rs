//! The proof of a client to a server.

use std::env;
use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;

use clap::Args;
use cwnd_secure::{Code, Denial, Proof, PublicKey, SecureError};

use crate::failure::{Failure, Kind};
use crate::key;

/// Options for the proof of a client.
#[derive(Args, Debug)]
pub(super) struct ProofOptions {
    /// Neither encrypt nor authenticate: for servers that were started with --plain
    #[arg(long, conflicts_with_all = ["server_key", "key"])]
    pub(super) plain: bool,
    /// The public key of a server that was started with --authorized, instead of a code
    #[arg(long, value_name = "KEY", value_parser = public_key)]
    pub(super) server_key: Option<PublicKey>,
    /// The file with this end's own key [default: that of `udt key`]
    #[arg(long, value_name = "FILE", requires = "server_key")]
    pub(super) key: Option<PathBuf>,
}

impl ProofOptions {
    /// The proof; asks for the code if there is no other. None for a transfer in the clear.
    pub(super) fn proof(&self) -> Result<Option<Proof>, Failure> {
        match &self.server_key {
            _ if self.plain => Ok(None),
            Some(server) => Ok(Some(Proof::Keys { own: key::load(self.key.as_deref())?, server: *server })),
            None => Ok(Some(Proof::Code(match code_from_environment()? {
                Some(code) => code,
                None => ask()?,
            }))),
        }
    }
}

/// The code in the environment, where other users of the machine cannot see it as they see arguments.
pub(super) fn code_from_environment() -> Result<Option<Code>, Failure> {
    match env::var(VARIABLE) {
        Err(env::VarError::NotPresent) => Ok(None),
        Err(error) => Err(Failure::Input(format!("{VARIABLE}: {error}"))),
        Ok(text) => text.parse().map(Some).map_err(|error| Failure::Input(format!("{VARIABLE}: {error}"))),
    }
}

/// Asks for the code on the terminal until its checksum is right.
fn ask() -> Result<Code, Failure> {
    let missing = |why: &dyn std::fmt::Display| {
        // Scripts from before transfers were encrypted.
        let plain = "--plain, which both sides then need, transfers in the clear and needs none";
        Failure::Input(format!("no code: {VARIABLE} is not set, and there is no terminal to ask at: {why}; {plain}"))
    };
    let mut terminal = OpenOptions::new().read(true).write(true).open("/dev/tty").map_err(|error| missing(&error))?;
    let mut lines = BufReader::new(terminal.try_clone().map_err(|error| missing(&error))?).lines();
    loop {
        write!(terminal, "code: ").map_err(|error| missing(&error))?;
        let line = lines.next().unwrap_or_else(|| Ok(String::new())).map_err(|error| missing(&error))?;
        match line.trim() {
            "" => return Err(Failure::Input("no code was given".to_owned())),
            text => match text.parse() {
                Ok(code) => return Ok(code),
                Err(error) => writeln!(terminal, "{error}; try again").map_err(|error| missing(&error))?,
            },
        }
    }
}

/// The message for a failed handshake, with advice.
pub(super) fn explain(error: &SecureError) -> String {
    match error {
        SecureError::Plain => {
            format!("{error}: it is older than this version, or was started with --plain, which both sides then need")
        }
        SecureError::Foreign => format!("{error}: is it `udt serve` or `udt send`, and not with --libudt?"),
        error => error.to_string(),
    }
}

/// The kind of failure of a failed handshake, for scripts.
pub(super) fn kind(error: &SecureError) -> Kind {
    match error {
        SecureError::Refused(Denial::Proof | Denial::UnknownKey | Denial::WrongCode) | SecureError::Unproven => {
            Kind::Unproven
        }
        SecureError::Foreign | SecureError::Plain | SecureError::Refused(_) | SecureError::Version(_) => Kind::Refused,
        SecureError::Altered | SecureError::Io(_) | SecureError::Truncated => Kind::NoAnswer,
        _ => Kind::Failed,
    }
}

pub(super) fn public_key(text: &str) -> Result<PublicKey, String> {
    text.parse().map_err(|error| format!("{error}; expected a public key as `udt key` prints it"))
}

/// The environment variable with the code.
pub(super) const VARIABLE: &str = "CWND_CODE";
