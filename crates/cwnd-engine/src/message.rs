//! The messages between a page and its engine: requests as JSON, answers as frames of a JSON header and columns of numbers.

use std::num::NonZeroUsize;

use serde::Deserialize;
use serde_json::{Value, json};

/// What a page asks for. Each run has a number of the page's choosing, which its answers repeat; a new one ends the one before.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Request {
    /// Every seed of a scenario; of one whose controls are being moved, the first.
    Run {
        /// The number of the run.
        id: u32,
        /// The scenario, with the keys of its TOML document.
        document: Value,
        /// Each group of flows alone on the path, instead of all together.
        #[serde(default)]
        apart: bool,
        /// Whether a control is being moved.
        #[serde(default)]
        moving: bool,
    },
    /// The other seeds of the run whose controls were being moved, where they were released.
    Finish {
        /// The number of the run.
        id: u32,
    },
    /// One seed of a run that is shared by several engines: its measures, for the engine that began the run.
    Seed {
        /// The number of the run.
        id: u32,
        /// The scenario, which an engine that has this run does not read again.
        document: Value,
        /// Each group of flows alone.
        #[serde(default)]
        apart: bool,
        /// The place of the seed.
        nth: usize,
        /// The number of engines that share the memory of the run.
        engines: NonZeroUsize,
    },
    /// The measures of a seed that another engine has run.
    Join {
        /// The number of the run.
        id: u32,
        /// The place of the scenario.
        run: usize,
        /// The place of the seed.
        nth: usize,
        /// The `values` of that engine.
        values: String,
    },
    /// A run that follows the clock.
    Pace {
        /// The number of the run.
        id: u32,
        /// The scenario.
        document: Value,
        /// Simulated seconds in a second.
        speed: f64,
    },
    /// A change of the paced run, from now on.
    Pull {
        /// The rate of the bottleneck, with its unit.
        rate: Option<String>,
        /// Simulated seconds in a second; 0 holds it.
        speed: Option<f64>,
    },
    /// The run is no longer wanted.
    Stop,
    /// The scenario in the fragment of an address, as [`cwnd_run::address`] reads it.
    Open {
        /// The number of the request.
        id: u32,
        /// The fragment, with `#` in front.
        address: String,
    },
    /// A TOML document as a scenario: what a file that was dropped on the page holds.
    Read {
        /// The number of the request.
        id: u32,
        /// The document.
        text: String,
    },
}

/// An answer: the length of the header in bytes (32 bits, little endian), the header, zeros up to a multiple of four, and the columns
/// one after the other as 32-bit floating-point numbers, little endian. The header names the columns and says how many rows there are.
#[derive(Debug)]
pub struct Frame {
    /// A JSON object with the `kind` of the answer.
    pub header: Value,
    /// Columns of equal length.
    pub columns: Vec<Vec<f32>>,
}

impl From<Value> for Frame {
    fn from(header: Value) -> Self {
        Self { header, columns: Vec::new() }
    }
}

impl Frame {
    /// Its bytes.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let header = self.header.to_string();
        let numbers: usize = self.columns.iter().map(Vec::len).sum();
        let mut bytes = Vec::with_capacity(8 + header.len() + 4 * numbers);
        bytes.extend_from_slice(&(header.len() as u32).to_le_bytes());
        bytes.extend_from_slice(header.as_bytes());
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        for column in &self.columns {
            bytes.extend(column.iter().flat_map(|value| value.to_le_bytes()));
        }
        bytes
    }
}

/// The answer to a text that is no [`Request`].
#[must_use]
pub fn mismatch(error: &serde_json::Error) -> Frame {
    let message = format!("this page and its engine have different versions: {error}");
    Frame::from(json!({ "kind": "error", "message": message }))
}

/// The answer of a host with threads to a request for a part of a run.
#[must_use]
pub fn undivided(id: u32) -> Frame {
    Frame::from(json!({ "kind": "error", "id": id, "message": "a server runs all seeds of a run itself" }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_begin_at_a_multiple_of_four() {
        let frame = Frame { header: json!({"rows": 2}), columns: vec![vec![1.0, -0.5], vec![f32::NAN, 3.0]] };
        let bytes = frame.encode();
        assert_eq!(bytes[..4], 10_u32.to_le_bytes());
        assert_eq!(&bytes[4..14], br#"{"rows":2}"#);
        assert_eq!(bytes[14..16], [0, 0]);
        assert_eq!(bytes[16..20], 1.0_f32.to_le_bytes());
        assert_eq!(bytes.len(), 16 + 16);
    }

    #[test]
    fn a_request_with_an_unknown_key_is_refused() {
        let read = |text: &str| serde_json::from_str::<Request>(text).is_ok();
        assert!(read(r#"{"do":"run","id":1,"document":{}}"#));
        assert!(read(r#"{"do":"pull","rate":"5mbit"}"#));
        assert!(!read(r#"{"do":"run","id":1,"document":{},"fast":true}"#));
        assert!(!read(r#"{"do":"exec","id":1}"#));
    }
}
