//! The clients that a server admits, and their rights.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use clap::Args;
use cwnd::Span;
use cwnd::quantity::{self, QuantityError};
use cwnd_net::UdtBundle;
use cwnd_net::cwnd_udt::quota::network;
use cwnd_secure::{Access, Code, Denial, Guesses, PER_ADDRESS, Proven, PublicKey, SecureError, accept};
use cwnd_text::read_limited;

use super::channel::Channel;
use super::proof;
use super::report::print_line;
use crate::clock::Stopwatch;
use crate::failure::Failure;
use crate::key;

/// The clients that a server admits, and for how long.
#[derive(Args, Debug)]
pub(super) struct ShareOptions {
    /// Neither encrypt nor authenticate: everyone who reaches the address is let in
    #[arg(long, conflicts_with_all = ["authorized", "key", "expires"])]
    pub(super) plain: bool,
    /// Let in clients with a public key of this file, which has one key a line with `read` or `write` after it, instead of a code
    #[arg(long, value_name = "FILE")]
    pub(super) authorized: Option<PathBuf>,
    /// The file with the server's own key [default: that of `udt key`]
    #[arg(long, value_name = "FILE", requires = "authorized")]
    pub(super) key: Option<PathBuf>,
    /// Refuse new clients after this time, and end: `1h`, `10min`
    #[arg(long, value_name = "TIME", value_parser = span)]
    pub(super) expires: Option<Span>,
}

/// The rights of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rights {
    Read,
    ReadWrite,
}

/// A share of an encrypting server.
pub(super) struct Share {
    access: Access,
    /// Rights, by the numbers of codes or keys in `access`.
    rights: Vec<Rights>,
    codes: Vec<Code>,
    /// The public key of the server, if clients prove themselves by keys.
    key: Option<PublicKey>,
    guesses: Mutex<Guesses>,
    clock: Stopwatch,
    expires: Option<Duration>,
    done: AtomicBool,
}

impl ShareOptions {
    /// The share with a code for each of these rights, or with the authorized keys; none for an unencrypted one.
    pub(super) fn share(&self, rights: &[Rights]) -> Result<Option<Share>, Failure> {
        if self.plain {
            return Ok(None);
        }
        let expires = self.expires.map(|span| Duration::from_secs_f64(span.as_secs_f64()));
        let share = Share {
            access: Access::default(),
            rights: rights.to_vec(),
            codes: Vec::new(),
            key: None,
            guesses: Mutex::default(),
            clock: Stopwatch::start(),
            expires,
            done: AtomicBool::new(false),
        };
        if let Some(path) = &self.authorized {
            let most = rights.iter().max().copied().unwrap_or(Rights::Read);
            let (keys, rights) = read_authorized(path, most)?.into_iter().unzip();
            let own = key::load(self.key.as_deref())?;
            let key = Some(own.public());
            return Ok(Some(Share { access: Access::by_keys(own, keys), rights, key, ..share }));
        }
        let mut codes = Vec::new();
        for _ in rights {
            codes.push(Code::generate().map_err(|error| Failure::Run(error.to_string()))?);
        }
        // A server that starts again, and is to have the code it had. The others are as new.
        if let (Some(code), Some(last)) = (proof::code_from_environment()?, codes.last_mut()) {
            *last = code;
        }
        Ok(Some(Share { access: Access::by_codes(codes.clone()), codes, ..share }))
    }
}

impl Share {
    /// Each code with the rights that it gives.
    pub(super) fn codes(&self) -> impl Iterator<Item = (&Code, Rights)> {
        self.codes.iter().zip(self.rights.iter().copied())
    }

    /// The key by which clients know this server, if they do not use a code.
    pub(super) fn key(&self) -> Option<PublicKey> {
        self.key
    }

    /// Whether no more clients are admitted.
    pub(super) fn is_over(&self) -> bool {
        self.done.load(Ordering::Relaxed) || self.expires.is_some_and(|end| self.clock.elapsed() >= end)
    }

    /// Admits no more clients.
    pub(super) fn end(&self) {
        self.done.store(true, Ordering::Relaxed);
    }

    /// Admits a client with a valid proof. Returns the connection and the rights of the client. A failure is logged, the reason is sent to
    /// the client, and the connection is closed.
    pub(super) fn admit(&self, stream: UdtBundle, client: SocketAddr) -> Option<(Channel, Rights)> {
        let address = network(client.ip());
        let guess = || self.lock().may_guess(address, self.clock.elapsed());
        let admitted = accept(stream.clone(), &self.access, || !self.is_over() && guess());
        match admitted {
            Ok((secure, proven)) => {
                let (Proven::Code(number) | Proven::Key(number)) = proven;
                let rights = self.rights.get(number).copied()?;
                return Some((Channel::Secure(Box::new(secure)), rights));
            }
            Err(SecureError::Refused(why @ (Denial::WrongCode | Denial::UnknownKey))) => {
                let wrong = self.lock().wrong(address, self.clock.elapsed());
                if wrong.is_logged {
                    let what = if why == Denial::WrongCode { "a wrong code" } else { "an unknown key" };
                    print_line(&format!(
                        "{client}: refused, {what} ({} of {PER_ADDRESS} from this address)",
                        wrong.count
                    ));
                }
            }
            // An address may be refused any number of times; its wrong guesses were logged.
            Err(SecureError::Refused(Denial::Limited)) => {}
            Err(SecureError::Plain) => {
                print_line(&format!("{client}: refused, it does not encrypt"));
                let _ = cwnd_files::refuse(&stream, ENCRYPTED);
            }
            Err(error) => print_line(&format!("{client}: {error}")),
        }
        let _ = stream.close();
        None
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Guesses> {
        self.guesses.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The public keys of a file, with the rights of each.
fn read_authorized(path: &Path, most: Rights) -> Result<Vec<(PublicKey, Rights)>, Failure> {
    let wrong = |why: String| Failure::Input(format!("--authorized: {}: {why}", path.display()));
    let text = read_limited(path, MAX_AUTHORIZED).map_err(|error| wrong(error.to_string()))?;
    let text = String::from_utf8(text).map_err(|error| wrong(error.to_string()))?;
    let mut keys = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        let Some(key) = words.next().filter(|word| !word.starts_with('#')) else { continue };
        let at = |why: String| wrong(format!("line {}: {why}", number + 1));
        let key = key.parse().map_err(|error| at(format!("{error}")))?;
        let rights = match words.next() {
            Some("read") => Rights::Read,
            Some("write") => Rights::ReadWrite,
            _ => return Err(at("expected `read` or `write` behind the key".to_owned())),
        };
        keys.push((key, rights.min(most)));
    }
    if keys.is_empty() { Err(wrong("it has no keys".to_owned())) } else { Ok(keys) }
}

pub(super) fn span(text: &str) -> Result<Span, QuantityError> {
    quantity::span(text)
}

/// The text that an unencrypted client reads.
const ENCRYPTED: &str =
    "this server encrypts: ask its user for the code, and use a cwnd of its version without --plain";

/// The maximum size of the file, for about ten thousand keys.
const MAX_AUTHORIZED: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use std::fs;

    use cwnd_secure::PrivateKey;

    use super::*;

    #[test]
    fn authorized_keys_have_rights_and_never_more_than_the_server_gives() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("keys");
        let [one, two] = [(); 2].map(|()| PrivateKey::generate().unwrap().public());
        fs::write(&path, format!("# friends\n\n{one} read  her laptop\n{two} write\n")).unwrap();
        assert_eq!(read_authorized(&path, Rights::ReadWrite).unwrap(), [(one, Rights::Read), (two, Rights::ReadWrite)]);
        assert!(read_authorized(&path, Rights::Read).unwrap().iter().all(|(_, rights)| *rights == Rights::Read));
        for (text, says) in [
            (format!("{one}\n"), "line 1: expected `read` or `write`"),
            (format!("{one} read\nnonsense read\n"), "line 2: "),
            ("# nobody\n".to_owned(), "no keys"),
        ] {
            fs::write(&path, text).unwrap();
            let error = read_authorized(&path, Rights::Read).unwrap_err().to_string();
            assert!(error.contains(says), "{error}");
        }
    }
}
