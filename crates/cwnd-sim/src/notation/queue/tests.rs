//! The notation of queues.

use proptest::prelude::*;

use super::forms::{DEFAULT_RED, DEFAULT_RIO};
use super::*;
use crate::{CakeSetup, DecBitSetup, DualPi2Setup, Isolation, VcpSetup, XcpSetup};

#[test]
fn drop_tail() {
    let read = |text| Queue::read(text).ok().map(|queue| (queue.limit, queue.discipline));
    assert_eq!(read("droptail:1bdp"), Some((QueueSize::Bdp(1.0), Discipline::DropTail)));
    assert_eq!(read("droptail: 1/2 bdp"), Some((QueueSize::Bdp(0.5), Discipline::DropTail)));
    assert_eq!(read("droptail:100p"), Some((QueueSize::Packets(100), Discipline::DropTail)));
    assert_eq!(read("droptail:64kB"), Some((QueueSize::Bytes(64_000), Discipline::DropTail)));
    assert_eq!(read("droptail:unlimited"), Some((QueueSize::Unlimited, Discipline::DropTail)));
    for text in [
        "droptail",
        "droptail:100",
        "droptail:0p",
        "droptail:1.5p",
        "droptail:-1bdp",
        "droptail:1bdp,ecn=yes",
        "fifo:1bdp",
        "100p",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

#[test]
fn random_early_detection() {
    let red = |text| match Queue::read(text).ok()?.discipline {
        Discipline::Red(red) => Some(red),
        other => panic!("{other:?}"),
    };
    assert_eq!(red("red:1bdp"), Some(DEFAULT_RED));
    let given = red(
        "red:300p, min=20p, max=1/3, max_p=0.02, weight=1e-4, gentle=no, wait=no, bytes=yes, ecn=yes, mark_limit=0.1",
    );
    let expected = RedSetup {
        min: Threshold::Size(QueueSize::Packets(20)),
        max: Threshold::Share(1.0 / 3.0),
        max_p: 0.02,
        weight: 1e-4,
        gentle: false,
        wait: false,
        byte_mode: true,
        mean_packet: Bytes(1500),
        mark: true,
        mark_limit: 0.1,
    };
    assert_eq!(given, Some(expected));
    for text in
        ["red:unlimited", "red:1bdp,min", "red:1bdp,min=-1", "red:1bdp,max_p=2", "red:1bdp,ecn=1", "red:1bdp,x=1"]
    {
        assert_eq!(red(text), None, "{text}");
    }
}

#[test]
fn two_classes() {
    let rio = |text| match Queue::read(text).ok()?.discipline {
        Discipline::Rio(RioSetup { inside, outside }) => Some([inside, outside]),
        other => panic!("{other:?}"),
    };
    assert_eq!(rio("rio:100p"), Some([DEFAULT_RIO.inside, DEFAULT_RIO.outside]));
    let [inside, outside] = rio("rio:2bdp, in_min=0.9, in_max=1, out_max_p=0.5, gentle=yes, weight=0.01").expect("RIO");
    assert_eq!((inside.min, inside.max, inside.max_p), (Threshold::Share(0.9), Threshold::Share(1.0), 0.02));
    assert_eq!((outside.min, outside.max_p), (DEFAULT_RIO.outside.min, 0.5));
    assert!([inside, outside].iter().all(|red| red.gentle && red.weight == 0.01));
    assert!(Queue::read("rio:100p,in_min=1bdp").expect("RIO").needs_path());
    for text in ["rio:unlimited", "rio:1bdp,in_x=1", "rio:1bdp,in_min", "rio:1bdp,outmin=5p"] {
        assert!(Queue::read(text).is_err(), "{text}");
    }
}

#[test]
fn round_robin() {
    let quantum = |text| {
        let queue = Queue::read(text).ok()?;
        match queue.setup(BitRate(1e8), Span::from_millis(50), Bytes(1000)) {
            (_, Discipline::Drr(drr)) => Some(drr.quantum.0),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(quantum("drr:1bdp"), Some(1000), "a packet");
    assert_eq!(quantum("drr:unlimited, quantum=250B"), Some(250));
    for text in ["drr", "drr:1bdp,quantum=0B", "drr:1bdp,quantum", "drr:1bdp,x=1B", "drr:1bdp,quantum=1B,quantum=1B"] {
        assert_eq!(quantum(text), None, "{text}");
    }
}

#[test]
fn a_bandwidth_delay_product_is_whole_packets() {
    let products = |text, rate, rtt| {
        let queue = Queue::read(text).expect("a queue");
        match queue.setup(BitRate(rate), rtt, Bytes(1500)).0 {
            QueueLimit::Packets(packets) => packets,
            other => panic!("{other:?}"),
        }
    };
    // 100 Mbit/s for 50 ms are 625 kB: 416.67 packets.
    assert_eq!(products("droptail:1bdp", 1e8, Span::from_millis(50)), 417);
    assert_eq!(products("droptail:2.5bdp", 1e8, Span::from_millis(50)), 1042);
    assert_eq!(products("droptail:1bdp", 1e6, Span::from_millis(1)), 1);
}

#[test]
fn thresholds_are_shares_of_the_limit() {
    let queue = Queue::read("red:100p,max=30kB").expect("a queue");
    let (_, discipline) = queue.setup(BitRate(1e8), Span::from_millis(50), Bytes(1500));
    let Discipline::Red(red) = discipline else { panic!("{discipline:?}") };
    assert_eq!((red.min, red.max, red.mean_packet), (15.0, 20.0, Bytes(1500)));
}

/// What the simulator gets for packets of 1000 bytes.
fn before_a_link(text: &str) -> Option<Discipline> {
    let queue = Queue::read(text).ok()?;
    assert_eq!(queue.needs_path(), text.contains("bdp"));
    Some(queue.setup(BitRate(1e8), Span::from_millis(50), Bytes(1000)).1)
}

#[test]
fn controlled_delay() {
    let default = CoDelSetup { mtu: Bytes(1000), ..CoDelSetup::default() };
    assert_eq!(before_a_link("codel:1bdp"), Some(Discipline::CoDel(default)));
    let given = CoDelSetup { target: Span::from_millis(1), interval: Span::from_millis(20), mark: true, ..default };
    let text = "codel:unlimited, target=1ms, interval = 20ms, ecn=yes";
    assert_eq!(before_a_link(text), Some(Discipline::CoDel(given)));
    for text in ["codel", "codel:1bdp,target=0ms", "codel:1bdp,target=100ms", "codel:1bdp,mtu=1B", "codel:1bdp,ecn"] {
        assert_eq!(before_a_link(text), None, "{text}");
    }
}

#[test]
fn flow_queueing() {
    let codel = CoDelSetup { mtu: Bytes(1000), mark: true, ..CoDelSetup::default() };
    let default = FqCoDelSetup { codel, quantum: Bytes(1000), ..FqCoDelSetup::default() };
    assert_eq!(before_a_link("fq_codel:10240p"), Some(Discipline::FqCoDel(default)));
    let codel = CoDelSetup { interval: Span::from_millis(30), mark: false, ..codel };
    let given = FqCoDelSetup { codel, queues: 65536, quantum: Bytes(300), memory: 4_000_000 };
    let text = "fq_codel:1bdp,queues=65536,quantum=300B,memory=4MB,ecn=no,interval=30ms";
    assert_eq!(before_a_link(text), Some(Discipline::FqCoDel(given)));
    for part in ["queues=0", "queues=65537", "queues=1.5", "quantum=0B", "memory=1", "target=1s", "alpha=1"] {
        assert_eq!(before_a_link(&format!("fq_codel:10240p,{part}")), None, "{part}");
    }
}

#[test]
fn flow_queueing_with_cobalt() {
    let default = CakeSetup { mtu: Bytes(1000), ..CakeSetup::default() };
    assert_eq!(before_a_link("cake:1bdp"), Some(Discipline::Cake(default)));
    let (target, interval) = (Span::from_millis(2), Span::from_millis(30));
    let isolation = Isolation::DualDstHost;
    let given = CakeSetup { target, interval, mark: false, ack_filter: true, isolation, ..default };
    let text = "cake:250ms,target=2ms,interval=30ms,ecn=no,ack_filter=yes,isolation=dual-dsthost";
    assert_eq!(before_a_link(text), Some(Discipline::Cake(given)));
    for part in [
        "target=0s",
        "target=100ms",
        "interval=5ms",
        "ecn=1",
        "ack_filter=1",
        "isolation=yes",
        "queues=8",
        "ce_threshold=1ms",
    ] {
        assert_eq!(before_a_link(&format!("cake:1000p,{part}")), None, "{part}");
    }
}

#[test]
fn proportional_integral() {
    let default = PieSetup { mean_packet: Bytes(1000), ..PieSetup::default() };
    assert_eq!(before_a_link("pie:64kB"), Some(Discipline::Pie(default)));
    let text = "pie:1000p,target=20ms,update=30ms,alpha=1/4,beta=2,burst=0s,ecn=yes,mark_limit=1,derandomize=yes";
    let given = PieSetup {
        target: Span::from_millis(20),
        update: Span::from_millis(30),
        alpha: 0.25,
        beta: 2.0,
        burst: Span::ZERO,
        mark: true,
        mark_limit: 1.0,
        derandomize: true,
        mean_packet: Bytes(1000),
    };
    assert_eq!(before_a_link(text), Some(Discipline::Pie(given)));
    for part in ["target=0s", "update=999ns", "alpha=-1", "beta=x", "mark_limit=1.1", "derandomize=1", "interval=1s"] {
        assert_eq!(before_a_link(&format!("pie:1000p,{part}")), None, "{part}");
    }
}

#[test]
fn routers_and_their_parameters() {
    let read = |text| Queue::read(text).ok().map(|queue| queue.discipline);
    assert_eq!(read("xcp:1bdp"), Some(Discipline::Xcp(XcpSetup::default())));
    let gamma = XcpSetup { gamma: 0.0, ..XcpSetup::default() };
    assert_eq!(read("xcp:100p, gamma=0"), Some(Discipline::Xcp(gamma)));
    let slow = VcpSetup { interval: Span::from_millis(400), target: 0.9, ..VcpSetup::default() };
    assert_eq!(read("vcp:1bdp,interval=400ms,target=0.9"), Some(Discipline::Vcp(slow)));
    assert_eq!(read("decbit:1bdp,threshold=2"), Some(Discipline::DecBit(DecBitSetup { threshold: 2.0 })));
    for text in [
        "xcp:1bdp,alpha=0",
        "xcp:1bdp,gamma=2",
        "vcp:1bdp,target=1.1",
        "vcp:1bdp,interval=0ms",
        "decbit:1bdp,threshold=0",
        "decbit:1bdp,x=1",
    ] {
        assert_eq!(read(text), None, "{text}");
    }
}

/// Four mistakes have four answers.
#[test]
fn an_error_names_the_place_and_what_is_accepted_there() {
    let error = |text: &str| {
        let error = Queue::read(text).expect_err(text).to_string();
        error.strip_prefix(&format!("cannot read `{text}`: expected ")).expect("the text").to_string()
    };
    assert_eq!(
        error("fqcodel"),
        "a queue and its size; did you mean `fq_codel`, as in `fq_codel:10240p,target=5ms,quantum=300B`?"
    );
    assert_eq!(error("50ms"), "a queue and its size: a name before `50ms`, such as `droptail:50ms`");
    assert!(Queue::read("droptail:50ms").is_ok());
    assert_eq!(
        error("tbf:1bdp"),
        "a queue and its size; `tbf` is none of them: write a `shaper`, which is an impairment of the link"
    );
    assert_eq!(error("fqcodel:100p"), "a queue and its size; did you mean `fq_codel:100p`?");
    assert_eq!(error("pfifo:100p"), "a queue and its size; did you mean `droptail:100p`?");
    assert_eq!(error("redd:1bdp,ecn=yes"), "a queue and its size; did you mean `red:1bdp,ecn=yes`?");
    assert_eq!(
        error("nothing:1p"),
        "a queue and its size, such as `droptail:1bdp`; the names are droptail, red, rio, drr, codel, fq_codel, cake, pie, dualpi2, dualpi2_linux, xcp, vcp and decbit"
    );
    let codel = "as in `codel:1000p,target=5ms,interval=100ms`";
    assert_eq!(
        error("codel:1bdp,target=0ms"),
        format!("a time above 0s and at most 100000000s for `target`, not `0ms`, {codel}")
    );
    assert_eq!(
        error("codel:1bdp,target=1s"),
        format!("a time below the interval, 100ms, for `target`, not `1s`, {codel}")
    );
    assert_eq!(
        error("codel:1bdp,interval=1ms"),
        format!("a time above the target, 5ms, for `interval`, not `1ms`, {codel}")
    );
    assert_eq!(error("codel:1bdp,ecn=1"), format!("`no` or `yes` for `ecn`, not `1`, {codel}"));
    assert_eq!(
        error("codel:1bdp,targets=1ms"),
        "a parameter of `codel` (target, interval, ecn, ce_threshold and l4s_threshold), not `targets`; did you mean `target`?"
    );
    assert_eq!(error("codel:1bdp,ecn"), format!("`key=value` instead of `ecn`, {codel}"));
    assert_eq!(error("drr:1bdp,quantum=1B,quantum=1B"), "each word at most once: `quantum` is there twice");
    assert_eq!(
        error("droptail:1bdp,ecn=yes"),
        "no parameter for `droptail`, which has none: `droptail:1bdp`, not `ecn`"
    );
    assert_eq!(
        error("red:unlimited"),
        "a size, of which thresholds may be shares, not `unlimited`, as in `red:1bdp,min=0.15,max=0.5,ecn=yes`"
    );
    for text in ["red", "red:", "rio:10", "red:0p"] {
        assert!(!error(text).contains("unlimited"), "{}", error(text));
    }
    assert!(error("droptail").ends_with("or `unlimited`, as in `droptail:1bdp`"), "{}", error("droptail"));
    let size = "a size above zero: bandwidth-delay products (`1bdp`";
    for text in ["pie:10", "rio:10"] {
        assert!(error(text).starts_with(size), "{}", error(text));
    }
    for (text, name) in [("droptail", "droptail"), ("pie:", "pie"), ("red", "red")] {
        assert!(error(text).starts_with(&format!("`{name}:` and {size}")), "{}", error(text));
    }
}

/// Each parameter of each queue changes it, is what the table says unless given, and is refused out of range with its name and its value.
#[test]
fn every_parameter_of_the_table_is_read() {
    for form in QUEUES.forms {
        let plain = Queue::read(&format!("{}:100p", form.name)).expect(form.name);
        assert!(Queue::read(form.example).is_ok(), "{}", form.example);
        for parameter in &form.parameters[form.positional..] {
            let read = |value: &str| Queue::read(&format!("{}:100p,{}={value}", form.name, parameter.name));
            let mut samples = vec!["0.3", "0.7", "yes", "no", "1ms", "20ms", "300B", "9kB", "7p", "9p", "5", "flows"];
            samples.retain(|sample| read(sample).is_ok());
            assert!(samples.iter().any(|sample| read(sample) != Ok(plain)), "{}: {}", form.name, parameter.name);
            let default = parameter.default_text();
            let both = form.name == "rio" && !parameter.name.contains("in_") && !parameter.name.contains("out_");
            if !["one packet", "none"].contains(&default.as_str()) && !both {
                assert_eq!(read(&default), Ok(plain), "{}: {}={default}", form.name, parameter.name);
            }
            for wrong in ["-1", "maybe", "1e400", "0.5p", "-1ms"] {
                let Err(error) = read(wrong) else { continue };
                let error = error.to_string();
                assert!(error.contains(&format!("for `{}`, not `{wrong}`", parameter.name)), "{error}");
            }
            assert!(read("maybe").is_err() && read("-1").is_err(), "{}", parameter.name);
            assert!(QUEUES.rows().contains(&format!("`{}`", parameter.name)), "{}", parameter.name);
            assert!(QUEUES.description().contains(&format!("{} (", parameter.name)), "{}", parameter.name);
        }
    }
}

#[test]
fn a_size_may_be_a_time() {
    let queue = Queue::read("droptail:50ms").expect("a time");
    assert_eq!(
        (queue.limit, queue.needs_path(), queue.needs_rate()),
        (QueueSize::Time(Span::from_millis(50)), false, true)
    );
    let (limit, _) = queue.setup(BitRate(1e8), Span::from_secs(1), Bytes(1500));
    assert_eq!(limit, QueueLimit::Packets(417), "100 Mbit/s for 50 ms are 625 kB");
    assert!(Queue::read("droptail:0ms").is_err());
    let red = Queue::read("red:100ms,min=5ms,max=1/2").expect("thresholds");
    let Discipline::Red(early) = red.setup(BitRate(12e6), Span::ZERO, Bytes(1500)).1 else { panic!("{red:?}") };
    assert_eq!((early.min, early.max), (5.0, 50.0));
}

fn sizes() -> impl Strategy<Value = QueueSize> {
    prop_oneof![
        (1e-6_f64..1e6).prop_map(QueueSize::Bdp),
        (1_u64..1 << 45).prop_map(|nanos| QueueSize::Time(Span::from_nanos(nanos))),
        (1_u32..).prop_map(QueueSize::Packets),
        (1_u64..9_000_000_000_000_000).prop_map(QueueSize::Bytes),
    ]
}

fn thresholds() -> impl Strategy<Value = Threshold> {
    prop_oneof![sizes().prop_map(Threshold::Size), (1e-9_f64..10.0).prop_map(Threshold::Share)]
}

fn early() -> impl Strategy<Value = RedSetup<Threshold>> {
    let numbers = (0.0_f64..=1.0, 1e-9_f64..=1.0, 0.0_f64..=1.0);
    (thresholds(), thresholds(), numbers, any::<[bool; 4]>()).prop_map(|(min, max, numbers, switches)| {
        let ((max_p, weight, mark_limit), [gentle, wait, byte_mode, mark]) = (numbers, switches);
        RedSetup { min, max, max_p, weight, gentle, wait, byte_mode, mark, mark_limit, ..DEFAULT_RED }
    })
}

fn disciplines() -> impl Strategy<Value = Discipline<Threshold, Option<Bytes>>> {
    let span = |least: u64| (least..1 << 40).prop_map(Span::from_nanos);
    let codel = || {
        let threshold = || proptest::option::of((0_u64..1 << 30).prop_map(Span::from_nanos));
        (1_u64..1 << 30, 1_u64..1 << 30, [threshold(), threshold()], any::<bool>()).prop_map(
            |(target, more, [ce_threshold, l4s_threshold], mark)| {
                let [target, interval] = [target, target + more].map(Span::from_nanos);
                CoDelSetup { target, interval, mark, ce_threshold, l4s_threshold, ..CoDelSetup::default() }
            },
        )
    };
    let quantum = || proptest::option::of((1_u32..).prop_map(Bytes));
    let fq = (codel(), 1_u32..=65536, quantum(), 1_u64..9_000_000_000_000_000);
    let isolation = proptest::sample::select(Isolation::ALL.to_vec());
    let cake = (1_u64..1 << 30, 1_u64..1 << 30, any::<[bool; 2]>(), isolation);
    let pie = (span(1), span(1000), 0.0_f64..9.0, 0.0_f64..9.0, span(0), 0.0_f64..=1.0, any::<[bool; 2]>());
    let gains = (0.0_f64..9.0, 0.0_f64..9.0, 1.0_f64..9.0, 1e-9_f64..0.99);
    let dual = ([span(1), span(1000), span(0), span(0)], gains, any::<u32>(), any::<[bool; 2]>());
    prop_oneof![
        dual.prop_map(|([target, update, threshold, range], numbers, spared, [overload, linux])| {
            let (alpha, beta, coupling, share) = numbers;
            let usual = if linux { DualPi2Setup::LINUX } else { DualPi2Setup::RFC };
            let gains = DualPi2Setup { alpha, beta, coupling, share, ..usual };
            Discipline::DualPi2(DualPi2Setup { target, update, threshold, range, spared, overload, ..gains })
        }),
        Just(Discipline::DropTail),
        early().prop_map(Discipline::Red),
        (early(), early()).prop_map(|(inside, outside)| Discipline::Rio(RioSetup { inside, outside })),
        quantum().prop_map(|quantum| Discipline::Drr(DrrSetup { quantum })),
        codel().prop_map(Discipline::CoDel),
        fq.prop_map(|(codel, queues, quantum, memory)| Discipline::FqCoDel(FqCoDelSetup {
            codel,
            queues,
            quantum,
            memory
        })),
        cake.prop_map(|(target, more, [mark, ack_filter], isolation)| {
            let [target, interval] = [target, target + more].map(Span::from_nanos);
            Discipline::Cake(CakeSetup { target, interval, mark, ack_filter, isolation, ..CakeSetup::default() })
        }),
        pie.prop_map(|(target, update, alpha, beta, burst, mark_limit, [mark, derandomize])| {
            let mean_packet = Bytes(1500);
            Discipline::Pie(PieSetup { target, update, alpha, beta, burst, mark, mark_limit, derandomize, mean_packet })
        }),
        (1e-9_f64..9.0, 1e-9_f64..9.0, 0.0_f64..=1.0).prop_map(|(alpha, beta, gamma)| Discipline::Xcp(XcpSetup {
            alpha,
            beta,
            gamma
        })),
        (1e-9_f64..=1.0, 0.0_f64..9.0, span(1_000_000))
            .prop_map(|(target, queue_weight, interval)| Discipline::Vcp(VcpSetup { target, queue_weight, interval })),
        (1e-9_f64..1e9).prop_map(|threshold| Discipline::DecBit(DecBitSetup { threshold })),
    ]
}

proptest! {
    #[test]
    fn a_queue_that_is_written_reads_back(limit in sizes(), discipline in disciplines()) {
        let queue = Queue { limit, discipline };
        let text = queue.to_string();
        let read = Queue::read(&text);
        prop_assert!(read.as_ref() == Ok(&queue), "{text}: {read:?}");
    }
}
