//! Figures: their size, their bytes, and the errors of figures that cannot be drawn.

use super::{Cwnd, SHORT};

/// Refused before any work, in builds that draw and in those that do not.
#[test]
fn figures_are_refused_by_their_flags() {
    let cwnd = Cwnd::new();
    let name = cwnd.file("x.toml", SHORT);
    let refused = |arguments: &[&str], why: &str| {
        let result = cwnd.run(&[&["run", &name][..], arguments].concat());
        assert_eq!(result.code, Some(2), "{arguments:?}: {}", result.err);
        assert!(result.err.starts_with(&format!("error: {why}")), "{arguments:?}: {}", result.err);
    };
    refused(&["--plot", "window-1"], "--plot: there is no figure without --figure");
    if !cfg!(feature = "figures") {
        refused(&["--figure", "x.pdf"], "--figure: this build draws no figures; `cargo install");
        assert_eq!(cwnd.files(), ["x.toml"]);
        return;
    }
    refused(&["--figure", "x.gif"], "--figure: `x.gif` ends in none of .pdf, .svg and .png");
    refused(&["--figure", "nowhere/x.pdf"], "--figure: there is no directory `nowhere`");
    for option in ["--json", "--check"] {
        let result = cwnd.run(&["paper", "newaimd", "table-1", "--figure", "x.pdf", option]);
        let why = format!("error: --figure is made of the page: with {option}, name its directory with --out");
        assert!(result.code == Some(2) && result.err.starts_with(&why), "{option}: {}", result.err);
    }
    refused(
        &["--figure", "x.pdf", "--json"],
        "--figure is made of the page: with --json, name its directory with --out",
    );
    refused(
        &["--figure", "x.pdf", "--width", "8.5"],
        "--width: cannot read `8.5`: expected a number above 0 with a unit",
    );
    refused(&["--figure", "x.pdf", "--width", "-1cm"], "--width: cannot read `-1cm`");
    refused(&["--figure", "x.pdf", "--height", "1mm"], "--height: cannot be `2.8pt`: accepted is 1.5cm to 2m");
    refused(&["--figure", "x.pdf", "--font-size", "1in"], "--font-size: cannot be `72.0pt`: accepted is 3pt to 60pt");
    refused(&["--figure", "x.pdf", "--font", "No Such Font"], "--font: no font `No Such Font` is installed");
    assert_eq!(cwnd.files(), ["x.toml"]);
}

/// Every command that writes a page has the flag.
#[test]
fn every_page_has_figures() {
    let cwnd = Cwnd::new();
    let name = cwnd.file("x.toml", SHORT);
    let sweep = cwnd.file("s.toml", "scenario = \"x.toml\"\n[grid]\n\"dumbbell.rtt\" = [\"20ms\", \"30ms\"]\n");
    for command in [
        &["run", &name][..],
        &["sweep", &sweep, "--no-store"],
        &["conform", "reno", "--check", "5681-initial"],
        &["paper", "newaimd", "table-1", "--no-store"],
        &["model", "rounds", "reno"],
        &["compare", "reno", "--duration", "2s"],
        &["evaluate", "reno", "--quick"],
        &["overlay", &name],
    ] {
        let result = cwnd.run(&[command, &["--figure", "x.svg", "--plot", "x-0"]].concat());
        let why = "error: --plot: the page has no plot `x-0`: expected one of `";
        assert!(result.code == Some(2) && result.err.starts_with(why), "{command:?}: {}", result.err);
        let result = cwnd.run(&[command, &["--figure", "nowhere/x.svg"]].concat());
        assert_eq!(result.code, Some(2), "{command:?}: {}", result.err);
        let why = if cfg!(feature = "figures") { "there is no directory" } else { "this build draws no figures" };
        assert!(result.err.contains(why), "{command:?}: {}", result.err);
    }
    assert_eq!(cwnd.files(), ["s.toml", "x.toml"]);
}

#[cfg(feature = "figures")]
#[test]
fn figures_have_their_size_and_no_date() {
    let cwnd = Cwnd::new();
    let name = cwnd.file("x.toml", SHORT);
    cwnd.succeed(&["run", &name, "--out", "run"]);
    let bytes = |file: &str, out: &str, more: &[&str]| {
        cwnd.succeed(&[&["overlay", "run", "--out", out, "--figure", file][..], more].concat());
        std::fs::read(cwnd.path().join(file)).expect("a figure")
    };
    let size = ["--width", "8.5cm", "--height", "5cm"];
    let pdf = bytes("a.pdf", "one", &size);
    assert!(pdf.starts_with(b"%PDF-"));
    let text = String::from_utf8_lossy(&pdf);
    // 8.5 cm and 5 cm in points.
    assert!(text.contains("/MediaBox [0 0 240.9") && text.contains(" 141.7"), "{}", &text[..2000]);
    assert!(text.contains("/FontFile") && !text.contains("/CreationDate") && !text.contains("/Subtype /Image"));
    assert_eq!(bytes("b.pdf", "two", &size), pdf, "the same bytes again");
    let svg = String::from_utf8(bytes("a.svg", "three", &size)).expect("text");
    assert!(svg.contains("width=\"240.945pt\" height=\"141.732pt\""), "{}", &svg[..300]);
    let png = bytes("a.png", "four", &["--width", "400px", "--plot", "rtt"]);
    assert_eq!(png[16..24], [400_u32.to_be_bytes(), 240_u32.to_be_bytes()].concat());

    let result = cwnd.run(&["overlay", "run", "--out", "five", "--figure", "c.pdf", "--plot", "x"]);
    let known = "error: --plot: the page has no plot `x`: expected one of `window`, `goodput`, `rtt`, `in-flight`, `flight`, `queue`\n";
    assert_eq!((result.code, result.err.contains(known)), (Some(2), true), "{}", result.err);
    assert!(!cwnd.path().join("five").exists(), "nothing was done before");
    assert!(!cwnd.path().join("c.pdf").exists());
}
