//! The checks of the machine that the tests run on.

use serde_json::Value;

use super::Cwnd;

const CHECKS: [&str; 12] = [
    "build",
    "processors",
    "memory",
    "digest",
    "speed",
    "results",
    "store",
    "browser",
    "terminal",
    "figures",
    "parquet",
    "scheduler",
];

#[test]
fn a_machine_that_runs_the_tests_passes() {
    let cwnd = Cwnd::new();
    let document: Value = serde_json::from_str(&cwnd.succeed(&["doctor", "--json"])).expect("JSON");
    let findings = document["findings"].as_array().expect("a list");
    assert_eq!(findings.iter().filter_map(|finding| finding["check"].as_str()).collect::<Vec<_>>(), CHECKS);
    for finding in findings {
        assert_ne!(finding["verdict"], "fails", "{finding}");
        assert!(!finding["means"].as_str().expect("a sentence").is_empty(), "{finding}");
        let fixes = finding["fix"].as_array().expect("a list").len();
        assert_eq!(fixes == 0, finding["verdict"] == "fine", "{finding}");
    }
    assert_eq!(cwnd.files(), Vec::<String>::new());
    let text = cwnd.succeed(&["doctor", "--memory", "3GB"]);
    assert!(text.contains("runs use at most 3000.0 MB together (--memory)"), "{text}");
    assert!(text.trim_end().ends_with('.') && CHECKS.iter().all(|check| text.contains(check)), "{text}");
}

#[test]
fn results_that_cannot_be_written_fail() {
    let cwnd = Cwnd::new();
    cwnd.file("out", "");
    for arguments in [&["doctor"][..], &["doctor", "--json"]] {
        let result = cwnd.run(arguments);
        assert_eq!(result.code, Some(1), "{}", result.err);
        assert!(result.err.contains("error: 1 check failed: results"), "{}", result.err);
        assert!(result.out.contains("--json, which writes no files"), "{}", result.out);
    }
}
