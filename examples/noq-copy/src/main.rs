//! Copies a file over noq, sent with a congestion control of cwnd:
//!
//! ```console
//! $ noq-copy receive 127.0.0.1:9300 certificate copy
//! $ noq-copy send 127.0.0.1:9300 certificate file simd
//! ```
//!
//! The receiver makes a certificate of its own for the connection and writes it to a file, which the sender trusts and nothing else.

#![expect(clippy::disallowed_methods, reason = "a transfer is measured and waited for by the clock")]

use std::env;
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use cwnd::Spec;
use cwnd_quic::noq::Factory;
use noq::{ClientConfig, Endpoint, ServerConfig, TransportConfig, VarInt};
use rustls::RootCertStore;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use tokio::fs::{self, File};
use tokio::io;

const USAGE: &str = "usage: noq-copy receive ADDRESS:PORT CERTIFICATE FILE
       noq-copy send ADDRESS:PORT CERTIFICATE FILE ALGORITHM";

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match arguments[..] {
        ["receive", address, certificate, file] => receive(address, certificate.as_ref(), file.as_ref()).await,
        ["send", address, certificate, file, algorithm] => {
            send(address, certificate.as_ref(), file.as_ref(), algorithm).await
        }
        _ => Err(USAGE.into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Waits for one sender at `address`, and writes what it sends to `file`.
async fn receive(address: &str, certificate: &Path, file: &Path) -> Result<(), Box<dyn Error>> {
    let own = rcgen::generate_simple_self_signed([NAME.to_string()])?;
    let key = PrivatePkcs8KeyDer::from(own.signing_key.serialize_der());
    let config = ServerConfig::with_single_cert(vec![own.cert.der().clone()], key.into())?;
    let endpoint = Endpoint::server(config, address.parse()?)?;
    // Written once the address is bound, so that who sees the file can connect.
    fs::write(certificate, own.cert.der()).await?;
    let connection = endpoint.accept().await.ok_or("the endpoint was closed")?.await?;
    let mut incoming = connection.accept_uni().await?;
    let mut out = File::create(file).await?;
    let bytes = io::copy(&mut incoming, &mut out).await?;
    out.sync_all().await?;
    println!("received {bytes} bytes");
    connection.close(RECEIVED, b"received");
    endpoint.wait_idle().await;
    Ok(())
}

/// Sends `file` with the congestion control `algorithm`, and waits until the receiver says that it has it.
async fn send(address: &str, certificate: &Path, file: &Path, algorithm: &str) -> Result<(), Box<dyn Error>> {
    let mut transport = TransportConfig::default();
    // All of cwnd-quic that a program needs: a factory of controllers for the transport's settings.
    transport.congestion_controller_factory(Arc::new(Factory::new(Spec::parse(algorithm)?, SEED)?));
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from(fs::read(certificate).await?))?;
    let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
    config.transport_config(Arc::new(transport));
    let endpoint = Endpoint::client(SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0)))?;
    let connection = endpoint.connect_with(config, address.parse()?, NAME)?.await?;
    let begin = Instant::now();
    let mut outgoing = connection.open_uni().await?;
    let bytes = io::copy(&mut File::open(file).await?, &mut outgoing).await?;
    outgoing.finish()?;
    match connection.closed().await {
        noq::ConnectionError::ApplicationClosed(close) if close.error_code == RECEIVED => {}
        error => return Err(error.into()),
    }
    let mbit = bytes as f64 * 8e-6 / begin.elapsed().as_secs_f64();
    println!("sent {bytes} bytes with {algorithm} at {mbit:.1} Mbit/s");
    endpoint.wait_idle().await;
    Ok(())
}

/// Whom the certificate names.
const NAME: &str = "noq-copy";
/// The receiver has the whole file.
const RECEIVED: VarInt = VarInt::from_u32(0);
/// Of the algorithms that draw random numbers.
const SEED: u64 = 1;
