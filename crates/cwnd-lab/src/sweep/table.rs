//! Rows as a table: a row per cell, columns with units.

use super::{FinishedCell, Sweep};
use cwnd_run::measure::{MEASURES, Subject};

/// A named column.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name, with the unit at its end.
    pub name: String,
    /// Its unit; empty for plain numbers and text.
    pub unit: &'static str,
    /// The content of the column.
    pub description: String,
    /// Its cells.
    pub values: Values,
}

/// The cells of a column. What a run cannot answer, and what a failed one would have answered, is absent.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Whole numbers.
    Whole(Vec<u64>),
    /// Real numbers; NaN where there is none.
    Real(Vec<f64>),
    /// Text.
    Text(Vec<Option<String>>),
    /// Lists of real numbers.
    Lists(Vec<Vec<f64>>),
}

/// The columns of `rows`: `cell`, every key of the sweep, `seed`, `error`, the measures of a summary, and a column of numbers for each key whose
/// values are text that a quantity is written in.
#[must_use]
pub fn columns(sweep: &Sweep, rows: &[FinishedCell]) -> Vec<Column> {
    let mut columns = vec![Column {
        name: "cell".to_string(),
        unit: "",
        description: "its place in the sweep, from 0".to_string(),
        values: Values::Whole(rows.iter().map(|row| row.cell.index).collect()),
    }];
    columns.extend((0..sweep.keys().len()).map(|key| parameter(sweep, key, rows)));
    columns.push(Column {
        name: "seed".to_string(),
        unit: "",
        description: "the seed of the run".to_string(),
        values: Values::Whole(rows.iter().map(|row| row.cell.seed).collect()),
    });
    columns.push(Column {
        name: "error".to_string(),
        unit: "",
        description: "why the run has no measures; none where it has".to_string(),
        values: Values::Text(rows.iter().map(|row| row.outcome.as_ref().err().map(ToString::to_string)).collect()),
    });
    columns.extend(MEASURES.iter().map(|measure| {
        let kept = rows.iter().map(|row| row.outcome.as_ref().ok());
        let key = measure.key;
        let values = match measure.subject {
            Subject::EachFlow => {
                Values::Lists(kept.map(|kept| kept.map_or(&[][..], |kept| kept.all(key)).to_vec()).collect())
            }
            _ => Values::Real(kept.map(|kept| kept.and_then(|kept| kept.one(key)).unwrap_or(f64::NAN)).collect()),
        };
        Column { name: key.to_string(), unit: measure.scale.base(), description: measure.described(), values }
    }));
    columns.extend((0..sweep.keys().len()).filter_map(|key| quantity(sweep, key, rows)));
    columns
}

/// Columns as a table of Arrow, with units and descriptions in the metadata of its fields.
#[cfg(feature = "parquet")]
#[must_use]
pub fn arrow(columns: &[Column]) -> cwnd_parquet::Table {
    let mut table = cwnd_parquet::Table::default();
    for Column { name, unit, description, values } in columns {
        match values {
            Values::Whole(values) => table.whole(name, unit, description, values.iter().copied()),
            Values::Real(values) => table.real(name, unit, description, values.iter().copied()),
            Values::Text(values) => table.optional_text(name, description, values.iter().map(Option::as_deref)),
            Values::Lists(values) => table.lists(name, unit, description, values.iter().map(Vec::as_slice)),
        }
    }
    table
}

/// A key as a column of numbers where all that the sweep sets it to are numbers, otherwise of text. It does not depend on the rows, so that all
/// parts of a data set agree.
fn parameter(sweep: &Sweep, key: usize, rows: &[FinishedCell]) -> Column {
    let of = |row: &FinishedCell| sweep.points()[row.cell.point].values[key].as_ref();
    let values = if is_number(sweep, key) {
        Values::Real(rows.iter().map(|row| of(row).and_then(|value| value.number).unwrap_or(f64::NAN)).collect())
    } else {
        Values::Text(rows.iter().map(|row| of(row).map(|value| value.text.clone())).collect())
    };
    let description = "what the sweep sets this key of the scenario to; none where the base's value stays".to_string();
    Column { name: sweep.keys()[key].clone(), unit: "", description, values }
}

/// The quantities that a key of text is set to: `dumbbell.rate_bps` of `dumbbell.rate`.
fn quantity(sweep: &Sweep, key: usize, rows: &[FinishedCell]) -> Option<Column> {
    let quantity = sweep.quantity(key).filter(|_| !is_number(sweep, key))?;
    let of = |row: &FinishedCell| quantity.number(sweep.points()[row.cell.point].values[key].as_ref()?);
    let name = &sweep.keys()[key];
    Some(Column {
        name: format!("{name}{}", quantity.unit().suffix()),
        unit: quantity.unit().name(),
        description: format!("`{name}` as a number; none where the base's value stays"),
        values: Values::Real(rows.iter().map(|row| of(row).unwrap_or(f64::NAN)).collect()),
    })
}

/// Whether all that the sweep sets a key to were written as numbers.
fn is_number(sweep: &Sweep, key: usize) -> bool {
    sweep.values(key).all(|value| value.number.is_some())
}
