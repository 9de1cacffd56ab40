//! An axis of names, which are broken into lines so that long ones leave room to the plot.

use serde_json::{Value, json};

/// The vertical axis of the column `field` with these names from top to bottom, and the height it wants, pixels.
pub(super) fn axis(field: &str, names: &[String]) -> (Value, u32) {
    let lines = names.iter().map(|name| lines(name)).max().unwrap_or(1);
    let axis = json!({ "labelLimit": 0, "labelExpr": WRAPPED, "labelLineHeight": LINE });
    let y = json!({ "field": field, "type": "nominal", "sort": names, "title": null, "axis": axis });
    (y, (names.len() as u32 * (lines * LINE + 6)).max(60))
}

/// How many lines [`WRAPPED`] makes of a label.
fn lines(label: &str) -> u32 {
    let mut lines = 1;
    let mut used = 0;
    for word in label.split(' ') {
        let length = word.chars().count();
        if used > 0 && used + 1 + length > WIDTH {
            (lines, used) = (lines + 1, length);
        } else {
            used += length + usize::from(used > 0);
        }
    }
    lines
}

/// Characters of a line of a label.
const WIDTH: usize = 34;
/// Its height, pixels.
const LINE: u32 = 12;
/// Breaks a label after at most [`WIDTH`] characters, at a space.
const WRAPPED: &str = r"split(trim(replace(datum.label, regexp('(.{1,34})( |$)', 'g'), '$1\n')), '\n')";
