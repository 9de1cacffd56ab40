//! Plays scenarios between this project's UDT and libudt, and says of each whether it passed, failed or was skipped.

use std::process::ExitCode;
use std::sync::Mutex;
use std::thread;

use super::Error;
use super::bench::{self, Bench};
use super::scenarios::{ALL, Scenario};

/// Plays the scenarios whose names begin with one of `prefixes`, or all of them. With `CI=true` a skipped scenario counts as failed.
pub(crate) fn run(prefixes: &[String]) -> ExitCode {
    let bench = match Bench::new() {
        Ok(bench) => bench,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    let chosen: Vec<&Scenario> = ALL
        .iter()
        .filter(|scenario| prefixes.is_empty() || prefixes.iter().any(|prefix| scenario.name.starts_with(prefix)))
        .collect();
    if chosen.is_empty() {
        let names: Vec<&str> = ALL.iter().map(|scenario| scenario.name).collect();
        eprintln!("error: no such scenario; there are: {}", names.join(", "));
        return ExitCode::from(2);
    }
    // Scenarios wait for timers and for paths with delay most of their time, and have ports and files of their own.
    let pending = Mutex::new(chosen.iter());
    let next = || pending.lock().expect("no scenario runs under the lock").next();
    let counts = Mutex::new((0, 0));
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(scenario) = next() {
                    let (outcome, seconds) = bench::timed(|| (scenario.play)(&bench));
                    let mut counts = counts.lock().expect("counting does not panic");
                    match outcome {
                        Ok(said) => println!("passed  {:28} {seconds:5.1} s  {said}", scenario.name),
                        Err(error @ Error::NotCaptured { .. }) => {
                            counts.1 += 1;
                            println!("skipped {:28} {seconds:5.1} s  {error}", scenario.name);
                        }
                        Err(error) => {
                            counts.0 += 1;
                            println!("FAILED  {:28} {seconds:5.1} s  {error}", scenario.name);
                        }
                    }
                }
            });
        }
    });
    let (failed, skipped) = counts.into_inner().expect("counting does not panic");
    println!("\n{} passed, {failed} failed, {skipped} skipped", chosen.len() - failed - skipped);
    let strict = std::env::var("CI").is_ok_and(|value| value == "true");
    if strict && skipped > 0 {
        println!("CI=true: a skipped scenario counts as failed.");
    }
    if failed == 0 && !(strict && skipped > 0) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How many scenarios are played at the same time.
const AT_ONCE: usize = 3;
