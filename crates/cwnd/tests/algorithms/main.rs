//! The registered algorithms, driven through the contract as a host would.

mod contract;
mod corpus;
mod forwarding;
mod host;
mod limited;
mod named;
mod outside;
mod rules;
mod shell;
