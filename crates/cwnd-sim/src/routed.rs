//! TCP-like endpoints whose packets carry what their algorithm and the routers tell each other: XCP, VCP, DECbit.

use cwnd::{CongestionControl, Packets, Remote, Time};

use crate::endpoint::Wishes;
use crate::net::packet::{Ack, Block, Body, Data, Header, Reply};
use crate::tcp;
use crate::tcp::recovery::Sack;

/// Answers with what routers wrote since the last answer.
#[derive(Debug)]
pub(crate) struct Receiver {
    inner: tcp::Receiver,
    /// The sum of XCP's grants or the highest load; NaN where no router has written.
    feedback: f32,
}

/// Has `sender` take in what the receiver sent, if anything, and adds all that may leave now to `sent`. What routers say comes first:
/// what leaves with it is as they want it.
#[inline(never)]
pub(crate) fn serve(sender: &mut tcp::Sender<Sack>, now: Time, body: Option<&Body>, sent: &mut Vec<Body>) -> Wishes {
    let ack = if let Some(Body::Reply(reply)) = body { Some(Body::Ack(hear(sender, now, reply))) } else { None };
    let header = header(sender);
    sender.serve(now, ack.as_ref(), |body| {
        sent.push(if let Body::Data(data) = body { Body::Headed(data, header) } else { body });
    })
}

/// What a packet of `sender` tells the routers.
fn header(sender: &tcp::Sender<Sack>) -> Header {
    sender.algorithm().control().stamp.map_or(Header::Load(0), |stamp| Header::Congestion {
        window: stamp.window.0 as f32,
        rtt: stamp.rtt.as_secs_f64() as f32,
        feedback: stamp.demand.0 as f32,
        answered: false,
    })
}

/// `sender` hears what the routers say; what is acknowledged is left.
fn hear(sender: &mut tcp::Sender<Sack>, now: Time, reply: &Reply) -> Ack {
    let feedback = Some(reply.feedback).filter(|feedback| feedback.is_finite());
    let remote = if sender.algorithm().control().stamp.is_some() {
        Remote { grant: feedback.map(|grant| Packets(f64::from(grant))), ..Remote::default() }
    } else {
        Remote { load: feedback.map(|code| code as u8), ..Remote::default() }
    };
    sender.hear(now, remote);
    let [first, second] = reply.sack;
    let sack = [first, second, Block::default()];
    Ack { cumulative: reply.cumulative, echo: reply.echo, sack, marked: false }
}

impl Receiver {
    /// A receiver of nothing yet.
    pub(crate) fn new(habits: tcp::Habits) -> Self {
        Self { inner: tcp::Receiver::new(habits), feedback: f32::NAN }
    }

    /// The packet to come has this header.
    pub(crate) fn on_header(&mut self, header: &Header) {
        match *header {
            Header::Congestion { feedback, answered: true, .. } if self.feedback.is_nan() => self.feedback = feedback,
            Header::Congestion { feedback, answered: true, .. } => self.feedback += feedback,
            Header::Load(code) => self.feedback = self.feedback.max(f32::from(code)),
            Header::Congestion { .. } | Header::Rtt(_) => {}
        }
    }

    /// Takes in a data packet: whether it is new and kept, and the answer to send at once.
    pub(crate) fn on_data(&mut self, now: Time, data: &Data, marked: bool) -> (bool, Option<Reply>) {
        let (new, ack) = self.inner.on_data(now, data, marked);
        (new, ack.map(|ack| self.reply(&ack)))
    }

    /// When a held answer is due.
    pub(crate) fn next_timer(&self) -> Time {
        self.inner.next_timer()
    }

    /// Releases a held answer that is due.
    pub(crate) fn on_timer(&mut self, now: Time) -> Option<Reply> {
        self.inner.on_timer(now).map(|ack| self.reply(&ack))
    }

    fn reply(&mut self, ack: &Ack) -> Reply {
        let [first, second, _] = ack.sack;
        let feedback = std::mem::replace(&mut self.feedback, f32::NAN);
        Reply { cumulative: ack.cumulative, echo: ack.echo, sack: [first, second], feedback }
    }
}
