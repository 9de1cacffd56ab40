//! `cwnd paper`

use std::collections::BTreeSet;

use serde_json::Value;

use super::Cwnd;

#[test]
fn every_paper_and_result_is_listed() {
    let list = Cwnd::new().succeed(&["paper"]);
    for wanted in [
        "daimd: An Analysis",
        "simd: TCP-friendly",
        "exptcp: Decoupling",
        "newaimd: The New",
        "aiad: The general",
        "bbr3: BBRv3 against CUBIC",
        "starvation: Starvation in End-to-End",
        "l4s-tests: L4S Tests",
    ] {
        assert!(list.contains(wanted), "{wanted}:\n{list}");
    }
    assert!(list.contains("  table-3"));
}

#[test]
fn a_result_is_compared_row_by_row() {
    let cwnd = Cwnd::new();
    let text = cwnd.succeed(&["paper", "newaimd", "example", "--all"]);
    // Printed 225, and computed by the synchronous model from the windows 10 and 140 under a capacity of 600.
    assert!(
        text.lines().any(|line| line.starts_with("k1 ") && line.contains("225 RTT") && line.ends_with("match")),
        "{text}"
    );
    let without: Vec<&str> = text.lines().skip_while(|line| !line.ends_with("not reproducible")).collect();
    assert!(without[0].starts_with("efficiency ") && without[1].contains("contradicts the printed formula"), "{text}");
    let rows: Value = serde_json::from_str(&cwnd.succeed(&["paper", "newaimd", "example", "--json"])).expect("JSON");
    let first = &rows[0];
    let keys: BTreeSet<&str> = first.as_object().expect("an object per row").keys().map(String::as_str).collect();
    let wanted = [
        "basis",
        "ci95",
        "high",
        "low",
        "ns2",
        "ours",
        "paper",
        "published",
        "reading_error",
        "reason",
        "result",
        "row",
        "tolerance",
        "unit",
        "verdict",
    ];
    assert_eq!(keys, BTreeSet::from(wanted));
    assert_eq!((first["published"].as_f64(), first["ours"].as_f64()), (Some(225.0), Some(225.0)));
    assert_eq!(first["verdict"], "match");
}

#[test]
fn what_the_page_shows_of_a_result_is_what_the_command_prints() {
    let page = include_str!("../../../../papers/page.md");
    let mut shown = 0;
    for block in page.split("```console\n").skip(1).filter_map(|rest| rest.split("```").next()) {
        for example in block.split("$ cwnd ").skip(1) {
            let (command, printed) = example.split_once('\n').expect("a command, and what it prints");
            let arguments: Vec<&str> = command.split(' ').chain(["--quiet", "--no-store"]).collect();
            assert_eq!(Cwnd::new().succeed(&arguments).trim_end(), printed.trim_end(), "cwnd {command}");
            shown += 1;
        }
    }
    assert_eq!(shown, 2);
}

#[test]
fn what_was_run_is_found_again_and_thread_counts_do_not_matter() {
    let cwnd = Cwnd::new();
    let run = |more: &[&str], threads: &str| {
        let arguments = [&["paper", "aiad", "fig-2", "--json"], more].concat();
        let output = cwnd.command(&arguments).env("RAYON_NUM_THREADS", threads).output().expect("the binary was built");
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    };
    let alone = run(&["--no-store"], "1");
    assert_eq!(cwnd.files(), Vec::<String>::new(), "--no-store");
    let together = run(&["--store", "cells"], "4");
    assert_eq!(alone, together);
    // Two patterns, four schemes, five seeds; and a run to draw of each pattern and of AIMD and AIAD.
    let cells = || cwnd.stored().values().sum::<usize>();
    assert_eq!(cells(), 44);
    assert_eq!(run(&["--store", "cells"], "4"), alone);
    assert_eq!(cells(), 44);
}

#[test]
fn pages_carry_rows_and_assumptions() {
    let cwnd = Cwnd::new();
    cwnd.succeed(&["paper", "newaimd", "--no-store", "--set", "floor=0", "--out", "pages"]);
    let page = std::fs::read_to_string(cwnd.path().join("pages/newaimd.html")).expect("a page per paper");
    for wanted in [
        "id=\"table-1\"",
        "published and ours",
        "0 (--set)",
        "cwnd paper newaimd --no-store --set floor=0",
        "Table I as printed",
        "<th scope=\"row\">2 flows</th><td>84477.76<span class=\"ours\">",
        "Fig. 4: two flows over time",
    ] {
        assert!(page.contains(wanted), "{wanted}");
    }
    let index = std::fs::read_to_string(cwnd.path().join("pages/index.html")).expect("an index");
    assert!(index.contains("href=\"newaimd.html\""));
    let rows = std::fs::read_to_string(cwnd.path().join("pages/rows.json")).expect("the rows");
    assert!(serde_json::from_str::<Value>(&rows).is_ok_and(|rows| rows.as_array().is_some_and(|rows| rows.len() > 50)));
}

#[test]
fn a_paper_is_printed_in_a_page_of_the_terminal() {
    let cwnd = Cwnd::new();
    let text = cwnd.succeed(&["paper", "newaimd"]);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() <= 30, "{} lines:\n{text}", lines.len());
    for wanted in ["printed numbers: ", "Reproduced: ", "misses", "cwnd paper newaimd --all"] {
        assert!(text.contains(wanted), "{wanted}:\n{text}");
    }
    // From the store: nothing is run again.
    let all = cwnd.succeed(&["paper", "newaimd", "--all"]);
    assert!(all.lines().count() > 2 * lines.len());
    let wide = text.lines().chain(all.lines()).find(|line| line.chars().count() > 100);
    assert_eq!(wide, None);
    assert!(!all.contains("\n\n\n"), "{all}");
}

/// Each kind of plot is among the names that are refused before the work.
#[test]
fn a_result_with_an_ordering_has_a_page() {
    Cwnd::new().succeed(&["paper", "simd", "text-sqrt", "--no-store", "--out", "pages"]);
}

#[test]
fn reduced_length_says_what_it_sets_and_leaves_out() {
    let cwnd = Cwnd::new();
    let text = cwnd.succeed(&["paper", "newaimd", "table-1", "--store", "cells"]);
    assert!(text.contains("newaimd: --quick sets dumbbell: seeds="), "{text}");
    let text = cwnd.succeed(&["paper", "newaimd", "example", "--store", "cells"]);
    assert!(!text.contains("--quick sets"), "nothing is run for it:\n{text}");
    let fig = |more: &[&str]| cwnd.succeed(&[&["paper", "aiad", "fig-2", "--store", "cells"], more].concat());
    assert!(fig(&[]).contains("aiad: --quick sets test-flows=2 for 10"));
    assert!(!fig(&["--set", "test-flows=1"]).contains("test-flows=2"), "--set prevails");
}

#[test]
fn what_is_wrong_is_named_with_what_is_accepted() {
    let cwnd = Cwnd::new();
    for (arguments, code, wanted) in [
        (&["paper", "newaim"][..], 2, "unknown paper `newaim`; did you mean `newaimd`?"),
        (&["paper", "newaimd", "table-2"], 2, "unknown result `table-2`; did you mean `table-1`?"),
        (&["paper", "newaimd", "--set", "flor=1"], 2, "unknown assumption `flor`; did you mean `floor`?"),
        (&["paper", "newaimd", "--set", "floor"], 2, "expected `key=value`"),
        (&["paper", "newaimd", "table-1", "--no-store", "--set", "payload=1"], 2, "--set payload=1"),
    ] {
        let result = cwnd.run(arguments);
        assert_eq!(result.code, Some(code), "{arguments:?}: {}", result.err);
        assert!(result.err.contains(wanted), "{arguments:?}: {}", result.err);
    }
}
