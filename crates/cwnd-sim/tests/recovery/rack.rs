//! RACK-TLP: what it finds without the retransmission timer, and what it undoes.

use cwnd::{Span, Spec};
use cwnd_sim::{Dumbbell, Era, Fault, Loss, QueueLimit, RecoveryScheme, ReorderBy, Reordering, Setup, Source, Trace};

use crate::record::{Record, lose, setup, table};
use crate::verify;

/// The record of RACK next to that of SACK, after comparing their table with the recorded one.
fn recorded(name: &str, title: &str, until_ms: u64, faults: &[Fault]) -> [Record; 2] {
    let schemes = [RecoveryScheme::Sack, RecoveryScheme::Rack];
    let records = schemes.map(|scheme| Record::of(&modern(scheme, faults)));
    let columns: Vec<_> = schemes.iter().map(|scheme| scheme.name()).zip(&records).collect();
    verify(name, &table(title, until_ms * 1_000_000, &columns));
    records
}

/// The usual flow as it is today, but for two packets to start with, so that the tables are those of the other schemes.
fn modern(scheme: RecoveryScheme, faults: &[Fault]) -> Setup {
    let mut setup = setup(scheme, faults);
    setup.flows[0].era = Era { initial_window: 2.0, ..Era::MODERN };
    setup
}

#[test]
fn a_lost_retransmission_is_found_by_what_was_sent_after_it() {
    let title =
        "Packet 14 is lost twice. RACK sees that something sent after it has arrived; SACK waits for the timer.";
    let faults = [1, 2].map(|transmission| Fault::Data { flow: 0, number: 14, transmission });
    let [sack, rack] = recorded("rack-lost-retransmission", title, 1300, &faults);
    assert_eq!((sack.timeouts(), rack.timeouts()), (1, 0));
    assert_eq!(rack.resent_numbers(), [14, 14]);
    assert_eq!(rack.cuts(), [8.0], "both belong to one window");
    assert!(rack.round_trips() < 1.6, "{}", rack.round_trips());
}

#[test]
fn five_losses_are_repaired_in_a_round_trip() {
    let holes = [14, 16, 18, 20, 22];
    let record = Record::of(&modern(RecoveryScheme::Rack, &lose(&holes)));
    assert_eq!((record.resent_numbers(), record.timeouts()), (holes.to_vec(), 0));
    assert!(record.round_trips() < 0.5, "{}", record.round_trips());
}

/// RFC 8985 section 2.1: too few packets follow to make three duplicates.
#[test]
fn a_loss_at_the_end_is_found_by_a_probe() {
    let title = "A transfer of 30 packets, the last of which is lost: RACK repeats it after two round trips and 200 ms, SACK after a second.";
    let finite = |scheme, faults: &[Fault]| {
        let mut setup = modern(scheme, faults);
        setup.flows[0].source = Source::Packets(30);
        Record::of(&setup)
    };
    let records = [RecoveryScheme::Sack, RecoveryScheme::Rack].map(|scheme| finite(scheme, &lose(&[29])));
    verify("rack-tail-loss", &table(title, 2000 * 1_000_000, &[("sack", &records[0]), ("rack", &records[1])]));
    let [sack, rack] = records;
    assert_eq!((sack.timeouts(), rack.timeouts()), (1, 0));
    assert_eq!((sack.resent_numbers(), rack.resent_numbers()), (vec![29], vec![29]));
    // A round trip until the last acknowledgement, two more, and 200 ms since that of a single packet may be delayed.
    let waited = |record: &Record| record.resent().next().map_or(0, |sent| sent.at) / 1_000_000 - 430;
    assert!((480..560).contains(&waited(&rack)) && waited(&sack) > 900, "{} and {} ms", waited(&rack), waited(&sack));
    // Three of a tail: the probe repeats the last, and its acknowledgement shows the others lost.
    let three = finite(RecoveryScheme::Rack, &lose(&[27, 28, 29]));
    assert_eq!((three.timeouts(), three.resent_numbers()), (0, vec![29, 27, 28]));
}

/// Bulk data of `seconds` under random loss.
fn lossy(scheme: RecoveryScheme, loss: f64, seconds: u64) -> Trace {
    let bell = Dumbbell {
        loss: Loss::Bernoulli(loss),
        ..Dumbbell::new(100_000_000, Span::from_millis(40), QueueLimit::Packets(300))
    };
    let reno = Spec::parse("reno").expect("registered");
    let mut setup = bell.setup(&[reno], Era::MODERN, Span::from_secs(seconds), Span::ZERO, 1);
    setup.flows[0].recovery = scheme;
    cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup")
}

/// At p = 0.01 SACK waits for the timer after nearly each lost retransmission, 1 % of the losses.
#[test]
fn timeouts_per_loss_fall_at_least_fivefold() {
    let per_loss = |scheme| {
        let trace = lossy(scheme, 0.01, 2000);
        let last = |curve: &[u64]| *curve.last().expect("sampled") as f64;
        let flow = &trace.flows[0];
        (last(&flow.timeouts) / last(&flow.lost) * 10_000.0, last(&flow.delivered))
    };
    let ((sack, few), (rack, many)) = (per_loss(RecoveryScheme::Sack), per_loss(RecoveryScheme::Rack));
    println!("per 10,000 losses: {sack:.1} and {rack:.1}; packets: {few} and {many}");
    assert!(rack * 5.0 <= sack, "{sack:.1} and {rack:.1} per 10,000 losses");
    assert!(many > few, "{few} and {many} packets");
}

/// The path becomes longer by more than the timer waits: nothing is lost, and the window soon recovers.
#[test]
fn a_timeout_that_was_in_vain_is_undone() {
    let windows = |scheme| {
        let mut setup = modern(scheme, &[]);
        setup.duration = Span::from_secs(12);
        setup.flows[0].max_window = Some(60.0);
        let times = [(0, 25), (5000, 1500), (5200, 25)];
        setup.links[0].delay_steps.steps =
            times.map(|(at, delay)| (Span::from_millis(at), Span::from_millis(delay))).to_vec();
        let record = Record::of(&setup);
        let window = &record.trace.flows[0].window;
        (window[499], window[850], record.timeouts())
    };
    let (before, after, timeouts) = windows(RecoveryScheme::Sack);
    assert!(timeouts >= 1 && after < before, "SACK: {before} and {after} after {timeouts}");
    let (before, after, timeouts) = windows(RecoveryScheme::Rack);
    assert!(timeouts >= 1 && after >= before, "RACK: {before} and {after} after {timeouts}");
}

/// Bulk data for a minute over 50 Mbit/s and 50 ms, of which `share` of the packets are held back 0.3 round trips: packets delivered.
fn reordered(algorithm: &str, scheme: RecoveryScheme, share: f64) -> f64 {
    let bell = Dumbbell::new(50_000_000, Span::from_millis(50), QueueLimit::Packets(208));
    let spec = Spec::parse(algorithm).expect("registered");
    let mut setup = bell.setup(&[spec], Era::MODERN, Span::from_secs(60), Span::ZERO, 1);
    setup.flows[0].recovery = scheme;
    let by = ReorderBy::Time(Span::from_millis(15));
    setup.links[0].impairments.reordering = (share > 0.0).then_some(Reordering { probability: share, by });
    let trace = cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup");
    *trace.flows[0].delivered.last().expect("sampled") as f64
}

#[test]
fn reordering_costs_little_goodput() {
    for algorithm in ["reno", "cubic"] {
        let share = |scheme| reordered(algorithm, scheme, 0.02) / reordered(algorithm, scheme, 0.0);
        let (sack, rack) = (share(RecoveryScheme::Sack), share(RecoveryScheme::Rack));
        println!("{algorithm}: {sack:.3} and {rack:.3} of the goodput without reordering");
        assert!(rack >= 0.9 && sack < 0.5, "{algorithm}: {sack} and {rack}");
    }
}
