use serde::Serialize;

/// A document as JSON text, with a newline at its end.
#[must_use]
pub fn to_json(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document).expect("keys are text and numbers are plain");
    text.push('\n');
    text
}
