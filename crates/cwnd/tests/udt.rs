//! UDT's profiles against sequences worked out by hand.
//!
//! Packets of 1500 bytes and a round trip of 90 ms throughout, so that SYN + RTT is a tenth of a second and a packet per second
//! is 12 kbit/s.

use cwnd::signal::Limit;
use cwnd::{
    Ack, Algorithm, Congestion, CongestionControl, Pacing, Packets, Probe, Rate, Remote, Rtt, Span, Spec, Start, Time,
    View,
};

const RTT: Span = Span::from_millis(90);

/// A sender and the number of its next packet.
struct Sender {
    udt: Algorithm,
    next: u64,
    rtt: Option<Span>,
}

impl Sender {
    fn new(spec: &str) -> Self {
        let udt = Spec::parse(spec).unwrap_or_else(|error| panic!("{error}")).start(&Start::default());
        Self { udt, next: 1000, rtt: Some(RTT) }
    }

    fn view(&self, millis: u64) -> View {
        let mut view = View::new(Time::ZERO + Span::from_millis(millis), &Start::default());
        (view.next, view.in_flight) = (self.next, 100);
        (view.rtt, view.limit) = (self.rtt.map(Rtt::fixed), Limit::Rate);
        view
    }

    fn ack(&mut self, millis: u64, newly: u32, remote: Remote) {
        let view = self.view(millis);
        self.udt.on_ack(&view, &Ack::new(newly, Time::ZERO).with_remote(remote));
    }

    fn nak(&mut self, millis: u64, first: u64) {
        let view = self.view(millis);
        self.udt.on_congestion(&view, &Congestion::loss(first, 1));
    }

    fn wake(&mut self, millis: u64) {
        let view = self.view(millis);
        self.udt.on_wake(&view);
    }

    fn rate(&self) -> f64 {
        match self.udt.control().pacing {
            Pacing::At(rate) => rate.0,
            other => panic!("UDT sets a rate, not {other:?}"),
        }
    }

    fn window(&self) -> f64 {
        self.udt.control().window.0
    }

    fn woken_at(&self) -> Option<u64> {
        self.udt.control().wake.map(|wake| wake.as_nanos() / 1_000_000)
    }
}

fn report(arrivals: f64, capacity: f64) -> Remote {
    let mut remote = Remote::default();
    (remote.arrival_rate, remote.capacity) = (Some(Rate(arrivals)), Some(Rate(capacity)));
    remote
}

fn close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-9 * expected, "{found} instead of {expected}");
}

/// The number of SYNs in which the paper's rate control alone reaches 90 % of `capacity` from nothing.
fn syns_to_ninety_percent(capacity: f64, rtt: Span) -> u64 {
    let mut sender =
        Sender::new(&format!("udt:profile=paper,start=none,floor=0,capacity={capacity}bit,initial_rate=1e-3bit"));
    sender.rtt = Some(rtt);
    let mut syns = 0;
    while sender.rate() * 12_000.0 < 0.9 * capacity * (1.0 - 1e-9) {
        sender.ack(10 * syns, 1, Remote::default());
        syns += 1;
        assert_eq!(sender.woken_at(), Some(10 * syns));
        sender.wake(10 * syns);
        assert!(syns < 1000, "stalled at {}", sender.rate());
    }
    syns
}

#[test]
fn ninety_percent_of_any_capacity_takes_750_syn() {
    let powers = [1e6, 1e7, 1e8, 6.22e8, 1e9, 1e10].map(|capacity| (capacity, 750));
    let others = [2e6, 5e7, 2e8, 2e9].map(|capacity| (capacity, 744));
    for (capacity, expected) in powers.into_iter().chain(others).chain([(1.001e6, 742)]) {
        for rtt in [1, 10, 100] {
            let found = syns_to_ninety_percent(capacity, Span::from_millis(rtt));
            assert_eq!(found, expected, "L = {capacity:e}, RTT = {rtt} ms");
        }
    }
}

#[test]
fn every_full_stage_takes_750_syn_and_grows_a_tenth_of_the_one_before() {
    let mut sender = Sender::new("udt:profile=paper,start=none,floor=0,capacity=1gbit,initial_rate=1e-3bit");
    let mut lengths = Vec::new();
    let (mut since, mut last) = (0, 100.0);
    for syn in 0..3100 {
        let before = sender.rate();
        sender.ack(10 * syn, 1, Remote::default());
        sender.wake(10 * (syn + 1));
        let step = sender.rate() - before;
        if (step / last - 1.0).abs() > 1e-6 {
            close(step / last, 0.1);
            lengths.push(syn - since);
            (since, last) = (syn, step);
        }
    }
    assert_eq!(lengths, [750, 750, 750, 750]);
}

#[test]
fn udt4_starts_unpaced_and_ends_slow_start_at_the_arrival_rate() {
    let mut sender = Sender::new("udt");
    assert_eq!((sender.window(), sender.rate()), (16.0, 1e6));
    assert_eq!(sender.udt.control().probe, Probe::PairEvery(16));
    sender.ack(100, 16, report(8000.0, 50_000.0));
    assert_eq!((sender.window(), sender.rate()), (32.0, 1e6));
    sender.nak(105, 5);
    close(sender.rate(), 8000.0);
    assert_eq!(sender.woken_at(), None, "udt4 needs no clock: it grows with the reports");
}

#[test]
fn udt4_goes_on_after_an_early_loss_until_it_knows_the_arrival_rate() {
    let mut sender = Sender::new("udt");
    sender.nak(50, 5);
    sender.nak(50, 7);
    assert_eq!((sender.window(), sender.rate()), (16.0, 1e6), "libudt goes on with 16 packets/s");
    sender.ack(60, 4, Remote::default());
    assert_eq!((sender.window(), sender.rate()), (20.0, 1e6));
    sender.ack(150, 20, report(8000.0, 50_000.0));
    close(sender.rate(), 8000.0);
}

#[test]
fn udt4_ends_slow_start_sanely_without_an_arrival_rate() {
    let ended = |rtt| {
        let mut sender = Sender::new("udt");
        sender.rtt = rtt;
        sender.nak(50, 5);
        sender.next += 10;
        sender.nak(150, 1001);
        sender.rate()
    };
    close(ended(Some(RTT)), 160.0); // 16 packets / 0.1 s
    close(ended(None), 16.0 / 0.11);
}

#[test]
fn udt4_grows_with_reports_and_holds_back_below_its_last_rate() {
    let mut sender = Sender::new("udt");
    sender.ack(100, 16, report(8000.0, 50_000.0));
    sender.nak(105, 5);
    // 42000 packets/s = 504 Mbit/s to spare, but the rate is below that of the last cut (10^6 at the start): at most
    // L/9 = 66.7 Mbit/s count, which is 0.1 packets per SYN.
    sender.ack(110, 1, report(8000.0, 50_000.0));
    close(sender.rate(), 8010.0);
    close(sender.window(), 816.0);
    sender.ack(112, 1, report(8000.0, 50_000.0));
    close(sender.rate(), 8010.0);

    sender.nak(115, 500);
    close(sender.rate(), 7120.0);
    sender.ack(120, 1, report(8000.0, 50_000.0));
    close(sender.rate(), 7120.0);
    for n in 1..=89 {
        sender.ack(120 + 10 * n, 1, report(8000.0, 50_000.0));
    }
    close(sender.rate(), 8010.0);
    // As fast as before the cut: the full 503.88 Mbit/s count, 1 packet per SYN.
    sender.ack(1020, 1, report(8000.0, 50_000.0));
    close(sender.rate(), 8110.0);
}

#[test]
fn udt4_smooths_reports_and_grows_by_a_hundredth_where_nothing_is_spare() {
    let mut sender = Sender::new("udt");
    sender.ack(100, 16, report(8000.0, 4000.0));
    sender.nak(105, 5);
    sender.ack(110, 1, report(16_000.0, 8000.0));
    // 7/8 * 8000 + 1/8 * 16000 = 9000 arrive; the capacity is below the rate.
    close(sender.window(), 916.0);
    close(sender.rate(), 8001.0);
}

#[test]
fn udt4_reacts_to_a_burst_at_most_five_times_and_to_a_silence_once() {
    let mut sender = Sender::new("udt");
    sender.ack(100, 16, report(9000.0, 50_000.0));
    sender.nak(105, 5);
    for first in 6..100 {
        sender.nak(106, first);
    }
    close(sender.rate(), 9000.0 / 1.125_f64.powi(5));
    let view = sender.view(400);
    sender.udt.on_congestion(&view, &Congestion::delay(2000));
    close(sender.rate(), 9000.0 / 1.125_f64.powi(5));
    for persistent in [false, true, true] {
        sender.udt.on_congestion(&view, &Congestion::timeout(2000, persistent));
        close(sender.rate(), 4500.0 / 1.125_f64.powi(5));
    }
}

#[test]
fn udt4_ends_slow_start_where_the_peer_has_no_more_room() {
    for (room, expected) in [(20.0, 500.0), (450.0, 450.0 / RTT.as_secs_f64())] {
        let mut sender = Sender::new("udt");
        let mut view = sender.view(100);
        view.peer_window = Packets(room);
        let remote = report(500.0, 1000.0);
        let newly = room as u32;
        sender.udt.on_ack(&view, &Ack::new(newly, Time::ZERO).with_remote(remote));
        // The arrival rate, but not less than the window spread over a round trip: nothing was lost.
        close(sender.rate(), expected);
        sender.ack(200, 1, report(500.0, 1000.0));
        assert!(sender.window() < 450.0, "slow start is over");
    }
}

#[test]
fn a_given_capacity_needs_no_pairs() {
    let mut sender = Sender::new("udt:capacity=1gbit,start=none");
    assert_eq!(sender.udt.control().probe, Probe::None);
    close(sender.rate(), 100.0);
    sender.ack(10, 1, report(100.0, 50.0));
    // L/9 = 111 Mbit/s to spare: 1 packet per SYN, whatever the pairs say.
    close(sender.rate(), 200.0);
}

#[test]
fn release_2_2_counts_acknowledgements_then_averages_at_the_sender() {
    let mut sender = Sender::new("udt:profile=ns2-2.2");
    // As many as the window may be unacknowledged when another leaves: one more than it is.
    assert_eq!((sender.window(), sender.rate()), (3.0, 1e6));
    sender.ack(100, 2, report(1000.0, 10_000.0));
    sender.ack(110, 6, report(1000.0, 10_000.0));
    assert_eq!(sender.window(), 9.0);
    sender.nak(115, 9);
    // One packet per SYN until a SYN has passed, then 10^6 / 1.125.
    close(sender.rate(), 100.0);
    assert_eq!(sender.woken_at(), Some(125));
    sender.wake(125);
    close(sender.rate(), 1e6 / 1.125);
    // ceil(0.875 * 8 + 0.125 * 1000 * 0.1) = ceil(19.5); no capacity is spare, so the rate grows by 1/1500 per SYN.
    sender.ack(126, 1, report(1000.0, 10_000.0));
    assert_eq!(sender.window(), 21.0);
    close(sender.rate(), 1e6 / 1.125 + 100.0 / 1500.0);
}

#[test]
fn release_2_2_sends_at_least_a_packet_per_round_trip() {
    let mut sender = Sender::new("udt:profile=ns2-2.2,decrease=per-nak");
    for first in 0..300 {
        sender.nak(100, first);
    }
    sender.wake(110);
    close(sender.rate(), 1.0 / 0.09);
}

/// Brings a sender to 9000 packets per second with a capacity of 50,000, out of slow start.
fn settled(spec: &str) -> Sender {
    let mut sender = Sender::new(&format!("{spec},start=none,initial_rate=108mbit"));
    sender.ack(100, 1, report(9000.0, 50_000.0));
    sender
}

#[test]
fn paper_grows_by_equation_8_where_release_1_1_has_ten_times_that_or_a_ninth_of_the_capacity() {
    // 41000 packets/s = 492 Mbit/s to spare: 1 packet per SYN by eq. 8, 10 in release 1.1.
    for (profile, step) in [("paper", 100.0), ("ns2-1.1", 1000.0)] {
        let mut sender = settled(&format!("udt:profile={profile}"));
        sender.wake(110);
        close(sender.rate(), 9000.0 + step);
    }
    // After a cut a ninth of 600 Mbit/s counts in release 1.1: 0.1 packets per SYN.
    let mut sender = settled("udt:profile=ns2-1.1");
    sender.nak(102, 5);
    sender.nak(103, 6);
    sender.wake(120);
    close(sender.rate(), 8000.0 + 10.0);
}

#[test]
fn paper_cuts_at_every_negative_feedback_and_grows_in_a_syn_without_any() {
    let cut = |times: i32| 9000.0 / 1.125_f64.powi(times);
    let mut sender = settled("udt:profile=paper");
    sender.nak(102, 5);
    sender.nak(103, 6);
    // No pause: the rate falls at once. No growth at the end of this SYN.
    close(sender.rate(), cut(2));
    sender.wake(110);
    close(sender.rate(), cut(2));
    // An acknowledgement of that SYN does not count for the next one, which has none.
    sender.wake(120);
    close(sender.rate(), cut(2));
    sender.ack(121, 1, report(9000.0, 50_000.0));
    sender.wake(130);
    close(sender.rate(), cut(2) + 100.0);
    // A rising delay is a negative feedback, too.
    sender.ack(131, 1, report(9000.0, 50_000.0));
    let before = sender.rate();
    let view = sender.view(132);
    sender.udt.on_congestion(&view, &Congestion::delay(2000));
    sender.wake(140);
    close(sender.rate(), before / 1.125);
}

#[test]
fn paper_rounds_no_window_and_grows_by_nothing_at_the_capacity() {
    let mut sender = Sender::new("udt:profile=paper,start=none,initial_rate=108mbit,initial_window=8");
    sender.ack(100, 1, report(9000.0, 9000.0));
    // 0.875 * 8 + 0.125 * 9000 * 0.1 = 119.5, and one more packet may leave.
    assert_eq!(sender.window(), 120.0);
    sender.ack(105, 1, report(9000.0, 9000.0));
    // 0.875 * 119.5 + 112.5 = 217.06; rounded up at each step it would be 218.
    assert_eq!(sender.window(), 218.0);
    sender.wake(110);
    close(sender.rate(), 9000.0);
}

#[test]
fn release_1_1_forgives_the_first_single_loss_and_cuts_again_after_18_naks() {
    let mut sender = settled("udt:profile=ns2-1.1");
    sender.nak(101, 5);
    close(sender.rate(), 9000.0);
    sender.nak(101, 6);
    sender.wake(105);
    // The pause ends after a SYN.
    close(sender.rate(), 100.0);
    for _ in 0..17 {
        sender.nak(106, 7);
    }
    sender.wake(109);
    sender.nak(109, 8);
    for nak in 0..4 {
        sender.nak(109, 10 + nak);
    }
    // The 18th and the 4th after it.
    let view = sender.view(109);
    sender.udt.on_congestion(&view, &Congestion::delay(2000));
    // A delay warning cuts, too.
    let mut thawed = sender;
    thawed.next += 100;
    let view = thawed.view(111);
    thawed.udt.on_wake(&view);
    let expected = 9000.0 / 1.125_f64.powi(4);
    assert!((thawed.rate() / expected - 1.0).abs() < 0.01, "{} instead of {expected}", thawed.rate());
}

#[test]
fn release_2_0_does_not_grow_in_a_syn_with_a_loss() {
    let mut sender = settled("udt:profile=ns2-2.0");
    sender.nak(102, 5);
    sender.wake(115);
    close(sender.rate(), 8000.0);
    sender.ack(117, 1, report(9000.0, 50_000.0));
    sender.wake(125);
    assert!(sender.rate() > 8000.0, "{}", sender.rate());
}

#[test]
fn the_decreases_can_be_chosen() {
    for (decrease, cuts) in [("per-nak", 3), ("per-epoch", 1), ("per-interval", 2)] {
        let spec = format!("udt:profile=ns2-2.0,start=none,initial_rate=108mbit,decrease={decrease}");
        let mut sender = Sender::new(&spec);
        sender.nak(100, 1);
        sender.nak(101, 2);
        sender.wake(110);
        sender.nak(112, 3);
        sender.wake(130);
        close(sender.rate(), 9000.0 / 1.125_f64.powi(cuts));
    }
}

#[test]
fn rules_of_the_agents_are_refused_elsewhere_and_the_old_profile_names_the_new_ones() {
    for (spec, said) in [
        ("udt:profile=ns2", "udt4 | paper | ns2-1.1 | ns2-2.0 | ns2-2.2"),
        ("udt:acknowledge=cumulative", "unless `profile` is `paper`"),
        ("udt:decrease=doubling", "`doubling` is of the other profiles"),
    ] {
        let error = Spec::parse(spec).expect_err(spec).to_string();
        assert!(error.contains(said), "{error}");
    }
}
