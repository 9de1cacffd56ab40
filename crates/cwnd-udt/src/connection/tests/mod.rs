//! Two connections joined by a small link.

mod closing;
mod flow;
mod loss;
mod messages;
mod refused;
mod reports;
mod world;
