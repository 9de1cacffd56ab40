//! The table of queues.

use cwnd::notation::{Form, Notation};
use cwnd::quantity;
use cwnd::registry::{InvalidParameter, Measure, Parameter, Values};
use cwnd::{Bytes, Span};

use super::{Queue, QueueSize, Threshold, size, threshold};
use crate::net::setup::{
    CakeSetup, CoDelSetup, DecBitSetup, Discipline, DrrSetup, DualPi2Setup, FqCoDelSetup, Isolation, PieSetup,
    RedSetup, RioSetup, VcpSetup, XcpSetup,
};

/// Every queue by name.
pub static QUEUES: Notation<Queue> = Notation {
    what: "a queue and its size",
    forms: &[DROPTAIL, RED, RIO, DRR, CODEL, FQ_CODEL, CAKE, PIE, DUALPI2, DUALPI2_LINUX, XCP, VCP, DECBIT],
    elsewhere: &[
        ("fq_pie", "write `fq_codel` for a queue per flow, or `pie` for one of all"),
        ("tbf", "write a `shaper`, which is an impairment of the link"),
        ("fq", "write `fq` as a word of `host` for its pacing, or `fq_codel` for a queue per flow"),
    ],
};

/// The accepted values of a size. `$or` stands before the last one with a limit, and `$unlimited` behind it.
macro_rules! size {
    ($or:literal, $unlimited:literal) => {
        concat!(
            "a size above zero: bandwidth-delay products (`1bdp`, or `2bdp` for two round-trip times), a time at the link's rate (`50ms`), ",
            "whole packets (`100p`, at most 4294967295)",
            $or,
            " bytes (`64kB`, at most `9000TB`)",
            $unlimited
        )
    };
}

/// The accepted values of a threshold.
pub(super) const THRESHOLD: &str = "a share of the limit (`0.15`) or a size (`20p`), above zero";

const SIZE: &str = size!(",", ", or `unlimited`");
const BOUNDED_SIZE: &str = size!(" or", "");

const LIMIT: Parameter = Parameter::text("size", "", SIZE, "how much may wait");
const BOUNDED: Parameter = Parameter::text("size", "", BOUNDED_SIZE, "how much may wait");
const ECN: Parameter =
    Parameter::switch("ecn", false, "marks packets that can carry a mark instead of dropping them early");
const ALWAYS_ECN: Parameter =
    Parameter::switch("ecn", true, "marks packets that can carry a mark instead of dropping them");
const TARGET: Parameter =
    Parameter::quantity("target", Measure::Span, Some(0.005), "", "how long packets may wait; below `interval`")
        .above(0.0)
        .at_most(LONGEST);
const INTERVAL: Parameter = Parameter::quantity(
    "interval",
    Measure::Span,
    Some(0.1),
    "",
    "how long they must have waited longer before a drop",
)
.above(0.0)
.at_most(LONGEST);
/// The longest time that can be written, seconds.
const LONGEST: f64 = 1e8;
const CE_THRESHOLD: Parameter = Parameter::quantity(
    "ce_threshold",
    Measure::Span,
    None,
    "none",
    "a packet that can carry a mark gets one if it has waited longer",
);
const L4S_THRESHOLD: Parameter = Parameter::quantity(
    "l4s_threshold",
    Measure::Span,
    None,
    "none",
    "a packet with ECT(1), which flows of `ecn = \"l4s\"` send, gets a mark if it has waited longer",
);
const QUANTUM: Parameter =
    Parameter::quantity("quantum", Measure::Bytes, None, "one packet", "what a flow may send in a turn").at_least(1.0);

/// The parameters of early detection, with a prefix before their names, the defaults of both thresholds and of max_p and gentle.
macro_rules! early {
    ($prefix:literal, $min:literal, $max:literal, $max_p:literal, $gentle:literal) => {
        [
            Parameter::text(
                concat!($prefix, "min"),
                $min,
                THRESHOLD,
                "the average queue from which packets are dropped early",
            ),
            Parameter::text(
                concat!($prefix, "max"),
                $max,
                THRESHOLD,
                "the average queue at which the probability is `max_p`",
            ),
            Parameter::number(concat!($prefix, "max_p"), $max_p, "the probability of a drop at `max`")
                .at_least(0.0)
                .at_most(1.0),
            Parameter::number(concat!($prefix, "weight"), 0.002, "the weight of the present queue in its average")
                .above(0.0)
                .at_most(1.0),
            Parameter::switch(
                concat!($prefix, "gentle"),
                $gentle,
                "above `max` the probability rises to 1 at twice `max`",
            ),
            Parameter::switch(
                concat!($prefix, "wait"),
                true,
                "no early drop before 1/p packets have passed since the last one",
            ),
            Parameter::switch(concat!($prefix, "bytes"), false, "counts bytes instead of packets"),
            Parameter::switch(
                concat!($prefix, "ecn"),
                false,
                "marks packets that can carry a mark instead of dropping them early",
            ),
            Parameter::number(
                concat!($prefix, "mark_limit"),
                1.0,
                "no marks but drops while the probability is above this",
            )
            .at_least(0.0)
            .at_most(1.0),
        ]
    };
}

const fn behind_size<const FEW: usize, const ALL: usize>(few: [Parameter; FEW]) -> [Parameter; ALL] {
    let mut all = [BOUNDED; ALL];
    let mut index = 0;
    while index < FEW {
        all[index + 1] = few[index];
        index += 1;
    }
    all
}

const RED_PARAMETERS: [Parameter; 10] = behind_size(early!("", "0.15", "0.5", 0.1, true));
const RIO_PARAMETERS: [Parameter; 28] = {
    let classes = [
        early!("in_", "15p", "30p", 0.02, false),
        early!("out_", "5p", "15p", 0.1, false),
        // For both classes; those with a prefix come first.
        early!("", "5p", "15p", 0.1, false),
    ];
    let mut all = [BOUNDED; 28];
    let mut index = 0;
    while index < 27 {
        all[index + 1] = classes[index / 9][index % 9];
        index += 1;
    }
    all
};

const DROPTAIL: Form<Queue> = Form {
    name: "droptail",
    aliases: &["fifo", "pfifo", "bfifo", "tail-drop", "taildrop", "drop-tail"],
    title: "drop-tail: first in, first out; a packet that finds the queue full is dropped",
    source: "",
    example: "droptail:1bdp",
    positional: 1,
    required: 1,
    parameters: &[LIMIT],
    build: |values| queue(values, Discipline::DropTail),
};
const RED: Form<Queue> = Form {
    name: "red",
    aliases: &["wred", "ared", "gred"],
    title: "random early detection, with the additions of ns-2",
    source: "Floyd and Jacobson 1993",
    example: "red:1bdp,min=0.15,max=0.5,ecn=yes",
    parameters: &RED_PARAMETERS,
    build: |values| limited(values, Discipline::Red(early(values, "", DEFAULT_RED)?)),
    ..DROPTAIL
};
const RIO: Form<Queue> = Form {
    name: "rio",
    aliases: &[],
    title: "random early detection for two classes of flows: the parameters of `red` for packets of the class `in` (`in_`), for all others \
            (`out_`), or for both",
    source: "Clark and Fang 1998",
    example: "rio:300p,in_min=15p,in_max=30p,out_max=15p",
    parameters: &RIO_PARAMETERS,
    build: |values| {
        let RioSetup { inside, outside } = DEFAULT_RIO;
        let (inside, outside) = (early(values, "in_", inside)?, early(values, "out_", outside)?);
        limited(values, Discipline::Rio(RioSetup { inside, outside }))
    },
    ..DROPTAIL
};
const DRR: Form<Queue> = Form {
    name: "drr",
    aliases: &["sfq", "wfq", "fair"],
    title: "deficit round robin over flows; when full, it drops from the head of the longest queue",
    source: "Shreedhar and Varghese 1996",
    example: "drr:1bdp,quantum=500B",
    parameters: &[LIMIT, QUANTUM],
    build: |values| queue(values, Discipline::Drr(DrrSetup { quantum: quantum(values) })),
    ..DROPTAIL
};
const CODEL: Form<Queue> = Form {
    name: "codel",
    aliases: &[],
    title: "controlled delay: once all packets have waited longer than `target` for an `interval`, drops from the head, ever more \
            often, until one has waited less; leaves a queue of one packet alone",
    source: "RFC 8289",
    example: "codel:1000p,target=5ms,interval=100ms",
    parameters: &[LIMIT, TARGET, INTERVAL, ECN, CE_THRESHOLD, L4S_THRESHOLD],
    build: |values| queue(values, Discipline::CoDel(codel(values)?)),
    ..DROPTAIL
};
const FQ_CODEL: Form<Queue> = Form {
    name: "fq_codel",
    aliases: &["fqcodel", "fq-codel", "sqm"],
    title: "flow queueing with controlled delay: flows by a hash, perturbed by the seed, in queues that take turns by bytes, new ones first, \
            each with CoDel; when full, the longest loses half of its packets, at most 64",
    source: "RFC 8290",
    example: "fq_codel:10240p,target=5ms,quantum=300B",
    parameters: &[
        LIMIT,
        TARGET,
        INTERVAL,
        ALWAYS_ECN,
        Parameter::number("queues", 1024.0, "how many queues; flows with equal hashes share one")
            .at_least(1.0)
            .at_most(65536.0)
            .whole(),
        QUANTUM,
        CE_THRESHOLD,
        L4S_THRESHOLD,
        Parameter::quantity("memory", Measure::Memory, Some(32e6), "", "a second limit, of all packets that wait")
            .at_least(1.0),
    ],
    build: |values| {
        let (codel, queues, quantum) = (codel(values)?, values.number("queues") as u32, quantum(values));
        let memory = values.number("memory") as u64;
        queue(values, Discipline::FqCoDel(FqCoDelSetup { codel, queues, quantum, memory }))
    },
    ..DROPTAIL
};
const CAKE: Form<Queue> = Form {
    name: "cake",
    aliases: &["sch_cake"],
    title: "CAKE for one kind of traffic: flows by a hash, perturbed by the seed, in queues that take turns by bytes, sparse ones first, each \
            with COBALT, which is CoDel with random drops after overflows (BLUE); the rate of the link sets the quantum and the least \
            `target`; when full, the longest queue loses its first packet; hosts are those that flows name (`src_host`, `dst_host`)",
    source: "Linux net/sched/sch_cake.c; Høiland-Jørgensen, Täht and Morton 2018",
    example: "cake:1000p,target=5ms,interval=100ms",
    parameters: &[
        LIMIT,
        TARGET,
        INTERVAL,
        ALWAYS_ECN,
        Parameter::switch(
            "ack_filter",
            false,
            "an acknowledgement drops the oldest one in its queue that it makes redundant, if there are two at least",
        ),
        Parameter::choice(
            "isolation",
            &const { isolations() },
            "between which equal shares are: `flows`; source hosts (`srchost`), destination hosts (`dsthost`) or pairs of both (`hosts`), each \
             with one queue for its flows; or hosts and then the flows of each: source hosts (`dual-srchost`), destination hosts \
             (`dual-dsthost`), or of the two hosts of a flow the one with more flows (`triple-isolate`)",
        ),
    ],
    build: |values| {
        let ([target, interval], mark) = (target_below_interval(values)?, values.is("ecn"));
        let (ack_filter, word) = (values.is("ack_filter"), values.choice("isolation"));
        let isolation = Isolation::ALL.into_iter().find(|isolation| isolation.name() == word).unwrap_or_default();
        let cake = CakeSetup { target, interval, mark, ack_filter, isolation, ..CakeSetup::default() };
        queue(values, Discipline::Cake(cake))
    },
    ..DROPTAIL
};
const PIE: Form<Queue> = Form {
    name: "pie",
    aliases: &["docsis-pie"],
    title: "proportional integral controller enhanced: drops on arrival with a probability that is set every `update` to keep the delay, \
            measured by timestamps, at `target`",
    source: "RFC 8033",
    example: "pie:1000p,target=15ms,ecn=yes",
    parameters: &[
        LIMIT,
        Parameter::quantity("target", Measure::Span, Some(0.015), "", "the delay to be kept").above(0.0),
        Parameter::quantity("update", Measure::Span, Some(0.015), "", "time between two updates of the probability")
            .at_least(1e-6),
        Parameter::number("alpha", 0.125, "growth of the probability per update for the delay above the target")
            .unit("1/s")
            .at_least(0.0),
        Parameter::number("beta", 1.25, "growth of the probability per update for the growth of the delay")
            .unit("1/s")
            .at_least(0.0),
        Parameter::quantity("burst", Measure::Span, Some(0.15), "", "how long a burst passes that ends a calm"),
        ECN,
        Parameter::number("mark_limit", 0.1, "no marks but drops while the probability is above this")
            .at_least(0.0)
            .at_most(1.0),
        Parameter::switch("derandomize", false, "keeps drops apart"),
    ],
    build: |values| {
        let pie = PieSetup {
            target: span(values, "target"),
            update: span(values, "update"),
            alpha: values.number("alpha"),
            beta: values.number("beta"),
            burst: span(values, "burst"),
            mark: values.is("ecn"),
            mark_limit: values.number("mark_limit"),
            derandomize: values.is("derandomize"),
            ..PieSetup::default()
        };
        queue(values, Discipline::Pie(pie))
    },
    ..DROPTAIL
};
/// The parameters of a dual queue with the numbers of `defaults`, whose spans are given in seconds.
macro_rules! dual {
    ($update:literal, $alpha:literal, $beta:literal, $threshold:literal, $range:literal, $spared:literal, $share:literal) => {
        &[
            LIMIT,
            Parameter::quantity("target", Measure::Span, Some(0.015), "", "the delay of the classic queue to be kept")
                .above(0.0),
            Parameter::quantity(
                "update",
                Measure::Span,
                Some($update),
                "",
                "time between two updates of the probability",
            )
            .at_least(1e-6),
            Parameter::number(
                "alpha",
                $alpha,
                "growth of the base probability per update for the delay above the target",
            )
            .unit("1/s")
            .at_least(0.0),
            Parameter::number("beta", $beta, "growth of the base probability per update for the growth of the delay")
                .unit("1/s")
                .at_least(0.0),
            Parameter::number(
                "coupling",
                2.0,
                "factor from the base probability to that of a mark in the low-latency queue",
            )
            .at_least(1.0),
            Parameter::quantity(
                "threshold",
                Measure::Span,
                Some($threshold),
                "",
                "the waiting time from which the low-latency queue marks by itself",
            ),
            Parameter::quantity(
                "range",
                Measure::Span,
                Some($range),
                "",
                "the waiting time beyond `threshold` by which it marks every packet; 0 s for a step",
            ),
            Parameter::number(
                "spared",
                $spared,
                "it does not mark by itself while no more packets than this wait in it",
            )
            .at_least(0.0)
            .at_most(4294967295.0)
            .whole(),
            Parameter::number(
                "share",
                $share,
                "share of the capacity that the classic queue keeps while packets wait in both",
            )
            .above(0.0)
            .below(1.0),
            Parameter::switch("overload", true, "drops packets with ECT too once the coupled probability is 1"),
        ]
    };
}

const DUALPI2: Form<Queue> = Form {
    name: "dualpi2",
    aliases: &["dualq", "dual", "l4s"],
    title: "coupled dual queue with PI2: packets with ECT(1) (`ecn = \"l4s\"`) wait in a queue of low latency that marks early, all others in a \
            classic one that is kept at `target`; the classic drops with the square of the probability by which the other marks",
    source: "RFC 9332 appendix A",
    example: "dualpi2:250ms,target=15ms",
    parameters: dual!(0.015, 0.15, 3.0, 0.0008, 0.0004, 1.0, 0.0625),
    build: |values| queue(values, Discipline::DualPi2(dual(values, DualPi2Setup::RFC))),
    ..DROPTAIL
};
const DUALPI2_LINUX: Form<Queue> = Form {
    name: "dualpi2_linux",
    aliases: &["sch_dualpi2"],
    title: "`dualpi2` as in Linux: the controller sees the longer delay of both queues, drops and marks are random, and it spares a backlog of \
            less than two packets",
    source: "Linux net/sched/sch_dualpi2.c",
    example: "dualpi2_linux:10000p,threshold=1ms",
    parameters: dual!(0.016, 0.16015625, 3.19921875, 0.001, 0.0, 0.0, 0.1),
    build: |values| queue(values, Discipline::DualPi2(dual(values, DualPi2Setup::LINUX))),
    ..DROPTAIL
};
const XCP: Form<Queue> = Form {
    name: "xcp",
    aliases: &[],
    title: "an XCP router: drop-tail, and writes into packets of flows of `xcp`",
    source: "Katabi, Handley and Rohrs 2002",
    example: "xcp:1bdp,alpha=0.4,beta=0.226,gamma=0.1",
    parameters: &[
        LIMIT,
        Parameter::number("alpha", 0.4, "share of the spare capacity given away per round trip").above(0.0),
        Parameter::number("beta", 0.226, "share of the persistent queue taken back per round trip").above(0.0),
        Parameter::number("gamma", 0.1, "share of the traffic shuffled between flows").at_least(0.0).at_most(1.0),
    ],
    build: |values| {
        let [alpha, beta, gamma] = ["alpha", "beta", "gamma"].map(|name| values.number(name));
        queue(values, Discipline::Xcp(XcpSetup { alpha, beta, gamma }))
    },
    ..DROPTAIL
};
const VCP: Form<Queue> = Form {
    name: "vcp",
    aliases: &[],
    title: "a VCP router: drop-tail, and writes into packets of flows of `vcp`",
    source: "Xia and others 2005",
    example: "vcp:1bdp,target=0.98,interval=200ms",
    parameters: &[
        LIMIT,
        Parameter::number("target", 0.98, "share of the capacity that counts as all of it").above(0.0).at_most(1.0),
        Parameter::number("queue_weight", 0.5, "share of the persistent queue that counts as load").at_least(0.0),
        Parameter::quantity("interval", Measure::Span, Some(0.2), "", "over which the load is measured").at_least(1e-3),
    ],
    build: |values| {
        let [target, queue_weight] = ["target", "queue_weight"].map(|name| values.number(name));
        queue(values, Discipline::Vcp(VcpSetup { target, queue_weight, interval: span(values, "interval") }))
    },
    ..DROPTAIL
};
const DECBIT: Form<Queue> = Form {
    name: "decbit",
    aliases: &["dec-bit", "dec"],
    title: "a DECbit router: drop-tail, and writes into packets of flows of `decbit`",
    source: "Ramakrishnan and Jain 1990",
    example: "decbit:1bdp,threshold=1",
    parameters: &[
        LIMIT,
        Parameter::number("threshold", 1.0, "the average queue from which the bit is set").unit("packets").above(0.0),
    ],
    build: |values| queue(values, Discipline::DecBit(DecBitSetup { threshold: values.number("threshold") })),
    ..DROPTAIL
};

/// The names of the kinds of isolation.
const fn isolations() -> [&'static str; Isolation::ALL.len()] {
    let mut names = [""; Isolation::ALL.len()];
    let mut index = 0;
    while index < names.len() {
        names[index] = Isolation::ALL[index].name();
        index += 1;
    }
    names
}

fn queue(values: &Values, discipline: Discipline<Threshold, Option<Bytes>>) -> Result<Queue, InvalidParameter> {
    let limit = size(values.text("size")).ok_or_else(|| InvalidParameter::new("size", SIZE))?;
    Ok(Queue { limit, discipline })
}

/// Thresholds may be shares of the limit.
fn limited(values: &Values, discipline: Discipline<Threshold, Option<Bytes>>) -> Result<Queue, InvalidParameter> {
    match size(values.text("size")) {
        Some(QueueSize::Unlimited) => Err(InvalidParameter::new("size", "a size, of which thresholds may be shares")),
        Some(limit) => Ok(Queue { limit, discipline }),
        None => Err(InvalidParameter::new("size", BOUNDED_SIZE)),
    }
}

/// Early detection of the parameters with the prefix `class`, of those of all classes, and `otherwise`.
fn early(
    values: &Values,
    class: &str,
    otherwise: RedSetup<Threshold>,
) -> Result<RedSetup<Threshold>, InvalidParameter> {
    let given = |name: &str| {
        let own = values.given_as(&format!("{class}{name}"));
        own.or_else(|| values.given_as(name))
    };
    let size = |name: &str, otherwise| given(name).map_or(Ok(otherwise), |name| threshold(name, values.text(name)));
    let number = |name: &str, otherwise| given(name).map_or(otherwise, |name| values.number(name));
    let is = |name: &str, otherwise| given(name).map_or(otherwise, |name| values.is(name));
    Ok(RedSetup {
        min: size("min", otherwise.min)?,
        max: size("max", otherwise.max)?,
        max_p: number("max_p", otherwise.max_p),
        weight: number("weight", otherwise.weight),
        gentle: is("gentle", otherwise.gentle),
        wait: is("wait", otherwise.wait),
        byte_mode: is("bytes", otherwise.byte_mode),
        mean_packet: otherwise.mean_packet,
        mark: is("ecn", otherwise.mark),
        mark_limit: number("mark_limit", otherwise.mark_limit),
    })
}

fn codel(values: &Values) -> Result<CoDelSetup, InvalidParameter> {
    let ([target, interval], mark) = (target_below_interval(values)?, values.is("ecn"));
    let ce_threshold = values.given("ce_threshold").map(Span::from_secs_f64);
    let l4s_threshold = values.given("l4s_threshold").map(Span::from_secs_f64);
    Ok(CoDelSetup { target, interval, mark, ce_threshold, l4s_threshold, ..CoDelSetup::default() })
}

fn target_below_interval(values: &Values) -> Result<[Span; 2], InvalidParameter> {
    let [target, interval] = ["target", "interval"].map(|name| span(values, name));
    if target >= interval {
        let [short, long] = [target, interval].map(quantity::exact);
        return Err(if values.given("target").is_none() {
            InvalidParameter::new("interval", format!("a time above the target, {short},"))
        } else {
            InvalidParameter::new("target", format!("a time below the interval, {long},"))
        });
    }
    Ok([target, interval])
}

/// A dual queue of the variant of `usual`.
fn dual(values: &Values, usual: DualPi2Setup) -> DualPi2Setup {
    DualPi2Setup {
        target: span(values, "target"),
        update: span(values, "update"),
        alpha: values.number("alpha"),
        beta: values.number("beta"),
        coupling: values.number("coupling"),
        threshold: span(values, "threshold"),
        range: span(values, "range"),
        spared: values.number("spared") as u32,
        share: values.number("share"),
        overload: values.is("overload"),
        ..usual
    }
}

fn span(values: &Values, name: &str) -> Span {
    Span::from_secs_f64(values.number(name))
}

fn quantum(values: &Values) -> Option<Bytes> {
    values.given("quantum").map(|bytes| Bytes(bytes as u32))
}

/// The thresholds of `simd` §VI.
pub const DEFAULT_RED: RedSetup<Threshold> = RedSetup::between(Threshold::Share(0.15), Threshold::Share(0.5));

/// ns-2's thresholds: 15 and 30 packets inside, 5 and 15 outside.
pub const DEFAULT_RIO: RioSetup<Threshold> = {
    const fn packets(packets: u32) -> Threshold {
        Threshold::Size(QueueSize::Packets(packets))
    }
    RioSetup::between([packets(15), packets(30)], [packets(5), packets(15)])
};
