//! Data that meets no trouble.

use super::super::*;
use super::world::{PAYLOAD, Parcel, World, agreed, at, settings};
use crate::settings::Mode;

#[test]
fn a_stream_arrives_whole() {
    let mut world = World::new(25, Some(100_000_000));
    let took = world.transfer(5_000_000, 10_000);
    println!("5 MB in {took}");
    assert!(took < Span::from_millis(1500));
}
