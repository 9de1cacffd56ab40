//! The registered algorithms, driven through the contract as a host would.

mod contract;
mod corpus;
mod host;
mod named;
mod outside;
mod rules;
mod shell;
