//! Scenarios made of bytes: valid, nearly valid and wild ones. Behind the feature `testing`.
//!
//! Property tests, the fuzz target and the replay of its corpus read bytes as a document of the schema ([`document`]) and hand it to
//! [`drive`], which reads, checks and runs it.

use cwnd::ALGORITHMS;
use cwnd_sim::{SetupError, Simulation};
use serde_json::{Map, Value};

use crate::scenario::{Scenario, schema};

/// What became of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driven {
    /// It is no scenario.
    Refused,
    /// It ran to its end.
    Ran,
    /// It needed more memory than [`drive`] allows, or its time stood still.
    Bounded,
    /// It had more events than [`drive`] waits for.
    Long,
}

/// The text of a scenario, as the bytes have it.
#[must_use]
pub fn document(bytes: &[u8]) -> String {
    let schema = schema().to_value();
    let mut maker = Maker { bytes: bytes.iter(), definitions: &schema["$defs"], faults: 0 };
    maker.faults = match maker.next() % 4 {
        0 | 1 => 0,
        2 => 1 + maker.next() % 2,
        _ => u8::MAX,
    };
    let wild = maker.faults == u8::MAX;
    let mut object = maker.object(&schema, 0);
    if !wild {
        maker.make_plausible(&mut object);
    }
    let mut text = toml::to_string(&Value::Object(object)).unwrap_or_default();
    if wild {
        maker.damage(&mut text);
    }
    text
}

/// Reads a document as `cwnd run` does and, if it is accepted, runs its first seed with 16 MiB of memory for some events.
///
/// # Panics
/// The simulator refuses a scenario that was accepted, or a run breaks an invariant of the simulator.
#[must_use]
pub fn drive(text: &str) -> Driven {
    let Ok(scenario) = Scenario::read("generated.toml", text, &[]) else { return Driven::Refused };
    let setup = scenario.setup(scenario.document().first_seed);
    let mut asked = 0;
    let mut go_on = |_| {
        asked += 1;
        asked < MOST_ASKED
    };
    match Simulation::of(&setup).within(MEMORY).finish(&setup, &mut go_on) {
        Ok(_) => Driven::Ran,
        Err(SetupError::Memory { .. } | SetupError::Stalled { .. }) => Driven::Bounded,
        Err(SetupError::Interrupted) => Driven::Long,
        Err(error) => panic!("accepted, and refused as it was to run: {error}\n{text}"),
    }
}

/// Makes values by a schema, as bytes choose; the first choice where there are none left.
struct Maker<'a> {
    bytes: std::slice::Iter<'a, u8>,
    definitions: &'a Value,
    /// How many values may still be made wrong.
    faults: u8,
}

impl Maker<'_> {
    fn next(&mut self) -> u8 {
        self.bytes.next().copied().unwrap_or(0)
    }

    fn pick<'v, T>(&mut self, values: &'v [T]) -> Option<&'v T> {
        let choice = usize::from(self.next()) | usize::from(self.next()) << 8;
        values.get(choice % values.len().max(1))
    }

    /// Some of the properties of an object.
    fn object(&mut self, schema: &Value, depth: u32) -> Map<String, Value> {
        let mut object = Map::new();
        let required: Vec<&str> =
            schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (name, property) in schema["properties"].as_object().into_iter().flatten() {
            let taken = self.next() % 5 == 1;
            if (taken || required.contains(&name.as_str())) && depth < MOST_DEPTH {
                object.insert(name.clone(), self.value(property, depth + 1));
            }
        }
        object
    }

    /// A value of the schema, or a wrong one while there may be faults.
    fn value(&mut self, schema: &Value, depth: u32) -> Value {
        if self.faults > 0 && self.next() % 8 == 7 {
            self.faults = if self.faults == u8::MAX { u8::MAX } else { self.faults - 1 };
            return self.wrong();
        }
        if let Some(name) = schema["$ref"].as_str() {
            let name = name.trim_start_matches("#/$defs/");
            return if name == "Algorithm" { self.algorithm() } else { self.value(&self.definitions[name], depth) };
        }
        if let Some(any) = schema["anyOf"].as_array().or(schema["oneOf"].as_array()) {
            let any: Vec<&Value> = any.iter().filter(|one| one["type"] != "null").collect();
            return self.pick(&any).copied().map_or(Value::from("any"), |one| self.value(one, depth));
        }
        for list in ["enum", "examples"] {
            if let Some(one) = schema[list].as_array().and_then(|list| self.pick(list)) {
                return one.clone();
            }
        }
        if let Some(one) = schema.get("const") {
            return one.clone();
        }
        let types = &schema["type"];
        match types.as_str().or_else(|| types[0].as_str()).unwrap_or_default() {
            "object" => Value::Object(self.object(schema, depth)),
            "array" => (0..1 + self.next() % 3).map(|_| self.value(&schema["items"], depth + 1)).collect(),
            "integer" => Value::from(1 + self.next() % 4),
            "number" => Value::from(f64::from(self.next()) / 256.0),
            "boolean" => Value::from(self.next() & 1 == 1),
            _ => Value::from(self.pick(&NAMES).copied().unwrap_or_default()),
        }
    }

    fn algorithm(&mut self) -> Value {
        self.pick(ALGORITHMS).map_or(Value::from("reno"), |entry| Value::from(entry.name))
    }

    fn wrong(&mut self) -> Value {
        match self.next() % 4 {
            0 => Value::from(self.pick(&NUMBERS).copied().unwrap_or_default()),
            1 => Value::from(i64::from(self.next()) - 128),
            2 => self.pick(&WORDS).copied().unwrap_or_default().into(),
            _ => {
                let number = self.pick(&WORDS).copied().unwrap_or_default();
                Value::from(format!("{number}{}", self.pick(&UNITS).copied().unwrap_or_default()))
            }
        }
    }

    /// One topology, a flow where there is none, no marks for those who do not answer them, and a warm-up that fits.
    fn make_plausible(&mut self, object: &mut Map<String, Value>) {
        let shapes = ["dumbbell", "parking_lot", "link"];
        let given: Vec<&str> = shapes.into_iter().filter(|shape| object.contains_key(*shape)).collect();
        let one = self.pick(&given).copied().unwrap_or("dumbbell");
        given.iter().filter(|shape| **shape != one).for_each(|shape| drop(object.remove(*shape)));
        object.entry(one).or_insert_with(|| Value::Object(Map::new()));
        if one == "dumbbell" {
            object.entry("flow").or_insert_with(|| serde_json::json!([{ "algorithm": "reno" }]));
            for traffic in ["flow", "cbr", "arrivals"] {
                for group in object.get_mut(traffic).and_then(Value::as_array_mut).into_iter().flatten() {
                    if let Some(group) = group.as_object_mut() {
                        ["from", "to", "via", "extra_hops"].iter().for_each(|end| drop(group.remove(*end)));
                    }
                }
            }
        }
        for traffic in ["flow", "arrivals"] {
            for group in object.get_mut(traffic).and_then(Value::as_array_mut).into_iter().flatten() {
                let name = group.get("algorithm").and_then(Value::as_str);
                let silent = ALGORITHMS.iter().any(|entry| Some(entry.name) == name && !entry.answers_marks());
                if let Some(group) = group.as_object_mut().filter(|_| silent) {
                    group.remove("ecn");
                }
            }
        }
        object.insert("duration".to_string(), Value::from(["20s", "3s", "61s"][usize::from(self.next() % 3)]));
        object.insert("warmup".to_string(), Value::from("1s"));
    }

    /// Takes out, doubles and replaces characters.
    fn damage(&mut self, text: &mut String) {
        let mut characters: Vec<char> = text.chars().collect();
        for _ in 0..self.next() % 4 {
            let at = (usize::from(self.next()) << 8 | usize::from(self.next())) % characters.len().max(1);
            match (self.next() % 3, characters.get_mut(at)) {
                (0, Some(_)) => drop(characters.remove(at)),
                (1, Some(character)) => *character = char::from(self.next()),
                _ => characters.insert(at.min(characters.len()), char::from(self.next())),
            }
        }
        *text = characters.into_iter().collect();
    }
}

const MEMORY: u64 = 16 << 20;
/// Each 65,536 events.
const MOST_ASKED: u32 = 3;
/// Documents have three levels.
const MOST_DEPTH: u32 = 6;
const NAMES: [&str; 6] = ["a", "b", "left", "right", "c", ""];
const NUMBERS: [f64; 10] = [0.0, -0.0, 1.0, -1.0, 1e-300, 1e300, 0.999_999, f64::MAX, f64::MIN_POSITIVE, 1e18];
const WORDS: [&str; 14] =
    ["", "0", "1", "-1", "1e30", "1e-30", "nan", "inf", "1/0", "18446744073709551616", "unlimited", "off", "é", "1..2"];
const UNITS: [&str; 12] = ["ns", "us", "ms", "s", "bit", "kbit", "gbit", "tbit", "B", "GB", "p", "bdp"];
