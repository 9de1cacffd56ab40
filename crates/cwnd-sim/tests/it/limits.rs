//! Windows that are not used: growth is withheld where the era validates windows, for every window algorithm.

use cwnd::registry::Transport;
use cwnd::{ALGORITHMS, Algorithm, CongestionControl, Entry, Pacing, Span, Spec, Start};
use cwnd_sim::{
    DecBitSetup, Discipline, Dumbbell, Era, FlowSetup, QueueLimit, RateChange, RateSchedule, RecoveryScheme, Sampling,
    Source, VcpSetup, XcpSetup,
};

/// The window of a flow, every 100 ms, that the receiver or the application holds to about 10 packets in the network: 1000
/// packets per second on a round trip of 100 ms would be 100.
fn windows(algorithm: &str, era: Era, hold: impl Fn(&mut FlowSetup)) -> Vec<f64> {
    let bell = Dumbbell::new(12_000_000, Span::from_millis(100), QueueLimit::Unlimited);
    let spec = Spec::parse(algorithm).expect("a registered algorithm");
    let mut setup = bell.setup(&[spec], era, Span::from_secs(20), Span::ZERO, 1);
    setup.sampling = Some(Sampling { interval: Span::from_millis(100), internals: false });
    hold(&mut setup.flows[0]);
    cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup").flows.remove(0).window.to_vec()
}

fn by_the_receiver(flow: &mut FlowSetup) {
    flow.max_window = Some(10.0);
}

/// 95 packets per second.
fn by_the_application(flow: &mut FlowSetup) {
    flow.source = Source::Rate(RateSchedule::constant(1_140_000));
}

fn window_algorithms() -> impl Iterator<Item = &'static str> {
    let windowed = |entry: &&&Entry<Algorithm>| {
        let algorithm = Spec::parse(entry.name).expect("registered").start(&Start::default());
        entry.transport == Transport::Acked && !matches!(algorithm.control().pacing, Pacing::At(_))
    };
    ALGORITHMS.iter().filter(windowed).map(|entry| entry.name)
}

#[test]
fn no_window_grows_while_neither_it_nor_a_rate_is_the_limit() {
    for algorithm in window_algorithms() {
        for era in [Era::MODERN, Era::LINUX_2_6] {
            for (by, hold) in [("receiver", by_the_receiver as fn(&mut _)), ("application", by_the_application)] {
                let windows = windows(algorithm, era, hold);
                let case = format!("{algorithm}, {}, held by the {by}", era.name);
                let (settled, last) = (windows[20], windows[windows.len() - 1]);
                // It limits until it exceeds the sent rate; waiting data leaves too.
                assert!((10.0..=30.0).contains(&last), "{case}: {last}");
                assert_eq!(settled, last, "{case}");
            }
        }
    }
}

/// What an algorithm allowed in a round trip of 100 ms, packets: at 20 s, and half a minute later, where the application has more data
/// from 25 s on; and how many packets left in the round trip after that.
struct Allowed {
    early: f64,
    late: f64,
    burst: u64,
}

fn allowed(algorithm: &str, discipline: Discipline, hold: impl Fn(&mut FlowSetup)) -> Allowed {
    let bell = Dumbbell::new(12_000_000, Span::from_millis(100), QueueLimit::Packets(200));
    let spec = Spec::parse(algorithm).expect("a registered algorithm");
    let mut setup = bell.setup(&[spec], Era::MODERN, Span::from_secs(51), Span::ZERO, 1);
    setup.links.iter_mut().for_each(|link| link.discipline = discipline);
    setup.sampling = Some(Sampling { interval: Span::from_millis(100), internals: false });
    hold(&mut setup.flows[0]);
    let trace = cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup");
    let flow = &trace.flows[0];
    let at = |tenths: usize| {
        let paced = flow.pacing_rate[tenths] * 0.1;
        if paced.is_nan() { flow.window[tenths] } else { flow.window[tenths].min(paced) }
    };
    Allowed { early: at(200), late: at(500), burst: flow.sent[502] - flow.sent[500] }
}

/// Algorithms behind the routers that write for them, held to the same bounds.
fn routed() -> [(&'static str, Discipline); 3] {
    let decbit = Discipline::DecBit(DecBitSetup::default());
    [("xcp", Discipline::Xcp(XcpSetup::default())), ("vcp", Discipline::Vcp(VcpSetup::default())), ("decbit", decbit)]
}

/// 95 packets per second for 50 seconds, then more than the path carries.
fn then_data(flow: &mut FlowSetup) {
    flow.source = Source::Rate(RateSchedule::stepping(1_140_000, Span::from_secs(50), RateChange::Square(120_000_000)));
}

/// Every entry of the registry, and the profiles that keep the rule of their source. The table is in `limited.txt`; with `CWND_BLESS`
/// set this writes it.
#[test]
fn nothing_grows_on_what_it_does_not_use() {
    let mut rows = String::new();
    let mut wrong = Vec::new();
    let mut expect = |holds: bool, what: String| wrong.extend((!holds).then_some(what));
    // With a report in five seconds it would not know of the source before the end.
    let names = ALGORITHMS.iter().map(|entry| if entry.name == "lda" { "lda:interval=200ms" } else { entry.name });
    let behind_a_queue = names.chain(FOLLOW_ARRIVALS).chain(GROW_ON).map(|algorithm| (algorithm, Discipline::DropTail));
    for (algorithm, discipline) in behind_a_queue.chain(routed()) {
        let allowed = |hold: fn(&mut FlowSetup)| allowed(algorithm, discipline, hold);
        let free = allowed(|_| ());
        let [source, receiver] = [then_data, by_the_receiver].map(allowed);
        let row = [free.late, source.early, source.late, receiver.early, receiver.late].map(|packets| match packets {
            few if few < 1000.0 => format!("{few:.1}"),
            many => format!("{many:.0}"),
        });
        let routers = if discipline == Discipline::DropTail { "" } else { ", its routers" };
        rows.push_str(&format!("| `{algorithm}`{routers} | {} | {} |\n", row.join(" | "), source.burst));
        if GROW_ON.contains(&algorithm) {
            let grows = source.late > 10.0 * USED || receiver.late > 10.0 * USED;
            expect(grows, format!("{algorithm} no longer grows on: {} and {}", source.late, receiver.late));
            continue;
        }
        if FOLLOW_ARRIVALS.contains(&algorithm) {
            let most = source.late.max(receiver.late);
            expect(most <= MOST_OF_REPORTED * USED, format!("{algorithm}: {most}"));
            continue;
        }
        let most = USED
            * match algorithm {
                "tear" | "tfrc" => MOST_OF_REPORTED,
                "sabul" => LEAST_OF_SABUL,
                "bbr" | "bbr3" => MOST_OF_MODELLED,
                _ => MOST,
            };
        for (by, held) in [("source", &source), ("receiver", &receiver)] {
            // A factor of 1.5 for quantities that still move, such as a measured arrival rate. Data that waits while BBR measures the round trip raises
            // the rate that it keeps, up to the bound, whenever that comes.
            let settled = held.late <= held.early.max(USED) * 1.5 || algorithm.starts_with("bbr");
            expect(
                settled && held.late <= most,
                format!("{algorithm}, by the {by}: {} then {}", held.early, held.late),
            );
        }
        // XCP's routers give a sender all that is spare in a round trip.
        let granted = matches!(discipline, Discipline::Xcp(_));
        let burst = if granted { 2.0 * PATH } else { 2.0 * most };
        expect(source.burst as f64 <= burst, format!("{algorithm}: {} packets in two round trips", source.burst));
    }
    assert!(wrong.is_empty(), "{wrong:#?}\n{rows}");
    let table = format!("{HEAD}{rows}");
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/limited.txt");
    if std::env::var_os("CWND_BLESS").is_some() {
        std::fs::write(path, &table).expect("writable");
    }
    assert_eq!(std::fs::read_to_string(path).unwrap_or_default(), table, "CWND_BLESS=1 writes it");
}

#[test]
fn ns2_lets_unused_windows_grow() {
    for algorithm in window_algorithms() {
        for era in [Era::NS2_2001, Era::NS2_2004, Era::NS2_2006] {
            for (by, hold) in [("receiver", by_the_receiver as fn(&mut _)), ("application", by_the_application)] {
                let windows = windows(algorithm, era, hold);
                let last = windows[windows.len() - 1];
                // Twenty seconds of packets would be 200; Vegas takes the jitter of a window it does not use for a queue. LEDBAT has no slow
                // start: ten acknowledgements per round trip, each of 1/w, make 64 of 10 packets.
                assert!(
                    last > if ["ledbat", "vegas"].contains(&algorithm) { 50.0 } else { 100.0 },
                    "{algorithm}, {}, held by the {by}: {last}",
                    era.name
                );
            }
        }
    }
}

/// ns-2's `window()`: what a sender cuts is what it could have had in the network. The schemes agree on that.
#[test]
fn an_unused_window_is_cut_to_half_of_what_the_receiver_allowed() {
    for scheme in RecoveryScheme::ALL {
        let bell = Dumbbell::new(12_000_000, Span::from_millis(100), QueueLimit::Unlimited);
        let reno = Spec::parse("reno").expect("a registered algorithm");
        let mut setup = bell.setup(&[reno], Era::NS2_2006, Span::from_secs(3), Span::ZERO, 1);
        setup.sampling = Some(Sampling { interval: Span::from_millis(10), internals: true });
        by_the_receiver(&mut setup.flows[0]);
        setup.flows[0].recovery = scheme;
        let fault = cwnd_sim::Fault::Data { flow: 0, number: 100, transmission: 1 };
        setup.taps = vec![cwnd_sim::Tap { link: cwnd_sim::LinkId(0), faults: vec![fault], record: true }];
        let flow = &cwnd_sim::run(&setup, &mut |_| true).expect("a valid setup").flows[0];
        let cut = flow.window.windows(2).position(|pair| pair[1] < pair[0]).expect("a cut");
        assert!(flow.window[cut] > 50.0, "{}: {}", scheme.name(), flow.window[cut]);
        let (_, threshold) = flow.internals.iter().find(|(name, _)| *name == "ssthresh").expect("of the shell");
        assert_eq!(threshold[cut + 1], 5.0, "{}", scheme.name());
    }
}

/// Profiles that reproduce a source whose window grows unused.
const GROW_ON: [&str; 2] = ["udt:profile=ns2-2.0", "udt:profile=ns2-2.2"];
/// Theirs follows the arrivals, in slow start and, as a window, after it.
const FOLLOW_ARRIVALS: [&str; 2] = ["udt:profile=ns2-1.1", "udt:profile=paper"];
/// Packets in a round trip that the application or the receiver lets through.
const USED: f64 = 9.5;
/// Packets in a round trip that the path carries.
const PATH: f64 = 100.0;
/// How many times as much an algorithm may allow: it doubles until it is not the limit.
const MOST: f64 = 4.0;
/// A thousand packets per second are its least rate.
const LEAST_OF_SABUL: f64 = 11.0;
/// They begin with a packet per second, and send waiting data five times as fast as it comes. RFC 5348 section 4.3 then allows
/// twice that for as long as the application limits the sender.
const MOST_OF_REPORTED: f64 = 12.0;
/// They keep the highest rate at which data was ever delivered, that of data which waited at the start, and allow twice its volume and more;
/// the bound was set when their first rows were known, 5.8 and 8 times.
const MOST_OF_MODELLED: f64 = 12.0;
const HEAD: &str = "\
# Senders that have nothing to send

What each algorithm allows in a round trip, in packets: the lesser of its window and its rate times 100 ms, in the era `modern`, on a path
of 12 Mbit/s and 100 ms (100 packets) with a queue of 200. A sender limited by its source has 9.5 packets in a round trip to send, one
limited by its receiver may have 10 in the network. The last column is what left in the two round trips after a source of 9.5 packets per
round trip, at 50 s, began to have more than the path carries. A test of the simulator (`limits.rs`) writes this table, and fails where an
algorithm grows on what it does not use; all profiles of `udt` but `udt4` keep the rule of what they reproduce, as every algorithm does in the eras
of ns-2. What `ns2-1.1` and `paper` allow follows what arrives. XCP's routers hand out what is spare in a round trip, so that a sender with data
again sends at once what they allow.

| algorithm | not limited | by the source, 20 s | 50 s | by the receiver, 20 s | 50 s | packets once there is data |
| --- | --: | --: | --: | --: | --: | --: |
";
