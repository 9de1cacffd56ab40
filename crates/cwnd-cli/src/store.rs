//! The store of single runs.

use std::path::PathBuf;

use clap::Args;
use cwnd_run::cells::Cells;

/// The store, if any.
#[derive(Args, Debug)]
pub(crate) struct Store {
    /// The directory that stores runs, so that none is repeated [default: cwnd/cells in the user's cache directory]
    #[arg(long, value_name = "DIR", conflicts_with = "no_store", help_heading = "Store of runs")]
    store: Option<PathBuf>,
    /// Neither read nor write the store
    #[arg(long, help_heading = "Store of runs")]
    no_store: bool,
}

impl Store {
    /// The option that was given.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let store = self.store.is_some().then_some("--store");
        store.or_else(|| self.no_store.then_some("--no-store"))
    }

    pub(crate) fn cells(&self) -> Cells {
        match (&self.store, self.no_store) {
            (_, true) => Cells::default(),
            (Some(directory), false) => Cells::stored(directory),
            (None, false) => Cells::of_user(),
        }
    }
}
