//! WebUsers of web pages: sessions of pages, pages of objects, time to think in between.
//!
//! The shape is that of ns-2's web traffic model (sessions, pages, objects) in its smallest form. A session asks for a number of
//! pages, one after the other. The objects of a page are asked for at the same time, each over a flow of its own. Once the last
//! of them has arrived the reader thinks, then requests the next page: unlike Poisson arrivals of single flows, a slow network is asked
//! for less.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use cwnd::{Span, Time};

use super::size::Sizes;
use crate::error::{SetupError, SetupPart, in_range};
use crate::random::Stream;

/// What a session consists of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pages {
    /// Mean number of pages of a session, geometric; at least 1.
    pub pages: f64,
    /// Mean number of objects of a page, geometric; at least 1.
    pub objects: f64,
    /// Mean time between the arrival of a page and the request for the next one, exponential.
    pub think: Span,
}

/// The sessions under way.
#[derive(Debug)]
pub(crate) struct WebUsers {
    pages: Pages,
    seeds: Stream,
    sessions: Vec<Session>,
    /// Places in `sessions` whose session is over.
    free: Vec<u32>,
    /// When the next pages are turned, and by whom.
    thinking: BinaryHeap<Reverse<(Time, u32)>>,
}

/// A session draws all it consists of from a stream of its own: its requests do not depend on how fast responses arrive.
#[derive(Debug)]
struct Session {
    stream: Stream,
    pages_left: u64,
    objects_open: u64,
}

impl Pages {
    pub(crate) fn check(&self, part: &SetupPart) -> Result<(), SetupError> {
        let accepted = |mean: f64| (1.0..=MAX_MEAN).contains(&mean);
        in_range(accepted(self.pages), part, "web.pages", "1 to 1000000")?;
        in_range(accepted(self.objects), part, "web.objects", "1 to 1000000")
    }
}

impl WebUsers {
    /// No sessions yet; they draw from streams seeded by `seeds`.
    pub(crate) fn new(pages: Pages, seeds: Stream) -> Self {
        Self { pages, seeds, sessions: Vec::new(), free: Vec::new(), thinking: BinaryHeap::new() }
    }

    /// Begins a session and asks for its first page: `ask` is called with the session and the size of each object.
    pub(crate) fn begin(&mut self, sizes: Sizes, ask: impl FnMut(u32, u64)) {
        let mut stream = Stream::seeded(self.seeds.seed());
        let session = Session { pages_left: stream.geometric(self.pages.pages), objects_open: 0, stream };
        let index = match self.free.pop() {
            Some(index) => {
                self.sessions[index as usize] = session;
                index
            }
            None => {
                self.sessions.push(session);
                self.sessions.len() as u32 - 1
            }
        };
        self.turn(index, sizes, ask);
    }

    /// When the next page is turned; [`Time::MAX`] while nobody thinks.
    pub(crate) fn due(&self) -> Time {
        self.thinking.peek().map_or(Time::MAX, |Reverse((at, _))| *at)
    }

    /// Turns the page that is due.
    pub(crate) fn pass(&mut self, sizes: Sizes, ask: impl FnMut(u32, u64)) {
        if let Some(Reverse((_, index))) = self.thinking.pop() {
            self.turn(index, sizes, ask);
        }
    }

    /// An object of `index` has arrived.
    pub(crate) fn object_arrived(&mut self, now: Time, index: u32) {
        let session = &mut self.sessions[index as usize];
        session.objects_open -= 1;
        if session.objects_open > 0 {
            return;
        }
        if session.pages_left > 0 {
            let think = self.pages.think.mul_f64(session.stream.exponential());
            self.thinking.push(Reverse((now + think, index)));
        } else {
            self.free.push(index);
        }
    }

    fn turn(&mut self, index: u32, sizes: Sizes, mut ask: impl FnMut(u32, u64)) {
        let session = &mut self.sessions[index as usize];
        session.pages_left -= 1;
        session.objects_open = session.stream.geometric(self.pages.objects);
        for _ in 0..session.objects_open {
            ask(index, sizes.draw(&mut session.stream));
        }
    }
}

/// More pages or objects than anybody asks for.
const MAX_MEAN: f64 = 1e6;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_turned_after_its_last_object_and_a_thought() {
        let pages = Pages { pages: 3.0, objects: 2.0, think: Span::from_secs(1) };
        let mut users = WebUsers::new(pages, Stream::new(1, "users"));
        let (mut asked, mut turned, mut thought) = (0_u64, 0_u64, 0.0);
        for _ in 0..2000 {
            let mut now = Time::ZERO;
            let mut open = 0;
            users.begin(Sizes::Constant(5), |session, size| {
                assert_eq!((session, size), (0, 5), "one session at a time needs one place");
                open += 1;
            });
            loop {
                turned += 1;
                asked += open;
                for left in (0..open).rev() {
                    assert_eq!(users.due(), Time::MAX, "{left} objects are on their way");
                    users.object_arrived(now, 0);
                }
                if users.due() == Time::MAX {
                    break;
                }
                thought += users.due().since(now).as_secs_f64();
                now = users.due();
                open = 0;
                users.pass(Sizes::Constant(5), |_, _| open += 1);
            }
        }
        assert!((turned as f64 / 2000.0 - 3.0).abs() < 0.25, "{turned} pages");
        assert!((asked as f64 / turned as f64 - 2.0).abs() < 0.1, "{asked} objects on {turned} pages");
        assert!((thought / (turned - 2000) as f64 - 1.0).abs() < 0.07, "{thought} s");
    }
}
