//! Scenarios: what to simulate, as people write it.
//!
//! A TOML document becomes a [`Document`], whose every value was read with its unit, and that becomes a [`Scenario`]. A scenario
//! that exists can be run: every key was checked, and the simulator accepted the setup. Errors name the place and what is
//! accepted there.

mod build;
mod document;
mod error;
mod quantity;
mod source;
mod topology;

use cwnd::Span;
use cwnd_sim::Setup;

pub use document::{Direction, Document, Dumbbell, Ecn, Flow, Link, ParkingLot, Recovery, Variation};
pub use error::{Excerpt, Fault, Place, ScenarioError};
pub use quantity::{Quantity, QueueSize, SampleEvery, WordError, Written};
use source::Source;

/// A checked scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    document: Document,
    setup: Setup,
}

impl Scenario {
    /// Reads a TOML document called `name` with overrides (`key.key=value`) laid over it.
    ///
    /// # Errors
    /// The first thing wrong with it, with its place in the file or among the overrides.
    pub fn read(name: &str, text: &str, overrides: &[String]) -> Result<Self, ScenarioError> {
        let source = Source::read(name, text, overrides)?;
        Self::check(source.document()?).map_err(|error| match error.place {
            Place::Key(key) => ScenarioError { place: source.place_of(&key), fault: error.fault },
            _ => error,
        })
    }

    /// Checks a document.
    ///
    /// # Errors
    /// The first contradiction, with the key it is at.
    pub fn check(document: Document) -> Result<Self, ScenarioError> {
        let setup = build::build(&document)
            .map_err(|located| ScenarioError { place: Place::Key(located.key), fault: located.fault })?;
        Ok(Self { document, setup })
    }

    /// What the simulator runs for one seed.
    #[must_use]
    pub fn setup(&self, seed: u64) -> Setup {
        Setup { seed, ..self.setup.clone() }
    }

    /// The seeds, ascending.
    pub fn seeds(&self) -> impl ExactSizeIterator<Item = u64> + use<> {
        let first = self.document.first_seed;
        (0..self.document.seeds).map(move |index| first.wrapping_add(u64::from(index)))
    }

    /// The document it came from.
    #[must_use]
    pub fn document(&self) -> &Document {
        &self.document
    }

    /// The scenario as TOML, defaults spelt out.
    #[must_use]
    pub fn to_toml(&self) -> String {
        toml::to_string(&self.document).expect("a document has only tables, text and finite numbers")
    }

    /// The length of one run.
    #[must_use]
    pub fn duration(&self) -> Span {
        self.setup.duration
    }

    /// When measuring starts.
    #[must_use]
    pub fn warmup(&self) -> Span {
        self.setup.warmup
    }
}

/// The JSON Schema of scenario documents: editors complete and check with it.
#[must_use]
pub fn schema() -> schemars::Schema {
    schemars::schema_for!(Document)
}
