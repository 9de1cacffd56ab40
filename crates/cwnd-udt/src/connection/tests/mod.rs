//! Two connections joined by a small link.

mod closing;
mod flow;
mod holes;
mod late;
mod long_path;
mod loss;
mod messages;
mod proof;
mod refused;
mod reports;
mod world;
