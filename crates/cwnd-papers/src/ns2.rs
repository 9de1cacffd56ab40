//! The numbers that the code of the authors of `daimd` gives in ns-2, next to the printed ones and those computed here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::files::paper_file;
use super::record_file::RecordFile;

/// By result and row: the release of UDT, or the sender, and its mean over runs with the 95 % t interval. It is kept in
/// `papers/daimd/ns2.toml`, which `cargo xtask validate ns2` writes.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
#[serde(transparent)]
pub struct InNs2(BTreeMap<String, BTreeMap<String, String>>);

impl RecordFile for InNs2 {
    const NAME: &'static str = "papers/daimd/ns2.toml";
    const TEXT: &'static str = paper_file!("daimd/ns2.toml");
    const HEAD: &'static str = "\
# What the author's agents of UDT, and ns-2's TCP, give in ns-2 at the settings of the rows of daimd: the release and its mean with the
# 95 % t interval. A row of profile `paper` has release 1.1, from which that takes what the paper leaves open. Written by
# `cargo xtask validate ns2`.
";
}

impl InNs2 {
    /// Puts in what came of a row.
    pub fn put(&mut self, result: &str, row: String, text: String) {
        self.0.entry(result.to_string()).or_default().insert(row, text);
    }

    /// The result of a row; none if it was not run.
    #[must_use]
    pub fn entry(&self, result: &str, row: &str) -> Option<&str> {
        self.0.get(result)?.get(row).map(String::as_str)
    }

    /// Results and rows, in order.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().flat_map(|(result, rows)| rows.keys().map(move |row| (result.as_str(), row.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Selection;

    #[test]
    fn what_is_on_record_is_of_listed_rows() {
        let recorded = InNs2::recorded().unwrap_or_else(|error| panic!("{error}"));
        let selection = Selection::of(Some("daimd"), None).unwrap_or_else(|error| panic!("{error}"));
        let (published, _) = selection.papers().next().expect("one paper");
        for (result, row) in recorded.rows() {
            let listed = published.result(result).is_some_and(|result| result.rows.iter().any(|one| one.id == row));
            assert!(listed, "{result}: {row}");
        }
    }
}
