//! The simulator as its users call it. One program: each further one is compiled and linked by itself.

mod ahead;
mod aqm;
mod bounded;
mod copa;
mod ecn;
mod half_duplex;
mod handshake;
mod held_acks;
mod ledbat;
mod limits;
mod links;
mod linux;
mod named;
mod outside;
mod packets;
mod physics;
mod routers;
mod samples;
mod stack;
mod steps;
mod tfrc;
mod traffic;
mod wakes;
