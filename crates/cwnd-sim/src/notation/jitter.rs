//! Jitter as people write it: `5ms`, `normal:20ms,deviation=4ms`, `wifi:7ms,overtaking=yes`.

use std::fmt;

use cwnd::Span;
use cwnd::notation::{Form, Notation};
use cwnd::quantity::{self, QuantityError};
use cwnd::registry::{InvalidParameter, Measure, Parameter, Values};

use crate::net::setup::{Jitter, Noise};

/// Every distribution by name.
pub static JITTERS: Notation<Jitter> = Notation {
    what: "a distribution of delays",
    forms: &[UNIFORM, NORMAL, PARETO, WIFI],
    elsewhere: &[
        ("paretonormal", "write `pareto` or `normal`; netem's mixture is a table of measured delays"),
        ("exponential", "write `pareto` with a large `shape`, which approaches it"),
    ],
};

const DELAY: &str = "a time from `0s` to `10s`";
const WIFI_DELAY: &str = "a time from `1ms` to `85ms`";
const CORRELATION: Parameter = Parameter::number(
    "correlation",
    0.0,
    "the share of the previous packet's delay in that of the next; the mean stays, the variance shrinks",
)
.at_least(0.0)
.below(1.0);
const OVERTAKING: Parameter = Parameter::switch(
    "overtaking",
    false,
    "packets with a smaller delay overtake others; otherwise they wait behind them",
);

const UNIFORM: Form<Jitter> = Form {
    name: "",
    aliases: &["uniform"],
    title: "uniform between zero and this time",
    source: "",
    example: "5ms",
    positional: 1,
    required: 1,
    parameters: &[Parameter::text("most", "", DELAY, "the largest delay"), CORRELATION, OVERTAKING],
    build: |values| jitter(values, Noise::Uniform(time(values, "most")?)),
};
const NORMAL: Form<Jitter> = Form {
    name: "normal",
    aliases: &["gaussian", "gauss"],
    title: "normal; negative draws count as zero",
    source: "",
    example: "normal:20ms,deviation=4ms",
    positional: 1,
    required: 2,
    parameters: &[
        Parameter::text("mean", "", DELAY, "the mean"),
        Parameter::quantity("deviation", Measure::Span, None, "", "the standard deviation").at_least(0.0).at_most(10.0),
        CORRELATION,
        OVERTAKING,
    ],
    build: |values| {
        let deviation = Span::from_secs_f64(values.number("deviation"));
        jitter(values, Noise::Normal { mean: time(values, "mean")?, deviation })
    },
};
const PARETO: Form<Jitter> = Form {
    name: "pareto",
    aliases: &["lomax"],
    title: "Pareto of the second kind (Lomax), which begins at zero; delays above 10 s are cut off there",
    source: "",
    example: "pareto:10ms,shape=3",
    positional: 1,
    required: 1,
    parameters: &[
        Parameter::text("mean", "", DELAY, "the mean"),
        Parameter::number("shape", 3.0, "the tail: the variance is infinite up to 2").above(1.0).at_most(1000.0),
        CORRELATION,
        OVERTAKING,
    ],
    build: |values| jitter(values, Noise::Pareto { mean: time(values, "mean")?, shape: values.number("shape") }),
};
const WIFI: Form<Jitter> = Form {
    name: "wifi",
    aliases: &["wi-fi", "wlan", "c4"],
    title: "Wi-Fi with contention: mostly below 3 ms, with spikes of 50 to 200 ms that hold up what follows",
    source: "picoquic's `sim_link.c`",
    example: "wifi:7ms",
    positional: 1,
    required: 1,
    parameters: &[Parameter::text("mean", "", WIFI_DELAY, "the mean"), CORRELATION, OVERTAKING],
    build: |values| {
        let range = Span::from_millis(1)..=Span::from_millis(85);
        let mean = quantity::span(values.text("mean")).ok().filter(|mean| range.contains(mean));
        let mean = mean.ok_or_else(|| InvalidParameter::new("mean", WIFI_DELAY))?;
        jitter(values, Noise::Wifi { mean })
    },
};

fn time(values: &Values, parameter: &'static str) -> Result<Span, InvalidParameter> {
    let read = quantity::span(values.text(parameter)).ok().filter(|time| *time <= Noise::MOST);
    read.ok_or_else(|| InvalidParameter::new(parameter, DELAY))
}

fn jitter(values: &Values, noise: Noise) -> Result<Jitter, InvalidParameter> {
    Ok(Jitter { noise, correlation: values.number("correlation"), overtaking: values.is("overtaking") })
}

impl Jitter {
    /// Reads one of [`JITTERS`].
    ///
    /// # Errors
    /// The name is unknown, a time is missing, or a value is out of range.
    pub fn read(text: &str) -> Result<Self, QuantityError> {
        JITTERS.read(text)
    }
}

/// As it is read.
impl fmt::Display for Jitter {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let exact = quantity::exact;
        match self.noise {
            Noise::Uniform(most) => out.write_str(&exact(most))?,
            Noise::Normal { mean, deviation } => write!(out, "normal:{},deviation={}", exact(mean), exact(deviation))?,
            Noise::Pareto { mean, shape } => write!(out, "pareto:{},shape={shape}", exact(mean))?,
            Noise::Wifi { mean } => write!(out, "wifi:{}", exact(mean))?,
        }
        if self.correlation != 0.0 {
            write!(out, ",correlation={}", self.correlation)?;
        }
        if self.overtaking { out.write_str(",overtaking=yes") } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn every_example_is_read() {
        for form in JITTERS.forms {
            assert!(Jitter::read(form.example).is_ok(), "{}", form.example);
        }
        assert_eq!(Jitter::read("5ms"), Ok(Noise::Uniform(Span::from_millis(5)).into()));
    }

    #[test]
    fn errors_name_the_range_and_the_name_that_is_meant() {
        for (text, part) in [
            ("gaussian:20ms,deviation=4ms", "did you mean `normal:20ms,deviation=4ms`?"),
            ("normal:20ms", "`deviation` too"),
            ("wifi:200ms", "a time from `1ms` to `85ms`"),
            ("wifi:11s", "a time from `1ms` to `85ms`"),
            ("wifi:fast", "a time from `1ms` to `85ms`"),
            ("pareto:10ms,shape=1", "`shape`"),
            ("11s", "a time from `0s` to `10s`"),
            ("5ms,correlation=1", "`correlation`"),
            ("5", "a time from `0s` to `10s`"),
        ] {
            let error = Jitter::read(text).expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_back(
            (mean, other) in (1_000_000_u64..85_000_000, 0_u64..10_000_000_000),
            (shape, kind) in (1.001..50.0_f64, 0..4),
            (correlation, overtaking) in (0.0..1.0_f64, any::<bool>()),
        ) {
            let (mean, other) = (Span::from_nanos(mean), Span::from_nanos(other));
            let noise = match kind {
                0 => Noise::Uniform(other),
                1 => Noise::Normal { mean: other, deviation: mean },
                2 => Noise::Pareto { mean: other, shape },
                _ => Noise::Wifi { mean },
            };
            let jitter = Jitter { noise, correlation, overtaking };
            prop_assert_eq!(Jitter::read(&jitter.to_string()), Ok(jitter));
        }
    }
}
