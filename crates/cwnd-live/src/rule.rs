//! A rule of one's own: `rule:grow=1/w,cut=w/2` where a scenario of the page names an algorithm.
//!
//! The two expressions become a [`WindowRule`] in the shell that all window algorithms share, through the seam for algorithms from outside.
//! The registry does not know it, so that `cwnd run` refuses a scenario that has one.

use std::sync::Arc;

use cwnd::window::{Window, WindowRule};
use cwnd::{CongestionControl, Maker, Spec, Start, Time, View};
use thiserror::Error;

use crate::expression::{Expression, ExpressionError, Numbers};

/// What an algorithm is called that is one.
pub(crate) const NAME: &str = "rule";

/// A rule cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum RuleError {
    #[error("a rule is written `rule:grow=…,cut=…`: `{0}` is neither `grow` nor `cut`")]
    Key(String),
    #[error("`{key}` of the rule: {error}")]
    Expression { key: &'static str, error: ExpressionError },
}

/// Its parameters as a page shows them: name, default, meaning.
pub(crate) const PARAMETERS: [(&str, &str, &str); 2] = [
    ("grow", "1/w", "packets added to the window w for each acknowledged packet, at most 16"),
    ("cut", "w/2", "the window after a loss, from 1 to w"),
];

/// What both expressions may use.
pub(crate) const SYNTAX: &str = "+ - * / ^ ( ), w, rtt and min_rtt (s), age (s since the last cut), peak (w before it), abs cbrt exp floor \
     ln sqrt max min";

/// The algorithm in `text`, if it is a rule.
pub(crate) fn read(text: &str) -> Option<Result<Spec, RuleError>> {
    let rest = text.trim().strip_prefix(NAME)?;
    let arguments = if rest.is_empty() { rest } else { rest.strip_prefix(':')? };
    Some(parse(arguments).map(|made| Spec::outside(text.trim(), Arc::new(made))))
}

fn parse(arguments: &str) -> Result<Made, RuleError> {
    let mut texts = PARAMETERS.map(|(_, default, _)| default);
    for part in split(arguments) {
        let (key, text) = part.split_once('=').unwrap_or((part, ""));
        let index = PARAMETERS.iter().position(|(name, ..)| *name == key.trim());
        texts[index.ok_or_else(|| RuleError::Key(key.trim().to_string()))?] = text;
    }
    let read = |index: usize| {
        let key = PARAMETERS[index].0;
        Expression::read(texts[index]).map_err(|error| RuleError::Expression { key, error })
    };
    Ok(Made { grow: read(0)?, cut: read(1)? })
}

/// At commas outside brackets.
fn split(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    let parts = text.split(move |character| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        character == ',' && depth <= 0
    });
    parts.filter(|part| !part.trim().is_empty())
}

/// Makes the rule of each flow.
#[derive(Clone, Debug)]
struct Made {
    grow: Expression,
    cut: Expression,
}

impl Maker for Made {
    fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
        let rule = Rule { made: self.clone(), since: Time::ZERO, peak: 0.0 };
        Box::new(Window::new(rule, start))
    }
}

/// A rule with what it remembers.
#[derive(Clone, Debug)]
struct Rule {
    made: Made,
    /// The last cut, or the end of slow start.
    since: Time,
    /// The window before it.
    peak: f64,
}

impl Rule {
    fn numbers(&self, w: f64, view: &View) -> Numbers {
        let (rtt, least) = view.rtt.map_or((0.1, 0.1), |rtt| (rtt.smoothed.as_secs_f64(), rtt.min.as_secs_f64()));
        [w, rtt, least, view.now.since(self.since).as_secs_f64(), self.peak]
    }
}

impl WindowRule for Rule {
    fn grow(&mut self, w: f64, view: &View) -> f64 {
        let step = self.made.grow.value(&self.numbers(w, view));
        if step.is_finite() { step.clamp(-w, MOST) } else { 0.0 }
    }

    fn cut(&mut self, w: f64, view: &View) -> f64 {
        let after = self.made.cut.value(&self.numbers(w, view));
        if after.is_finite() { after.clamp(1.0, w.max(1.0)) } else { w / 2.0 }
    }

    fn epoch(&mut self, before: Option<f64>, after: f64, view: &View) {
        self.since = view.now;
        self.peak = before.unwrap_or(after);
    }
}

/// Slow start adds one packet for each that is acknowledged; a rule that adds many times that sends nothing but bursts.
const MOST: f64 = 16.0;

#[cfg(test)]
mod tests {
    use cwnd_run::execute::WholeTrace;
    use cwnd_run::execute::{Executor, Job};
    use cwnd_run::scenario::{Document, Scenario};

    use super::*;

    fn windows(algorithm: Spec) -> Vec<f64> {
        let text = "duration = '10s'\n[dumbbell]\nrate = '10mbit'\n[[flow]]\nalgorithm = 'reno'";
        let mut document: Document = Scenario::read("test", text, &[]).unwrap().document().clone();
        document.flow[0].algorithm = algorithm.into();
        let scenario = Arc::new(Scenario::check(document).unwrap());
        let job = Job { scenario, seed: 1, keep: WholeTrace };
        let kept = Executor::new(&cwnd_run::cells::Cells::default(), &()).run(vec![job]).unwrap();
        kept[0].0.flows[0].window.to_vec()
    }

    #[test]
    fn the_default_is_reno_to_the_last_bit() {
        let reno = windows(Spec::parse("reno").unwrap());
        assert_eq!(windows(read("rule").unwrap().unwrap()), reno);
        assert_eq!(windows(read("rule:cut=w/2,grow=1/w").unwrap().unwrap()), reno);
        assert_ne!(windows(read("rule:cut=w*7/8").unwrap().unwrap()), reno);
    }

    #[test]
    fn a_rule_that_computes_nonsense_is_kept_within_bounds() {
        for text in
            ["rule:grow=1/0", "rule:grow=0/0,cut=0/0", "rule:grow=1e300,cut=-1e300", "rule:grow=-1e300,cut=1e300"]
        {
            let all = windows(read(text).unwrap().unwrap());
            assert!(all.iter().all(|window| window.is_finite() && *window >= 1.0), "{text}");
        }
    }

    #[test]
    fn commas_in_brackets_belong_to_the_expression() {
        assert!(read("rule:grow=max(1/w, 0.01),cut=min(w, peak)/2").unwrap().is_ok());
        let error = |text: &str| read(text).unwrap().unwrap_err().to_string();
        assert_eq!(error("rule:grwo=1"), "a rule is written `rule:grow=…,cut=…`: `grwo` is neither `grow` nor `cut`");
        assert!(error("rule:cut=w/").starts_with("`cut` of the rule: expected a number"));
        assert!(read("reno").is_none() && read("rules").is_none());
    }
}
