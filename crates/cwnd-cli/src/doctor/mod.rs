//! `cwnd doctor`

mod machine;
mod simulator;
mod tools;

use clap::Args;
use cwnd_report::json::{Diagnosis, Verdict};
use cwnd_text::{VERSION, capitalised, counted, one_line, to_json};

use crate::failure::Failure;
use crate::progress::Interrupts;

/// Checks of this machine.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  cwnd doctor
  cwnd doctor --json
Takes about a second and changes nothing. The exit status is 1 where runs would fail here or give other results than elsewhere, and
0 otherwise. `udt doctor` checks this machine for transfers.")]
pub(crate) struct Arguments {
    /// Print one JSON document and nothing else
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(arguments: &Arguments) -> Result<String, Failure> {
    let interrupts = Interrupts::listen()?;
    let mut findings = machine::check(&interrupts);
    findings.extend(simulator::check(&interrupts)?);
    findings.extend(machine::places());
    findings.extend(tools::check());
    let diagnosis = Diagnosis { version: VERSION, findings };
    let text = if arguments.json { to_json(&diagnosis) } else { print(&diagnosis) };
    let failed: Vec<&str> = diagnosis.with(Verdict::Fails).map(|finding| finding.check).collect();
    if failed.is_empty() {
        return Ok(text);
    }
    crate::print(&text)?;
    Err(Failure::run(format!("{} failed: {}", counted(failed.len(), "check"), failed.join(", "))))
}

fn print(diagnosis: &Diagnosis) -> String {
    let mut text = String::new();
    for finding in &diagnosis.findings {
        let verdict = match finding.verdict {
            Verdict::Fine => "fine  ",
            Verdict::Absent => "absent",
            Verdict::Limits => "LIMITS",
            Verdict::Fails => "FAILS ",
        };
        let measured = one_line(&finding.measured);
        text += &format!("{verdict} {:<10} {measured}\n{INDENT}{}\n", finding.check, one_line(&finding.means));
        for fix in &finding.fix {
            text += &format!("{INDENT}# {fix}\n");
        }
    }
    let count = |verdict| diagnosis.with(verdict).count();
    text += &match (count(Verdict::Fails), count(Verdict::Limits)) {
        (0, 0) => "Runs have all that they need here.\n".to_string(),
        (0, limits) => format!("Runs work here, with {}.\n", counted(limits, "limit")),
        (failed, _) => capitalised(&format!("{} failed.\n", counted(failed, "check"))),
    };
    text
}

/// The indent of the lines below the first of a finding.
const INDENT: &str = "                  ";

#[cfg(test)]
mod tests {
    use cwnd_report::json::Finding;

    use super::*;

    #[test]
    fn findings_have_their_fixes_below_them() {
        let fine = Finding::fine("processors", "2 processors", "as many runs at a time").number(2.0, "processors");
        let store =
            Finding::fine("store", "cannot write `/x`", "runs cannot be stored").but(Verdict::Fails, "--no-store");
        let mut diagnosis = Diagnosis { version: "", findings: vec![fine, store] };
        assert_eq!(
            print(&diagnosis),
            "fine   processors 2 processors\n\
             \x20                 as many runs at a time\n\
             FAILS  store      cannot write `/x`\n\
             \x20                 runs cannot be stored\n\
             \x20                 # --no-store\n\
             1 check failed.\n"
        );
        diagnosis.findings.pop();
        assert!(print(&diagnosis).ends_with("Runs have all that they need here.\n"));
    }
}
