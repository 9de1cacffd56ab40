//! Applications: what a flow has to send, and when.

use cwnd::{Bytes, Span, Time};

use super::clock::Clock;
use super::rate::{RateChange, RateSchedule};
use super::video::Player;
use crate::error::{SetupError, SetupPart, in_range, require};
use crate::random::Stream;

/// The data that an application supplies to its sender, from the start of the flow to its stop.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Source {
    /// Always more than the sender can send.
    #[default]
    Bulk,
    /// A number of packets, all at once; at least 1. The flow is complete when the last one has arrived.
    Packets(u64),
    /// Packets on a clock, at a rate of its own: what the network does not take yet waits at the sender.
    Rate(RateSchedule),
}

/// A time in which an application hands nothing over. What a [`Source::Rate`] has handed over before is still sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// Its begin.
    pub from: Time,
    /// Its end.
    pub to: Time,
}

/// The data that an application has supplied so far; nothing is stored for one that always has more.
#[derive(Clone, Debug, Default)]
pub(crate) struct Backlog(Option<Box<Application>>);

#[derive(Clone, Debug)]
struct Application {
    /// Packets below this number may leave.
    handed: u64,
    /// That holds until here.
    until: Time,
    supply: Supply,
    /// None where it never pauses or stops.
    switches: Option<Box<Switches>>,
    /// Everything sent has been acknowledged since; [`Time::MAX`] while something is outstanding.
    idle_since: Time,
}

#[derive(Clone, Debug)]
struct Switches {
    on: bool,
    /// When the application pauses, goes on, …, stops; the next one last.
    times: Vec<Time>,
}

#[derive(Clone, Debug)]
enum Supply {
    /// Packets below this number while the application is on.
    Store(u64),
    Clock(Box<Clock>),
    Video(Box<Player>),
}

impl Source {
    /// Checks it together with the times around it.
    pub(crate) fn check(
        &self,
        part: &SetupPart,
        start: Time,
        stop: Option<Time>,
        pauses: &[Pause],
        packet: Bytes,
    ) -> Result<(), SetupError> {
        let times = pauses.iter().flat_map(|pause| [pause.from, pause.to]).chain(stop);
        let ascending = times.scan(start, |last, time| Some(std::mem::replace(last, time) < time)).all(|later| later);
        in_range(stop.is_none_or(|stop| stop > start), part, "stop", "later than the start")?;
        require(ascending, part, "its pauses must follow each other between its start and its stop")?;
        match self {
            Self::Bulk => Ok(()),
            Self::Packets(packets) => require(*packets > 0, part, "it must send at least 1 packet"),
            Self::Rate(schedule) => {
                let field = if matches!(part, SetupPart::Cbr(_)) { "rate" } else { "source" };
                schedule.check(part, field, packet)
            }
        }
    }
}

impl Backlog {
    /// An application that starts at `start`. `clock` is asked where packets come on a clock: after how much of a packet's time
    /// the first one is due (0..=1), and what rates are drawn from.
    pub(crate) fn new(
        source: &Source,
        (start, stop): (Time, Option<Time>),
        pauses: &[Pause],
        packet: Bytes,
        clock: impl FnOnce() -> (f64, Stream),
    ) -> Self {
        let supply = match source {
            Source::Bulk if stop.is_none() && pauses.is_empty() => return Self(None),
            Source::Bulk => Supply::Store(u64::MAX),
            Source::Packets(packets) => Supply::Store(*packets),
            Source::Rate(RateSchedule { change: RateChange::Frames(video), .. }) => {
                Supply::Video(Box::new(Player::new(*video, packet, start, clock().0)))
            }
            Source::Rate(schedule) => Supply::Clock(Box::new(Clock::new(*schedule, packet, start, clock()))),
        };
        let mut switches: Vec<Time> = pauses.iter().flat_map(|pause| [pause.from, pause.to]).chain(stop).collect();
        switches.reverse();
        Self::of(supply, switches)
    }

    /// An application with this number of packets, all at once.
    pub(crate) fn packets(packets: u64) -> Self {
        Self::of(Supply::Store(packets), Vec::new())
    }

    fn of(supply: Supply, times: Vec<Time>) -> Self {
        let switches = (!times.is_empty()).then(|| Box::new(Switches { on: true, times }));
        let mut application = Application { handed: 0, until: Time::MAX, supply, switches, idle_since: Time::MAX };
        application.update();
        Self(Some(Box::new(application)))
    }

    /// Whether the application has handed over packet `number` by `now`.
    #[inline]
    pub(crate) fn has(&mut self, now: Time, number: u64) -> bool {
        self.ahead(now, number) > 0
    }

    /// The number of packets from `number` on that the application has supplied by `now`.
    #[inline]
    pub(crate) fn ahead(&mut self, now: Time, number: u64) -> u64 {
        match &mut self.0 {
            None => u64::MAX,
            Some(application) => {
                if now >= application.until {
                    application.advance(now);
                }
                application.handed.saturating_sub(number)
            }
        }
    }

    /// When it may have more than it has now; [`Time::MAX`] for never.
    #[inline]
    pub(crate) fn due(&self) -> Time {
        self.0.as_ref().map_or(Time::MAX, |application| application.until)
    }

    /// The rate at which it hands packets over, bit/s; none where that has no meaning.
    pub(crate) fn rate(&self) -> Option<u64> {
        let application = self.0.as_deref()?;
        let rate = match &application.supply {
            Supply::Store(_) => return None,
            Supply::Clock(clock) => clock.rate(),
            Supply::Video(player) => player.rate(),
        };
        Some(if application.is_on() { rate } else { 0 })
    }

    /// Everything sent has been acknowledged.
    pub(crate) fn become_idle(&mut self, now: Time) {
        if let Some(application) = &mut self.0 {
            application.idle_since = now;
        }
    }

    /// Sending goes on: after how long without a packet in the network, if there was such a time.
    pub(crate) fn resume(&mut self, now: Time) -> Option<Span> {
        let since = std::mem::replace(&mut self.0.as_mut()?.idle_since, Time::MAX);
        Some(now.since(since)).filter(|idle| *idle > Span::ZERO)
    }
}

impl Application {
    fn is_on(&self) -> bool {
        self.switches.as_ref().is_none_or(|switches| switches.on)
    }

    #[cold]
    fn advance(&mut self, now: Time) {
        while self.until <= now {
            let at = self.until;
            if let Some(switches) = self.switches.as_mut().filter(|switches| switches.times.last() == Some(&at)) {
                switches.times.pop();
                switches.on = !switches.on;
                match &mut self.supply {
                    Supply::Clock(clock) if switches.on => clock.restart(at),
                    Supply::Video(player) if switches.on => player.restart(at),
                    _ => {}
                }
            } else {
                self.handed += match &mut self.supply {
                    Supply::Store(_) => 0,
                    Supply::Clock(clock) => u64::from(clock.pass()),
                    Supply::Video(player) => player.pass(),
                };
            }
            self.update();
        }
    }

    /// Updates what there is now, and until when that holds.
    fn update(&mut self) {
        let switch = self.switches.as_ref().and_then(|switches| switches.times.last().copied()).unwrap_or(Time::MAX);
        let on = self.is_on();
        self.until = match &self.supply {
            Supply::Clock(clock) if on => clock.due().min(switch),
            Supply::Video(player) if on => player.due().min(switch),
            _ => switch,
        };
        if let Supply::Store(packets) = self.supply {
            self.handed = if on { packets } else { 0 };
        }
    }
}
