//! The checks against senders that are written from the RFCs alone: a faulty one fails the check of its clause, a correct one none.
//!
//! `CWND_BLESS=1 cargo test -p cwnd-conform --test mutants -- --ignored` judges every wrong sender and records the table,
//! `tests/mutants.txt`; the diff then shows what changed. The ordinary test repeats the check of each clause.

mod hystart;
mod list;
mod rules;
mod sender;
mod stack;
mod table;
mod variants;
