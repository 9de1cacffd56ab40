//! TCP-like endpoints whose packets carry a header between their algorithm and the routers: XCP, VCP, DECbit.

use std::ops::{Deref, DerefMut};

use cwnd::{Packets, Remote, Time};

use crate::net::packet::{Ack, Block, Body, Data, Header, Reply};
use crate::protocol::{Received, ReceiverProtocol, SenderProtocol, Timers, collect, collected};
use crate::tcp;
use crate::tcp::recovery::Sack;

/// A TCP-like sender whose packets carry a header for routers.
#[derive(Debug)]
pub(crate) struct Sender(tcp::Sender<Sack>);

/// A receiver whose answers carry what routers wrote since the last one.
#[derive(Debug)]
pub(crate) struct Receiver {
    inner: tcp::Receiver,
    /// The sum of XCP's grants or the highest load; NaN where no router has written.
    feedback: f32,
}

impl Sender {
    /// Adds a header to each packet of `sender`.
    pub(crate) fn new(sender: tcp::Sender<Sack>) -> Self {
        Self(sender)
    }

    /// See [`SenderProtocol::serve`]. The routers' feedback is handled first, so that it governs what leaves.
    #[inline(always)]
    pub(crate) fn serve(&mut self, now: Time, body: Option<&Body>, send: impl FnMut(Body) -> bool) -> Timers {
        collected(send, |sent| self.send_to(now, body, sent))
    }

    #[inline(never)]
    fn send_to(&mut self, now: Time, body: Option<&Body>, sent: &mut Vec<Body>) -> Timers {
        let ack = if let Some(Body::Reply(reply)) = body { Some(Body::Ack(self.on_reply(now, reply))) } else { None };
        let header = self.header();
        self.0.serve(now, ack.as_ref(), |body| {
            collect(sent, if let Body::Data(data) = body { Body::Headed(data, header) } else { body })
        })
    }

    /// The header of a packet for routers.
    fn header(&self) -> Header {
        self.0.control().stamp.map_or(Header::Load(0), |stamp| Header::Congestion {
            window: stamp.window.0 as f32,
            rtt: stamp.rtt.as_secs_f64() as f32,
            feedback: stamp.demand.0 as f32,
            answered: false,
        })
    }

    /// Passes the routers' feedback to the algorithm, and returns the acknowledgement.
    fn on_reply(&mut self, now: Time, reply: &Reply) -> Ack {
        let feedback = Some(reply.feedback).filter(|feedback| feedback.is_finite());
        let remote = if self.0.control().stamp.is_some() {
            Remote { grant: feedback.map(|grant| Packets(f64::from(grant))), ..Remote::default() }
        } else {
            Remote { load: feedback.map(|code| code as u8), ..Remote::default() }
        };
        self.0.on_remote(now, remote);
        let [first, second] = reply.sack;
        let is_third = second.is_empty() || reply.has_totals();
        let sack = if is_third { [first, Block::default(), second] } else { [first, second, Block::default()] };
        Ack { sack, marked: reply.marked, bits: reply.bits, ..Ack::of(reply.cumulative, reply.echo) }
    }
}

/// All but its packets is as without routers.
impl Deref for Sender {
    type Target = tcp::Sender<Sack>;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Sender {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}

impl Receiver {
    /// A receiver of nothing yet.
    pub(crate) fn new(options: tcp::ReceiverOptions) -> Self {
        Self { inner: tcp::Receiver::new(options), feedback: f32::NAN }
    }

    fn reply(&mut self, ack: &Ack) -> Reply {
        let [first, second, third] = ack.sack;
        let sack = [first, if second.is_empty() || ack.has_totals() { third } else { second }];
        let feedback = std::mem::replace(&mut self.feedback, f32::NAN);
        let Ack { cumulative, echo, marked, bits, .. } = *ack;
        Reply { cumulative, echo, sack, marked, bits, feedback }
    }
}

impl ReceiverProtocol for Receiver {
    fn handle_data(&mut self, now: Time, data: &Data, marked: bool, answer: &mut Body) -> Received {
        let (new, ack) = self.inner.on_data(now, data, marked);
        if let Some(ack) = &ack {
            *answer = Body::Reply(self.reply(ack));
        }
        Received { new, answered: ack.is_some() }
    }

    fn handle_lost_ect(&mut self) {
        self.inner.handle_lost_ect();
    }

    fn handle_header(&mut self, header: &Header) {
        match *header {
            Header::Congestion { feedback, answered: true, .. } if self.feedback.is_nan() => self.feedback = feedback,
            Header::Congestion { feedback, answered: true, .. } => self.feedback += feedback,
            Header::Load(code) => self.feedback = self.feedback.max(f32::from(code)),
            Header::Congestion { .. } | Header::Rtt(_) => {}
        }
    }

    fn handle_timeout(&mut self, now: Time) -> Option<Body> {
        self.inner.on_timer(now).map(|ack| Body::Reply(self.reply(&ack)))
    }

    fn next_timeout(&self) -> Time {
        self.inner.next_timeout()
    }
}
