//! Where single runs are stored.

use std::path::PathBuf;

use clap::Args;
use cwnd_lab::cells::Cells;

/// Which store, if any.
#[derive(Args, Debug)]
pub(crate) struct Store {
    /// Where runs are stored, so that none is done twice [default: cwnd/cells in the user's folder for caches]
    #[arg(long, value_name = "DIR", conflicts_with = "no_store")]
    store: Option<PathBuf>,
    /// Store nothing, and use nothing stored
    #[arg(long)]
    no_store: bool,
}

impl Store {
    pub(crate) fn cells(&self) -> Cells {
        match (&self.store, self.no_store) {
            (_, true) => Cells::default(),
            (Some(folder), false) => Cells::stored(folder),
            (None, false) => caches().map_or_else(Cells::default, |caches| Cells::stored(&caches.join("cwnd/cells"))),
        }
    }
}

/// The user's folder for what can be computed again.
fn caches() -> Option<PathBuf> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    if cfg!(windows) {
        return variable("LOCALAPPDATA");
    }
    let below_home = if cfg!(target_os = "macos") { "Library/Caches" } else { ".cache" };
    variable("XDG_CACHE_HOME").or_else(|| variable("HOME").map(|home| home.join(below_home)))
}
