//! The tables of hosts, token buckets, slow starts and saved paths.

use cwnd::notation::{Form, Notation};
use cwnd::registry::{Measure, Parameter};
use cwnd::window::SlowStart;
use cwnd::{Bytes, Span};

use crate::net::setup::TokenBucket;
use crate::setup::SavedPath;
use crate::tcp::LinuxHost;

/// What hosts do as those of Linux.
pub static HOSTS: Notation<LinuxHost> = Notation {
    what: "what hosts do as those of Linux",
    forms: &[
        Form {
            name: "plain",
            aliases: &["none", "off"],
            title: "nothing",
            source: "",
            example: "plain",
            positional: 0,
            required: 0,
            parameters: &[],
            build: |_| Ok(LinuxHost::default()),
        },
        Form {
            name: "",
            aliases: &[],
            title: "some of these, in any order",
            source: "Linux",
            example: "tso,gro=50us,autotune=6MB",
            positional: 0,
            required: 0,
            parameters: &[
                Parameter::flag("tso", "segmentation offload: packets leave in bursts"),
                Parameter::flag("fq", "paces as in front of a fair queue"),
                Parameter::span("gro", "receive offload: packets that arrive within this time are one segment")
                    .above(0.0),
                Parameter::quantity(
                    "autotune",
                    Measure::Bytes,
                    None,
                    "none",
                    "the receive buffer up to which the window grows",
                )
                .at_least(1.0)
                .at_most(u32::MAX as f64),
                Parameter::flag("whole", "cuts leave whole packets"),
                Parameter::span("min_rto", "the smallest retransmission timeout").above(0.0),
            ],
            build: |values| {
                let time = |name| values.given(name).map(Span::from_secs_f64);
                Ok(LinuxHost {
                    tso: values.is("tso"),
                    fq: values.is("fq"),
                    gro: time("gro"),
                    autotune: values.given("autotune").map(|bytes| Bytes(bytes as u32)),
                    whole: values.is("whole"),
                    min_rto: time("min_rto"),
                })
            },
        },
    ],
    elsewhere: &[],
};

/// Every growth of slow start.
pub static SLOW_STARTS: Notation<SlowStart> = Notation {
    what: "how slow start grows",
    forms: &[
        STANDARD,
        Form {
            name: "limited",
            title: "about half of `threshold` per round trip once the window passes it",
            source: "RFC 3742",
            example: "limited:100",
            positional: 1,
            required: 1,
            parameters: &[Parameter::derived("threshold", "", "the window from which growth is limited")
                .unit("packets")
                .at_least(1.0)
                .at_most(u32::MAX as f64)
                .whole()],
            build: |values| Ok(SlowStart::Limited { max_threshold: values.number("threshold") as u32 }),
            ..STANDARD
        },
        Form {
            name: "hystart++",
            aliases: &["hystart", "hystartpp"],
            title: "the first one ends where the round-trip time rises, after some careful rounds",
            source: "RFC 9406",
            example: "hystart++",
            build: |_| Ok(SlowStart::HyStart),
            ..STANDARD
        },
        Form {
            name: "search",
            title: "the first one ends where less arrives than was sent one round trip before",
            source: "draft-chung-ccwg-search-09",
            example: "search",
            build: |_| Ok(SlowStart::Search),
            ..STANDARD
        },
    ],
    elsewhere: &[],
};

const STANDARD: Form<SlowStart> = Form {
    name: "standard",
    aliases: &[],
    title: "a packet per packet acknowledged",
    source: "RFC 5681",
    example: "standard",
    positional: 0,
    required: 0,
    parameters: &[],
    build: |_| Ok(SlowStart::Standard),
};

/// What an earlier connection knew of a path.
pub static SAVED_PATHS: Notation<SavedPath> = Notation {
    what: "the window and the round-trip time of an earlier connection",
    forms: &[Form {
        name: "",
        aliases: &[],
        title: "a jump to half of the window once the initial window has arrived, if the round-trip time is above half of this one",
        source: "RFC 9959",
        example: "18.75MB,600ms",
        positional: 2,
        required: 2,
        parameters: &[
            Parameter::quantity("window", Measure::Bytes, None, "", "its window on the wire")
                .at_least(1.0)
                .at_most(u32::MAX as f64),
            Parameter::span("rtt", "its least round-trip time").above(0.0).at_most(3600.0),
        ],
        build: |values| {
            let [window, rtt] = ["window", "rtt"].map(|name| values.given(name).unwrap_or_default());
            Ok(SavedPath { window: window as u64, rtt: Span::from_secs_f64(rtt) })
        },
    }],
    elsewhere: &[],
};

/// Policers and shapers.
pub static TOKEN_BUCKETS: Notation<TokenBucket> = Notation {
    what: "a rate and what may pass at once",
    forms: &[Form {
        name: "",
        aliases: &[],
        title: "a token bucket, which begins full",
        source: "",
        example: "5mbit,burst=30kB",
        positional: 1,
        required: 2,
        parameters: &[
            Parameter::quantity("rate", Measure::BitRate, None, "", "how fast tokens come").at_least(1.0),
            Parameter::quantity("burst", Measure::Bytes, None, "", "what may pass at once")
                .at_least(1.0)
                .at_most(u32::MAX as f64),
        ],
        build: |values| {
            let [rate, burst] = ["rate", "burst"].map(|name| values.given(name).unwrap_or_default());
            Ok(TokenBucket { rate: rate.round() as u64, burst: Bytes(burst as u32) })
        },
    }],
    elsewhere: &[],
};
