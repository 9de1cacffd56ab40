//! The state of this machine, as far as runs need it.

use schemars::JsonSchema;
use serde::Serialize;

/// Checks of this machine: `cwnd doctor --json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Diagnosis {
    /// The version of cwnd, with the revision of its sources where it was built in a repository.
    pub version: &'static str,
    /// The checks.
    pub findings: Vec<Finding>,
}

/// The result of one check.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Finding {
    /// The check: `build`, `processors`, `memory`, `digest`, `speed`, `results`, `store`, `browser`, `terminal`, `figures`, `parquet` or
    /// `scheduler`.
    pub check: &'static str,
    /// The state, in words.
    pub measured: String,
    /// The state as a number; null where it has none.
    pub value: Option<f64>,
    /// The unit of that number; empty for a plain number.
    pub unit: &'static str,
    /// The verdict.
    pub verdict: Verdict,
    /// The effect on runs.
    pub means: String,
    /// Commands or options that change it. None were run.
    pub fix: Vec<String>,
}

/// The effect of a finding on runs.
#[derive(Clone, Copy, Debug, Eq, JsonSchema, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing is missing.
    Fine,
    /// Something that no run needs is missing.
    Absent,
    /// Runs work, but slowly or with less comfort.
    Limits,
    /// Runs fail, or give other results than elsewhere. The exit status is 1.
    Fails,
}

impl Diagnosis {
    /// The findings with a verdict.
    pub fn with(&self, verdict: Verdict) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(move |finding| finding.verdict == verdict)
    }
}

impl Finding {
    /// A check with nothing missing.
    #[must_use]
    pub fn fine(check: &'static str, measured: impl Into<String>, means: impl Into<String>) -> Self {
        let (measured, means) = (measured.into(), means.into());
        Self { check, measured, value: None, unit: "", verdict: Verdict::Fine, means, fix: Vec::new() }
    }

    /// The finding with its state as a number.
    #[must_use]
    pub fn number(self, value: f64, unit: &'static str) -> Self {
        Self { value: Some(value), unit, ..self }
    }

    /// The finding with another verdict, and what changes it.
    #[must_use]
    pub fn but(self, verdict: Verdict, fix: impl Into<String>) -> Self {
        Self { verdict, fix: vec![fix.into()], ..self }
    }
}
