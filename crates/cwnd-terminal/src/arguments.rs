//! Values of arguments: numbers with their ranges, and values that begin with a minus sign.

use std::ffi::OsString;
use std::fmt::Display;
use std::ops::RangeInclusive;

use clap::{Arg, Command};
use cwnd::{Span, quantity};

/// A reader of whole numbers in `range`, for [`clap`]; its errors name the range.
pub fn whole<T>(range: RangeInclusive<T>) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: Copy + Display + PartialOrd + Send + Sync + TryFrom<u64> + 'static,
{
    move |text| {
        let read = text.trim().parse::<u64>().ok().and_then(|number| T::try_from(number).ok());
        let (least, most) = (range.start(), range.end());
        read.filter(|number| range.contains(number))
            .ok_or_else(|| format!("expected a whole number from {least} to {most}"))
    }
}

/// Reads a number that is `good`.
///
/// # Errors
/// The text is no number, or one that is not `good`; `accepted` describes the others.
pub fn checked(text: &str, accepted: &str, good: impl Fn(f64) -> bool) -> Result<f64, String> {
    match quantity::number(text) {
        Ok(value) if good(value) => Ok(value),
        _ => Err(format!("expected {accepted}")),
    }
}

/// Reads a probability, 0 to 1.
///
/// # Errors
/// The text is no number, or one outside of the range.
pub fn probability(text: &str) -> Result<f64, String> {
    checked(text, "a probability, 0 to 1", |p| (0.0..=1.0).contains(&p))
}

/// Reads a time above zero.
///
/// # Errors
/// The text is no time, or zero.
pub fn above_zero(text: &str) -> Result<Span, String> {
    let time = quantity::span(text).map_err(|error| error.to_string())?;
    if time > Span::ZERO { Ok(time) } else { Err("expected a time above zero".to_string()) }
}

/// Joins an option and a value that begins with a minus sign and a digit, as in `--rate -5mbit`. The parser would read the value as
/// separate options, and report an error about these.
pub fn join_negative(mut command: Command, arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    command.build();
    let mut command = &command;
    let mut joined: Vec<OsString> = Vec::new();
    let mut open = false;
    for argument in arguments {
        let text = argument.to_str().unwrap_or_default();
        if open && is_negative(text) {
            let option = joined.pop().unwrap_or_default();
            joined.push([option, OsString::from("="), argument].into_iter().collect());
            open = false;
            continue;
        }
        let long = text.strip_prefix("--");
        open = long
            .and_then(|name| command.get_arguments().find(|one| one.get_long() == Some(name)))
            .is_some_and(has_value);
        command = command.find_subcommand(text).unwrap_or(command);
        joined.push(argument);
    }
    joined
}

/// Whether an option needs a value.
fn has_value(argument: &Arg) -> bool {
    argument.get_num_args().is_some_and(|count| count.min_values() > 0)
}

fn is_negative(text: &str) -> bool {
    text.strip_prefix('-').is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit() || first == '.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_have_a_range() {
        let read = whole::<u32>(1..=4_000_000);
        assert_eq!([read("1"), read(" 4000000 ")], [Ok(1), Ok(4_000_000)]);
        for text in ["0", "4000001", "-1", "1e30", "1.5", "", "99999999999999999999"] {
            assert_eq!(read(text), Err("expected a whole number from 1 to 4000000".to_string()), "{text}");
        }
    }

    #[test]
    fn a_negative_value_stays_with_its_option() {
        let option = |name: &'static str| Arg::new(name).long(name).num_args(1);
        let switch = Arg::new("json").long("json").action(clap::ArgAction::SetTrue);
        let link = Command::new("link").arg(option("delay"));
        let server = Arg::new("server").long("server").num_args(0..=1);
        let compare = Command::new("compare").args([option("rate"), option("flows"), option("loss"), switch]);
        let command = Command::new("cwnd").subcommands([compare, link.clone(), Command::new("udt").subcommand(link)]);
        let command = command.subcommand(Command::new("perf").arg(server));
        let joined = |line: &str| {
            let arguments = line.split(' ').map(OsString::from);
            let joined = join_negative(command.clone(), arguments);
            joined.iter().map(|one| one.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(joined("cwnd compare reno --rate -5mbit"), "cwnd compare reno --rate=-5mbit");
        assert_eq!(joined("cwnd compare --flows -1 --json"), "cwnd compare --flows=-1 --json");
        assert_eq!(joined("cwnd compare --loss -.5"), "cwnd compare --loss=-.5");
        assert_eq!(joined("cwnd udt link --delay -1ms a b"), "cwnd udt link --delay=-1ms a b");
        for unchanged in [
            "cwnd perf --server -1",
            "cwnd compare --json -1",
            "cwnd compare --rate --json",
            "cwnd compare --rate=-5mbit",
            "cwnd --version",
        ] {
            assert_eq!(joined(unchanged), unchanged);
        }
    }
}
