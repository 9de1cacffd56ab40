//! VCP's router: its load, in two bits.
//!
//! Xia, Subramanian, Stoica and Kalyanaraman, SIGCOMM 2005, section 3.1: over each interval t_rho the load factor is what came and half
//! of the queue that persisted, over a little less than the line could have carried.

use cwnd::{Span, Time};

use super::{Arriving, Decision};
use crate::net::packet::{Body, Header};
use crate::net::setup::VcpSetup;

/// The state of a VCP queue.
#[derive(Debug)]
pub(crate) struct Vcp {
    setup: VcpSetup,
    /// Bytes per second.
    capacity: f64,
    began: Time,
    /// Bytes that came in this interval.
    input: f64,
    /// The queue, sampled: when next, the sum and the number of samples, bytes.
    sample_at: Time,
    queue: f64,
    samples: f64,
    /// The load code written on packets.
    code: u8,
}

impl Vcp {
    /// An empty queue before a line of `rate` bit/s.
    pub(crate) fn new(setup: VcpSetup, rate: u64) -> Self {
        let capacity = rate as f64 / 8.0;
        let (began, sample_at) = (Time::ZERO, Time::ZERO);
        Self { setup, capacity, began, input: 0.0, sample_at, queue: 0.0, samples: 0.0, code: LOW }
    }

    /// Takes in a packet, and writes on it if it has room for a load and comes from no fuller router.
    pub(crate) fn admit(&mut self, packet: &Arriving, body: &mut Body) -> Decision {
        if packet.now >= self.began + self.setup.interval {
            self.measure(packet.now);
        }
        if packet.now >= self.sample_at {
            self.queue += packet.bytes as f64;
            self.samples += 1.0;
            self.sample_at = packet.now + SAMPLING;
        }
        self.input += f64::from(packet.size.0);
        if let Body::Headed(_, Header::Load(code)) = body {
            *code = self.code.max(*code);
        }
        if packet.full { Decision::Drop } else { Decision::Queue }
    }

    /// An interval is over (eq. 1). If nothing came for longer, the load is that much less.
    fn measure(&mut self, now: Time) {
        let queue = if self.samples > 0.0 { self.queue / self.samples } else { 0.0 };
        let could = self.setup.target * self.capacity * now.since(self.began).as_secs_f64();
        let load = (self.input + self.setup.queue_weight * queue) / could;
        self.code = if load < 0.8 {
            LOW
        } else if load < 1.0 {
            HIGH
        } else {
            OVER
        };
        (self.began, self.input, self.queue, self.samples) = (now, 0.0, 0.0, 0.0);
    }
}

/// How often the queue is looked at, t_q.
const SAMPLING: Span = Span::from_millis(10);
/// Below 80 %, from there to 100 %, and above.
const LOW: u8 = 1;
const HIGH: u8 = 2;
const OVER: u8 = 3;

#[cfg(test)]
mod tests {
    use cwnd::Bytes;

    use super::*;
    use crate::net::packet::Data;

    /// Packets of 1000 bytes arrive `every` this number of microseconds during `span` ms and find `queue` bytes; the last code.
    fn load(vcp: &mut Vcp, from: u64, span: u64, every: u64, queue: u64) -> u8 {
        let mut last = 0;
        for at in (from * 1000..=(from + span) * 1000).step_by(every as usize) {
            let now = Time::ZERO + Span::from_micros(at);
            let size = Bytes(1000);
            let arriving =
                Arriving { now, size, capable: false, packets: 0, bytes: queue, idle_since: None, full: false };
            let data = Data::new(0, now);
            let mut body = Body::Headed(data, Header::Load(0));
            vcp.admit(&arriving, &mut body);
            if let Body::Headed(_, Header::Load(code)) = body {
                last = code;
            }
        }
        last
    }

    #[test]
    fn the_code_tells_the_load_of_the_interval_before() {
        // 8 Mbit/s: 200 packets in 200 ms, of which 196 are the target.
        let mut vcp = Vcp::new(VcpSetup::default(), 8_000_000);
        assert_eq!(load(&mut vcp, 0, 190, 1300, 0), LOW, "nothing measured yet");
        // 154 packets of 196 are 0.786; 160 are 0.82; 200 are more than all.
        let mut vcp = Vcp::new(VcpSetup::default(), 8_000_000);
        assert_eq!(load(&mut vcp, 0, 200, 1300, 0), LOW);
        assert_eq!(load(&mut vcp, 201, 200, 1250, 0), HIGH);
        assert_eq!(load(&mut vcp, 402, 200, 1000, 0), OVER);
        // 160 packets and half of a queue of 80 are above 196.
        assert_eq!(load(&mut vcp, 603, 200, 1250, 80_000), OVER);
    }
}
