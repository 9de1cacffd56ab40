//! Pages of evaluations and of clauses: what stands at their top, and whether their plots stay within their axes.
//!
//! The tests leave their pages in cargo's directory for test files, to be looked at.

use std::sync::Arc;

use crate::axes::outside;
use cwnd::Spec;
use cwnd_conform::{Plan, Subject};
use cwnd_lab::evaluate::{Evaluation, EvaluationRow, Section, Shown};
use cwnd_report::page::{conformance_html, evaluation_html};
use cwnd_run::address::Linked;
use cwnd_run::measure::{Domain, Estimate};
use cwnd_run::scenario::Scenario;

fn scenario(queue: &str) -> Arc<Scenario> {
    let text = format!("[dumbbell]\nrate = \"10mbit\"\nqueue = \"{queue}\"\n[[flow]]\nalgorithm = \"bbr3\"\n");
    Arc::new(Scenario::read("row.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}")))
}

/// A row of an evaluation whose intervals reach as far as they may.
fn row(queue: &str, traffic: &str, measure: &'static str, domain: Domain) -> EvaluationRow {
    let wide = |values: &[f64]| Estimate::over(values, domain);
    EvaluationRow {
        rate: "10mbit".to_string(),
        rtt: "50ms".to_string(),
        queue: queue.to_string(),
        traffic: traffic.to_string(),
        measure,
        unit: "1",
        shown: Shown { scale: 1.0, unit: "" },
        scenario: Some(scenario(queue)),
        digest: Some(7),
        algorithm: wide(&[0.02, 0.98]),
        reno: wide(&[0.01, 0.99, 0.02, 0.9, 0.95]),
        // As a document of an older program might have it.
        cubic: Some(Estimate { mean: 0.4, ci95: Some(1.3), n: 2, low: -0.9, high: 1.6 }),
    }
}

fn leave(name: &str, page: &str) {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(path, page).expect("the directory for test files is writable");
}

fn evaluation() -> Evaluation {
    let sections = [
        (
            "5.1.4",
            vec![row(
                "droptail:1bdp",
                "2 flows",
                "goodput of the long round-trip time over the short",
                Domain::POSITIVE,
            )],
        ),
        (
            "5.2.1",
            ["droptail:0.5bdp", "droptail:4bdp"]
                .into_iter()
                .flat_map(|queue| {
                    ["reno", "cubic"].map(|other| {
                        let traffic = format!("1 flow against 1 of {other}");
                        [
                            row(queue, &traffic, "share of the goodput", Domain::SHARE),
                            row(queue, &traffic, "harm to goodput", Domain::AT_MOST_ONE),
                        ]
                    })
                })
                .flatten()
                .collect(),
        ),
        (
            "6.1",
            vec![
                row("droptail:1bdp", "2 flows", "utilisation", Domain::SHARE),
                row("droptail:1bdp", "2 flows", "mean queueing delay", Domain::POSITIVE),
            ],
        ),
    ];
    let section = |(number, rows)| Section { number, title: "A heading", reading: "Read so.", covered: true, rows };
    Evaluation {
        kind: "simulated",
        version: "test",
        algorithm: "bbr3".to_string(),
        profile: "rfc9743",
        quick: true,
        seeds: 2,
        duration_s: Some(5.0),
        warmup_s: Some(1.0),
        cells: 10,
        failed_cells: 0,
        failures: Vec::new(),
        left_out: Vec::new(),
        warnings: Vec::new(),
        sections: sections.map(section).into(),
    }
}

#[test]
fn an_evaluation_draws_shares_between_0_and_1() {
    let page = evaluation_html(&evaluation(), &Spec::parse("bbr3").expect("registered"), "cwnd evaluate bbr3 --quick");
    leave("evaluation.html", &page);
    assert_eq!(outside(&page), [""; 0]);
    assert!(
        page.contains("How does bbr3 behave by the criteria of RFC 9743, compared with reno and cubic in its place?")
    );
    assert!(page.contains("Repeat with <code>cwnd evaluate bbr3 --quick</code>"));
}

#[test]
fn a_row_of_an_evaluation_has_its_scenario_as_a_link() {
    let page = evaluation_html(&evaluation(), &Spec::parse("bbr3").expect("registered"), "cwnd evaluate bbr3");
    let row = page.split_once("id=\"section-5-2-1-8-link\" hidden>").expect("the last row of the section").1;
    let link = row.split_once('<').expect("the end of the link").0;
    let linked = Linked::read(&link.replace("&#38;", "&")).unwrap_or_else(|error| panic!("{link}: {error}"));
    assert_eq!((linked.toml, linked.digest), (scenario("droptail:4bdp").document().to_toml(), Some(7)));
}

#[test]
fn a_deviation_has_its_path_as_a_link() {
    let subject = Subject::parse("cubic:beta=0.5").expect("registered");
    let plan = Plan { only: vec!["9438-beta".to_string(), "5681-initial".to_string()], seeds: 1, ..Plan::default() };
    let judged = plan.judge(&subject);
    let page = conformance_html(std::slice::from_ref(&judged), "cwnd conform cubic", "as printed");
    let links = page.split("-link\" hidden>").skip(1).filter_map(|rest| rest.split('<').next());
    let links: Vec<String> = links.map(|link| link.replace("&#38;", "&")).collect();
    let deviations = judged.checks.iter().filter_map(|check| check.link.as_deref());
    assert_eq!(links, deviations.collect::<Vec<_>>());
    assert_eq!(links.len(), 1, "the other check is met");
}

#[test]
fn a_clause_is_drawn_with_its_number_and_what_is_accepted() {
    let subject = Subject::parse("cubic").expect("registered");
    let plan = Plan { only: vec!["5681-initial".to_string()], seeds: 1, curves: true, ..Plan::default() };
    let page = conformance_html(&[plan.judge(&subject)], "cwnd conform cubic", "as printed");
    leave("conform.html", &page);
    assert_eq!(outside(&page), [""; 0]);
    for text in [
        "cubic conforms in 1 check (1 seed).",
        "cubic conforms: 5681-initial",
        "accepted at most 11",
        "<figure id=\"cubic-5681-initial-number\">",
        "<figure id=\"cubic-5681-initial\">",
        "\"name\":\"accepted\",\"columns\":[\"from\",\"to\"]",
        "\"strokeWidth\":4.0",
        "Repeat with <code>cwnd conform cubic</code>",
    ] {
        assert!(page.contains(text), "{text}");
    }
}
