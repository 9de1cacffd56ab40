//! `cwnd live`

use std::net::{Ipv4Addr, SocketAddr};
use std::process::{Command, Stdio};

use clap::Args;
use cwnd_live::{Limits, Server, ServerError};
use cwnd_run::execute::{Progress, default_memory};
use cwnd_text::{counted, size};

use crate::failure::Failure;
use crate::progress::Interrupts;
use crate::signals;

/// Arguments of `cwnd live`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd live                                   for this host only, at a port that is free
  cwnd live --listen 192.0.2.1:8080           for a classroom: everyone with the printed address
  cwnd live --listen 127.0.0.1:8080 --token demo --no-open
The page needs no other server. Ctrl-C ends it. docs/live.md has exercises.")]
pub(crate) struct Arguments {
    /// Serve at this address:port. Other hosts may connect unless it is the loopback; each of them has one processor for 10 s a run
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    listen: Option<SocketAddr>,
    /// The secret part of the page's address, letters and digits [default: random]
    #[arg(long, value_parser = token)]
    token: Option<String>,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let address = arguments.listen.unwrap_or_else(|| SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
    let local = address.ip().is_loopback();
    let interrupts = Interrupts::listen()?;
    let memory = interrupts.memory().unwrap_or_else(default_memory);
    let limits = if local { Limits::of_one_user(memory) } else { Limits::of_many(memory) };
    let server = Server::bind(address, arguments.token.clone(), limits).map_err(|error| match error {
        ServerError::Bind { .. } => Failure::input(format!("--listen: {error}")),
        ServerError::Random(_) => Failure::run(error.to_string()),
    })?;
    let url = server.url();
    say!("the page is at {url}");
    if !local {
        say!(
            "whoever has this address can run simulations on this host, and nothing is encrypted: a run has one processor, {} s and \
             {}, and {} at a time",
            limits.time.as_secs(),
            size(limits.memory),
            counted(limits.runs, "run")
        );
    }
    if local && !arguments.no_open {
        open(&url);
    }
    server.serve(|| interrupts.should_continue());
    Ok(String::new())
}

/// Opens the page in the user's browser, if there is a screen. Whether that works does not matter: the address is printed.
fn open(url: &str) {
    let Some((program, arguments)) = opener() else { return };
    let mut command = Command::new(program);
    command.args(arguments).arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    if let Ok(mut child) = signals::unblocked(|| command.spawn()) {
        std::thread::spawn(move || child.wait());
    }
}

/// The program that opens an address in the user's browser, and its first arguments; none without a screen.
pub(crate) fn opener() -> Option<(&'static str, &'static [&'static str])> {
    let has_screen = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    match std::env::consts::OS {
        "macos" => Some(("open", &[])),
        "windows" => Some(("rundll32", &["url.dll,FileProtocolHandler"])),
        _ => has_screen.then_some(("xdg-open", &[])),
    }
}

fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "expected address:port, as in 192.0.2.1:8080 or 127.0.0.1:8080".to_owned())
}

fn token(text: &str) -> Result<String, String> {
    let plain = (1..=64).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    if plain { Ok(text.to_owned()) } else { Err("expected 1 to 64 letters and digits".to_owned()) }
}
