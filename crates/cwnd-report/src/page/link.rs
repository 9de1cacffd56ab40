//! A scenario of a page as a link to the page of `cwnd live` or `cwnd site`.

use std::env;

use cwnd::Spec;
use cwnd_run::address::{Linked, MOST_FLOWS};
use cwnd_run::scenario::{Document, Scenario};

/// The link of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// The fragment of the address, with `#` in front: the whole scenario.
    pub fragment: String,
    /// The address of the page before it, from the environment variable [`SITE`]; empty if that is not set.
    pub site: String,
}

/// The environment variable with the address of a page of `cwnd site`.
pub const SITE: &str = "CWND_SITE";

impl Link {
    /// The link of `document`, each group of flows alone on the path if `apart`. None if the page does not run it: it reads a file, has too many
    /// flows, or its
    /// senders are not in the registry. `digest` is that of its first seed, where it was run.
    #[must_use]
    pub fn of(document: &Document, apart: bool, digest: Option<u64>) -> Option<Self> {
        let flows = document.flow.iter().map(|group| group.algorithm.text());
        let flow_arrivals = document.arrivals.iter().map(|group| group.algorithm.text());
        let counts = document.flow.iter().map(|group| group.count).chain(document.cbr.iter().map(|group| group.count));
        let many = counts.map(u64::from).sum::<u64>() > MOST_FLOWS;
        if many || flows.chain(flow_arrivals).any(|algorithm| Spec::parse(algorithm).is_err()) {
            return None;
        }
        let fragment = Linked { toml: document.to_toml(), apart, digest, cursor: None }.fragment();
        Linked::read(&fragment).ok()?;
        Some(Self::to(fragment))
    }

    /// The link of a scenario as text, under the same conditions.
    pub(super) fn of_toml(toml: &str) -> Option<Self> {
        let scenario = Scenario::read("scenario.toml", toml, &[]).ok()?;
        Self::of(scenario.document(), false, None)
    }

    /// The link with this fragment.
    pub(super) fn to(fragment: String) -> Self {
        let site = env::var(SITE).ok().filter(|site| site.starts_with("https://") || site.starts_with("http://"));
        let site = site.as_deref().map(|site| site.split('#').next().unwrap_or_default().to_string());
        Self { fragment, site: site.unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(text: &str) -> Document {
        Scenario::read("test.toml", text, &[]).unwrap_or_else(|error| panic!("{error}")).document().clone()
    }

    #[test]
    fn the_link_holds_the_scenario() {
        let document = document("[dumbbell]\nrate = \"7mbit\"\n[[flow]]\nalgorithm = \"reno\"\n");
        for apart in [false, true] {
            let link = Link::of(&document, apart, Some(7)).expect("a link");
            let read = Linked::read(&link.fragment).expect("its own link");
            assert_eq!((read.toml, read.apart, read.digest), (document.to_toml(), apart, Some(7)));
        }
    }
}
