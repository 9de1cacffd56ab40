//! The extension module `cwnd._native` of the Python package.
//!
//! A thin front over the lab, like the command line: it hands over what the lab makes (documents as JSON text, tables through
//! Arrow's C interface) and lets Python's algorithms into it. What people import is `python/cwnd`, written in Python over this.
//!
//! Runs go on without the interpreter's lock, on all cores, except where an algorithm is written in Python (`work`). Nothing
//! here panics on input; what goes wrong becomes an exception of `cwnd.errors` (`failure`).

#![expect(clippy::needless_pass_by_value, reason = "what Python hands over is owned by the function it is handed to")]

mod compare;
mod conform;
mod evaluate;
mod failure;
mod falsify;
mod gym;
mod metrics;
mod model;
mod outside;
mod overlay;
mod paper;
mod plot;
mod registry;
mod runs;
mod scenario;
mod statistics;
mod sweep;
mod table;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _native {
    #[pymodule_export]
    use crate::compare::{Compared, compare};
    #[pymodule_export]
    use crate::conform::{Conformed, conform};
    #[pymodule_export]
    use crate::evaluate::{Evaluated, evaluate};
    #[pymodule_export]
    use crate::falsify::{Falsified, falsify, falsify_task, falsify_worker};
    #[pymodule_export]
    use crate::gym::{Environments, Memory, check_steering, features, measured};
    #[pymodule_export]
    use crate::metrics::{
        coefficient_of_variation, estimate, jain, kendall, max_min, relative_range, spearman, stability_index, written,
    };
    #[pymodule_export]
    use crate::model::{axioms, convergence, response, rounds, udt};
    #[pymodule_export]
    use crate::outside::{Ack, Congestion, Control, RateSample, Remote, Rtt, Start, View};
    #[pymodule_export]
    use crate::overlay::{Overlaid, overlay};
    #[pymodule_export]
    use crate::paper::{paper, papers};
    #[pymodule_export]
    use crate::plot::{axis, colour, heatmap};
    #[pymodule_export]
    use crate::registry::{algorithm, algorithms};
    #[pymodule_export]
    use crate::runs::{Runs, measures, run};
    #[pymodule_export]
    use crate::scenario::{complete, literal, scenario, schema, to_toml, write};
    #[pymodule_export]
    use crate::statistics::{bca, bca_by, bca_ratio, mser5, paired, t_interval};
    #[pymodule_export]
    use crate::sweep::{Sweep, Sweeping, Swept, sweep_task};
    #[pymodule_export]
    use crate::table::Table;
    #[pymodule_export]
    const VERSION: &str = cwnd_run::VERSION;
}
