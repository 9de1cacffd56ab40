//! Names that strangers chose, in files that a user runs: what reaches a terminal, a table of others and a page of them.

use std::fs;

use super::{Cwnd, root};

/// Begins a formula, closes an element, clears the screen, begins a line of its own, turns the direction, and has no width.
const HOSTILE: &str = "=1+1</script><img src=x>\u{1b}[2J\nerror: forged\r\u{9b}31m\u{202e}\u{200b}";

/// A string of TOML; what JSON escapes, TOML reads.
fn toml(text: &str) -> String {
    serde_json::to_string(text).expect("text")
}

/// A scenario whose title, flows and links have the name.
fn scenario(algorithm: &str) -> String {
    let name = toml(HOSTILE);
    format!(
        "title = {name}\nduration = \"1s\"\nwarmup = \"0s\"\nseeds = 1\n\
         [[link]]\nname = {name}\nfrom = \"a\"\nto = {name}\nrate = \"10mbit\"\ndelay = \"5ms\"\nqueue = \"droptail:50p\"\n\
         [[link]]\nname = \"back\"\nfrom = {name}\nto = \"a\"\ndelay = \"5ms\"\n\
         [[flow]]\nname = {name}\nalgorithm = {}\nfrom = \"a\"\nto = {name}\nextra_rtt = \"10ms\"\n",
        toml(algorithm)
    )
}

/// Whether text moves no cursor, turns no direction, and has no line that another chose.
#[track_caller]
fn is_plain(what: &str, text: &str) {
    let hidden = |letter: char| (letter.is_control() && letter != '\n') || ['\u{202e}', '\u{200b}'].contains(&letter);
    assert!(!text.contains(hidden), "{what}: {text:?}");
    assert!(!text.contains("\nerror: forged"), "{what}: {text:?}");
}

#[test]
fn no_name_reaches_a_terminal_as_it_is() {
    let cwnd = Cwnd::new();
    let good = cwnd.file("names.toml", &scenario("reno"));
    let bad = cwnd.file("\u{1b}[2J\nerror: forged.toml", &scenario(HOSTILE));
    let sweep =
        format!("title = {}\nscenario = \"names.toml\"\n[grid]\n\"flow.0.algorithm\" = [\"reno\"]\n", toml(HOSTILE));
    let sweep = cwnd.file("sweep.toml", &sweep);
    let recorded =
        fs::read_to_string(root().join("crates/cwnd-lab/tests/kernel/ss.txt")).expect("it is in the repository");
    let kernel = cwnd.file("\u{1b}[2J\nerror: forged.txt", &recorded.replace("10.7.0.1:", "\u{202e}\u{1b}[2J:"));
    let unreadable = cwnd.file("unreadable.txt", &recorded.replace("cwnd:", "cwnd:\u{1b}[2J"));
    let set = format!("flow.0.algorithm={}", toml(HOSTILE));
    for (arguments, code) in [
        (vec!["run", &good], 0),
        (vec!["run", "--check", &good], 0),
        (vec!["run", &bad], 2),
        (vec!["run", &good, "--set", &set], 2),
        (vec!["sweep", &sweep, "--no-store"], 0),
        (vec!["overlay", &good, "--kernel", &kernel], 0),
        (vec!["overlay", &good, "--kernel", &unreadable], 2),
        (vec!["run", "nowhere\u{1b}[2J\nerror: forged"], 2),
    ] {
        let result = cwnd.run(&arguments);
        assert_eq!(result.code, Some(code), "{arguments:?}: {}", result.err);
        is_plain(&format!("{arguments:?}"), &result.out);
        is_plain(&format!("{arguments:?}"), &result.err);
    }
}

#[test]
fn names_are_neither_formulas_nor_elements() {
    let cwnd = Cwnd::new();
    let good = cwnd.file("names.toml", &scenario("reno"));
    cwnd.succeed(&["run", &good, "--trace", "flent", "--out", "out"]);
    let read = |file: &str| fs::read_to_string(cwnd.path().join("out").join(file)).expect(file);
    for file in cwnd.files().iter().filter_map(|file| file.strip_prefix("out/")).filter(|file| file.ends_with(".csv")) {
        let text = read(file);
        assert!(text.contains("\"'=1+1") && !text.contains(",\"=1+1") && !text.contains(",=1+1"), "{file}: {text}");
    }
    let page = read("report.html");
    assert!(page.contains("=1+1") && !page.contains("</script><img") && !page.contains("<img src=x"));
}
