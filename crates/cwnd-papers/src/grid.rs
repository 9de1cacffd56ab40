//! Tables as the paper prints them: which row and which column of the page a row of `published.toml` belongs to.

use std::collections::BTreeMap;

use serde::Deserialize;

/// The table that rows of a result are printed in. The headings are parts of the ids of the rows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Grid {
    /// How the ids are made, without the profile before them: `{row}, {column}`. Ids of another form are not in the table.
    ids: String,
    /// The heading of a row, of the names in `ids`.
    #[serde(default = "row")]
    row: String,
    /// The heading of a column, of the names in `ids`.
    #[serde(default = "column")]
    column: String,
    /// The rows that are printed, in the order of the page; all of them where there are none, in the order of the ids.
    #[serde(default)]
    pub(super) rows: Vec<String>,
    /// The columns that are printed, likewise.
    #[serde(default)]
    pub(super) columns: Vec<String>,
    /// The paper's name of a row or a column that has another name in ids.
    #[serde(default)]
    names: BTreeMap<String, String>,
    /// Other results whose rows are in the same table.
    #[serde(default)]
    pub(super) with: Vec<String>,
}

impl Grid {
    /// The fault of the grid as the table of `result`, whose rows have these profiles and ids, if it has one.
    pub(super) fn fault<'a>(
        &self,
        result: &str,
        ids: impl Iterator<Item = (Option<&'a str>, &'a str)>,
    ) -> Option<String> {
        if let Some(name) =
            named(&self.row).chain(named(&self.column)).find(|name| named(&self.ids).all(|known| known != *name))
        {
            // A table of one line needs no heading for it.
            if name != "row" || self.row != row() {
                return Some(format!("`{{{name}}}` is not in the `ids` of the table of `{result}`"));
            }
        }
        let mut placed: Vec<(Option<&str>, [String; 2])> = Vec::new();
        for (profile, id) in ids {
            let Some(place) = self.place(id) else { continue };
            if placed.contains(&(profile, place.clone())) {
                return Some(format!("row `{id}` is not alone at {}, {} of its table", place[0], place[1]));
            }
            placed.push((profile, place));
        }
        let unused = |listed: &'_ [String], at: usize| {
            listed.iter().find(|heading| placed.iter().all(|(_, place)| place[at] != **heading)).cloned()
        };
        if let Some(heading) = unused(&self.rows, 0).or_else(|| unused(&self.columns, 1)) {
            return Some(format!("no id is at `{heading}` of the table of `{result}`"));
        }
        placed.is_empty().then(|| format!("no id is in the table of `{result}`"))
    }

    /// The headings, as ids have them, of the row and the column of an id without its profile; none where it is not in the table.
    pub(super) fn place(&self, id: &str) -> Option<[String; 2]> {
        let values = taken_apart(&self.ids, id)?;
        let place = [&self.row, &self.column].map(|text| filled(text, &values));
        let listed = |headings: &[String], heading: &String| headings.is_empty() || headings.contains(heading);
        (listed(&self.rows, &place[0]) && listed(&self.columns, &place[1])).then_some(place)
    }

    /// The heading as the paper has it.
    pub(super) fn called(&self, heading: &str) -> String {
        self.names.get(heading).cloned().unwrap_or_else(|| heading.to_string())
    }

    /// The headings of one direction that have cells, in the order of the page.
    pub(super) fn ordered<'a>(listed: &[String], placed: impl Iterator<Item = &'a String>) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for heading in placed {
            if !found.contains(heading) {
                found.push(heading.clone());
            }
        }
        found.sort_by_key(|heading| listed.iter().position(|one| one == heading));
        found
    }
}

/// The names in braces, each with the text between it and the next. The first has no name and the text before all of them.
fn parts(template: &str) -> Vec<(&str, &str)> {
    let mut pieces = template.split('{');
    let first = pieces.next().unwrap_or_default();
    [("", first)].into_iter().chain(pieces.filter_map(|piece| piece.split_once('}'))).collect()
}

/// The names of a template.
fn named(template: &str) -> impl Iterator<Item = &str> {
    parts(template).into_iter().map(|(name, _)| name).filter(|name| !name.is_empty())
}

/// The texts for the names of a template in `text`, each as short as possible.
fn taken_apart<'a>(template: &'a str, text: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
    let parts = parts(template);
    let mut rest = text.strip_prefix(parts[0].1)?;
    let mut values = Vec::new();
    for (nth, (name, after)) in parts.iter().enumerate().skip(1) {
        let last = nth + 1 == parts.len();
        let (value, more) = if last { (rest.strip_suffix(after)?, "") } else { rest.split_once(after)? };
        values.push((*name, value));
        rest = more;
    }
    Some(values)
}

/// The template with its names replaced; without those that have no value.
fn filled(template: &str, values: &[(&str, &str)]) -> String {
    let value = |name: &str| values.iter().find(|(known, _)| *known == name).map_or("", |(_, value)| value);
    parts(template).into_iter().map(|(name, after)| format!("{}{after}", value(name))).collect()
}

fn row() -> String {
    "{row}".to_string()
}

fn column() -> String {
    "{column}".to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(text: &str) -> Grid {
        toml::from_str(text).expect("a grid")
    }

    #[test]
    fn headings_are_parts_of_ids() {
        let plain = grid("ids = '{row}, {column}'");
        assert_eq!(plain.place("flow 1, stage 2"), Some(["flow 1", "stage 2"].map(str::to_string)));
        assert_eq!(plain.place("aggregate"), None);
        let kinds = grid("ids = '{row}, {kind}: {what}'\ncolumn = '{what}, {kind}'\ncolumns = ['T1, simulated']");
        assert_eq!(kinds.place("TCP, simulated: T1"), Some(["TCP", "T1, simulated"].map(str::to_string)));
        assert_eq!(kinds.place("TCP, analytic: T1"), None, "not in the list of columns");
        let line = grid("ids = 'flow {column}'\nnames = { 1 = 'first' }");
        assert_eq!(line.place("flow 1"), Some(["", "1"].map(str::to_string)));
        assert_eq!(line.called("1"), "first");
    }
}
