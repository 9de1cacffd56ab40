//! The real binary, from its arguments to its output, exit code and files.

mod doctor;
mod documents;
mod errors;
mod falsify;
mod figures;
mod finished;
mod first;
mod flags;
mod inputs;
mod interrupt;
mod models;
mod names;
mod obeyed;
mod papers;
mod results;
mod sites;
mod sweeps;
mod traces;

use std::collections::BTreeMap;
use std::ops::Deref;

use cwnd_terminal::testing::{CommandResult, Place, SIGNALS, is_ignored, root, wait_until};

/// `cwnd` in a directory of its own.
struct Cwnd(Place);

impl Deref for Cwnd {
    type Target = Place;

    fn deref(&self) -> &Place {
        &self.0
    }
}

impl Cwnd {
    fn new() -> Self {
        Self(Place::new(env!("CARGO_BIN_EXE_cwnd")))
    }

    /// The files of the store `cells`, and how many cells each has.
    fn stored(&self) -> BTreeMap<String, usize> {
        let files =
            self.files().into_iter().filter(|file| file.starts_with("cells/") && file.matches('/').count() == 2);
        let cells = |file: &str| std::fs::read_to_string(self.path().join(file)).expect("text").lines().skip(1).count();
        files.map(|file| (file.clone(), cells(&file))).collect()
    }
}

/// A path short enough for a test.
const SHORT: &str = "title = \"short\"\nduration = \"3s\"\nwarmup = \"1s\"\nseeds = 2\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"20ms\"\n\
                     [[flow]]\nalgorithm = \"reno\"\ncount = 2\n";
