//! `udt link --tun`: a link in front of the kernel's TCP, or of any program.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use cwnd_link::{RelayError, Side, TunLink};
use cwnd_text::to_json;
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

use crate::emulated::{self, EmulatedLink};
use crate::failure::Failure;
use crate::signals;

/// Runs `words` in one network and `server` in the other, and returns the report of the link between them.
pub(super) fn run(link: &EmulatedLink, server: Option<&str>, words: &[String]) -> Result<String, Failure> {
    if server.is_some_and(|server| server.trim().is_empty()) {
        return Err(Failure::Input("--server: expected a command".to_owned()));
    }
    let [forth, back] = link.emulations()?;
    let phases = forth.phases.steps.iter().map(|(_, phase)| &phase.impairments);
    if phases.chain([&forth.impairments]).any(|impairments| impairments.bleach || impairments.mangling.is_some()) {
        let reason = "--bleach-ecn and --mangle-ecn: cannot be used with --tun, which passes IP packets as they are";
        return Err(Failure::Input(reason.to_owned()));
    }
    let failed = |error: RelayError| match error {
        RelayError::Emulation(error) => emulated::refusal(&error),
        error => Failure::Run(error.to_string()),
    };
    signals::listen(|| ())?;
    let tunnel = TunLink::start(&forth, &back, link.seed, link.spin()).map_err(failed)?;
    let mut far = None;
    if let Some(words) = server {
        let words: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
        far = Some(tunnel.at(Side::Far, || Group::start(&words)).map_err(failed)??);
        thread::sleep(SETTLING);
    }
    let mut command = tunnel.at(Side::Near, || Group::start(words)).map_err(failed)??;
    let ended = command.wait();
    drop((command, far));
    let Some(status) = ended else { return Err(Failure::Interrupted) };
    let status = started(words, status)?;
    let report = tunnel.stop().map_err(failed)?;
    let shown = if link.json { to_json(&report) } else { report.to_string() };
    if !status.success() {
        return Err(Failure::Run(format!("`{}` ended with {status}\n{shown}", words.join(" "))));
    }
    match report.warning() {
        Some(warning) => Err(Failure::Run(format!("{warning}; do not use this run\n{shown}"))),
        None => Ok(shown),
    }
}

/// A program and all that it starts. They are ended when this is dropped.
struct Group {
    leader: Child,
}

impl Group {
    /// Starts a program of these words, which may read nothing.
    fn start(words: &[String]) -> Result<Self, Failure> {
        let (program, arguments) = words.split_first().ok_or_else(|| Failure::Input("no command".to_owned()))?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).process_group(0);
        let leader = signals::unblocked(|| command.spawn());
        Ok(Self { leader: started(words, leader)? })
    }

    /// Waits until the program ends; none if a signal has come before.
    fn wait(&mut self) -> Option<io::Result<ExitStatus>> {
        while !signals::interrupted() {
            if let Some(ended) = self.leader.try_wait().transpose() {
                return Some(ended);
            }
            thread::sleep(signals::CHECK);
        }
        None
    }

    /// Sends a signal to all processes of the group, or none; whether there are any.
    fn signal(&self, signal: Option<Signal>) -> bool {
        killpg(Pid::from_raw(self.leader.id() as i32), signal).is_ok()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            self.signal(Some(signal));
            for _ in 0..LAST_CHECKS {
                // One that has ended is in the group until it is waited for.
                let _ended = self.leader.try_wait();
                if !self.signal(None) {
                    return;
                }
                thread::sleep(signals::CHECK);
            }
        }
    }
}

fn started<T>(words: &[String], result: std::io::Result<T>) -> Result<T, Failure> {
    result.map_err(|error| Failure::Run(format!("cannot run `{}`: {error}", words.join(" "))))
}

/// Checks within 2 s, the time that programs have to end by themselves, and once more after they are killed.
const LAST_CHECKS: u32 = 100;

/// Longer than a server takes to listen.
const SETTLING: Duration = Duration::from_millis(500);

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_group_ends_with_what_its_program_has_started() {
        let place = tempfile::tempdir().unwrap();
        let ids = place.path().join("ids");
        let script = format!("trap '' TERM; sleep 1000 & echo $! > {0}.new; mv {0}.new {0}; wait", ids.display());
        let group = Group::start(&["sh".to_owned(), "-c".to_owned(), script]).unwrap();
        while !ids.exists() {
            thread::sleep(signals::CHECK);
        }
        let below = fs::read_to_string(&ids).unwrap();
        let (leader, below) = (group.leader.id().to_string(), below.trim());
        drop(group);
        for id in [&leader, below] {
            // Whoever inherits it has not waited for it yet, perhaps.
            let state = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
            assert!(state.is_empty() || state.contains(") Z "), "{state}");
        }
    }
}
