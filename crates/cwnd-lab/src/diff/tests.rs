//! Traces of real runs, compared as files of either kind.

use super::*;
use crate::overlay::{Input, stored};

/// A file of flows as a run writes it, with one flow whose window is `window(second)`.
fn table(window: impl Fn(u64) -> f64) -> String {
    let head = "seed,time_s,flow,algorithm,sent_packets,retransmitted_packets,delivered_packets,lost_packets,marked_packets,timeouts,\
                window_packets,in_flight_packets,srtt_s,pacing_rate_packets_per_s,goodput_bps,ssthresh\n";
    let row = |tenth: u64| {
        let (sent, delivered) = (100 * (tenth + 1), 100 * tenth);
        let threshold = if tenth < 20 { "inf".to_string() } else { "50".to_string() };
        let window = window(tenth);
        format!(
            "1,{}.{}00000000,a,reno,{sent},0,{delivered},0,0,0,{window},10,0.05,,8000000,{threshold}\n",
            tenth / 10,
            tenth % 10
        )
    };
    head.to_string() + &(0..50).map(row).collect::<String>()
}

fn of(table: &str) -> Series {
    let trace = stored("x.csv", table, None).expect("a table");
    flow(&Input::Stored { traces: vec![trace], path: None }, None, None).expect("one flow")
}

fn growing(tenth: u64) -> f64 {
    40.0 + tenth as f64
}

#[test]
fn a_trace_equals_itself() {
    let ours = of(&table(growing));
    let compared = diff(&ours, &ours, &Bands::default());
    assert_eq!(compared.iter().map(|one| one.quantity).collect::<Vec<_>>(), Quantity::ALL);
    assert!(compared.iter().all(|one| one.instants >= 40 && one.outside == 0 && one.largest == 0.0), "{compared:?}");
}

#[test]
fn the_first_difference_has_its_time_and_values() {
    let (ours, theirs) = (of(&table(growing)), of(&table(|tenth| if tenth < 30 { growing(tenth) } else { 20.0 })));
    let bands = "[[band]]\nquantity = \"window\"\nrelative = 0.1\nwithin = \"0s\"\n";
    let compared = diff(&ours, &theirs, &Bands::read(bands).expect("a band"));
    let [window] = compared.as_slice() else { panic!("{compared:?}") };
    let first = window.first.as_ref().expect("a difference");
    assert_eq!((first.at, first.ours, first.theirs), (3_000_000_000, 70.0, (20.0, 20.0)));
    assert_eq!((window.instants, window.outside), (50, 20));
    // A window of 89 lies 69 above 20, of which a tenth is accepted.
    assert!((window.largest - 34.5).abs() < 1e-9, "{}", window.largest);
    assert_eq!(first.band.shown(), "10 % within 0 ms");
    // What happens half a second earlier is accepted where the band says so.
    let late = of(&table(|tenth| if tenth < 35 { growing(tenth) } else { 20.0 }));
    let within = |text: &str| diff(&late, &theirs, &Bands::read(text).expect("a band"))[0].outside;
    assert_eq!([within(bands), within(&bands.replace("0s", "600ms"))], [5, 0]);
}

#[test]
fn states_follow_from_the_threshold() {
    let ours = of(&table(growing));
    // The threshold of 50 packets is known from 2 s on, and the window is above it.
    assert_eq!(ours.range(Quantity::State, 1_900_000_000, 0), Some((0.0, 0.0)));
    assert_eq!(ours.range(Quantity::State, 2_000_000_000, 0), Some((1.0, 1.0)));
    // 100 packets of 1000 bytes in a tenth of a second.
    let rate = ours.range(Quantity::Rate, 3_000_000_000, 0).expect("a rate");
    assert!((rate.0 - 8.0).abs() < 1e-9 && rate.0 == rate.1, "{rate:?}");
}

#[test]
fn bands_are_checked() {
    let said = |text: &str| Bands::read(text).expect_err("a fault").to_string();
    assert_eq!(said(""), "it has no [[band]]");
    assert!(
        said("[[band]]\nquantity = \"speed\"\n")
            .starts_with("line 2: unknown variant `speed`, expected one of `window`")
    );
    assert_eq!(
        said("[[band]]\nquantity = \"rtt\"\nrelative = -1\n"),
        "band 1: `relative` cannot be -1: accepted is 0 to 10"
    );
    assert_eq!(
        said("[[band]]\nquantity = \"rtt\"\nfrom = \"2s\"\nto = \"1s\"\n"),
        "band 1: `to` must be later than `from`"
    );
    assert!(said("[[band]]\nquantity = \"state\"\nabsolute = 1\n").contains("a state has no `relative`"));
}

#[test]
fn flows_are_named() {
    let rows = table(growing);
    let more: String = rows.lines().skip(1).map(|row| row.replacen(",a,", ",b,", 1) + "\n").collect();
    let mut lines: Vec<&str> = rows.lines().skip(1).chain(more.lines()).collect();
    lines.sort_by_key(|row| row.split(',').nth(1));
    let both = format!("{}\n{}\n", rows.lines().next().expect("a head"), lines.join("\n"));
    let input = Input::Stored { traces: vec![stored("x.csv", &both, None).expect("a table")], path: None };
    assert_eq!(flow(&input, None, Some("b")).map(|series| series.name), Ok("b".to_string()));
    let said = |name| flow(&input, None, name).expect_err("several").to_string();
    assert_eq!(said(None), "it has the flows a, b: name one with --flow");
    assert_eq!(said(Some("c")), "it has no flow `c`, but a, b");
}
