//! Video: a frame at a time, with a larger one every so often.

use cwnd::{Bytes, Span, Time};

use crate::error::{SetupError, SetupPart, in_range};

/// The frames of a video with headers, each handed over at once. A packet that a frame does not fill leaves with the next frame, so that the
/// rate is exact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Video {
    /// The size of a frame; at least 1 byte, at most 1 GB.
    pub frame: u64,
    /// The size of a key frame, which shows a picture without those before; at least `frame`, at most 1 GB.
    pub key: u64,
    /// Frames from one key frame to the next; at least 1. The first frame is one.
    pub every: u32,
    /// Frames per second; above 0, at most 1000.
    pub per_second: f64,
}

/// A video being played.
#[derive(Clone, Debug)]
pub(super) struct Player {
    video: Video,
    packet: u64,
    /// Bytes that do not fill a packet yet.
    rest: u64,
    /// When it began.
    start: Time,
    /// Frames since.
    frames: u64,
}

impl Video {
    /// The mean rate, bit/s.
    #[must_use]
    pub fn mean_rate(&self) -> u64 {
        let cycle = self.frame as f64 * (f64::from(self.every) - 1.0) + self.key as f64;
        (cycle * 8.0 * self.per_second / f64::from(self.every)).round() as u64
    }

    pub(super) fn check(&self, part: &SetupPart, field: &'static str) -> Result<(), SetupError> {
        let sizes = self.frame > 0 && self.frame <= self.key && self.key <= MOST_BYTES;
        in_range(
            sizes,
            part,
            field,
            "a video with frames of at least 1 byte, and key frames no smaller and of at most 1 GB",
        )?;
        let times = self.per_second > 0.0 && self.per_second <= MOST_FRAMES && self.every > 0;
        in_range(
            times,
            part,
            field,
            "a video with more than 0 and at most 1000 frames per second, of which at least one is a key frame",
        )
    }
}

impl Player {
    /// The first frame is due at `start`, or part `delay` (0..=1) of the time of a frame later.
    pub(super) fn new(video: Video, packet: Bytes, start: Time, delay: f64) -> Self {
        let start = start + Span::from_secs_f64(delay / video.per_second);
        Self { video, packet: u64::from(packet.0), rest: 0, start, frames: 0 }
    }

    /// When the next frame is due.
    pub(super) fn due(&self) -> Time {
        self.start + Span::from_secs_f64(self.frames as f64 / self.video.per_second)
    }

    /// That time has come: the packets that are full now.
    pub(super) fn pass(&mut self) -> u64 {
        let is_key = self.frames.is_multiple_of(u64::from(self.video.every));
        self.rest += if is_key { self.video.key } else { self.video.frame };
        self.frames += 1;
        let packets = self.rest / self.packet;
        self.rest %= self.packet;
        packets
    }

    /// Starts anew at `now` with a key frame.
    pub(super) fn restart(&mut self, now: Time) {
        (self.start, self.frames) = (now, 0);
    }

    pub(super) fn rate(&self) -> u64 {
        self.video.mean_rate()
    }
}

const MOST_BYTES: u64 = 1_000_000_000;
const MOST_FRAMES: f64 = 1000.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// Milliseconds and packets of frames.
    fn played(video: Video, packet: u32, frames: usize) -> Vec<(u64, u64)> {
        let mut player = Player::new(video, Bytes(packet), Time::ZERO, 0.0);
        (0..frames).map(|_| (player.due().as_nanos() / 1_000_000, player.pass())).collect()
    }

    #[test]
    fn a_key_frame_comes_every_so_often() {
        let video = Video { frame: 3000, key: 30_000, every: 3, per_second: 50.0 };
        assert_eq!(played(video, 1500, 5), [(0, 20), (20, 2), (40, 2), (60, 20), (80, 2)]);
        // (30 + 3 + 3) kB each 60 ms.
        assert_eq!(video.mean_rate(), 4_800_000);
    }

    #[test]
    fn packets_that_frames_do_not_fill_leave_with_the_next() {
        // C4's video: 37.5 kB and 29 of 3.75 kB in each second.
        let video = Video { frame: 3750, key: 37_500, every: 30, per_second: 30.0 };
        let packets: Vec<u64> = played(video, 1500, 300).into_iter().map(|(_, packets)| packets).collect();
        assert_eq!(packets[..5], [25, 2, 3, 2, 3]);
        let bytes = 10 * (37_500 + 29 * 3750);
        assert_eq!((packets.iter().sum::<u64>(), video.mean_rate()), (bytes / 1500, bytes * 8 / 10));
    }

    #[test]
    fn frames_keep_their_times_and_a_restart_begins_with_a_key_frame() {
        let video = Video { frame: 1500, key: 3000, every: 2, per_second: 30.0 };
        let mut player = Player::new(video, Bytes(1500), Time::ZERO, 0.5);
        let first = player.due().as_nanos();
        (0..30_000_000).step_by(10_000_000).for_each(|frames| {
            player.frames = frames;
            let exact = frames / 30 * 1_000_000_000 + frames % 30 * 1_000_000_000 / 30;
            assert!((player.due().as_nanos() - first).abs_diff(exact) <= 1, "{frames} frames");
        });
        assert_eq!(first, 16_666_667);
        player.restart(Time::from_nanos(7));
        assert_eq!((player.due(), player.pass(), player.pass()), (Time::from_nanos(7), 2, 1));
    }
}
