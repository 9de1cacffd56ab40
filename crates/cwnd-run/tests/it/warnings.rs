//! What a run warns of.

use std::fs;
use std::path::Path;

use cwnd::registry::{ALGORITHMS, Transport};
use cwnd_run::run::run;
use cwnd_run::scenario::Scenario;
use cwnd_sim::Era;

fn warnings(flow: &str) -> Vec<String> {
    let text = format!(
        "duration = \"5s\"\nwarmup = \"1s\"\nseeds = 1\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"20ms\"\n[[flow]]\n{flow}\n"
    );
    let scenario = Scenario::read("test.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
    run(vec![scenario], &()).expect("it runs").remove(0).warnings()
}

#[test]
fn growth_on_what_was_not_used_is_named_where_it_mattered() {
    let grew = |flow: &str| warnings(flow).iter().any(|warning| warning.contains("grew its unused window"));
    let limited = "source = \"cbr:1mbit\"";
    assert!(grew(&format!("algorithm = \"reno\"\nera = \"ns2-2001\"\n{limited}")));
    assert!(grew(&format!("algorithm = \"udt:profile=ns2-2.2\"\n{limited}")));
    assert!(!grew(&format!("algorithm = \"reno\"\n{limited}")));
    assert!(!grew("algorithm = \"reno\"\nera = \"ns2-2001\""));
    let held = warnings("algorithm = \"reno\"\nmax_window = 4");
    assert!(held.iter().any(|warning| warning.contains("receiver-limited")), "{held:?}");
}

/// The warnings of a scenario with one flow.
fn said(text: &str) -> Vec<String> {
    let text = format!("duration = \"2s\"\nwarmup = \"1s\"\nseeds = 1\n{text}");
    let scenario = Scenario::read("test.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
    run(vec![scenario], &()).expect("it runs").remove(0).warnings()
}

#[test]
fn a_profile_is_known_however_it_is_written() {
    let case = "[dumbbell]\nrate = \"12mbit\"\nrtt = \"100ms\"\nqueue = \"droptail:200p\"\n[[flow]]\nmax_window = 10\n";
    let grew = |algorithm: &str| {
        let warnings = said(&format!("{case}algorithm = \"{algorithm}\"\n"));
        warnings.iter().any(|warning| warning.contains("grew its unused window"))
    };
    for profile in ["ns2-2.0", " ns2-2.0", "NS2-2.0 ", " paper"] {
        assert!(grew(&format!("udt:profile={profile}")), "{profile}");
        assert!(grew(&format!("udt : profile = {profile}")), "{profile}");
    }
    assert!(!grew("udt:profile=udt4"));
}

#[test]
fn what_changes_nothing_is_named_by_its_line_with_the_reason() {
    let path = |queue: &str, flow: &str| {
        format!("[dumbbell]\nrate = \"10mbit\"\nqueue = \"{queue}\"\n[[flow]]\nalgorithm = \"reno\"\n{flow}")
    };
    assert_eq!(said(&path("red:1bdp,ecn=yes", "ecn = \"latch\"")), [""; 0]);
    assert_eq!(said(&path("fq_codel:1000p", "")), [""; 0], "it marks by default");
    for (text, expected) in [
        (
            path("red:1bdp,ecn=yes", ""),
            "test.toml:6: dumbbell.queue = red:1bdp,ecn=yes: `ecn=yes` has no effect: no flow that crosses it is ECN-capable: set `ecn` \
             to `latch`, `per-packet`, `accecn` or `counts`",
        ),
        (
            path("droptail:1bdp", "ecn = \"latch\""),
            "test.toml:9: flow.0.ecn = latch has no effect: no queue on its path marks packets: take one with `ecn=yes`, such as \
             `red:1bdp,ecn=yes`",
        ),
        (
            path("pie:100p,mark_limit=0.5", ""),
            "test.toml:6: dumbbell.queue = pie:100p,mark_limit=0.5: `mark_limit=0.5` has no effect: it is about marks, of which there are \
             none without `ecn=yes`",
        ),
        (
            path("droptail:1bdp", "class = \"in\""),
            "test.toml:9: flow.0.class = in has no effect: only `rio` queues tell classes apart, and none is on its path",
        ),
        (path("droptail:1bdp", "stop = \"3s\""), "test.toml:9: flow.0.stop = 3s has no effect: the run ends at 2 s"),
        (
            path("droptail:1bdp", "").replace("reno", "udt") + "slow_start = \"hystart++\"",
            "test.toml:9: flow.0.slow_start = hystart++ has no effect: `udt` runs over the protocol of UDT",
        ),
        (
            path("droptail:1bdp", "").replace("reno", "udt") + "delayed_ack = \"0s\"",
            "test.toml:9: flow.0.delayed_ack = 0s has no effect: `udt` runs over the protocol of UDT",
        ),
        (
            path("droptail:1bdp", "").replace("reno", "bbr") + "paced = true",
            "test.toml:9: flow.0.paced = true has no effect: `bbr` spaces its packets itself",
        ),
        (
            format!("recovery = \"reno\"\n{}recovery = \"sack\"", path("droptail:1bdp", "")),
            "test.toml:4: recovery = reno has no effect: every group of flows has a `recovery` of its own",
        ),
    ] {
        assert_eq!(said(&text), [expected], "{text}");
    }
}

#[test]
fn seeds_that_draw_nothing_are_named() {
    let still = "[variation]\nstart = \"0s\"\nrtt = 0.0\njitter = 0.0\n[dumbbell]\nrate = \"10mbit\"\n[[flow]]\nalgorithm = \"reno\"\n";
    let with = |overrides: &[&str]| {
        let overrides: Vec<String> = overrides.iter().map(ToString::to_string).collect();
        let text = format!("duration = \"2s\"\nwarmup = \"1s\"\nseeds = 1\n{still}");
        let scenario = Scenario::read("test.toml", &text, &overrides).unwrap_or_else(|error| panic!("{error}"));
        run(vec![scenario], &()).expect("it runs").remove(0).warnings()
    };
    assert_eq!(with(&[]), [""; 0]);
    assert_eq!(with(&["first_seed=3"]), ["--set first_seed=3 has no effect: nothing in the scenario is random"]);
    assert_eq!(
        with(&["seeds=3"]),
        ["all 3 seeds gave the same run, since nothing in it is random: the intervals are of one run"]
    );
    assert_eq!(with(&["seeds=3", "variation.jitter=0.5"]), [""; 0]);
}

#[test]
fn a_policer_holds_the_largest_packet() {
    let with = |burst: &str, more: &str| {
        let text = format!(
            "[dumbbell]\nrate = \"10mbit\"\n[dumbbell.impairments]\npolicer = \"10mbit,burst={burst}\"\n[[flow]]\nalgorithm = \"reno\"\n{more}"
        );
        Scenario::read("test.toml", &text, &[]).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(with("1500B", ""), Ok(()));
    let refused = |given: &str, least: u32| {
        format!(
            "test.toml:4:11: `policer` cannot be {given}: accepted is a burst of at least {least}B, the largest packet that crosses it"
        )
    };
    let first = |result: Result<(), String>| result.expect_err("refused").lines().next().map(str::to_string);
    assert_eq!(first(with("100B", "")), Some(refused("10mbit,burst=100B", 1500)));
    assert_eq!(
        first(with("1500B", "[[cbr]]\nrate = \"cbr:1mbit\"\npacket = \"9kB\"\n")),
        Some(refused("10mbit,burst=1500B", 9000))
    );
    assert_eq!(with("100B", "direction = \"reverse\""), Ok(()), "acknowledgements of 40 bytes pass");
}

#[test]
fn a_link_that_follows_a_trace_needs_no_rate() {
    let with = |link: &str| {
        let text = format!(
            "duration = \"2s\"\nwarmup = \"1s\"\n[[link]]\nfrom = \"a\"\nto = \"b\"\ndelay = \"10ms\"\nqueue = \"droptail:20p\"\n\
             trace = \"test.trace\"\n{link}\n[[link]]\nfrom = \"b\"\nto = \"a\"\ndelay = \"10ms\"\nboth_ways = false\n\
             [[flow]]\nalgorithm = \"reno\"\nfrom = \"a\"\nto = \"b\"\nextra_rtt = \"20ms\"\n"
        );
        let name = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/x.toml");
        let read = Scenario::read(&name.display().to_string(), &text, &[]).map_err(|error| error.fault.to_string())?;
        Ok(read.unused().iter().map(|one| one.by_key().to_string()).collect::<Vec<_>>())
    };
    assert_eq!(with("both_ways = false"), Ok(vec![]));
    let idle = "link.0.rate = 5mbit has no effect: the link follows its `trace`, and none leads back";
    assert_eq!(with("both_ways = false\nrate = \"5mbit\""), Ok(vec![idle.to_string()]));
    let missing: Result<_, String> = with("");
    assert!(missing.is_err_and(|error| error.contains("` without a `rate`")));
}

/// No setting of the scenarios that come with the project is without effect.
#[test]
fn the_scenarios_of_the_project_have_no_idle_settings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (mut read, mut idle) = (0, Vec::new());
    let mut directories = vec![root.join("scenarios"), root.join("papers")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).expect("a directory") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            let name = path.display().to_string();
            let Ok(scenario) = Scenario::read(&name, &text, &[]) else { continue };
            // Its runner puts TCP in the place of UDT.
            let common = |key: &str| path.ends_with("papers/daimd/delay.toml") && ["era", "recovery"].contains(&key);
            let unused = scenario.unused().iter().filter(|one| !common(&one.key));
            idle.extend(unused.map(ToString::to_string));
            read += 1;
        }
    }
    assert_eq!(idle, [""; 0]);
    assert!(read > 60, "{read}");
}

#[test]
fn an_answer_to_marks_that_cannot_come_is_named() {
    let path = |queue: &str, flow: &str| {
        format!("[dumbbell]\nrate = \"10mbit\"\nrtt = \"20ms\"\nqueue = \"{queue}\"\n[[flow]]\n{flow}\n")
    };
    let marking = "red:100p,min=5p,max=5p,weight=1,ecn=yes";
    let abe = "algorithm = \"reno:ecn_beta=0.8\"\n";
    assert_eq!(said(&path(marking, &format!("{abe}ecn = \"latch\""))), [""; 0]);
    let unmarked = said(&path("droptail:1bdp", abe));
    assert!(unmarked.iter().any(|said| said.contains("`ecn_beta=0.8` has no effect")), "{unmarked:?}");
    // DCTCP needs to know how many packets are marked.
    let dctcp = |ecn: &str| said(&path(marking, &format!("algorithm = \"dctcp\"\necn = \"{ecn}\"")));
    assert_eq!(dctcp("per-packet"), [""; 0]);
    let latched = dctcp("latch");
    assert!(latched.iter().any(|said| said.contains("it wants `per-packet`")), "{latched:?}");
}

/// A link that writes ECT(1) gives a later queue packets for its threshold.
#[test]
fn a_link_that_writes_the_ecn_field_has_an_effect() {
    let with = |impairments: &str| {
        let text = format!(
            "variation = {{ rtt = 0 }}\n[[link]]\nfrom = \"a\"\nto = \"m\"\nrate = \"30mbit\"\n\
             delay = \"5ms\"\nqueue = \"droptail:500p\"\n{impairments}\n[[link]]\nfrom = \"m\"\nto = \"z\"\nrate = \"20mbit\"\n\
             delay = \"15ms\"\nqueue = \"codel:500p,l4s_threshold=1ms\"\n[[flow]]\nalgorithm = \"dctcp\"\nfrom = \"a\"\nto = \"z\"\n\
             ecn = \"per-packet\"\n"
        );
        said(&text)
    };
    assert_eq!(with("impairments = { mangle_ecn = \"ect1\" }"), [""; 0]);
    let without = with("");
    assert!(without.iter().any(|said| said.contains("no flow that crosses it sends ECT(1)")), "{without:?}");
    let step = "schedule = { steps = [{ at = \"1s\", mangle_ecn = \"ce\" }] }";
    let cleared = with(&format!("impairments = {{ bleach_ecn = true }}\n{step}"));
    assert!(
        cleared.iter().any(|said| said.contains("mangle_ecn") && said.contains("does the same then")),
        "{cleared:?}"
    );
    assert!(!with(step).iter().any(|said| said.contains("mangle_ecn")), "{:?}", with(step));
}

/// A zero may replace another value, and the link is then as it is without the key.
#[test]
fn a_plain_zero_says_that_there_is_none() {
    for keys in ["jitter = \"0ms\"", "corrupt = 0", "duplicate = 0"] {
        assert_eq!(said_of(&format!("impairments = {{ {keys} }}"), "", ""), [""; 0]);
    }
}

#[test]
fn a_threshold_that_no_queue_reaches_is_refused() {
    for (thresholds, packets) in [("min=20,max=20", "10000.0 packets"), ("min=600p,max=700p", "600.0 packets")] {
        let text = format!("[dumbbell]\nqueue = \"red:500p,{thresholds},ecn=yes\"\n[[flow]]\nalgorithm = \"reno\"\n");
        let error = Scenario::read("test.toml", &text, &[]).expect_err("no queue reaches it").to_string();
        assert!(error.contains("at most the 500.0 packets") && error.contains(packets), "{error}");
    }
}

/// The warnings of a scenario of 2 s with one flow: `keys` of the dumbbell, and whatever else there is.
fn said_of(keys: &str, flow: &str, more: &str) -> Vec<String> {
    let text = format!(
        "[dumbbell]\nrate = \"10mbit\"\nrtt = \"20ms\"\n{keys}\n[[flow]]\nalgorithm = \"reno\"\n{flow}\n{more}\n"
    );
    let scenario = Scenario::read("x.toml", &format!("duration = \"2s\"\nwarmup = \"0s\"\n{text}"), &[]);
    let scenario = scenario.unwrap_or_else(|error| panic!("{error}"));
    scenario.unused().iter().map(|one| one.by_key().to_string()).collect()
}

#[test]
fn what_says_nothing_is_named_with_the_reason() {
    let over = "no effect: the run ends at 2 s";
    let cbr = |rate: &str| format!("[[cbr]]\nrate = \"{rate}\"");
    let group = |keys: &str| format!("[[arrivals]]\nalgorithm = \"reno\"\nsize = \"9p\"\ngap = \"50ms\"\n{keys}");
    let steps = |step: &str| format!("schedule = {{ steps = [{{ {step} }}] }}");
    let impaired = |keys: &str| format!("impairments = {{ {keys} }}");
    for (keys, flow, more, expected) in [
        (
            impaired("shaper = \"10mbit,burst=9kB\""),
            "",
            String::new(),
            "shaper = 10mbit,burst=9kB has no effect: it fills at least as fast",
        ),
        (
            impaired("shaper = \"9mbit,burst=1MB\""),
            "",
            String::new(),
            "shaper = 9mbit,burst=1MB has no effect: the run ends before it is empty",
        ),
        (impaired("aggregate = \"0s\""), "", String::new(), "aggregate = 0s has no effect: packets do not wait"),
        (impaired("reorder = \"0.1:0s\""), "", String::new(), "reorder = 0.1:0s has no effect: no packet is held back"),
        (impaired(""), "", String::new(), "dumbbell.impairments = {} has no effect: there is nothing in it"),
        ("loss = \"gilbert:to_bad=0,to_good=0.5\"".into(), "", String::new(), "has no effect: no bad time begins"),
        (
            "loss = \"gilbert:to_bad=0.1,to_good=0.5,loss_bad=0\"".into(),
            "",
            String::new(),
            "has no effect: nothing is lost",
        ),
        (
            "loss = \"gilbert:to_bad=0,to_good=0.5,loss_good=0.1\"".into(),
            "",
            String::new(),
            ": `to_good=0.5` has no effect: no bad time",
        ),
        (
            steps("at = \"1s\", rate = \"10mbit\""),
            "",
            String::new(),
            "steps.0.rate = 10mbit has no effect: the link has this rate",
        ),
        (steps("at = \"2s\", rate = \"9mbit\""), "", String::new(), over),
        (
            steps("at = \"1s\", extra_delay = \"0s\""),
            "",
            String::new(),
            "extra_delay = 0s has no effect: the link has this delay",
        ),
        (
            "outage = [\"1s..1500ms\", \"1100ms..1200ms\"]".into(),
            "",
            String::new(),
            "outage.1 = 1100ms..1200ms has no effect: the link transmits nothing",
        ),
        (String::new(), "stop = \"2s\"", String::new(), over),
        (String::new(), "on = [\"0s..50s\"]", String::new(), "on.0 = 0s..50s has no effect: it is all of the run"),
        (String::new(), "on = []", String::new(), "flow.0.on = [] has no effect: there is nothing in it"),
        (String::new(), "via = []", String::new(), "flow.0.via = [] has no effect: there is nothing in it"),
        (String::new(), "max_window = inf", String::new(), "flow.0.max_window = inf has no effect: there is no bound"),
        (
            String::new(),
            "max_window = 60\nsize = \"50p\"",
            String::new(),
            "flow.0.max_window = 60 has no effect: its flows have 50 packets",
        ),
        (
            String::new(),
            "host = \"tso,min_rto=1s\"",
            String::new(),
            ": `min_rto=1s` has no effect: the era has this timeout",
        ),
        (
            String::new(),
            "era = \"ns2-2001\"\nhost = \"whole\"",
            String::new(),
            "host = whole has no effect: the era leaves whole packets",
        ),
        (
            String::new(),
            "",
            group("web = { pages = 1, objects = 2, think = \"1s\" }"),
            "web.think = 1s has no effect: each reader asks for one page",
        ),
        (
            String::new(),
            "",
            cbr("square:3mbit,1mbit,step=3s"),
            ": `step=3s` has no effect: the run ends at 2 s, before",
        ),
        (
            String::new(),
            "",
            cbr("square:3mbit,1mbit,step=1s,floor=1mbit"),
            ": `floor=1mbit` has no effect: no rate lies below it",
        ),
        (
            "queue = \"red:60p,min=9p,max=9p,max_p=0.5\"".into(),
            "",
            String::new(),
            ": `max_p=0.5` has no effect: where `min` is `max`",
        ),
        (
            "queue = \"red:60p,max=70p,gentle=no\"".into(),
            "",
            String::new(),
            ": `gentle=no` has no effect: `max` is more than",
        ),
        (
            "queue = \"red:60p,min=9p,max=9p,ecn=yes,mark_limit=0.5\"".into(),
            "ecn = \"latch\"",
            String::new(),
            ": `ecn=yes` has no effect: where `min` is `max`",
        ),
        (
            "queue = \"fq_codel:60p,ecn=yes\"".into(),
            "",
            String::new(),
            ": `ecn=yes` has no effect: no flow that crosses it is ECN-capable",
        ),
        (
            "queue = \"fq_codel:60p,ecn=no\"".into(),
            "",
            String::new(),
            ": `ecn=no` has no effect: no flow that crosses it is ECN-capable",
        ),
        (
            "queue = \"cake:60p,ecn=no\"".into(),
            "",
            String::new(),
            ": `ecn=no` has no effect: no flow that crosses it is ECN-capable",
        ),
        (
            "queue = \"cake:60p,ack_filter=yes\"\nreverse_queue = \"droptail:60p\"".into(),
            "",
            String::new(),
            ": `ack_filter=yes` has no effect: no acknowledgement of a TCP-like flow crosses it",
        ),
        (
            "queue = \"rio:60p,in_ecn=yes\"".into(),
            "ecn = \"latch\"",
            String::new(),
            ": `in_ecn=yes` has no effect: no packet of the class `in`",
        ),
        (
            "queue = \"rio:60p,in_ecn=yes\"".into(),
            "class = \"in\"",
            String::new(),
            ": `in_ecn=yes` has no effect: no flow that crosses it is",
        ),
        (
            "queue = \"cake:60p,isolation=flows\"".into(),
            "count = 3",
            String::new(),
            ": `isolation=flows` has no effect: no flow that crosses it names a host",
        ),
        (
            "queue = \"cake:60p,isolation=dual-dsthost\"\nreverse_queue = \"cake:60p,isolation=dual-srchost\"".into(),
            "src_host = \"a\"",
            cbr("cbr:1mbit"),
            "src_host = a has no effect: only `cake` tells hosts apart, and none on its path looks at this one",
        ),
        (
            "impairments = { bleach_ecn = true }".into(),
            "ecn = \"latch\"",
            String::new(),
            "impairments.bleach_ecn = true has no effect: no queue marks the packets that cross this link",
        ),
        (
            "impairments = { mangle_ecn = \"ect0\" }".into(),
            "",
            String::new(),
            "impairments.mangle_ecn = ect0 has no effect: no packet that can carry a mark crosses this link",
        ),
        (
            "queue = \"drr:60p,quantum=300B\"".into(),
            "",
            String::new(),
            ": `quantum=300B` has no effect: one flow alone",
        ),
    ] {
        let warnings = said_of(&keys, flow, &more);
        assert!(warnings.iter().any(|warning| warning.contains(expected)), "{keys}, {flow}, {more}: {warnings:?}");
    }
    let alone =
        "duration = \"2s\"\nwarmup = \"0s\"\nslow_start = \"limited:100\"\n[dumbbell]\n".to_string() + &group("");
    let alone = Scenario::read("x.toml", &alone, &[]).expect("a scenario");
    let expected = "x.toml:3: slow_start = limited:100 has no effect: no window grows so far with 9 packets in a flow";
    assert_eq!(alone.unused().iter().map(ToString::to_string).collect::<Vec<_>>(), [expected]);
}

#[test]
fn what_says_something_is_not_named() {
    for (keys, flow, more) in [
        ("impairments = { shaper = \"9mbit,burst=9kB\" }", "", ""),
        ("impairments = { reorder = \"0.1:0s\", jitter = \"3ms\" }", "", ""),
        ("schedule = { steps = [{ at = \"1s\", rate = \"5mbit\" }, { at = \"1500ms\", rate = \"10mbit\" }] }", "", ""),
        ("schedule = { repeat = \"1s\", steps = [{ at = \"500ms\", rate = \"5mbit\" }] }", "", ""),
        ("outage = [\"100ms..200ms\", \"300ms..400ms\"]", "stop = \"1999ms\"", ""),
        ("queue = \"red:60p,min=9p,max=9p,weight=1,ecn=yes\"", "ecn = \"per-packet\"", ""),
        ("queue = \"fq_codel:60p,ecn=no\"", "ecn = \"latch\"", "[[flow]]\nalgorithm = \"reno\""),
        ("queue = \"drr:60p,quantum=300B\"", "count = 2", ""),
        ("queue = \"cake:60p,ecn=no\"", "ecn = \"latch\"", "[[flow]]\nalgorithm = \"reno\""),
        ("reverse_queue = \"cake:60p,ack_filter=yes\"\nreverse_rate = \"1mbit\"", "", ""),
        ("", "on = [\"0s..1s\", \"1500ms..\"]", "[[cbr]]\nrate = \"square:3mbit,1mbit,step=1s\""),
        ("", "host = \"tso,min_rto=200ms\"", ""),
        ("queue = \"cake:60p,isolation=dual-dsthost\"", "count = 2\ndst_host = \"a\"", ""),
        ("reverse_queue = \"cake:60p,isolation=dual-srchost\"", "count = 2\ndst_host = \"a\"", ""),
        ("queue = \"cake:60p,isolation=srchost\"", "", "[[cbr]]\nrate = \"cbr:1mbit\"\nsrc_host = \"a\""),
    ] {
        let warnings = said_of(keys, flow, more);
        let about = |warning: &&String| !warning.starts_with("flow.0.ecn");
        assert_eq!(warnings.iter().filter(about).collect::<Vec<_>>(), [""; 0], "{keys}, {flow}, {more}");
    }
}

/// Values are shown as they were typed, not as the program keeps them.
#[test]
fn values_are_quoted_as_they_were_typed() {
    let said = |text: &str, set: &[&str]| {
        let set: Vec<String> = set.iter().map(ToString::to_string).collect();
        let text = format!("duration = \"2s\"\nwarmup = \"0s\"\n[dumbbell]\n[[flow]]\n{text}");
        let scenario = Scenario::read("x.toml", &text, &set).unwrap_or_else(|error| panic!("{error}"));
        scenario.unused().iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    let help = "the other parameters leave it out (";
    let udt = said("algorithm = \"udt:lambda=1/2, initial_rate = 3mbit\"", &[]);
    assert!(udt.iter().any(|one| one.contains(&format!("`lambda=1/2` has no effect: {help}"))), "{udt:?}");
    assert!(udt.iter().any(|one| one.contains(&format!("`initial_rate=3mbit` has no effect: {help}"))), "{udt:?}");
    let finite = said("algorithm = \"reno\"\nsize = \"5p\"\nmax_window = 6_0.0", &[]);
    assert_eq!(finite, ["x.toml:7: flow.0.max_window = 6_0.0 has no effect: its flows have 5 packets"]);
    let set = said("algorithm = \"reno\"\nsize = \"5p\"", &["flow.0.max_window = 60"]);
    assert_eq!(set, ["--set flow.0.max_window=60 has no effect: its flows have 5 packets"]);
}

/// An era is called idle only where a flow is the same without it: of each algorithm in each era, 5 s on a short queue.
#[test]
fn an_era_that_is_called_idle_changes_no_run() {
    let mut idle = 0;
    for algorithm in ALGORITHMS.iter().filter(|entry| entry.transport != Transport::Acked) {
        let ran = |era: &str| {
            let text = format!(
                "duration = \"5s\"\nwarmup = \"1s\"\nseeds = 1\n{era}[dumbbell]\nrate = \"10mbit\"\nrtt = \"40ms\"\n[[flow]]\n\
                 algorithm = \"{}\"\n",
                algorithm.name
            );
            let scenario = Scenario::read("test.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
            let ran = run(vec![scenario], &()).expect("it runs").remove(0);
            (ran.traces[0].digest, ran.warnings())
        };
        let (plain, _) = ran("");
        for era in Era::ALL {
            let (digest, warnings) = ran(&format!("era = \"{}\"\n", era.name));
            if warnings.iter().any(|warning| warning.contains("era = ") && warning.contains("has no effect")) {
                idle += 1;
                assert_eq!(digest, plain, "{} in {}: {warnings:?}", algorithm.name, era.name);
            }
        }
    }
    assert!(idle > 0, "none is called idle");
}
