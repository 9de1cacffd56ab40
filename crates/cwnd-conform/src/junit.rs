//! JUnit's XML, which services for continuous integration read: a suite for each subject, a case for each check.

use std::fmt::Write as _;

use crate::baseline::Baseline;
use crate::judge::{Conformance, Verdict};
use crate::text::{UNCLEAR, causes, line};

/// The document. A deviation that `baseline` knows is skipped. A deviation that it does not know is a failure, and so are a fixed one and
/// an unclear check that is not [allowed](crate::Subject::allow_unclear) to be unclear.
///
/// ```
/// use cwnd_conform::baseline::Baseline;
/// use cwnd_conform::{Plan, Subject, junit};
///
/// let plan = Plan { only: vec!["5681-initial".to_string()], seeds: 1, ..Plan::default() };
/// let result = plan.judge(&Subject::parse("reno").expect("registered"));
/// let xml = junit::document(&[result], &Baseline::default());
/// assert!(xml.contains("failures=\"0\""), "{xml}");
/// ```
#[must_use]
pub fn document(results: &[Conformance], baseline: &Baseline) -> String {
    let compared = baseline.compare(results);
    let mut xml = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"cwnd conform\">\n".to_string();
    for result in results {
        let named = |list: &[(String, String)], id: &str| {
            list.iter().any(|(subject, check)| (subject, check.as_str()) == (&result.subject, id))
        };
        let mut cases = String::new();
        let (mut failures, mut skipped) = (0, 0);
        for judged in &result.checks {
            let name = escaped(&format!("{}: {}", judged.id, judged.requirement));
            let _ = write!(
                cases,
                "    <testcase classname=\"{}.{}\" name=\"{name}\"",
                escaped(&result.subject),
                judged.suite.name()
            );
            let text = escaped(&format!(
                "{}{}",
                line(judged),
                causes(judged).map_or(String::new(), |text| format!("\n{text}"))
            ));
            let child = match judged.verdict {
                Verdict::Deviates if named(&compared.new, judged.id) => {
                    failures += 1;
                    format!("<failure message=\"deviates\">{text}\n{}</failure>", escaped(&judged.repeat))
                }
                Verdict::Meets if named(&compared.fixed, judged.id) => {
                    failures += 1;
                    "<failure message=\"meets, but is a known deviation: strike it out of the baseline\"/>".to_string()
                }
                Verdict::Unclear if named(&compared.unclear, judged.id) => {
                    failures += 1;
                    let repeat = escaped(&judged.repeat);
                    format!("<failure message=\"unclear\">{text}\n{repeat}\n{}</failure>", escaped(UNCLEAR))
                }
                Verdict::Meets => String::new(),
                Verdict::Deviates | Verdict::Unclear | Verdict::NotApplicable => {
                    skipped += 1;
                    format!("<skipped message=\"{}: {text}\"/>", judged.verdict.name())
                }
            };
            let _ = if child.is_empty() { writeln!(cases, "/>") } else { writeln!(cases, ">{child}</testcase>") };
        }
        for few in &result.too_few {
            failures += 1;
            let _ = writeln!(
                cases,
                "    <testcase classname=\"{}\" name=\"checks that apply\"><failure message=\"too few checks applied\">{}</failure></testcase>",
                escaped(&result.subject),
                escaped(few)
            );
        }
        let (name, tests) = (escaped(&result.subject), result.checks.len() + result.too_few.len());
        let _ = writeln!(
            xml,
            "  <testsuite name=\"{name}\" tests=\"{tests}\" failures=\"{failures}\" skipped=\"{skipped}\">"
        );
        let _ = writeln!(xml, "{cases}  </testsuite>");
    }
    xml + "</testsuites>\n"
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plan, Subject, Suite};

    #[test]
    fn a_deviation_is_a_failure_until_it_is_known() {
        let plan =
            Plan { only: vec!["5681-halve".to_string()], seeds: 1, suites: vec![Suite::Rfc5681], ..Plan::default() };
        let spec = cwnd::Spec::parse("aimd:a=1,b=1/4").expect("registered");
        let results = [plan.judge(&Subject::new("<quarter>", crate::Law::Reno, spec))];
        let fresh = document(&results, &Baseline::default());
        assert!(fresh.contains("failures=\"1\"") && fresh.contains("&lt;quarter&gt;"), "{fresh}");
        assert!(fresh.contains("accepted 0.4 to 0.51\nlikely causes: the factor is not a half; or "), "{fresh}");
        assert!(fresh.contains("(RFC 5681 section 3.1, equation 4, MUST)"), "{fresh}");
        let known = Baseline::parse("<quarter> 5681-halve").expect("two words");
        assert!(document(&results, &known).contains("failures=\"0\" skipped=\"1\""));
    }

    #[test]
    fn a_suite_of_which_nothing_applies_is_a_failure() {
        let plan = Plan { suites: vec![Suite::Rfc9406], seeds: 1, ..Plan::default() };
        let xml = document(&[plan.judge(&Subject::parse("reno").expect("registered"))], &Baseline::default());
        assert!(xml.contains("tests=\"10\" failures=\"1\" skipped=\"9\"") && xml.contains("rfc9406: 0 of 9"), "{xml}");
    }

    #[test]
    fn what_is_unclear_is_a_failure_until_it_is_allowed() {
        let plan = Plan { only: vec!["5681-halve".to_string()], seeds: 1, ..Plan::default() };
        let mut result = plan.judge(&Subject::parse("reno").expect("registered"));
        result.checks[0].verdict = Verdict::Unclear;
        let strict = document(std::slice::from_ref(&result), &Baseline::default());
        assert!(strict.contains("<failure message=\"unclear\">") && strict.contains("--allow-unclear"), "{strict}");
        let known = Baseline::parse("reno 5681-halve").expect("two words");
        assert!(document(std::slice::from_ref(&result), &known).contains("failures=\"0\" skipped=\"1\""));
        result.allow_unclear = true;
        assert!(document(&[result], &Baseline::default()).contains("failures=\"0\" skipped=\"1\""));
    }
}
