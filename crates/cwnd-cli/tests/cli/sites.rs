//! `cwnd site`: the pages that it writes next to the page of the simulator.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use super::{Cwnd, SHORT};
use cwnd_papers::Basis;
use cwnd_run::address::Linked;
use cwnd_run::scenario::Scenario;

/// The files of a site by their names, written once for all tests.
static SITE: LazyLock<BTreeMap<String, String>> = LazyLock::new(|| {
    let cwnd = Cwnd::new();
    site(&cwnd);
    let files = std::fs::read_dir(cwnd.path().join("site")).expect("a directory").map(|file| {
        let path = file.expect("a file").path();
        let text = String::from_utf8_lossy(&std::fs::read(&path).expect("bytes")).into_owned();
        (path.file_name().expect("a name").to_string_lossy().into_owned(), text)
    });
    files.collect()
});

/// The values of `href` that begin with `start`.
fn links<'a>(page: &'a str, start: &str) -> Vec<&'a str> {
    let links = page.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
    links.filter(|link| link.starts_with(start)).collect()
}

#[test]
fn each_figure_of_a_paper_has_a_page_with_links_to_its_scenarios() {
    let files = &*SITE;
    let index = &files["figures.html"];
    let is_page = |name: &&str| PAPERS.iter().any(|paper| name.starts_with(&format!("{paper}-")));
    let listed: Vec<&str> = links(index, "").into_iter().filter(is_page).collect();
    let written: BTreeSet<&str> = files.keys().map(String::as_str).filter(is_page).collect();
    assert_eq!(listed.iter().copied().collect::<BTreeSet<_>>(), written);
    // AIAD: 100 Mbit/s for 200 s are 2.5 million packets of 1000 B.
    assert!(index.contains("Without a page") && index.contains("<code>cwnd paper aiad</code>"), "a paper is left out");
    let mut next = Some(listed[0]);
    for file in &listed {
        assert_eq!(next, Some(*file), "the pages are in the order of the index");
        let page = &files[*file];
        next = page.split_once("rel=\"next\" href=\"").and_then(|(_, rest)| rest.split('"').next());
        let scenarios = links(page, "index.html#");
        assert!(!scenarios.is_empty() && page.contains("default-src 'none'; style-src"), "{file}");
        let paper = PAPERS.iter().find(|paper| file.starts_with(&format!("{paper}-"))).expect("a paper");
        for link in scenarios {
            let Linked { toml, .. } = Linked::read(link).unwrap_or_else(|error| panic!("{link}: {error}"));
            let scenario = Scenario::read("link.toml", &toml, &[]).unwrap_or_else(|error| panic!("{error}\n{toml}"));
            let title = scenario.document().title.clone().unwrap_or_default();
            assert!(scenario.packets() <= 2e6 && title.contains(&format!(" of {paper}: ")), "{title}");
        }
        let (_, id) = file.split_once(&format!("{paper}-")).expect("the result");
        let id = id.strip_suffix(".html").expect("a page");
        assert!(page.contains(&format!("<code>cwnd paper {paper} {id} --full</code>")), "{file}");
    }
    assert_eq!(next, None);
    let papers: BTreeSet<&str> =
        PAPERS.into_iter().filter(|paper| listed.iter().any(|file| file.starts_with(&format!("{paper}-")))).collect();
    assert_eq!(papers, BTreeSet::from(PAPERS));
    // Fig. 5 of simd: the algorithms and loss rates, the comment of the scenario, a claim with its verdict.
    let figure = &files["simd-fig-5.html"];
    for text in [
        "<title>Fig. 5 of simd: throughput over that of TCP against the loss rate</title>",
        "loss 0.001, algorithm simd:beta=1/16</a>",
        "loss 0.3, algorithm aimd:a=1/5,b=1/8</a>",
        "<th scope=\"row\">SIMD(1/16): smallest ratio</th>",
        // Fig. 2 has the same file, whose comment begins with the name of this one.
        "<p><code>papers/simd/friendliness.toml</code>: A single flow over a link without limits that loses every packet",
        "<code>friendliness-rtt=100ms</code>: the round-trip time measured in section 5.2",
    ] {
        assert!(figure.contains(text), "{text}\n{figure}");
    }
}

#[test]
fn figures_name_links_apart_and_give_units_to_numbers_alone() {
    let files = &*SITE;
    for (file, page) in files.iter().filter(|(_, page)| page.contains("<h2 id=\"runs\">")) {
        let names: Vec<&str> =
            page.split("href=\"index.html#").skip(1).filter_map(|rest| rest.split(['>', '<']).nth(1)).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{file}: {names:?}");
        let settings = names.iter().flat_map(|name| name.split(", "));
        let raw: Vec<&str> = settings
            .filter(|one| one.ends_with("000ns") || one.starts_with("rate ") && one.ends_with("000bit"))
            .collect();
        assert!(raw.is_empty(), "{file}: {raw:?}");
    }
    for mark in Basis::ALL.map(Basis::mark).into_iter().filter(|mark| !mark.is_empty()) {
        assert!(files["daimd-table-2.html"].contains(&format!("<i>{mark}</i>")), "({mark}) is not explained");
    }
    let row =
        |file: &str, cell: &str| assert!(files[file].contains(&format!("<td>{cell}</td>")), "{cell}\n{}", files[file]);
    row("starvation-bbr-pair.html", "the flow with the shorter round trip starves");
    row("starvation-bbr-pair.html", "8.3 Mbit/s");
    row("daimd-table-3.html", "92.5 Mbit/s (derived)");
    row("daimd-fig-10.html", "10 us has most (derived)");
    assert!(files["starvation-copa-width.html"].contains("<title>Section 2 of starvation: "), "the place is in short");
}

#[test]
fn a_site_keeps_all_its_files_for_a_visit_without_a_network() {
    let files = &*SITE;
    for name in files.keys() {
        assert!(name == "offline.js" || files["offline.js"].contains(&format!("\"{name}\"")), "{name} is not kept");
    }
}

#[test]
fn pages_of_models_run_scripts_of_the_site_alone() {
    let files = &*SITE;
    for name in ["model-response.html", "model-convergence.html"] {
        let page = &files[name];
        assert!(files["figures.html"].contains(&format!("href=\"{name}\"")), "{name}");
        assert!(
            page.contains("<li><a href=\"index.html\">The simulator</a></li><li><a href=\"figures.html\">"),
            "{name}"
        );
        assert!(page.contains("default-src 'none'; script-src 'self'; style-src 'unsafe-inline'"), "{name}");
        let scripts: Vec<&str> = page.split("<script").skip(1).filter_map(|rest| rest.split('>').next()).collect();
        assert_eq!(
            scripts,
            [" type=\"application/json\" id=\"data\"", " type=\"text/plain\"", " src=\"plots.js\""],
            "{name}"
        );
    }
    // The libraries, the interpreter before the one that takes it, and the script of the page.
    let script = &files["plots.js"];
    let order = ["vega.expressionInterpreter = expression;", "vegaEmbed=", "Draws the plots of the page"];
    let places: Vec<usize> = order.iter().map(|part| script.find(part).expect(part)).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn rows_of_figures_have_the_tolerance_of_their_verdict() {
    let row = SITE["simd-fig-5.html"].split("<tr>").find(|row| row.contains(">SIMD(1/16): smallest ratio<"));
    let row = row.expect("the row");
    assert!(row.contains("<td>≥ 0.75</td>") && row.contains("match</span>"), "{row}");
}

#[test]
fn the_licences_of_the_engine_are_a_part() {
    let licences = &SITE["licences.txt"];
    assert!(licences.contains("uplot") && licences.contains(LICENCES) && licences.contains("vega 6."), "{licences}");
    let cwnd = Cwnd::new();
    std::fs::write(cwnd.path().join("engine.wasm"), ENGINE).expect("written");
    let refused = cwnd.run(&["site", "other", "--engine", "engine.wasm"]);
    assert!(refused.err.contains("its licences, which `cargo xtask engine` writes: licences.txt"), "{}", refused.err);
    assert!(!cwnd.path().join("other").exists());
}

#[test]
fn an_address_of_another_version_says_that_its_numbers_were_others() {
    let cwnd = Cwnd::new();
    std::fs::write(cwnd.path().join("short.toml"), SHORT).expect("written");
    cwnd.succeed(&["run", "short.toml", "--out", "result"]);
    let report = std::fs::read_to_string(cwnd.path().join("result/report.html")).expect("a page");
    let link = report.split("id=\"link\">").nth(1).and_then(|rest| rest.split('<').next()).expect("a link");
    let link = link.replace("&amp;", "&").replace("&#38;", "&");
    let linked = Linked::read(&link).unwrap_or_else(|error| panic!("{link}: {error}"));
    let own = linked.digest.expect("the digest of the run");
    let warned = |digest| {
        let link = Linked { digest: Some(digest), ..linked.clone() }.fragment();
        let result = cwnd.run(&["run", &link, "--json"]);
        assert_eq!(result.code, Some(0), "{}", result.err);
        result.err.contains("another version made this address")
    };
    assert!(!warned(own) && warned(own ^ 1));
}

#[test]
fn links_of_a_sweep_and_of_a_comparison_have_the_digests_of_their_runs() {
    let cwnd = Cwnd::new();
    cwnd.file("short.toml", SHORT);
    cwnd.file("s.toml", "scenario = \"short.toml\"\n[grid]\n\"flow.0.algorithm\" = [\"reno\", \"cubic\"]\n");
    cwnd.succeed(&["sweep", "s.toml", "--no-store", "--out", "swept"]);
    cwnd.succeed(&["compare", "reno", "cubic", "--duration", "2s", "--seeds", "2", "--out", "compared"]);
    for (page, before, count) in [("swept", "-link\" hidden>", 2), ("compared", "id=\"link\">", 1)] {
        let page = std::fs::read_to_string(cwnd.path().join(page).join("report.html")).expect("a page");
        let links: Vec<&str> = page.split(before).skip(1).filter_map(|rest| rest.split('<').next()).collect();
        assert_eq!(links.len(), count);
        for link in links {
            let mut linked =
                Linked::read(&link.replace("&#38;", "&")).unwrap_or_else(|error| panic!("{link}: {error}"));
            assert!(linked.digest.is_some(), "{link}");
            // The digest is that of the first group where each is alone.
            let mut document: toml::Table = linked.toml.parse().expect("TOML");
            if std::mem::take(&mut linked.apart) {
                document["flow"].as_array_mut().expect("groups").truncate(1);
            }
            let result = cwnd.run(&["run", &Linked { toml: document.to_string(), ..linked }.fragment(), "--json"]);
            assert_eq!((result.code, result.err.contains("another version")), (Some(0), false), "{}", result.err);
        }
    }
}

#[test]
fn an_overlay_of_a_scenario_and_a_recording_is_a_link_to_both() {
    let cwnd = Cwnd::new();
    cwnd.file("short.toml", SHORT);
    cwnd.succeed(&["run", "short.toml", "--trace", "qlog", "--out", "result"]);
    let log = "result/traces/1-reno-1.sqlog";
    let overlay = |more: &[&str], out: &str| {
        cwnd.succeed(
            &[&["overlay", "short.toml", log, "--label", "ours", "--label", "a<b>", "--out", out], more].concat(),
        );
        let page = std::fs::read_to_string(cwnd.path().join(out).join("report.html")).expect("a page");
        let link = page.split("id=\"link\">").nth(1).and_then(|rest| rest.split('<').next());
        link.map(|link| Linked::read(&link.replace("&#38;", "&")).unwrap_or_else(|error| panic!("{link}: {error}")))
    };
    let linked = overlay(&["--set", "flow.0.algorithm=cubic"], "both").expect("a link");
    let scenario = Scenario::read("link.toml", &linked.toml, &[]).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(scenario.document().flow[0].algorithm.text(), "cubic");
    let [recording] = &linked.recorded[..] else { panic!("{:?}", linked.recorded) };
    assert_eq!(recording.label, "a_b_");
    assert!(recording.window.iter().flatten().any(|window| *window > 1), "{recording:?}");
    assert!(recording.goodput.iter().flatten().any(|goodput| *goodput > 1000), "{recording:?}");
    // Where the run does not begin with the common time, the page could not lay one over the other.
    assert_eq!(overlay(&["--offset", "1s", "--offset", "0s"], "later"), None);
}

#[test]
fn exercises_are_links_to_their_presets() {
    let files = &*SITE;
    let page = &files["exercises.html"];
    assert_eq!(page.matches("<li>\n<p>").count() + page.matches("<li><strong>").count(), 5, "{page}");
    let links: Vec<&str> = page.split("href=\"index.html#").skip(1).collect();
    let titles = links.iter().map(|link| {
        let (fragment, rest) = link.split_once("\">").expect("an end");
        let Linked { toml, .. } = Linked::read(&format!("#{fragment}")).unwrap_or_else(|error| panic!("{error}"));
        let scenario = Scenario::read("link.toml", &toml, &[]).unwrap_or_else(|error| panic!("{error}\n{toml}"));
        let (text, _) = rest.split_once("</a>").expect("a text");
        assert_eq!(scenario.document().title.as_deref(), Some(text));
        text
    });
    let presets = ["Bufferbloat", "Unequal round-trip times", "Two DAIMD flows converge", "Reno and CUBIC"];
    assert_eq!(titles.collect::<Vec<_>>(), presets);
    assert!(page.contains("default-src 'none'; style-src"), "it runs no script");
}

#[test]
fn no_link_is_made_that_the_page_refuses() {
    let cwnd = Cwnd::new();
    let flows = |count: u32| super::SHORT.replace("count = 2", &format!("count = {count}"));
    let link = |count| cwnd.run(&["link-to", &cwnd.file("many.toml", &flows(count))]);
    assert_eq!(link(1000).code, Some(0));
    let refused = link(1001);
    let error = &refused.err;
    assert!(error.contains("1001 flows are too many for the browser: accepted is at most 1000"), "{error}");
    assert_eq!(refused.out, "");
}

/// Writes `site` with a module that has the exports of the simulator.
fn site(cwnd: &Cwnd) {
    for (name, bytes) in [("engine.wasm", ENGINE), ("licences.txt", LICENCES.as_bytes())] {
        std::fs::write(cwnd.path().join(name), bytes).expect("written");
    }
    cwnd.succeed(&["site", "site", "--engine", "engine.wasm"]);
}

const ENGINE: &[u8] = b"\0asm\x01\0\0\0hello allocate handle step";
const LICENCES: &str = "libm 0.2.16: MIT";

/// The papers with scenarios that a browser runs within seconds.
const PAPERS: [&str; 7] = ["bbr3", "daimd", "exptcp", "l4s-tests", "newaimd", "simd", "starvation"];
