//! The table of random losses: `0.001`, `periodic:1000`, `gilbert:to_bad=0.001,to_good=0.1`.

use std::fmt;

use cwnd::notation::{Form, Notation};
use cwnd::registry::Parameter;

use crate::net::setup::{GilbertElliott, Loss};

/// Every model of losses that have nothing to do with congestion.
pub static LOSSES: Notation<Loss> =
    Notation { what: "the random loss of packets", forms: &[BERNOULLI, PERIODIC, GILBERT], elsewhere: &[] };

const BERNOULLI: Form<Loss> = Form {
    name: "",
    aliases: &["bernoulli", "random", "uniform"],
    title: "each packet with this probability",
    source: "",
    example: "0.001",
    positional: 1,
    required: 1,
    parameters: &[Parameter::derived("probability", "", "of losing a packet").at_least(0.0).below(1.0)],
    build: |values| {
        let probability = values.number("probability");
        Ok(if probability == 0.0 { Loss::None } else { Loss::Bernoulli(probability) })
    },
};
const PERIODIC: Form<Loss> = Form {
    name: "periodic",
    aliases: &["every"],
    title: "one packet in each period",
    source: "",
    example: "periodic:1000",
    positional: 1,
    required: 1,
    parameters: &[Parameter::derived("period", "", "from one lost packet to the next")
        .unit("packets")
        .at_least(1.0)
        .at_most(1e15)
        .whole()],
    build: |values| Ok(Loss::Periodic(values.number("period") as u64)),
};
const GILBERT: Form<Loss> = Form {
    name: "gilbert",
    aliases: &["gemodel", "ge", "gilbert-elliott", "gilbert_elliott"],
    title: "in bursts: the channel is good or bad, and may change after each packet",
    source: "Gilbert 1960, Elliott 1963",
    example: "gilbert:to_bad=0.001,to_good=0.1",
    positional: 0,
    required: 2,
    parameters: &[
        Parameter::derived("to_bad", "", "the probability that a good channel turns bad").at_least(0.0).at_most(1.0),
        Parameter::derived("to_good", "", "the probability that a bad channel turns good").at_least(0.0).at_most(1.0),
        Parameter::number("loss_bad", 1.0, "the probability of a loss while it is bad").at_least(0.0).at_most(1.0),
        Parameter::number("loss_good", 0.0, "the probability of a loss while it is good").at_least(0.0).at_most(1.0),
    ],
    build: |values| {
        let [to_bad, to_good, loss_good, loss_bad] =
            ["to_bad", "to_good", "loss_good", "loss_bad"].map(|name| values.number(name));
        Ok(Loss::GilbertElliott(GilbertElliott { to_bad, to_good, loss_good, loss_bad }))
    },
};

/// A text that [`LOSSES`] reads as this loss.
impl fmt::Display for Loss {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::None => out.write_str("0"),
            Self::Bernoulli(probability) => write!(out, "{probability}"),
            Self::Periodic(period) => write!(out, "periodic:{period}"),
            Self::GilbertElliott(GilbertElliott { to_bad, to_good, loss_good, loss_bad }) => {
                write!(out, "gilbert:to_bad={to_bad},to_good={to_good},loss_bad={loss_bad},loss_good={loss_good}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        LOSSES.read(text).expect_err(text).expected.into_owned()
    }

    #[test]
    fn every_form_reads_back_at_its_example_and_its_edges() {
        let edges = [
            "0",
            "1e-300",
            "0.999",
            "periodic:1",
            "periodic:1e15",
            "gilbert:to_bad=0,to_good=0,loss_bad=0",
            "gilbert:to_bad=1,to_good=1,loss_bad=1,loss_good=1",
        ];
        for text in LOSSES.forms.iter().map(|form| form.example).chain(edges) {
            let loss = LOSSES.read(text).expect(text);
            assert_eq!(LOSSES.read(&loss.to_string()), Ok(loss), "{text}");
        }
    }

    #[test]
    fn an_error_is_about_the_form_that_is_meant() {
        assert_eq!(error("2"), "a number at least 0 and below 1 for `probability`, not `2`, as in `0.001`");
        assert_eq!(error("bernoulli:0.1"), "the random loss of packets; did you mean `0.1`?");
        assert_eq!(error("periodicc:10"), "the random loss of packets; did you mean `periodic:10`?");
        assert_eq!(error("gilbert:to_bad=0.1"), "`to_good` too, as in `gilbert:to_bad=0.001,to_good=0.1`");
        assert!(error("gilbert:to_bad=0.1,to_god=1").ends_with("not `to_god`; did you mean `to_good`?"));
        assert!(error("gilbert:to_bad=0.1,to_good=2").contains("for `to_good`, not `2`"));
        assert_eq!(error("0,1"), "no parameter for `PROBABILITY`, which has none: `0.001`, not `1`");
        assert!(error("").starts_with("a number at least 0 and below 1, as in"), "{}", error(""));
        assert!(error("burst:3").ends_with("the names are periodic and gilbert"), "{}", error("burst:3"));
    }
}
