//! Whether the plots of a page stay within their axes.

use std::collections::BTreeMap;

use serde_json::Value;

/// The marks of a page's plots outside of their axes, a line each; none if all is well. An axis without ends has those of its data.
pub(crate) fn outside(page: &str) -> Vec<String> {
    let data = page.split("<script type=\"application/json\" id=\"data\">").nth(1).expect("a page has data");
    let data: Value = serde_json::from_str(data.split("</script>").next().expect("it ends")).expect("JSON");
    let plots = data["plots"].as_array().expect("plots");
    plots.iter().flat_map(of_plot).collect()
}

fn of_plot(plot: &Value) -> Vec<String> {
    let layers = || plot["spec"]["layer"].as_array().into_iter().flatten();
    let mut ends: BTreeMap<&str, (Option<f64>, Option<f64>)> = BTreeMap::new();
    for (axis, channel) in layers().flat_map(|layer| ["x", "y"].map(|axis| (axis, &layer["encoding"][axis]))) {
        let scale = &channel["scale"];
        let end = |at: usize, key: &str| scale["domain"][at].as_f64().or(scale[key].as_f64());
        let known = ends.entry(axis).or_default();
        *known = (known.0.or(end(0, "domainMin")), known.1.or(end(1, "domainMax")));
    }
    let mut found = Vec::new();
    for layer in layers() {
        let mark = layer["mark"]["type"].as_str().expect("a mark has a type");
        if !["point", "text"].contains(&mark) && layer["mark"]["clip"] != true {
            found.push(format!("{}: {mark} is not clipped", plot["id"]));
        }
        for (axis, name) in [("x", "x"), ("x", "x2"), ("y", "y"), ("y", "y2")] {
            let encoding = &layer["encoding"];
            let Some(field) = encoding[name]["field"].as_str() else { continue };
            if encoding[axis]["type"] != "quantitative" {
                continue;
            }
            let (low, high) = ends[axis];
            let beyond = |value: &f64| {
                // Numbers have six digits.
                let slack = 1e-5 * value.abs();
                low.is_some_and(|low| *value < low - slack) || high.is_some_and(|high| *value > high + slack)
            };
            if let Some(value) = values(plot, layer, field).into_iter().find(beyond) {
                found.push(format!("{}: {field} of {value} beyond {low:?} to {high:?}", plot["id"]));
            }
        }
    }
    found
}

/// The numbers of a column that a layer draws.
fn values(plot: &Value, layer: &Value, field: &str) -> Vec<f64> {
    if let Some(rows) = layer["data"]["values"].as_array() {
        return rows.iter().filter_map(|row| row[field].as_f64()).collect();
    }
    let name = layer["data"]["name"].as_str().unwrap_or("table");
    let tables = plot["tables"].as_array().expect("tables");
    let Some(table) = tables.iter().find(|table| table["name"] == name) else { return Vec::new() };
    let column =
        table["columns"].as_array().and_then(|all| all.iter().position(|column| column == field)).expect(field);
    let groups = table["groups"].as_array().expect("groups");
    let numbers = groups.iter().flat_map(|group| {
        let texts = group["texts"].as_array().map_or(0, Vec::len);
        group["numbers"][column - texts].as_array().into_iter().flatten()
    });
    numbers.filter_map(Value::as_f64).collect()
}
