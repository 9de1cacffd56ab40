//! quiche 0.26.0, the last release before quiche#2370.

pub(crate) use quiche_0_26 as quiche;

#[path = "quiche.rs"]
pub(crate) mod adapter;
