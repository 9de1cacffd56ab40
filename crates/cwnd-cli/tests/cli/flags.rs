//! Every flag of every command that ends by itself, with values that mean nothing: none panics, and a refusal is one error.

use std::collections::BTreeSet;

use super::{Cwnd, SHORT};

const COMMANDS: [&[&str]; 8] = [
    &["algorithms", "reno"],
    &["compare", "reno", "--json", "--duration", "200ms", "--warmup", "100ms", "--seeds", "1", "--rate", "10mbit"],
    &["run", "short.toml", "--json", "--seeds", "1"],
    &["model", "response", "reno"],
    &["model", "convergence", "reno"],
    &["model", "rounds", "reno", "--rounds", "100"],
    &["model", "udt"],
    &["bench", "sim", "--duration", "200ms", "--warmup", "100ms"],
];
const NONSENSE: [&str; 10] = ["", "-1", "0", "1e30", "nan", "é", "18446744073709551616", "1/0", "0ms", "reno:a=1,a=2"];

/// The long flags that the help of a command lists, without those that work for hours or print something else.
fn flags(cwnd: &Cwnd, command: &[&str]) -> BTreeSet<String> {
    let names: Vec<&str> = command.iter().copied().take_while(|word| !word.starts_with("--")).collect();
    let help = cwnd.succeed(&[&names[..], &["--help"]].concat());
    let words = help.lines().map(str::trim_start).filter(|line| line.starts_with('-')).filter_map(|line| {
        let flag = line.split([' ', ',']).find(|word| word.starts_with("--"))?;
        Some(flag.trim_end_matches(['.', '=']).to_string())
    });
    words.filter(|flag| !["--help", "--out", "--version"].contains(&flag.as_str())).collect()
}

#[test]
fn nonsense_is_refused_with_one_error() {
    let cwnd = Cwnd::new();
    cwnd.file("short.toml", SHORT);
    let mut tried = 0;
    for command in COMMANDS {
        let flags = flags(&cwnd, command);
        assert!(!flags.is_empty(), "{command:?}");
        for flag in flags {
            for value in NONSENSE {
                let given = format!("{flag}={value}");
                // A flag may be given once: what the test gives itself makes way.
                let at = command.iter().position(|word| *word == flag);
                let mut arguments: Vec<&str> = command.to_vec();
                if let Some(at) = at {
                    arguments.drain(at..(at + if flag == "--json" { 1 } else { 2 }));
                }
                arguments.push(&given);
                let said = cwnd.run(&arguments);
                assert!(matches!(said.code, Some(0..=2)), "{arguments:?}: {:?} {}", said.code, said.err);
                assert!(!said.err.contains("panicked"), "{arguments:?}: {}", said.err);
                if said.code != Some(0) {
                    assert_eq!(said.err.matches("error: ").count(), 1, "{arguments:?}: {}", said.err);
                }
                tried += 1;
            }
        }
    }
    assert!(tried > 400, "{tried}");
}
