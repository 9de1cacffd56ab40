//! The table of directions that share a channel: `half:access=200us,burst=16`.

use cwnd::Span;
use cwnd::notation::{Form, Notation};
use cwnd::registry::{Measure, Parameter};

use crate::net::setup::{Duplex, Sharing};

/// Both kinds.
pub static DUPLEXES: Notation<Duplex> =
    Notation { what: "whether both directions transmit at the same time", forms: &[FULL, HALF], elsewhere: &[] };

const FULL: Form<Duplex> = Form {
    name: "full",
    aliases: &["full-duplex", "fdx"],
    title: "both directions transmit at the same time",
    source: "",
    example: "full",
    positional: 0,
    required: 0,
    parameters: &[],
    build: |_| Ok(Duplex::Full),
};
const HALF: Form<Duplex> = Form {
    name: "half",
    aliases: &["half-duplex", "hdx"],
    title: "one channel for both directions, which take turns while packets wait in both, as stations of Wi-Fi do",
    source: "",
    example: "half:access=200us,burst=16",
    positional: 0,
    required: 0,
    parameters: &[
        Parameter::quantity("access", Measure::Span, Some(0.0), "", "what each turn costs, for contention or a grant")
            .at_least(0.0)
            .at_most(1.0),
        Parameter::number("burst", 1.0, "most packets of a turn, which ends when the queue is empty")
            .at_least(1.0)
            .at_most(u32::MAX as f64)
            .whole(),
    ],
    build: |values| {
        let access = Span::from_secs_f64(values.number("access"));
        Ok(Duplex::Half(Sharing { access, burst: values.number("burst") as u32 }))
    },
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_reads_back() {
        let edges = ["half", "half:access=1s", "half:access=0s,burst=4294967295", "half:burst=2,access=1ns"];
        for text in DUPLEXES.forms.iter().map(|form| form.example).chain(edges) {
            let duplex = DUPLEXES.read(text).expect(text);
            assert_eq!(DUPLEXES.read(&duplex.to_string()), Ok(duplex), "{text}");
        }
        assert_eq!(DUPLEXES.read("half"), Ok(Duplex::Half(Sharing::default())));
    }

    #[test]
    fn an_error_has_the_range() {
        let error = |text: &str| DUPLEXES.read(text).expect_err(text).expected.into_owned();
        assert!(error("half:burst=0").contains("at least 1"), "{}", error("half:burst=0"));
        assert!(error("half:access=2s").contains("at most 1s"), "{}", error("half:access=2s"));
        assert!(error("hlaf").contains("half"), "{}", error("hlaf"));
    }
}
