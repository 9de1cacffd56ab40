//! Scenarios, their runs and their measures, as users of the crate call them. One program: each further one is compiled and linked by itself.

mod changes;
mod ecn;
mod generated;
mod hosts;
mod l4s;
mod measured;
mod messages;
mod parameters;
mod scenario;
mod settings;
mod shares;
mod sources;
mod tables;
mod warnings;
mod words;
