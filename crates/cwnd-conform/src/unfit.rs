//! Why a scenario gave no number.

/// Why a scenario gave no number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// The subject does not show what the check looks at, or does not do what the clause allows.
    NotApplicable(&'static str),
    /// The expected event did not happen, on a path on which it should have. [`Check::absence`](crate::Check::absence) has the verdict.
    Absent(String),
    /// The path did not raise the question.
    Unclear(String),
    /// The subject failed: its stack panicked, or ended the connection.
    Failed(String),
}
