//! A test of each check, as a stack's own tests would have them, and the generator of these tests.

use std::fmt::Write;

use cwnd_conform::testing::{assert_conforms, assert_test};
use cwnd_conform::{Law, Subject, Suite, checks, conform};

conform!(Subject::parse("reno").expect("registered"), suites = ["rfc3168", "rfc7661"]);

#[test]
#[should_panic(expected = "5681-halve")]
fn a_deviation_fails_its_test() {
    let spec = cwnd::Spec::parse("aimd:a=1,b=1/4").expect("registered");
    assert_conforms(&Subject::new("quarter", Law::Reno, spec), "5681-halve", None);
}

#[test]
#[should_panic(expected = "cargo test -p mine -- --exact conforms::rfc5681_halve")]
fn a_deviation_of_a_sender_from_outside_names_its_test() {
    let spec = cwnd::Spec::parse("aimd:a=1,b=1/4").expect("registered");
    let test = ("mine", "mine::conforms::rfc5681_halve");
    assert_test(&Subject::new("quarter", Law::Reno, spec), "5681-halve", None, test);
}

/// `src/suites.rs`, by which the macro knows the checks of a suite.
#[test]
fn every_check_of_a_suite_becomes_a_test() {
    let mut text = "//! The checks of each suite, for `conform!`. Generated: `CWND_BLESS=1 cargo test -p cwnd-conform --test each` writes it.\n\n\
                    #[doc(hidden)]\n#[macro_export]\nmacro_rules! conform_suite {\n"
        .to_owned();
    for suite in Suite::ALL {
        let _ = writeln!(text, "    (\"{0}\", $subject:expr, $baseline:expr) => {{", suite.name());
        let _ = writeln!(
            text,
            "        #[test]\n        fn {0}_applies() {{\n            $crate::testing::assert_applies(&$subject, \"{0}\");\n        }}",
            suite.name()
        );
        text += "        $crate::conform_checks! { $subject, $baseline,\n";
        for check in checks().filter(|check| check.suite == suite) {
            let name = check.id.replace('-', "_");
            let name = if name.starts_with(|c: char| c.is_ascii_digit()) { format!("rfc{name}") } else { name };
            let _ = writeln!(text, "            {name} \"{}\"", check.id);
        }
        text += "        }\n    };\n";
    }
    text += "    ($suite:tt, $subject:expr, $baseline:expr) => {\n        \
             compile_error!(concat!(\"no suite is called \", stringify!($suite)));\n    };\n}\n";
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/suites.rs");
    if std::env::var_os("CWND_BLESS").is_some() {
        std::fs::write(path, &text).expect("writable");
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), text, "CWND_BLESS=1 writes it");
}
