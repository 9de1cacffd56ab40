//! `cwnd site`: the pages that it writes next to the page of the simulator.

use std::collections::BTreeSet;

use super::{Cwnd, SHORT};
use cwnd_run::address::Linked;
use cwnd_run::scenario::Scenario;

#[test]
fn figures_of_papers_are_links_to_scenarios() {
    let cwnd = Cwnd::new();
    site(&cwnd);
    let page = std::fs::read_to_string(cwnd.path().join("site/figures.html")).expect("a page");
    let links: Vec<&str> = page.split("href=\"./#").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let papers: BTreeSet<&str> = links
        .iter()
        .map(|link| {
            let Linked { toml, .. } =
                Linked::read(&format!("#{link}")).unwrap_or_else(|error| panic!("{link}: {error}"));
            let scenario = Scenario::read("link.toml", &toml, &[]).unwrap_or_else(|error| panic!("{error}\n{toml}"));
            let title = scenario.document().title.clone().unwrap_or_default();
            assert!(scenario.packets() <= 2e6, "{title}");
            let of = |paper: &&&str| title.contains(&format!(" of {paper}: "));
            *PAPERS.iter().find(of).unwrap_or_else(|| panic!("{title}"))
        })
        .collect();
    assert!(links.len() > 50, "{} links", links.len());
    assert_eq!(papers, BTreeSet::from(PAPERS));
    // No scenario of AIAD reads a file; 100 Mbit/s for 200 s are 2.5 million packets of 1000 B.
    assert!(page.contains("Without a link") && page.contains("<code>cwnd paper aiad</code>"), "a paper is left out");
    let offline = std::fs::read_to_string(cwnd.path().join("site/offline.js")).expect("a script");
    for file in std::fs::read_dir(cwnd.path().join("site")).expect("a directory") {
        let name = file.expect("a file").file_name().into_string().expect("text");
        assert!(name == "offline.js" || offline.contains(&format!("\"{name}\"")), "{name} is not kept: {offline}");
    }
    for model in ["model-response.html", "model-convergence.html"] {
        assert!(page.contains(&format!("href=\"{model}\"")), "{model}");
        assert!(cwnd.path().join("site").join(model).exists(), "{model}");
    }
}

#[test]
fn the_licences_of_the_engine_are_a_part() {
    let cwnd = Cwnd::new();
    site(&cwnd);
    let licences = std::fs::read_to_string(cwnd.path().join("site/licences.txt")).expect("a file");
    assert!(licences.contains("uplot") && licences.ends_with(LICENCES), "{licences}");
    std::fs::remove_file(cwnd.path().join("licences.txt")).expect("it was written");
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
fn exercises_are_links_to_their_presets() {
    let cwnd = Cwnd::new();
    site(&cwnd);
    let page = std::fs::read_to_string(cwnd.path().join("site/exercises.html")).expect("a page");
    assert_eq!(page.matches("<li>\n<p>").count() + page.matches("<li><strong>").count(), 5, "{page}");
    let links: Vec<&str> = page.split("href=\"./#").skip(1).collect();
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
    let files: [(&str, &[u8]); 2] =
        [("engine.wasm", b"\0asm\x01\0\0\0hello allocate handle step"), ("licences.txt", LICENCES.as_bytes())];
    for (name, bytes) in files {
        std::fs::write(cwnd.path().join(name), bytes).expect("written");
    }
    cwnd.succeed(&["site", "site", "--engine", "engine.wasm"]);
}

const LICENCES: &str = "libm 0.2.16: MIT";

/// The papers with scenarios that a browser runs within seconds.
const PAPERS: [&str; 7] = ["bbr3", "daimd", "exptcp", "l4s-tests", "newaimd", "simd", "starvation"];
