//! The memory of a flow, counted at the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use cwnd::{Span, Spec, Time};

use super::World;
use crate::{Dumbbell, Era, QueueLimit, RecoveryScheme, Simulation, Source};

/// The system's allocator, with the bytes in use by each thread counted.
struct Counting;

thread_local! {
    static IN_USE: Cell<usize> = const { Cell::new(0) };
}

#[expect(unsafe_code, reason = "an allocator cannot be counted otherwise; it hands everything on unchanged")]
// SAFETY: every call goes to the system's allocator with its own arguments.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.set(IN_USE.get().wrapping_add(layout.size()));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.set(IN_USE.get().wrapping_sub(layout.size()));
        unsafe { System.dealloc(pointer, layout) };
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Bytes per flow of a world of `flows` flows that is about to start: everything but the setup and the trace.
fn bytes_per_flow(flows: usize, recovery: RecoveryScheme, source: Source) -> usize {
    let bell = Dumbbell::new(1_000_000_000_000, Span::from_millis(100), QueueLimit::Packets(8_000_000));
    let reno = Spec::parse("reno").expect("registered");
    let mut setup = bell.setup(&vec![reno; flows], Era::MODERN, Span::from_secs(1), Span::ZERO, 1);
    setup.flows.iter_mut().for_each(|flow| (flow.recovery, flow.source) = (recovery, source));
    let before = IN_USE.get();
    let mut world = World::new(&setup).expect("valid");
    // Room for the lines' events comes with the first packet of the last flow.
    world.events.set_access(flows as u32 - 1, Time::MAX);
    (IN_USE.get().wrapping_sub(before)) / flows
}

#[test]
fn a_million_flows_fit_in_a_gigabyte() {
    // As close below a power of two as a million is.
    let flows = (1 << 13) * 1_000_000 / (1 << 20);
    let bytes =
        |recovery| (bytes_per_flow(flows, recovery, Source::Bulk), bytes_per_flow(flows, recovery, Source::Packets(8)));
    let (bulk, finite) = bytes(RecoveryScheme::Sack);
    assert!(bulk <= 1024, "{bulk} bytes");
    // A finite flow takes two more allocations.
    assert!(finite <= 1024, "{finite} bytes");
    println!("{bulk} bytes, {finite} where a flow has an end");
    // RACK keeps twice as much.
    let (bulk, finite) = bytes(RecoveryScheme::Rack);
    assert!(bulk <= 1920 && finite <= 2048, "{bulk} and {finite} bytes");
}

/// The case `million` of `cwnd bench sim` at a 128th of its size, through the overshoot of its slow starts. The whole case has 5 GB in memory.
#[test]
fn the_packets_of_a_million_flows_fit_in_seven_gigabytes() {
    let flows = 1_000_000 / 128;
    let bell = Dumbbell::new(1_000_000_000_000 / 128, Span::from_millis(100), QueueLimit::Packets(8_000_000 / 128));
    let reno = Spec::parse("reno").expect("registered");
    let mut setup = bell.setup(&vec![reno; flows], Era::MODERN, Span::from_millis(500), Span::ZERO, 1);
    setup.flows.iter_mut().for_each(|flow| flow.recovery = RecoveryScheme::Sack);
    let simulation = Simulation::new(&setup).expect("valid").within(7_000_000_000 / 128);
    simulation.finish(&setup, &mut |_| true).expect("there is memory for it");
}
