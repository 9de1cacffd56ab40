//! Options under the names that other programs use.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use cwnd_run::scenario;

/// `error`, and the option of the same meaning of the command in `words`, if the unknown option is one of another program.
pub(crate) fn suggest(mut error: Error, whole: &Command, words: &[OsString]) -> Error {
    let (ErrorKind::UnknownArgument, Some(ContextValue::String(unknown))) =
        (error.kind(), error.get(ContextKind::InvalidArg))
    else {
        return error;
    };
    if let Some(name) = meant(unknown, called(whole, words)) {
        error.remove(ContextKind::Suggested);
        error.insert(ContextKind::SuggestedArg, ContextValue::String(format!("--{name}")));
    }
    error
}

/// The innermost command in `words`.
fn called<'a>(whole: &'a Command, words: &[OsString]) -> &'a Command {
    words
        .iter()
        .skip(1)
        .filter_map(|word| word.to_str())
        .fold(whole, |command, word| command.find_subcommand(word).unwrap_or(command))
}

/// The option of `command` that means what `unknown` does elsewhere.
fn meant(unknown: &str, command: &Command) -> Option<&'static str> {
    let is_option = |name: &str| command.get_arguments().any(|argument| argument.get_long() == Some(name));
    scenario::meant(unknown.trim_start_matches('-'), is_option)
}

#[cfg(test)]
mod tests {
    use clap::Arg;

    use super::*;

    fn refused(line: &str) -> String {
        let long = |name: &'static str| Arg::new(name).long(name);
        let compare =
            Command::new("compare").args([long("rate"), long("rtt"), long("queue"), long("duration"), long("seeds")]);
        let perf = Command::new("perf").args([long("time"), long("algorithm")]);
        let mut whole = Command::new("program").subcommands([compare, perf]);
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        let error = whole.try_get_matches_from_mut(&words).unwrap_err();
        suggest(error, &whole, &words).to_string()
    }

    #[test]
    fn names_of_other_programs_lead_to_the_option() {
        for (line, option) in [
            ("program compare --bandwidth 10mbit", "--rate"),
            ("program compare --bw=10mbit", "--rate"),
            ("program compare --rate 10mbit --delay 10ms", "--rtt"),
            ("program compare --buffer 1bdp", "--queue"),
            ("program compare --time 10s", "--duration"),
            ("program perf --duration 10s", "--time"),
            ("program perf --congestion cubic", "--algorithm"),
        ] {
            let text = refused(line);
            assert!(text.contains(&format!("a similar argument exists: '{option}'")), "{line}: {text}");
            assert!(!text.contains("as a value"), "{line}: {text}");
        }
    }

    #[test]
    fn an_option_that_a_command_does_not_have_is_not_suggested() {
        for line in ["program perf --bandwidth 10mbit", "program compare --nonsense 1"] {
            assert!(!refused(line).contains("a similar argument"), "{line}");
        }
    }
}
