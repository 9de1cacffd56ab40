//! The first screen, and rules of one's own in every command.

use cwnd_terminal::testing::broken_at_the_width;
use serde_json::Value;

use super::results::json;
use super::{Cwnd, SHORT, root};

const PATH: [&str; 8] = ["--rate", "10mbit", "--duration", "4s", "--warmup", "1s", "--seeds", "2"];

/// The first screen: `CWND_BLESS=1 cargo test -p cwnd-cli --test cli first_screen` brings it into README.
#[test]
fn the_first_screen_fits_and_is_the_one_of_the_readme() {
    let cwnd = Cwnd::new();
    let screen = cwnd.run(&["compare"]);
    assert_eq!(screen.code, Some(0), "{}", screen.err);
    let lines = screen.out.lines().count() + screen.err.lines().count();
    assert!(lines <= 24, "{lines} lines\n{}", screen.out);
    let widest = screen.out.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(100), "{widest:?}\n{}", screen.out);
    let next = screen.out.lines().find_map(|line| line.split_once(": cwnd ")).expect("a question with its command").1;
    let short = ["--duration", "2s", "--warmup", "1s", "--seeds", "1"];
    cwnd.succeed(&next.split(' ').chain(short).collect::<Vec<_>>());

    let path = root().join("README.md");
    let readme = std::fs::read_to_string(&path).expect("text");
    let (before, rest) = readme.split_once(FIRST_SCREEN).expect("README shows it");
    let (shown, after) = rest.split_once("```").expect("the end of the block");
    if std::env::var_os("CWND_BLESS").is_some() {
        let text = format!("{before}{FIRST_SCREEN}{}```{after}", screen.out);
        std::fs::write(&path, text).expect("the repository can be written");
    } else {
        assert_eq!(shown, screen.out, "CWND_BLESS=1 brings it into README");
    }
}

#[test]
fn the_version_tells_how_the_program_was_built() {
    let cwnd = Cwnd::new();
    let short = cwnd.succeed(&["--version"]);
    let whole = cwnd.succeed(&["--version", "--verbose"]);
    assert!(
        short.lines().count() == 1 && whole.starts_with(&short) && whole.contains("\ndigests: format 1\n"),
        "{whole}"
    );
    let alone = cwnd.run(&["--verbose"]);
    assert!(alone.code == Some(2) && alone.err.contains("'--verbose'"), "{}", alone.err);
}

#[test]
fn readme_links_every_page_of_the_documentation() {
    let readme = std::fs::read_to_string(root().join("README.md")).expect("text");
    let pages =
        std::fs::read_dir(root().join("docs")).expect("a directory").map(|entry| entry.expect("a file").file_name());
    let missing: Vec<String> = pages
        .filter_map(|name| name.into_string().ok())
        .filter(|name| name.ends_with(".md") && !readme.contains(&format!("(docs/{name})")))
        .collect();
    assert_eq!(missing, Vec::<String>::new());
}

#[test]
fn each_documented_stack_names_the_program_that_has_it() {
    let page = std::fs::read_to_string(root().join("docs/foreign.md")).expect("text");
    let stacks: Vec<&str> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .filter(|name| name.contains(':'))
        .collect();
    assert!(stacks.len() > 10, "{stacks:?}");
    let cwnd = Cwnd::new();
    for stack in stacks {
        let refused = cwnd.run(&["compare", stack]);
        assert!(
            refused.code == Some(2) && refused.err.contains("`cargo xtask foreign --`"),
            "{stack}: {}",
            refused.err
        );
    }
}

/// Where README shows what `compare` prints.
const FIRST_SCREEN: &str = "$ cwnd compare\n";

#[test]
fn rules_of_ones_own_stand_wherever_algorithms_do() {
    let cwnd = Cwnd::new();
    let rule = "rule:grow=max(1/w, 0.01),cut=w*3/4";
    let document = json(&cwnd.succeed(
        &[&["compare", rule, "rule:cut=w/4", "rule:cut=w-4"][..], &PATH[..], &["--versus", "rule", "--json"]].concat(),
    ));
    assert_eq!(document["algorithms"][0]["algorithm"], rule);
    assert_eq!(document["algorithms"][0]["versus"]["algorithm"], "rule");
    cwnd.succeed(&[&["compare", "rule:cut=w/4", "rule:cut=w-4"][..], &PATH[..], &["--out", "two"]].concat());
    assert!(cwnd.files().contains(&"two/traces/rule-cut-w-4-2.flows.csv".to_string()), "{:?}", cwnd.files());

    let scenario = cwnd.file("rule.toml", &SHORT.replace("reno", rule));
    let as_written = json(&cwnd.succeed(&["run", &scenario, "--json"]));
    let reno = cwnd.file("short.toml", SHORT);
    let set = json(&cwnd.succeed(&["run", &reno, "--set", &format!("flow.0.algorithm={rule}"), "--json"]));
    assert_eq!((&as_written["digests"], &as_written["flows"][0]["algorithm"]), (&set["digests"], &Value::from(rule)));
    let as_reno = json(&cwnd.succeed(&["run", &reno, "--set", "flow.0.algorithm=rule:grow=1/w,cut=w/2", "--json"]));
    assert_eq!(as_reno["digests"], json(&cwnd.succeed(&["run", &reno, "--json"]))["digests"]);

    let grid = format!("scenario = 'short.toml'\n[grid]\n\"flow.0.algorithm\" = ['reno', '{rule}', 'rule:cut=w/4']\n");
    let swept = json(&cwnd.succeed(&["sweep", &cwnd.file("sweep.toml", &grid), "--no-store", "--json"]));
    let values: Vec<&Value> =
        swept["points"].as_array().expect("a list").iter().map(|point| &point["set"][0]["value"]).collect();
    assert_eq!(values, ["reno", rule, "rule:cut=w/4"]);

    assert!(cwnd.succeed(&["algorithms", rule, "--card"]).starts_with(rule));
    assert!(cwnd.succeed(&["algorithms", "rule"]).contains("min_rtt  the least round-trip time so far, seconds"));
    assert!(cwnd.succeed(&["model", "convergence", "reno", rule]).contains(rule));
    let judge = ["conform", rule, "--check", "5681-halve", "--seeds", "1"];
    let judged = cwnd.run(&judge);
    assert_eq!(judged.code, Some(0), "{}", judged.err);
    assert!(judged.out.contains("1 not applicable") && judged.err.contains("--law names one"), "{}", judged.err);
    let judged = cwnd.run(&[&judge[..], &["--law", "reno"]].concat());
    assert_eq!(judged.code, Some(1), "{}", judged.err);
    assert!(judged.out.contains("' --law reno --check 5681-halve") && !judged.err.contains("--law"), "{}", judged.err);
    let refused = cwnd.run(&["compare", "rule:grow=2*x"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.err.contains("cannot take `2*x` for `grow`") && refused.err.contains("at character 3"),
        "{}",
        refused.err
    );
}

#[test]
fn a_path_that_is_not_described_is_the_usual_one() {
    let cwnd = Cwnd::new();
    let compare =
        |more: &[&str]| json(&cwnd.succeed(&[&["compare", "reno", "--seeds", "1", "--json"][..], more].concat()));
    let usual = compare(&["--duration", "30s", "--warmup", "25s"]);
    let row = &usual["algorithms"][0];
    assert_eq!(row["versus"]["algorithm"], "reno");
    let recovery = row["recovery_time_s"]["mean"].as_f64().expect("the rate falls and rises");
    assert!((0.2..10.0).contains(&recovery), "{recovery}");
    let steps = ["--rate-step", "5s:12.5mbit", "--rate-step", "10s:50mbit"];
    let path =
        ["--rate", "50mbit", "--rtt", "50ms", "--queue", "droptail:0.25bdp", "--duration", "30s", "--warmup", "25s"];
    let described = compare(&[&path[..], &steps].concat());
    assert_eq!(described["algorithms"][0]["digests"], row["digests"]);
    assert_eq!(described["algorithms"][0]["versus"], Value::Null);
    // Too soon after the start for a fall of the rate.
    assert_eq!(compare(&["--duration", "4s"])["algorithms"][0]["recovery_time_s"], Value::Null);
    let wrong = cwnd.run(&["compare", "reno", "--rate-step", "10s"]);
    assert!(wrong.err.contains("cannot read `10s`: expected a time and a rate"), "{}", wrong.err);
    let order = cwnd.run(&["compare", "reno", "--rate-step", "2s:1mbit", "--rate-step", "1s:2mbit"]);
    assert!(order.code == Some(2) && order.err.contains("later than the step before, 2s"), "{}", order.err);
}

#[test]
fn steps_of_the_rate_are_named_as_typed() {
    let cwnd = Cwnd::new();
    let run = |more: &str| {
        let all = format!("compare reno {more} --duration 5s --seeds 1");
        cwnd.run(&all.split(' ').collect::<Vec<_>>())
    };
    for (typed, steps, why) in [
        ("--rate 10mbit --rate-step 1s:10mbit", "--rate-step 1s:10mbit", "the link has this rate then"),
        ("--rate-step 2s:100mbit", "--rate-step 2s:100mbit", "the link has this rate then"),
        ("--rate-step 2s:9mbit --rate-step 8s:7mbit", "--rate-step 8s:7mbit", "the run ends at 5 s"),
    ] {
        let shown = run(typed);
        let warning = format!("warning: reno: {steps} has no effect: {why}");
        assert!(shown.out.lines().any(|line| line.starts_with(&warning)), "{typed}\n{}{}", shown.out, shown.err);
        assert_eq!(shown.out.matches("has no effect").count(), 1, "{}", shown.out);
    }
    for (typed, message) in [
        (
            "--rate-step 2s:1mbit --rate-step 1s:2mbit",
            "--rate-step 1s:2mbit: accepted is a time later than the step before, 2s",
        ),
        ("--rate-step 2s:outage", "--rate-step 2s:outage: accepted is a rate in the last step: an outage must end"),
    ] {
        let refused = run(typed);
        assert_eq!(refused.code, Some(2), "{typed}");
        assert!(refused.err.contains(&format!("error: {message}")), "{}", refused.err);
    }
    assert_eq!(run("--rate-step 1s:outage --rate-step 2s:9mbit").code, Some(0));
}

#[test]
fn the_next_command_keeps_what_is_not_about_the_path() {
    let cwnd = Cwnd::new();
    let given = "compare reno rule:grow=max(1/w,0.01) --flows 1 --seeds 2 --duration 2s --until ci<90% --max-seeds 3";
    let given: Vec<&str> = given.split(' ').chain(["--out", "here"]).collect();
    let shown = cwnd.succeed(&given);
    let next = shown.lines().find_map(|line| line.strip_prefix("Next, a deep queue: cwnd ")).expect("a command");
    assert_eq!(
        next,
        "compare reno 'rule:grow=max(1/w,0.01)' --flows 1 --seeds 2 --duration 2s --until 'ci<90%' --max-seeds 3 \
         --rate 50mbit --queue droptail:2bdp --versus reno"
    );
    cwnd.succeed(&next.split(' ').map(|word| word.trim_matches('\'')).collect::<Vec<_>>());
    let apart = cwnd.succeed(&["compare", "--seeds", "1", "--duration", "2s", "--out=there", "--", "reno"]);
    let queue = "--rate 50mbit --queue droptail:2bdp --versus reno -- reno";
    assert!(apart.contains(&format!("cwnd compare --seeds 1 --duration 2s {queue}\n")), "{apart}");
}

#[test]
fn tables_of_long_rules_fit_a_terminal_and_tell_them_apart() {
    let cwnd = Cwnd::new();
    let rule = |number| format!("rule:grow=max(1/w, 0.4*(age-cbrt({number}*peak))^3/w),cut=max(w*3/4,peak/3)");
    let (one, two, other) = (rule("0.75"), rule("0.76"), rule("0.5"));
    for seeds in ["1", "2", "3", "5"] {
        for more in [&[][..], &["--rate", "20mbit"], &["--rate", "20mbit", "--versus", &other]] {
            let common = ["compare", "iiad", &one, &two, "--duration", "4s", "--seeds", seeds];
            let shown = cwnd.succeed(&[&common[..], more].concat());
            let copied =
                |line: &&str| !line.contains(" is rule:") && !line.contains(": cwnd ") && !line.contains("warning: ");
            let widest = shown.lines().filter(copied).map(|line| line.chars().count()).max();
            assert!(widest <= Some(100), "{widest:?}\n{shown}");
            for full in [&one, &two] {
                let name = shown.lines().find_map(|line| line.strip_suffix(&format!(" is {full}"))).expect(&shown);
                assert!(shown.lines().any(|line| line.starts_with(&format!("{name} "))), "{name}\n{shown}");
                assert!(
                    name.contains(&full[full.find("0.7").expect("it") + 3..][..1]) && !name.contains(" ("),
                    "{name}\n{shown}"
                );
            }
        }
    }
}

#[test]
fn help_is_broken_at_the_width_of_the_terminal() {
    let seen = broken_at_the_width(&Cwnd::new());
    assert!(seen > 12, "{seen} commands have examples");
}

#[test]
fn the_help_says_when_the_usual_path_has_no_dip() {
    let cwnd = Cwnd::new();
    for (times, dips) in [
        (&["--duration", "50s"][..], true),
        (&["--duration", "49s"], false),
        (&["--duration", "30s", "--warmup", "25s"], true),
        (&["--duration", "60s", "--warmup", "24s"], false),
    ] {
        let shown = cwnd.succeed(&[&["compare", "reno", "--flows", "1", "--seeds", "1"][..], times].concat());
        assert_eq!(shown.contains("recovery"), dips, "{times:?}\n{shown}");
    }
    let help: Vec<String> = cwnd.succeed(&["compare", "--help"]).split_whitespace().map(str::to_string).collect();
    assert!(help.join(" ").contains("With a --warmup below 25s, or a --duration below 50s and no --warmup"));
}
