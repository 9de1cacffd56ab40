//! All wrong senders, the checks that find them, and how that is on record in `tests/mutants.txt`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use cwnd_conform::{Judged, Plan, Suite, Verdict};
use rayon::prelude::*;

use super::list::{Fault, KINDS};
use super::rules::Base;

/// A wrong sender.
struct Mutant {
    kind: &'static str,
    base: Base,
    fault: &'static Fault,
    /// The check of its clause.
    check: &'static str,
}

impl Mutant {
    fn all() -> Vec<Self> {
        let of = |kind: &'static str, fault: &'static Fault| {
            fault.checks.iter().map(move |(base, check)| Self { kind, base: *base, fault, check })
        };
        KINDS.iter().flat_map(|(kind, faults)| faults.iter().flat_map(move |fault| of(kind, fault))).collect()
    }

    /// The checks of `plan` with their verdicts.
    fn judge(&self, plan: &Plan) -> Vec<Judged> {
        let mut rules = self.base.rules();
        (self.fault.change)(&mut rules);
        plan.judge(&rules.subject(&format!("{}: {}", self.base.name(), self.fault.name))).checks
    }

    /// The check of its clause over `seeds` seeds; none if there is no such check.
    fn by_clause(&self, seeds: u64) -> Option<Judged> {
        self.judge(&Plan { only: vec![self.check.to_string()], seeds, ..Plan::default() }).into_iter().next()
    }

    /// Its line of the table. Where the check of its clause does not deviate over three seeds, all that deviate with one.
    fn line(&self) -> Line {
        let by_clause = self.by_clause(3);
        if by_clause.is_some_and(|judged| judged.verdict == Verdict::Deviates) {
            return Line { kind: self.kind, caught: Caught::Clause, text: self.head(Caught::Clause) };
        }
        let judged = self.judge(&Plan { suites: suites(), seeds: 1, ..Plan::default() }).into_iter();
        let others: Vec<_> =
            judged.filter(|judged| judged.verdict == Verdict::Deviates).map(|judged| judged.id).collect();
        let caught = if others.is_empty() { Caught::No } else { Caught::Another };
        Line { kind: self.kind, caught, text: self.head(caught) + " " + &others.join(" ") }
    }

    fn head(&self, caught: Caught) -> String {
        let Self { kind, base, fault, check } = self;
        format!("{kind:10} {:12} {:70} {:8} {check:28}", base.name(), fault.name, caught.name())
    }
}

struct Line {
    kind: &'static str,
    caught: Caught,
    text: String,
}

/// By which check a wrong sender is found.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Caught {
    Clause,
    Another,
    No,
}

impl Caught {
    const fn name(self) -> &'static str {
        match self {
            Self::Clause => "clause",
            Self::Another => "another",
            Self::No => "no",
        }
    }
}

/// All but the one that is for BBR.
pub(crate) fn suites() -> Vec<Suite> {
    Suite::ALL.into_iter().filter(|suite| *suite != Suite::Bbr).collect()
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mutants.txt")
}

fn recorded() -> String {
    std::fs::read_to_string(path()).unwrap_or_default()
}

/// How many of each kind, and of all, are found by the check of their clause, by another one alone, and not at all.
fn totals(lines: &[Line]) -> String {
    let mut text = format!("{:10} {:>7} {:>7} {:>7} {:>7}\n", "kind", "wrong", "clause", "another", "no");
    let mut row = |name: &str, of: &dyn Fn(&&Line) -> bool| {
        let count = |caught| lines.iter().filter(of).filter(|line| line.caught == caught).count();
        let all = lines.iter().filter(of).count();
        let [clause, another, no] = [Caught::Clause, Caught::Another, Caught::No].map(count);
        let _ = writeln!(text, "{name:10} {all:7} {clause:7} {another:7} {no:7}");
    };
    KINDS.iter().for_each(|(kind, _)| row(kind, &|line| line.kind == *kind));
    row("all", &|_| true);
    text
}

/// The mutants on record as found by the check of their clause, with one seed.
#[test]
fn the_check_of_its_clause_still_finds_each_mutant() {
    let recorded = recorded();
    let on_record =
        |mutant: &Mutant, caught| recorded.lines().any(|line| line.starts_with(mutant.head(caught).trim_end()));
    let mutants = Mutant::all();
    let unknown = |mutant: &&Mutant| {
        ![Caught::Clause, Caught::Another, Caught::No].iter().any(|caught| on_record(mutant, *caught))
    };
    let unknown: Vec<_> = mutants.iter().filter(unknown).map(|mutant| mutant.fault.name).collect();
    assert!(unknown.is_empty(), "not on record, see {}: {unknown:#?}", file!());
    let missed = mutants.par_iter().filter(|mutant| on_record(mutant, Caught::Clause)).filter_map(|mutant| {
        let judged = mutant.by_clause(1);
        let deviates = judged.as_ref().is_some_and(|judged| judged.verdict == Verdict::Deviates);
        (!deviates).then(|| (mutant.head(Caught::No), judged))
    });
    let missed: Vec<_> = missed.collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
#[ignore = "three seeds take minutes: cargo xtask test --long"]
fn what_finds_each_mutant_is_on_record() {
    let lines: Vec<Line> =
        Mutant::all().par_iter().map(Mutant::line).inspect(|line| println!("{}", line.text)).collect();
    let mut table = format!("{HEAD}\n{}\n", totals(&lines));
    lines.iter().for_each(|line| {
        let _ = writeln!(table, "{}", line.text.trim_end());
    });
    if std::env::var_os("CWND_BLESS").is_some() {
        std::fs::write(path(), &table).expect("writable");
    }
    assert_eq!(table, recorded(), "mutants.txt has changed: see the top of main.rs");
}

const HEAD: &str = "Wrong senders, and the check of the clause that each of them breaks. It deviates over three seeds (`clause`), or others do over one, which stand
behind it (`another`), or none does (`no`).
";
