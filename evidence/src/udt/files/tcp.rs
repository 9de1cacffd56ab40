//! Files over plain TCP, to compare with: nothing is checked, resumed or synced.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::Subcommand;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, connect, setsockopt, socket, sockopt};

use super::load::LARGE;
use crate::Error;

/// One end of a transfer: a file from the kernel's memory to the socket (`sendfile`), or a tree through `tar`. The sender ends when the
/// receiver has everything.
#[derive(Debug, Subcommand)]
pub(crate) enum End {
    Send { address: SocketAddrV4, name: String, algorithm: String },
    Receive { address: SocketAddrV4, directory: PathBuf, name: String },
}

pub(crate) fn run(end: &End) -> Result<(), Error> {
    let done = match end {
        End::Send { address, name, algorithm } => send(*address, name, algorithm),
        End::Receive { address, directory, name } => receive(*address, directory, name),
    };
    done.map_err(|error| Error::Program { command: "tcp".to_owned(), reason: error.to_string() })
}

fn send(address: SocketAddrV4, name: &str, algorithm: &str) -> io::Result<()> {
    let opened = socket(AddressFamily::Inet, SockType::Stream, SockFlag::SOCK_CLOEXEC, None)?;
    // Before connecting, so that it has the first window.
    setsockopt(&opened, sockopt::TcpCongestion, &algorithm.into())?;
    connect(std::os::fd::AsRawFd::as_raw_fd(&opened), &SockaddrIn::from(address))?;
    let mut stream = TcpStream::from(opened);
    if name == LARGE {
        io::copy(&mut File::open(name)?, &mut stream)?;
    } else {
        tar(Command::new("tar").args(["-b", RECORD, "-cf", "-", name]).stdout(OwnedFd::from(stream.try_clone()?)))?;
    }
    stream.shutdown(Shutdown::Write)?;
    stream.read_exact(&mut [0])
}

fn receive(address: SocketAddrV4, directory: &Path, name: &str) -> io::Result<()> {
    let (mut stream, _) = TcpListener::bind(address)?.accept()?;
    if name == LARGE {
        let (mut file, mut buffer) = (File::create_new(directory.join(name))?, vec![0; 1 << 20]);
        loop {
            match stream.read(&mut buffer)? {
                0 => break,
                taken => file.write_all(&buffer[..taken])?,
            }
        }
    } else {
        let socket = OwnedFd::from(stream.try_clone()?);
        tar(Command::new("tar").args(["-b", RECORD, "-xf", "-"]).current_dir(directory).stdin(Stdio::from(socket)))?;
        // Padding of the last record.
        io::copy(&mut stream, &mut io::sink())?;
    }
    stream.write_all(&[1])
}

fn tar(command: &mut Command) -> io::Result<()> {
    let status = command.status()?;
    if status.success() { Ok(()) } else { Err(io::Error::other(format!("tar: {status}"))) }
}

/// In blocks of 512 bytes: 64 KiB a call.
const RECORD: &str = "128";
