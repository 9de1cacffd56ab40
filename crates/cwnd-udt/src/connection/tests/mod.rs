//! Two connections joined by a small link.

mod flow;
mod world;
