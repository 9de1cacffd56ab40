//! The settings of a run of papers.

/// The length and number of runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Everything, at reduced length.
    Quick,
    /// The published durations, at least 10 seeds.
    Full,
}

/// The settings of a run of papers.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The length and number of runs.
    pub scale: Scale,
    /// Assumptions that are replaced: key and value.
    pub assumptions: Vec<(String, String)>,
    /// The algorithm that rows called `paper` of daimd are of, where it is not that profile of `udt`.
    pub variant: Option<String>,
}

impl Settings {
    /// The replaced assumptions and algorithm, as `floor=0, lambda=0.5`; none in a default run.
    pub(super) fn changed(&self) -> Option<String> {
        let assumptions = self.assumptions.iter().map(|(key, value)| format!("{key}={value}"));
        let changed: Vec<String> = assumptions.chain(self.variant.clone()).collect();
        (!changed.is_empty()).then(|| changed.join(", "))
    }
}
