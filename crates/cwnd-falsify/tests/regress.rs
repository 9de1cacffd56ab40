//! A counterexample as a test, as docs/falsify.md shows it. H-TCP breaks the property of this file, and a sender that takes its place keeps it.

use cwnd_falsify::Subject;
use cwnd_falsify::answer::{kept, number, read, regress};
use cwnd_run::cells::Cells;
use cwnd_run::execute::Executor;

const FILE: &str = include_str!("../../../scenarios/counterexamples/htcp-clock.toml");

#[track_caller]
fn is_mended(text: &str) -> Result<(), String> {
    let (promise, scenario) = read("counterexample.toml", text).expect("a counterexample");
    let cells = Cells::default();
    let subject = Subject::new(Executor::new(&cells, &()), &promise);
    let judged = regress(&subject, &scenario).expect("nothing interrupts it");
    if kept(&judged) { Ok(()) } else { Err(number(&judged)) }
}

#[test]
fn a_counterexample_is_mended() {
    assert_eq!(is_mended(&FILE.replace("\"htcp\"", "\"reno\"")), Ok(()));
    let number = is_mended(FILE).expect_err("the clock of H-TCP still runs");
    assert!(number.contains(", margin -"), "{number}");
}
