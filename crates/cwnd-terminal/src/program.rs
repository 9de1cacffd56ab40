//! Runs a program, from the words of its command line to its exit code.

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::Path;
use std::process::ExitCode;

use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue};
use clap::{Command, CommandFactory, Error, FromArgMatches};
use clap_complete::Shell;
use cwnd_text::{lines, one_line};

use crate::failure::{self, Failure, Kind};
use crate::{output, synonyms};

/// Commands under a heading, in the order of the help.
pub type Group = (&'static str, &'static [&'static str]);

/// The command line of `C`, whose help lists the commands in `groups` and breaks at the width of the terminal.
///
/// # Panics
/// A group names a command that `C` does not have.
#[must_use]
pub fn command<C: CommandFactory>(groups: &[Group]) -> Command {
    let command = arranged(C::command());
    let list = list(&command, groups);
    let template = format!("{{about}}\n\n{{usage-heading}} {{usage}}\n{list}\nOptions:\n{{options}}{{after-help}}");
    // With no longer text, `--help` of the program is its `-h`. The manual page has all examples.
    command.help_template(template).after_long_help(Resettable::Reset)
}

/// Reads the words of the command line.
///
/// # Errors
/// `command` does not accept the words, or they ask for help or the version.
pub fn parse<C: FromArgMatches>(command: &mut Command, words: &[OsString]) -> Result<C, Error> {
    let matches = command.try_get_matches_from_mut(words).map_err(|error| synonyms::suggest(error, command, words));
    matches.and_then(|matches| C::from_arg_matches(&matches).map_err(|error| error.format(command))).map_err(shortened)
}

/// The error with the words of the command line cut that are too long to read.
fn shortened(mut error: Error) -> Error {
    for kind in [ContextKind::InvalidValue, ContextKind::InvalidArg, ContextKind::InvalidSubcommand] {
        let Some(ContextValue::String(text)) = error.get(kind) else { continue };
        if let Some((at, _)) = text.char_indices().nth(MOST_SHOWN) {
            let cut = format!("{}…", &text[..at]);
            error.insert(kind, ContextValue::String(cut));
        }
    }
    error
}

/// Characters of a word of the command line in an error.
const MOST_SHOWN: usize = 200;

/// Ends the process for arguments that cannot be read, or with the help that they ask for. Where they ask for JSON, `json`, the failure is
/// its last line.
pub fn refuse(error: &Error, json: bool) -> ! {
    if error.use_stderr() && json {
        let text = error.to_string();
        let lines: Vec<&str> = text.lines().take_while(|line| !line.is_empty()).map(str::trim).collect();
        let _printed = print(&failure::last_line(Kind::Usage, lines.join(" ").trim_start_matches("error: ")));
    }
    if error.use_stderr() {
        error.exit();
    }
    let code = printed(error.print()).map_or_else(
        |failure| {
            report(&failure, json);
            failure.code().into()
        },
        |()| error.exit_code(),
    );
    std::process::exit(code)
}

/// The exit code of a command that has ended. Reports its failure, with `json` also as the last line of JSON.
#[must_use]
pub fn end(ended: &Result<(), Failure>, json: bool) -> ExitCode {
    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            report(failure, json);
            ExitCode::from(failure.code())
        }
    }
}

/// Reports why a command failed on standard error, and with `json` also as the last line of JSON.
pub fn report(failure: &Failure, json: bool) {
    // Causes of failures may repeat what a file or another host says.
    say!("error: {}", lines(&failure.to_string()));
    if json {
        // The exit code says the same to a reader that is gone.
        let _printed = print(&failure::last_line(failure.kind(), &failure.to_string()));
    }
}

/// Prints to standard output. A reader that has seen enough closes the pipe, which is no failure.
///
/// # Errors
/// Standard output cannot be written for another reason.
pub fn print(text: &str) -> Result<(), Failure> {
    printed(output::write(text))
}

fn printed(result: io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::Output(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// The completion script of a program for a shell.
#[must_use]
pub fn completions<C: CommandFactory>(shell: Shell) -> String {
    let mut command = C::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Writes the manual pages of a program to a directory, one for each of its commands: `cwnd.1`, `cwnd-compare.1`.
///
/// # Errors
/// `directory` is none, or cannot be written.
pub fn manual<C: CommandFactory>(directory: &Path) -> Result<String, Failure> {
    let failed = |error: io::Error| {
        Failure::Input(format!("cannot write to `{}`: {error}", one_line(&directory.display().to_string())))
    };
    let command = C::command();
    let pages = names_of_pages(&command);
    clap_mangen::generate_to(command, directory).map_err(failed)?;
    // The directory may have pages of other programs.
    for page in pages.into_iter().map(|page| directory.join(page)).filter(|page| page.is_file()) {
        let text = fs::read_to_string(&page).map_err(failed)?;
        fs::write(&page, with_examples(&text)).map_err(failed)?;
    }
    Ok(String::new())
}

/// The file names of the pages of a command and of all below it.
fn names_of_pages(command: &Command) -> Vec<String> {
    fn add(command: &Command, name: &str, names: &mut Vec<String>) {
        names.push(format!("{name}.1"));
        command.get_subcommands().for_each(|below| add(below, &format!("{name}-{}", below.get_name()), names));
    }
    let mut names = Vec::new();
    add(command, command.get_name(), &mut names);
    names
}

/// A manual page with the examples of the help under a heading of their own, line by line: clap_mangen calls them `EXTRA`, and groff joins
/// their lines.
fn with_examples(page: &str) -> String {
    let Some((before, rest)) = page.split_once("\n.SH EXTRA\n") else { return page.to_owned() };
    let (text, after) = rest.split_at(rest.find("\n.SH ").unwrap_or(rest.trim_end().len()));
    let text = text.strip_prefix("Examples:\n").or_else(|| text.strip_prefix("Example:\n")).unwrap_or(text);
    format!("{before}\n.SH EXAMPLES\n.nf\n{text}\n.fi{after}")
}

/// The commands under their headings, a line each.
fn list(command: &Command, groups: &[Group]) -> String {
    let mut text = String::new();
    for (heading, names) in groups {
        text.push_str(&format!("\n{heading}:\n"));
        for name in *names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.unwrap_or_else(|| panic!("there is no command `{name}` with a description"));
            text.push_str(&format!("  {name:<12} {about}\n"));
        }
    }
    text
}

/// Makes `-h` of `command` and its subcommands fit a screen: options under a heading, and the text after the examples, appear in `--help`
/// only. The lines of each paragraph after the options are joined, because the width of the terminal determines where they break. A blank
/// line separates examples from text.
fn arranged(command: Command) -> Command {
    let command = command.mut_subcommands(arranged);
    let command =
        command.mut_args(|one| if one.get_help_heading().is_some() { one.hide_short_help(true) } else { one });
    let Some(help) = command.get_after_help().map(ToString::to_string) else { return command };
    let is_example = |line: &&str| line.starts_with(' ') || line.ends_with(':');
    let examples: Vec<&str> = help.lines().take_while(is_example).take(1 + EXAMPLES).collect();
    let examples = examples.join("\n");
    let mut joined = String::new();
    let mut before = "";
    let mut lines = help.lines().peekable();
    while let Some(line) = lines.next() {
        let is_prose = |line: &str| !line.is_empty() && !line.starts_with(' ');
        let is_heading = line.ends_with(':') && lines.peek().is_some_and(|next| !is_prose(next));
        joined.push_str(match (is_prose(before), is_prose(line)) {
            (true, true) if !is_heading => " ",
            // The text after the examples.
            (false, true) if !before.is_empty() => "\n\n",
            _ => "\n",
        });
        joined.push_str(line);
        before = line;
    }
    command.after_help(examples).after_long_help(joined.trim_start_matches('\n').to_string())
}

/// The maximum number of examples in the output of `-h`, without their continuations.
const EXAMPLES: usize = 5;

/// Checks of a command line, for the unit tests of programs.
pub mod check {
    use std::collections::BTreeSet;

    use super::{Command, CommandFactory, Group, command};

    /// Checks that the command line has no contradictions, that its help fits a screen, and that its options refuse nonsense: `help_fits`
    /// and `refusals`. Returns the number of refusals.
    ///
    /// # Panics
    /// A check fails.
    #[must_use]
    pub fn consistent<C: CommandFactory + clap::Parser + std::fmt::Debug>(groups: &[Group]) -> usize {
        C::command().debug_assert();
        help_fits::<C>(groups);
        refusals::<C>()
    }

    /// Checks that the help of the program has every visible command once. It fits a screen, 40 lines of 100 columns, as does that of each
    /// command with `-h`; `--help` of a command has more lines, not wider ones.
    ///
    /// # Panics
    /// A check fails.
    fn help_fits<C: CommandFactory>(groups: &[Group]) {
        let mut whole = command::<C>(groups).term_width(100);
        let listed: Vec<&str> = groups.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let visible = whole.get_subcommands().filter(|one| !one.is_hide_set()).map(Command::get_name);
        assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), visible.collect(), "the groups of the help");
        assert_eq!(listed.iter().collect::<BTreeSet<_>>().len(), listed.len(), "a command is listed twice");
        let [short, long] = ["-h", "--help"].map(|flag| whole.clone().try_get_matches_from(["", flag]));
        assert_eq!(long.map_err(|help| help.to_string()), short.map_err(|help| help.to_string()));
        whole.build();
        fits_a_screen(&mut whole);
    }

    fn fits_a_screen(command: &mut Command) {
        let [short, long] = [command.render_help(), command.render_long_help()].map(|help| help.to_string());
        let lines = short.lines().count();
        assert!(lines <= 40, "{lines} lines: {short}");
        for line in short.lines().chain(long.lines()) {
            assert!(line.chars().count() <= 100, "{}: {line}", command.get_name());
        }
        let below: Vec<Command> = command.get_subcommands().cloned().collect();
        for command in below.into_iter().filter(|one| !one.is_hide_set() && one.get_name() != "help") {
            fits_a_screen(&mut command.term_width(100));
        }
    }

    /// Checks that each option with a value refuses nonsense, in every command, with its name and the accepted values, in words that are
    /// not those of the program's types. Returns the number of refusals.
    ///
    /// # Panics
    /// A check fails.
    fn refusals<C: CommandFactory + clap::Parser + std::fmt::Debug>() -> usize {
        let mut refused = 0;
        let whole = C::command();
        for (path, option) in options_with_values(&whole, &[whole.get_name().to_string()]) {
            for value in ["nonsense", "-1", "1e30", "-5mbit", "18446744073709551616", ""] {
                let line = path.iter().cloned().chain([format!("--{option}={value}")]);
                let Err(error) = C::try_parse_from(line) else { continue };
                // An option that takes any text leaves what else is missing.
                if error.kind() != clap::error::ErrorKind::ValueValidation {
                    continue;
                }
                refused += 1;
                let text = error.to_string();
                let named = format!("for '--{option}");
                assert!(text.contains(&named), "{path:?} --{option}={value}: {text}");
                let accepted = ["expected ", "accepted", "unknown algorithm", "possible values"];
                assert!(accepted.iter().any(|word| text.contains(word)), "{path:?} --{option}={value}: {text}");
                for foreign in
                    ["invalid digit", "u16", "u32", "u64", "usize", "f64", "cannot parse", "too large to fit"]
                {
                    assert!(!text.contains(foreign), "{path:?} --{option}={value}: {text}");
                }
            }
        }
        refused
    }

    /// The words before an option, and the name of the option.
    fn options_with_values(command: &Command, path: &[String]) -> Vec<(Vec<String>, String)> {
        let own = command.get_arguments().filter(|one| !matches!(one.get_action(), clap::ArgAction::SetTrue));
        let own = own.filter_map(|one| one.get_long()).map(|long| (path.to_vec(), long.to_string()));
        let below = command.get_subcommands().flat_map(|sub| {
            let path: Vec<String> = path.iter().cloned().chain([sub.get_name().to_string()]).collect();
            options_with_values(sub, &path)
        });
        own.chain(below).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(clap::Parser)]
    #[command(name = "tool", after_help = "Examples:\n  tool at once")]
    enum Tool {
        #[command(after_help = "Example:\n  tool run", subcommand)]
        Run(Below),
    }

    #[derive(clap::Subcommand)]
    enum Below {
        #[command(after_help = "Example:\n  tool run fast")]
        Fast,
    }

    #[test]
    fn manual_pages_of_other_programs_stay_as_they_are() {
        let directory = std::env::temp_dir().join(format!("cwnd-manual-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let other = "head\n.SH EXTRA\nExamples:\n  a\n";
        fs::write(directory.join("tool-kit.1"), other).unwrap();
        manual::<Tool>(&directory).unwrap();
        let read = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
        let pages = ["tool.1", "tool-run.1", "tool-run-fast.1"].map(read);
        let kept = read("tool-kit.1");
        fs::remove_dir_all(&directory).unwrap();
        assert_eq!(kept, other);
        assert!(pages.iter().all(|page| page.contains("\n.SH EXAMPLES\n.nf\n  tool")), "{pages:?}");
    }

    #[test]
    fn a_manual_page_has_its_examples_line_by_line() {
        let page = "head\n.SH EXTRA\nExamples:\n  cwnd run a\n  cwnd run b\nA sentence.\n.SH VERSION\nv1\n";
        let laid_out = "head\n.SH EXAMPLES\n.nf\n  cwnd run a\n  cwnd run b\nA sentence.\n.fi\n.SH VERSION\nv1\n";
        assert_eq!(with_examples(page), laid_out);
        assert_eq!(with_examples(laid_out), laid_out);
        let last = "head\n.SH EXTRA\nRecord on Linux:\n  ss\n";
        assert_eq!(with_examples(last), "head\n.SH EXAMPLES\n.nf\nRecord on Linux:\n  ss\n.fi\n");
    }
}
