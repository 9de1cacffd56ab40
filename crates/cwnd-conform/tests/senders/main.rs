//! The checks against senders that are written from the RFCs alone: what is wrong turns the check of its clause red, what is right none.

mod sender;
mod stack;
mod variants;
mod way;
mod wrong;
