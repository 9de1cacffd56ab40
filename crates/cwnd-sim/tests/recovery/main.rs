//! Tahoe, Reno, NewReno and SACK under losses by name: what each sends, when, and how they differ.
//!
//! The tables next to this file show the record of each case, the four schemes side by side: rows of 10 ms in which something
//! reached the bottleneck, with the window at the end of the row. `14'` is packet 14 sent again, `14'x` sent again and lost again.
//! `CWND_BLESS=1 cargo test -p cwnd-sim --test recovery` records them anew; the diff then shows what changed.

mod acks;
mod rack;
mod record;

use std::path::Path;

use cwnd::{Span, Time};
use cwnd_sim::{Dumbbell, Era, Fault, Loss, QueueLimit, Reassembly, RecoveryScheme, Setup};
use proptest::prelude::*;
use record::{Record, lose, setup, table};

/// Those that count duplicates; RACK has tables of its own.
const SCHEMES: [RecoveryScheme; 4] =
    [RecoveryScheme::Tahoe, RecoveryScheme::Reno, RecoveryScheme::NewReno, RecoveryScheme::Sack];

/// The records of a case in the order of [`SCHEMES`], after comparing their table with the recorded one.
fn recorded(name: &str, title: &str, until_ms: u64, setup: impl Fn(RecoveryScheme) -> Setup) -> [Record; 4] {
    let records = SCHEMES.map(|scheme| Record::of(&setup(scheme)));
    let columns: Vec<_> = SCHEMES.iter().map(|scheme| scheme.name()).zip(&records).collect();
    verify(name, &table(title, until_ms * 1_000_000, &columns));
    records
}

/// Compares a table with the recorded one.
fn verify(name: &str, table: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/recovery/{name}.txt"));
    if std::env::var_os("CWND_BLESS").is_some() {
        std::fs::write(&path, table).expect("writable");
    }
    let known = std::fs::read_to_string(&path).expect("recorded");
    assert_eq!(table, known, "{name} has changed: see the top of this file");
}

/// The usual flow with the losses of `faults`.
fn losing(faults: &[Fault]) -> impl Fn(RecoveryScheme) -> Setup {
    move |scheme| setup(scheme, faults)
}

#[test]
fn one_loss() {
    let title = "One loss: 14. Tahoe starts slowly; the others go on with half the window.";
    let records = recorded("one-loss", title, 1100, losing(&lose(&[14])));
    for record in &records {
        assert_eq!((record.resent_numbers(), record.timeouts()), (vec![14], 0));
        assert!(record.round_trips() < 0.4, "one retransmission repairs it: {}", record.round_trips());
    }
    let [tahoe, reno, newreno, sack] = &records;
    assert_eq!(reno.data, newreno.data, "one loss is no difference to them");
    assert_eq!((tahoe.cuts(), reno.cuts(), sack.cuts()), (vec![1.0], vec![8.0], vec![8.0]));
    // Slow start from one packet to the threshold of 8, against fast recovery.
    let new = |record: &Record| [(460, 540), (540, 640), (640, 740)].map(|(from, to)| record.new_between(from, to));
    assert_eq!((new(tahoe), new(reno)), ([0, 2, 4], [5, 8, 9]));
}

#[test]
fn two_losses() {
    let title = "Two losses: 14 and 18. Reno cuts twice, NewReno takes a round trip more, SACK repairs both in one.";
    let [tahoe, reno, newreno, sack] = &recorded("two-losses", title, 1200, losing(&lose(&[14, 18])));
    assert!([tahoe, reno, newreno, sack].iter().all(|record| record.timeouts() == 0));
    assert_eq!((reno.cuts(), newreno.cuts()), (vec![8.0, 4.0], vec![8.0]));
    assert_eq!((tahoe.cuts(), sack.cuts()), (vec![1.0], vec![8.0]));
    assert_eq!(reno.resent_numbers(), [14, 18]);
    assert_eq!(newreno.resent_numbers(), [14, 18]);
    assert_eq!(sack.resent_numbers(), [14, 18]);
    // The window is two when 18 is due: 19 goes with it, though it had arrived.
    assert_eq!(tahoe.resent_numbers(), [14, 18, 19]);
    assert!(sack.round_trips() < 0.5, "{}", sack.round_trips());
    assert!((1.2..1.4).contains(&newreno.round_trips()), "{}", newreno.round_trips());
    assert!(reno.round_trips() > newreno.round_trips(), "it waits for three more duplicates");
}

#[test]
fn three_losses() {
    let title = "Three losses: 14, 17 and 20. After two cuts Reno's window lets nothing go that could make duplicates: time-out.";
    let [tahoe, reno, newreno, sack] = &recorded("three-losses", title, 1300, losing(&lose(&[14, 17, 20])));
    assert_eq!([tahoe, reno, newreno, sack].map(Record::timeouts), [0, 1, 0, 0]);
    assert_eq!(reno.cuts(), [8.0, 4.0, 1.0]);
    assert_eq!((newreno.cuts(), sack.cuts()), (vec![8.0], vec![8.0]));
    assert_eq!((reno.resent_numbers(), newreno.resent_numbers()), (vec![14, 17, 20], vec![14, 17, 20]));
    assert_eq!(sack.resent_numbers(), [14, 17, 20]);
    assert!(sack.round_trips() < 1.4, "{}", sack.round_trips());
    assert!((2.2..2.5).contains(&newreno.round_trips()), "{}", newreno.round_trips());
    assert!(reno.round_trips() > 4.0, "{}", reno.round_trips());
}

#[test]
fn five_losses() {
    let title =
        "Five losses: 14, 16, 18, 20 and 22. NewReno repairs one per round trip, Tahoe sends again what had arrived.";
    let holes = [14, 16, 18, 20, 22];
    let [tahoe, reno, newreno, sack] = &recorded("five-losses", title, 1400, losing(&lose(&holes)));
    assert_eq!([tahoe, reno, newreno, sack].map(Record::timeouts), [0, 1, 0, 0]);
    assert_eq!((newreno.resent_numbers(), sack.resent_numbers()), (holes.to_vec(), holes.to_vec()));
    let sent: Vec<_> = newreno.resent().map(|sent| sent.at).collect();
    assert!(sent.windows(2).all(|pair| (95_000_000..110_000_000).contains(&(pair[1] - pair[0]))), "{sent:?}");
    assert_eq!(newreno.cuts(), [8.0]);
    assert!(sack.round_trips() < 1.4, "ns-2's pipe sends nothing for half a round trip: {}", sack.round_trips());
    assert!(reno.round_trips() > 6.0, "{}", reno.round_trips());
    assert_eq!(tahoe.cuts(), [1.0]);
    // 23 to 26 arrive twice: four duplicates that ask for 32, which is not lost (ns-2's bugFix_).
    assert_eq!(tahoe.resent_numbers(), [14, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26]);
}

#[test]
fn a_lost_retransmission_costs_every_scheme_a_timeout() {
    let title = "Packet 14 is lost twice. Nobody sees that before the timer does.";
    let faults = [1, 2].map(|transmission| Fault::Data { flow: 0, number: 14, transmission });
    let records = recorded("lost-retransmission", title, 1100, losing(&faults));
    for record in &records {
        assert_eq!(record.timeouts(), 1);
        let sent: Vec<_> = record.resent().filter(|sent| sent.number == 14).map(|sent| sent.at).collect();
        // The smallest timeout of ns-2 in 2006 is 200 ms.
        assert!((199_000_000..201_000_000).contains(&(sent[1] - sent[0])), "{sent:?}");
    }
}

/// With proportional reduction instead of ns-2's pipe the losses are repaired as acknowledgements arrive, all in one round trip.
#[test]
fn proportional_reduction_mends_five_losses_in_one_round_trip() {
    let mut setup = setup(RecoveryScheme::Sack, &lose(&[14, 16, 18, 20, 22]));
    setup.flows[0].era = Era { recovery: cwnd_sim::Recovery::Proportional, ..Era::NS2_2006 };
    let record = Record::of(&setup);
    assert_eq!((record.resent_numbers(), record.timeouts()), (vec![14, 16, 18, 20, 22], 0));
    assert!(record.round_trips() < 0.5, "{}", record.round_trips());
}

/// RFC 6582 section 4: with five losses the third partial acknowledgement comes later than 200 ms after the first.
#[test]
fn an_impatient_newreno_gives_up_where_a_patient_one_goes_on() {
    let mut setup = setup(RecoveryScheme::NewReno, &lose(&[14, 16, 18, 20, 22]));
    setup.flows[0].era = Era { impatient_rto: true, ..Era::NS2_2006 };
    let impatient_rto = Record::of(&setup);
    assert_eq!(impatient_rto.timeouts(), 1);
    setup.flows[0].era = Era { impatient_rto: true, min_rto: Span::from_secs(1), ..Era::NS2_2006 };
    assert_eq!(Record::of(&setup).timeouts(), 0, "time enough for five round trips");
}

/// RFC 6582 section 3.2, step 2, and ns-2's `bugFix_`: duplicates count once something sent after the last cut has arrived. 32 is
/// the first packet sent after it, so its duplicates do not; Reno takes any three.
#[test]
fn a_loss_right_behind_a_recovery_is_found_by_the_timer_except_in_reno_and_sack() {
    let timeouts = |number| SCHEMES.map(|scheme| Record::under(scheme, &lose(&[14, number])).timeouts());
    assert_eq!(timeouts(32), [1, 0, 1, 0]);
    assert_eq!(
        timeouts(33),
        [1, 0, 0, 0],
        "32 has arrived; but Tahoe's next flight is too small for three duplicates in time"
    );
}

#[test]
fn a_receiver_that_keeps_nothing_makes_all_schemes_alike() {
    let title = "One loss, 14, and a receiver that keeps nothing out of order and reports nothing of it: everything is sent again.";
    let forward_ack = |scheme| {
        let mut setup = setup(scheme, &lose(&[14]));
        setup.flows[0].reassembly = Reassembly::GoBackN;
        setup
    };
    let records = recorded("go-back-n", title, 1200, forward_ack);
    for record in &records {
        assert_eq!((record.resent_numbers(), record.timeouts()), ((14..30).collect(), 1));
        assert_eq!(record.data, records[0].data);
    }
}

/// What a tap loses and marks from an instant on: in slow start, 14 to 29 come by from 350 ms on.
#[test]
fn faults_are_tied_to_instants_too() {
    let from = Time::ZERO + Span::from_millis(345);
    let next = Record::under(RecoveryScheme::Sack, &[Fault::Next { flow: 0, from, count: 2 }]);
    assert_eq!(next.resent_numbers(), [14, 15]);
    let to = from + Span::from_millis(10);
    let share = |per_mille| Record::under(RecoveryScheme::Sack, &[Fault::Share { flow: 0, from, to, per_mille }]);
    assert_eq!((share(1000).resent_numbers().first(), share(0).resent_numbers().len()), (Some(&14), 0));
    let marked = |ecn| {
        let mut setup = setup(RecoveryScheme::Sack, &[Fault::Mark { flow: 0, from, count: 1 }]);
        setup.flows[0].ecn = ecn;
        Record::of(&setup)
    };
    let echoed = marked(Some(cwnd_sim::AckEcho::Latch));
    assert_eq!((echoed.resent_numbers().len(), echoed.cuts().len()), (0, 1));
    assert_eq!(marked(None).cuts().len(), 0, "a packet that is not capable is not marked");
}

fn schemes() -> impl Strategy<Value = RecoveryScheme> {
    (0..RecoveryScheme::ALL.len()).prop_map(|index| RecoveryScheme::ALL[index])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Whatever is lost, data and acknowledgements, all arrives in the end and the sender knows it.
    #[test]
    fn everything_arrives(
        scheme in schemes(),
        reassembly in prop_oneof![Just(Reassembly::Selective), Just(Reassembly::GoBackN)],
        era in 0..Era::ALL.len(),
        data_loss in 0.0..0.3_f64,
        ack_loss in 0.0..0.5_f64,
        delayed in any::<bool>(),
        aggregation in prop_oneof![Just(None), (1_u64..60).prop_map(|ms| Some(Span::from_millis(ms)))],
        seed in any::<u64>(),
    ) {
        let bell = Dumbbell { loss: Loss::Bernoulli(data_loss), ..Dumbbell::new(5_000_000, Span::from_millis(40), QueueLimit::Packets(20)) };
        let reno = cwnd::Spec::parse("reno").expect("registered");
        let mut setup = bell.setup(&[reno], Era::ALL[era], Span::from_secs(4000), Span::ZERO, seed);
        setup.links[1].loss = Loss::Bernoulli(ack_loss);
        let flow = &mut setup.flows[0];
        (flow.recovery, flow.reassembly, flow.ack_aggregation) = (scheme, reassembly, aggregation);
        flow.delayed_ack = delayed.then(|| Span::from_millis(100));
        flow.stop = Some(Time::ZERO + Span::from_secs(3));
        let trace = cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup");
        let flow = &trace.flows[0];
        let last = |curve: &[u64]| *curve.last().expect("sampled");
        prop_assert_eq!(last(&flow.sent) - last(&flow.retransmitted), last(&flow.delivered));
        prop_assert_eq!(last(&flow.in_flight), 0);
    }
}
