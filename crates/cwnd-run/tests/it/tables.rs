//! Links that follow a table of rates, delays and losses.

use cwnd_run::run::run;
use cwnd_run::scenario::Scenario;

/// A scenario in a directory of its own next to a table.
fn with_table(table: &str, keys: &str) -> Result<Scenario, String> {
    let directory = tempfile::tempdir().expect("a directory for the test");
    std::fs::write(directory.path().join("link.csv"), table).expect("it can be written");
    let name = directory.path().join("test.toml").display().to_string();
    // The jitter of a sender follows the rate of the link at the start, which is the mean for a table.
    let head = "duration = \"9s\"\nwarmup = \"0s\"\n[variation]\njitter = 0\n";
    let text = format!("{head}[dumbbell]\nrtt = \"40ms\"\n{keys}\n[[flow]]\nalgorithm = \"cubic\"\n");
    Scenario::read(&name, &text, &[]).map_err(|error| error.to_string())
}

fn digest(scenario: Result<Scenario, String>) -> u64 {
    run(vec![scenario.unwrap_or_else(|error| panic!("{error}"))], &()).expect("it runs")[0].traces[0].digest
}

const TABLE: &str = "time_s,rate_mbps,delay_ms,loss\n0,10,0,0.01\n2,4,5,0.01\n3,0,5,0\n3.2,8,0,0\n";

#[test]
fn a_table_is_the_schedule_that_says_the_same() {
    let steps = "{ at = \"2s\", rate = \"4mbit\", extra_delay = \"5ms\" }, { at = \"3s\", rate = \"outage\", loss = 0 }, \
                 { at = \"3.2s\", rate = \"8mbit\", extra_delay = \"0s\" }";
    let schedule = |repeat: &str| {
        let start = "queue = \"droptail:30p\"\nloss = 0.01\nreverse_rate = \"50mbit\"\nrate = \"10mbit\"";
        with_table("", &format!("{start}\nschedule = {{ {repeat}steps = [{steps}] }}"))
    };
    let keys = "trace = \"link.csv\"\nreverse_rate = \"50mbit\"\nqueue = \"droptail:30p\"";
    let held = digest(with_table(TABLE, keys));
    assert_eq!(held, digest(schedule("")));
    let repeated = digest(with_table(&format!("{TABLE}4,,,\n"), keys));
    assert_eq!(repeated, digest(schedule("repeat = \"4s\", ")));
    assert_ne!(held, repeated);
}

#[test]
fn sizes_follow_the_mean_rate_and_such_runs_are_not_stored() {
    let scenario =
        with_table("time_s,rate_mbps\n0,10\n2,20\n4,\n", "trace = \"link.csv\"\nqueue = \"droptail:1bdp\"").unwrap();
    // 15 Mbit/s for 40 ms.
    assert_eq!(scenario.setup(1).into_setup().links[0].queue, cwnd_sim::QueueLimit::Packets(50));
    assert!(!scenario.is_its_document());
}

#[test]
fn the_least_delay_of_a_table_belongs_to_the_round_trip() {
    let link = |delays: &str| {
        let text = format!("time_s,rate_mbps,delay_ms\n{delays}");
        let setup = with_table(&text, "trace = \"link.csv\"").unwrap().setup(1).into_setup();
        (setup.links[0].delay.as_nanos(), setup.links[1].delay.as_nanos())
    };
    // Of 40 ms, a quarter is the link's.
    assert_eq!(link("0,10,7\n1,10,3\n"), (13_000_000, 10_000_000));
}

#[test]
fn errors_name_the_file_its_line_and_the_key() {
    let cases = [
        ("time_s,rate_mbps\n0,10\n1,x\n", "trace = \"link.csv\"", "link.csv`: line 3: `rate_mbps` cannot be `x`"),
        (TABLE, "trace = \"link.csv\"\nloss = 0.1", "one without losses next to `loss`"),
        (
            TABLE,
            "trace = \"link.csv\"\nschedule = { steps = [{ at = \"1s\", jitter = \"1ms\" }] }",
            "one without losses next to `loss`, or a `schedule`",
        ),
        (
            TABLE,
            "trace = \"link.csv\"\nschedule = { steps = [{ at = \"1s\", extra_delay = \"1ms\" }] }",
            "one without delays next to a `schedule`",
        ),
        (
            TABLE,
            "trace = \"link.csv\"\nschedule = { steps = [{ at = \"1s\", rate = \"1mbit\" }] }",
            "` with a `schedule`",
        ),
        (TABLE, "trace = \"link.csv\"\noutage = [\"1s..2s\"]", "`outage` cannot be `1s..2s`"),
        (TABLE, "trace = \"link.csv\"\nimpairments = { shaper = \"1mbit,burst=2kB\" }", " with rates that change"),
    ];
    for (table, keys, expected) in cases {
        let error = with_table(table, keys).expect_err("must be refused");
        assert!(error.contains("test.toml:") && error.contains(expected), "{keys}: {error}");
    }
}
