//! Addresses, connections and why there are none.

use std::fmt::Display;
use std::io;
use std::net::SocketAddr;
use std::sync::Once;

use cwnd::registry::SpecError;
use cwnd::{ALGORITHMS, BitRate, Spec};
use cwnd_net::cwnd_udt::handshake::Refusal;
use cwnd_net::cwnd_udt::settings::drives;
use cwnd_net::{BindError, ConnectError, Options, SettingsError, UdtStream};

use crate::failure::{Failure, Kind};
use crate::signals;

/// The options of a port with what the command line says of them.
pub(crate) fn options(algorithm: Option<&Spec>, rate_limit: Option<BitRate>, mss: u16) -> Options {
    let options = Options::default().mss(mss);
    let options = match algorithm {
        Some(algorithm) => {
            static SAID: Once = Once::new();
            let say = |warning: &String| say!("warning: --algorithm {warning}");
            SAID.call_once(|| algorithm.idle_parameters().iter().for_each(say));
            options.algorithm(algorithm.clone())
        }
        None => options,
    };
    match rate_limit {
        Some(rate) => options.max_rate(rate),
        None => options,
    }
}

/// A congestion control for connections, by its name and parameters.
pub(crate) fn algorithm(text: &str) -> Result<Spec, String> {
    Spec::parse(text).map_err(|error| match error {
        SpecError::UnknownAlgorithm { .. } => {
            let names: Vec<&str> = ALGORITHMS.iter().filter(|entry| drives(entry)).map(|entry| entry.name).collect();
            format!("{error} (accepted: {})", names.join(", "))
        }
        error => error.to_string(),
    })
}

/// A host, by name or address, and a port.
pub(crate) fn server_address(text: &str) -> Result<String, String> {
    let (host, port) = text.rsplit_once(':').ok_or("a port is missing: expected host:port, as in 192.0.2.1:9001")?;
    let bare = host.contains(':') && !host.starts_with('[');
    if host.is_empty() || bare || port.parse().map_or(true, |port: u16| port == 0) {
        return Err("expected host:port, as in 192.0.2.1:9001 or [2001:db8::1]:9001".to_owned());
    }
    Ok(text.to_owned())
}

/// An address and a port.
pub(crate) fn socket_address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected address:port, as in 192.0.2.1:9001 or [2001:db8::1]:9001".to_owned())
}

/// A connection that a signal aborts.
pub(crate) fn connect_until_signal(peer: &str, options: Options) -> Result<UdtStream, Failure> {
    signals::listen(|| ())?;
    let name = peer.to_owned();
    let connected = signals::unless_stopped(signals::interrupted, move || UdtStream::connect_with(&*name, &options));
    let stream = connected.ok_or(Failure::Interrupted)?.map_err(|error| connect_failure(peer, error))?;
    let open = stream.clone();
    signals::listen(move || open.clone().abort())?;
    // It may have come before the connection could be aborted.
    if signals::interrupted() { Err(Failure::Interrupted) } else { Ok(stream) }
}

/// Why there is no connection to `server`, as it was given.
pub(crate) fn connect_failure(server: &str, error: ConnectError) -> Failure {
    match error {
        ConnectError::Bind(error) => bind_failure(&server, error),
        error => Failure::Transfer(connect_kind(&error), format!("{server}: {}", connect_reason(server, &error))),
    }
}

/// Why there is no connection to `server`, without its address where that is the one that was given.
pub(crate) fn connect_reason(server: &str, error: &ConnectError) -> String {
    match error {
        ConnectError::Refused { peer, why } if peer.to_string() == server => why.to_string(),
        error => error.to_string(),
    }
}

pub(crate) fn connect_kind(error: &ConnectError) -> Kind {
    match error {
        ConnectError::Address(_) | ConnectError::Refused { why: Refusal::Timeout, .. } => Kind::NoAnswer,
        ConnectError::Join(_) | ConnectError::Refused { .. } | ConnectError::Streams { .. } => Kind::Refused,
        _ => Kind::Failed,
    }
}

/// Whether a stream has failed because the other side has ended the connection.
pub(crate) fn is_end(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

/// The message of a client whose connection the other side has ended before it answered.
pub(crate) const MAY_BE_FULL: &str =
    "the other side closed the connection before it answered: it may be full, try again";

/// Why no port was opened at, or towards, `address`.
pub(crate) fn bind_failure(address: &dyn Display, error: BindError) -> Failure {
    let BindError::Settings(error) = error else { return Failure::Run(format!("{address}: {error}")) };
    let option = match error {
        SettingsError::Algorithm(_) => "--algorithm: ",
        SettingsError::Mss { .. } => "--mss: ",
        SettingsError::Rate(_) => "--rate-limit: ",
        _ => "",
    };
    Failure::Input(format!("{option}{error}"))
}

#[cfg(test)]
mod tests {
    use super::server_address;

    #[test]
    fn a_server_has_a_host_and_a_port() {
        for good in ["192.0.2.1:9001", "[::1]:9001", "example.org:1"] {
            assert_eq!(server_address(good).as_deref(), Ok(good));
        }
        for bad in ["192.0.2.1", "photos", ":9001", "::1:9001", "example.org:0", "example.org:70000", "example.org:"] {
            assert!(server_address(bad).is_err(), "{bad}");
        }
    }
}
