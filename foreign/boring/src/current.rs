//! quiche 0.30.0.

pub(crate) use ::quiche;

#[path = "quiche.rs"]
pub(crate) mod adapter;

/// Without the mend of quiche#2370.
pub(crate) fn unmended(config: &mut quiche::Config) {
    config.set_enable_cubic_idle_restart_fix(false);
}
