//! What a run warns of.

use cwnd_run::run::run;
use cwnd_run::scenario::Scenario;

fn warnings(flow: &str) -> Vec<String> {
    let text = format!(
        "duration = \"5s\"\nwarmup = \"1s\"\nseeds = 1\n[dumbbell]\nrate = \"10mbit\"\nrtt = \"20ms\"\n[[flow]]\n{flow}\n"
    );
    let scenario = Scenario::read("test.toml", &text, &[]).unwrap_or_else(|error| panic!("{error}"));
    run(vec![scenario], &()).expect("it runs").remove(0).warnings()
}

#[test]
fn growth_on_what_was_not_used_is_named_where_it_mattered() {
    let grew = |flow: &str| warnings(flow).iter().any(|warning| warning.contains("grew on what it did not use"));
    let limited = "source = \"cbr:1mbit\"";
    assert!(grew(&format!("algorithm = \"reno\"\nera = \"ns2-2001\"\n{limited}")));
    assert!(grew(&format!("algorithm = \"udt:profile=ns2-2.2\"\n{limited}")));
    assert!(!grew(&format!("algorithm = \"reno\"\n{limited}")));
    assert!(!grew("algorithm = \"reno\"\nera = \"ns2-2001\""));
    let held = warnings("algorithm = \"reno\"\nmax_window = 4");
    assert!(held.iter().any(|warning| warning.contains("receiver-limited")), "{held:?}");
}
