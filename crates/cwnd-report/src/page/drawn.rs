//! The plots of a page that was written, for who draws them elsewhere.

use serde_json::{Map, Value, json};

use crate::plot::SCHEMA;

/// The plots of a page with their names, each as Vega-Lite with its data, in the style and the colours of the light theme of the page.
#[must_use]
pub fn specifications(html: &str) -> Vec<(String, Value)> {
    let data = html.split_once(DATA).and_then(|(_, rest)| rest.split_once("</script>"));
    let data: Option<Value> = data.and_then(|(data, _)| serde_json::from_str(data).ok());
    let Some(data) = data else { return Vec::new() };
    let colours = variables(html);
    let plots = data["plots"].as_array().map_or(&[][..], Vec::as_slice);
    let specifications = plots.iter().filter_map(|plot| {
        let mut spec = plot["spec"].clone();
        let tables = plot["tables"].as_array()?;
        let datasets = tables.iter().filter_map(|table| Some((table["name"].as_str()?.to_string(), records(table))));
        spec["datasets"] = Value::Object(datasets.collect());
        spec["$schema"] = SCHEMA.into();
        spec["config"] = data["config"].clone();
        coloured(&mut spec, &colours);
        Some((plot["id"].as_str()?.to_string(), spec))
    });
    specifications.collect()
}

/// An object for each row.
fn records(table: &Value) -> Value {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let columns = list(&table["columns"]);
    let mut records = Vec::new();
    for group in list(&table["groups"]) {
        let (texts, numbers) = (list(&group["texts"]), list(&group["numbers"]));
        let rows = numbers.first().map_or(0, |column| column.as_array().map_or(0, Vec::len));
        for row in 0..rows {
            let cells = texts.iter().cloned().chain(numbers.iter().map(|column| column[row].clone()));
            let named = columns.iter().filter_map(Value::as_str).map(str::to_string).zip(cells);
            records.push(Value::Object(named.collect::<Map<_, _>>()));
        }
    }
    json!(records)
}

/// The variables of the light theme, which come first.
fn variables(html: &str) -> Vec<(&str, &str)> {
    let theme = html.split_once(":root{").and_then(|(_, rest)| rest.split_once('}')).map_or("", |(theme, _)| theme);
    theme.split(';').filter_map(|one| one.split_once(':')).collect()
}

fn coloured(value: &mut Value, colours: &[(&str, &str)]) {
    match value {
        Value::Object(map) => map.values_mut().for_each(|inner| coloured(inner, colours)),
        Value::Array(all) => all.iter_mut().for_each(|inner| coloured(inner, colours)),
        Value::String(text) => {
            let name = text.strip_prefix("var(").and_then(|rest| rest.strip_suffix(')'));
            let found = name.and_then(|name| colours.iter().find(|(known, _)| *known == name));
            if let Some((_, colour)) = found {
                *text = (*colour).to_string();
            }
        }
        _ => {}
    }
}

/// Where the page has its data.
const DATA: &str = "<script type=\"application/json\" id=\"data\">";
