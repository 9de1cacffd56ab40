//! Browser, terminal, and what only some commands use.

use std::env;
use std::ffi::OsStr;
use std::io::{self, IsTerminal};

use cwnd_report::json::{Finding, Verdict};

use crate::{live, sweep};

pub(super) fn check() -> Vec<Finding> {
    let width = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0);
    vec![
        browser(live::opener().map(|(program, _)| program)),
        terminal(width.filter(|_| io::stdout().is_terminal())),
        feature("figures", cfg!(feature = "figures"), "`--figure`, which draws PDF, SVG and PNG"),
        feature("parquet", cfg!(feature = "parquet"), "`cwnd run --trace parquet`"),
        scheduler(),
    ]
}

/// The program that opens pages.
fn browser(opener: Option<&str>) -> Finding {
    let by_hand = "`cwnd live` prints the address of its page, and report.html is a file: open both in any browser";
    match opener {
        None => Finding::fine("browser", "no screen", by_hand).but(Verdict::Absent, "cwnd live --no-open"),
        Some(program) if is_installed(program) => {
            Finding::fine("browser", format!("{program} opens pages"), "`cwnd live` opens its page")
        }
        Some(program) => Finding::fine("browser", format!("{program} is not installed"), by_hand)
            .but(Verdict::Absent, "cwnd live --no-open"),
    }
}

/// Standard output, a terminal of `width` columns if it is one.
fn terminal(width: Option<u16>) -> Finding {
    let colour = match env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()) {
        _ if env::var("TERM").is_ok_and(|name| name == "dumb") => "without colour (TERM=dumb)",
        true => "without colour (NO_COLOR)",
        false => "with colour",
    };
    let means = format!("tables have up to {WIDEST} columns; help breaks at the width of the terminal");
    let Some(width) = width else { return Finding::fine("terminal", "standard output is no terminal", means) };
    let finding =
        Finding::fine("terminal", format!("{width} columns, {colour}"), means).number(width.into(), "columns");
    if width < WIDEST { finding.but(Verdict::Limits, "a wider window, or --json") } else { finding }
}

/// A feature that this program was built with or without, and its use.
fn feature(name: &'static str, built: bool, of: &str) -> Finding {
    match built {
        true => Finding::fine(name, "built in", format!("for {of}")),
        false => Finding::fine(name, "not in this build", format!("only for {of}"))
            .but(Verdict::Absent, format!("cargo install --path crates/cwnd-cli --features {name}")),
    }
}

fn scheduler() -> Finding {
    match sweep::python_with_dask() {
        Ok(python) => {
            Finding::fine("scheduler", format!("{} has Dask", python.display()), "for `cwnd sweep --scheduler`")
        }
        Err(why) => Finding::fine("scheduler", why, "only for `cwnd sweep --scheduler`, which uses Dask")
            .but(Verdict::Absent, "pip install './python[dask]'"),
    }
}

fn is_installed(program: &str) -> bool {
    let places = env::var_os("PATH").unwrap_or_default();
    let name = format!("{program}{}", env::consts::EXE_SUFFIX);
    env::split_paths(&places).any(|place| place.join(OsStr::new(&name)).is_file())
}

/// Columns of the tables.
const WIDEST: u16 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_absent_has_a_way_to_get_it() {
        for finding in [browser(None), browser(Some("no-such-program")), feature("figures", false, "")] {
            assert_eq!((finding.verdict, finding.fix.len()), (Verdict::Absent, 1), "{finding:?}");
        }
        assert_eq!(browser(Some("sh")).verdict, Verdict::Fine);
        assert_eq!(feature("figures", true, "").verdict, Verdict::Fine);
    }

    #[test]
    fn a_narrow_terminal_limits() {
        let verdicts = [None, Some(80), Some(100)].map(|width| terminal(width).verdict);
        assert_eq!(verdicts, [Verdict::Fine, Verdict::Limits, Verdict::Fine]);
    }
}
