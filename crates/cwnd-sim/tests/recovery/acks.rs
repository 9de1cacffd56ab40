//! Acknowledgements on the reverse path: lost, delayed, aggregated.

use cwnd::{Span, Spec};
use cwnd_sim::{Dumbbell, Era, Fault, Loss, QueueLimit, RecoveryScheme, Setup, Trace};

use crate::record::{Record, lose, setup};
use crate::recorded;

/// The acknowledgements from the n-th on, as faults.
fn lose_acks(nths: impl IntoIterator<Item = u64>) -> Vec<Fault> {
    nths.into_iter().map(|nth| Fault::Ack { flow: 0, nth }).collect()
}

#[test]
fn selective_acknowledgements_survive_the_loss_of_duplicates() {
    let title = "Packet 14 is lost, and all but the first of its flight's duplicates: counting takes too long, ranges show it at once.";
    let faults = [lose(&[14]), lose_acks(16..30)].concat();
    let [tahoe, reno, newreno, sack] = &recorded("lost-acks", title, 1100, |scheme| setup(scheme, &faults));
    assert_eq!([tahoe, reno, newreno, sack].map(Record::timeouts), [1, 1, 1, 0]);
    assert_eq!(sack.resent_numbers(), [14]);
}

#[test]
fn a_later_acknowledgement_covers_lost_ones() {
    for scheme in RecoveryScheme::ALL {
        // Every second acknowledgement of a flow in slow start, the last one of a flight included.
        let record = Record::under(scheme, &lose_acks((1..15).map(|n| 2 * n)));
        assert_eq!((record.resent_numbers(), record.timeouts()), (vec![], 0), "{}", scheme.name());
    }
}

/// Bulk data over a clean bottleneck, with acknowledgements lost at random.
fn with_ack_loss(scheme: RecoveryScheme, loss: f64) -> Trace {
    let bell = Dumbbell::new(20_000_000, Span::from_millis(40), QueueLimit::Packets(67));
    let reno = Spec::parse("reno").expect("registered");
    let mut setup = bell.setup(&[reno], Era::MODERN, Span::from_secs(60), Span::from_secs(10), 1);
    setup.links[1].loss = Loss::Bernoulli(loss);
    setup.flows[0].recovery = scheme;
    cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup")
}

#[test]
fn a_fifth_of_the_acknowledgements_is_not_missed() {
    for scheme in [RecoveryScheme::NewReno, RecoveryScheme::Sack] {
        let share = |loss| {
            let trace = with_ack_loss(scheme, loss);
            let flow = &trace.flows[0];
            let lost = trace.links[1].lost.last().copied().expect("sampled");
            assert_eq!(lost > 0, loss > 0.0);
            (flow.delivered[2] - flow.delivered[1]) as f64 * 12_000.0 / (50.0 * 20e6)
        };
        let (whole, thinned) = (share(0.0), share(0.2));
        assert!(whole > 0.98 && thinned > 0.96, "{}: {whole} and {thinned}", scheme.name());
    }
}

/// Slow start and congestion avoidance with half the acknowledgements: RFC 5681 counts what they cover, ns-2 counts them.
#[test]
fn growth_follows_packets_today_and_acknowledgements_in_ns2() {
    let grown = |era: Era, delayed: bool, ms: u64| {
        let mut setup = setup(RecoveryScheme::Sack, &[]);
        setup.links[0].rate = Some(12_000_000_000);
        setup.duration = Span::from_millis(ms);
        setup.flows[0].era = Era { initial_window: 8.0, ..era };
        setup.flows[0].delayed_ack = delayed.then(|| Span::from_millis(200));
        *Record::of(&setup).trace.flows[0].window.last().expect("sampled")
    };
    // After four round trips of slow start: doubling, or growth by half.
    assert_eq!((grown(Era::MODERN, false, 450), grown(Era::MODERN, true, 450)), (128.0, 128.0));
    assert_eq!((grown(Era::NS2_2006, false, 450), grown(Era::NS2_2006, true, 450)), (128.0, 40.0));
}

fn aggregated(interval: u64) -> Setup {
    let mut setup = setup(RecoveryScheme::Sack, &[]);
    setup.flows[0].ack_aggregation = Some(Span::from_millis(interval));
    setup
}

#[test]
fn aggregated_acknowledgements_come_in_batches_and_none_is_missing() {
    let record = Record::of(&aggregated(20));
    let plain = Record::under(RecoveryScheme::Sack, &[]);
    let mut batches: Vec<Vec<u64>> = Vec::new();
    let mut at = None;
    for (time, cumulative) in &record.acks {
        if at != Some(*time) {
            batches.push(Vec::new());
        }
        at = Some(*time);
        batches.last_mut().expect("just there").push(*cumulative);
    }
    let acks: Vec<_> = record.acks.iter().map(|(_, cumulative)| *cumulative).collect();
    assert_eq!(acks, (1..=acks.len() as u64).collect::<Vec<_>>());
    // Once the line is full, 20 ms collect 20 packets of 1 ms, and the one that is 20 ms late.
    assert!(batches[batches.len() - 5..].iter().all(|batch| (20..=21).contains(&batch.len())), "{batches:?}");
    // Slow start answers each batch with a burst twice as large.
    let burst = |record: &Record| {
        let at: Vec<_> = record.data.iter().filter(|sent| sent.at > 3_000_000_000).map(|sent| sent.at).collect();
        at.chunk_by(|a, b| b - a < 100_000).map(<[u64]>::len).max().expect("something is sent")
    };
    assert!(burst(&plain) <= 2 && (40..=42).contains(&burst(&record)), "{} and {}", burst(&plain), burst(&record));
}

#[test]
fn aggregation_adds_to_the_round_trip_at_most_its_interval() {
    let srtt = |record: &Record| record.trace.flows[0].srtt[20];
    let plain = srtt(&Record::under(RecoveryScheme::Sack, &[]));
    let late = srtt(&Record::of(&aggregated(20)));
    assert!(late > plain + 0.010 && late < plain + 0.0201, "{plain} and {late}");
}
