//! `cwnd site`: the pages that it writes next to the page of the simulator.

use std::collections::BTreeSet;

use super::{Cwnd, SHORT};
use cwnd_run::address::Linked;
use cwnd_run::scenario::Scenario;

#[test]
fn figures_of_papers_are_links_to_scenarios() {
    let cwnd = Cwnd::new();
    std::fs::write(cwnd.path().join("engine.wasm"), b"\0asm\x01\0\0\0hello allocate handle step").expect("written");
    cwnd.succeed(&["site", "site", "--engine", "engine.wasm"]);
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
    for model in ["model-response.html", "model-convergence.html"] {
        assert!(page.contains(&format!("href=\"{model}\"")), "{model}");
        assert!(cwnd.path().join("site").join(model).exists(), "{model}");
    }
}

/// The papers with scenarios that a browser runs within seconds.
const PAPERS: [&str; 7] = ["bbr3", "daimd", "exptcp", "l4s-tests", "newaimd", "simd", "starvation"];
