//! A bare event loop: what the simulator's structure costs without protocols, queues' limits, measurements or facts.
//!
//! Flows with a fixed window over a dumbbell: three events per packet, a ring per line, one pending event per line, a binary
//! heap. Wall times of one machine at one moment are compared as multiples of this.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A flow's packet number, and the time it leaves the line it is on.
type Packet = (u64, u32, u64);

/// A line: packets leave `delay` after their transmission, which takes `gap`.
struct Line {
    gap: u64,
    delay: u64,
    free: u64,
    packets: VecDeque<Packet>,
}

impl Line {
    fn new(gap: u64, delay: u64) -> Self {
        Self { gap, delay, free: 0, packets: VecDeque::new() }
    }

    /// Sends a packet; its departure, if the line had been empty.
    fn offer(&mut self, now: u64, flow: u32, number: u64) -> Option<u64> {
        self.free = self.free.max(now) + self.gap;
        let due = self.free + self.delay;
        let first = self.packets.is_empty();
        self.packets.push_back((due, flow, number));
        first.then_some(due)
    }
}

/// Delivers at least `packets` data packets of 16 flows over 1 Gbit/s and 50 ms; how many, and a sum over what arrived.
#[must_use]
pub fn run(packets: u64) -> (u64, u64) {
    const FLOWS: u32 = 16;
    /// Of each flow: half of what path and queue of one bandwidth-delay product hold together.
    const WINDOW: u64 = 390;
    let mut lines: Vec<Line> = (0..FLOWS).map(|flow| Line::new(0, 25_000_000 + u64::from(flow) * 1_000)).collect();
    lines.extend([Line::new(12_000, 12_500_000), Line::new(320, 12_500_000)]);
    let (forward, back) = (FLOWS, FLOWS + 1);
    let mut heap = BinaryHeap::new();
    let mut next = vec![WINDOW; FLOWS as usize];
    for flow in 0..FLOWS {
        for number in 0..WINDOW {
            if let Some(due) = lines[flow as usize].offer(0, flow, number) {
                heap.push(Reverse((due, flow)));
            }
        }
    }
    let (mut delivered, mut sum) = (0, 0_u64);
    while let Some(Reverse((now, line))) = heap.pop() {
        let Some((_, flow, number)) = lines[line as usize].packets.pop_front() else { continue };
        if let Some((due, ..)) = lines[line as usize].packets.front() {
            heap.push(Reverse((*due, line)));
        }
        let (to, number) = if line < FLOWS {
            (forward, number)
        } else if line == forward {
            delivered += 1;
            sum = sum.wrapping_mul(31).wrapping_add(now ^ number);
            (back, number)
        } else {
            next[flow as usize] += 1;
            (flow, next[flow as usize] - 1)
        };
        if let Some(due) = lines[to as usize].offer(now, flow, number) {
            heap.push(Reverse((due, to)));
        }
        if delivered >= packets {
            break;
        }
    }
    (delivered, sum)
}
