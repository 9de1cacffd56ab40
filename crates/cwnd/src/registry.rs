//! Every algorithm by name, with its parameters.
//!
//! An algorithm declares an [`Entry`] next to its rule; the command line, its errors, the documentation table and the bindings are
//! generated from these declarations. An algorithm is written `simd`, `simd:beta=1/16`, `aimd:a=1,b=1/2`; [`Spec::parse`] reads
//! that, checks every parameter, and a [`Spec`] that exists can always start its algorithm.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;

use crate::builtin::Algorithm;
pub use crate::builtin::{ALGORITHMS, ALIASES};
use crate::control::{CongestionControl, ReceiverSide};
pub use crate::entry::{Basis, Build, BuildReceiver, Entry, Family, InvalidParameter, Transport};
use crate::nearest::nearest;
use crate::notation::{ArgumentError, split};
use crate::parameter::Value;
pub use crate::parameter::{Kind, Measure, Parameter, Range, Values};
use crate::signal::Start;

/// An algorithm with its parameters, checked: it can be started any number of times.
#[derive(Clone, Debug)]
pub struct Spec {
    entry: &'static Entry<Algorithm>,
    values: Values,
    text: Arc<str>,
    origin: Origin,
}

/// Where an algorithm comes from.
#[derive(Clone, Debug)]
enum Origin {
    Registry,
    Maker(Arc<dyn Maker>),
    Stack(Arc<dyn Any + Send + Sync>),
}

/// Makes an algorithm that is not in the registry: one written in another language, or one that a learner steers.
///
/// What it makes keeps the contract of [`CongestionControl`]. With a [`WindowRule`](crate::window::WindowRule) in a
/// [`Window`](crate::window::Window) it has slow start, timeouts and eras as the built-in ones have. The contract knows no failure:
/// an algorithm that has failed keeps its last control, ignores signals, and sets a flag that the program which runs the host
/// checks in order to end the run.
pub trait Maker: fmt::Debug + Send + Sync {
    /// The algorithm of one flow.
    fn start(&self, start: &Start) -> Box<dyn CongestionControl>;
}

/// An algorithm could not be read from its text.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum SpecError {
    /// A parameter is given twice.
    Repeated {
        /// The algorithm.
        algorithm: &'static str,
        /// The parameter.
        parameter: &'static str,
    },
    /// A parameter has no value, or there is a stray comma.
    Syntax {
        /// The algorithm.
        algorithm: &'static str,
        /// The part that is not `key=value`.
        part: String,
    },
    /// No algorithm of this name.
    UnknownAlgorithm {
        /// The name given.
        name: String,
        /// The nearest name, if one is near.
        nearest: Option<&'static str>,
    },
    /// The algorithm has no such parameter.
    UnknownParameter {
        /// The algorithm.
        entry: &'static str,
        /// The name as given.
        name: String,
        /// The nearest name, if one is near.
        nearest: Option<&'static str>,
        /// All names, for the message.
        known: Vec<&'static str>,
    },
    /// A value is out of range or cannot be read.
    Value {
        /// The algorithm.
        algorithm: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The value as given.
        given: String,
        /// The accepted values.
        accepted: String,
    },
}

impl Spec {
    /// Reads `name` or `name:key=value,key=value`.
    ///
    /// ```
    /// let spec = cwnd::Spec::parse("aimd:a=1,b=1/4").expect("registered, and in range");
    /// assert_eq!(spec.label(), "aimd:a=1,b=1/4");
    /// let error = cwnd::Spec::parse("cubik").expect_err("no such name");
    /// assert!(error.to_string().contains("did you mean `cubic`?"));
    /// ```
    ///
    /// # Errors
    /// The name or a key is unknown, a value is out of range, or the algorithm refuses the combination.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        let (name, arguments) = match text.trim().split_once(':') {
            Some((name, arguments)) => (name.trim(), Some(arguments)),
            None => (text.trim(), None),
        };
        let entry = find(name)?;
        let mut values = Values::none(entry.parameters);
        let typed = values.take(arguments.into_iter().flat_map(split), 0);
        let typed = typed.map_err(|error| SpecError::of(entry, error))?;
        let spec = Self { entry, values, text: text.trim().into(), origin: Origin::Registry };
        // A trial start finds the combinations that no single range excludes, so that a spec in hand never fails.
        match (entry.build)(&spec.values, &Start::default()) {
            Ok(_) => {
                // The receiver's half asks for parameters of its own.
                let _ = spec.receiver(&Start::default());
                Ok(spec)
            }
            Err(InvalidParameter { parameter, reason }) => {
                let given = typed.iter().find(|(name, _)| *name == parameter).map(|(_, value)| (*value).to_string());
                let default = || format!("{} (the default)", spec.values.parameter(parameter).default_text());
                let given = given.unwrap_or_else(default);
                Err(SpecError::Value { algorithm: entry.name, parameter, given, accepted: reason.to_string() })
            }
        }
    }

    /// An algorithm that is not in the registry, called `label`: every host takes it where it takes one that is.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use cwnd::window::{Window, WindowRule};
    /// use cwnd::{CongestionControl, Maker, Packets, Spec, Start, View};
    ///
    /// /// Adds a packet per round trip, and gives a quarter away.
    /// #[derive(Clone, Debug)]
    /// struct Gentle;
    ///
    /// impl WindowRule for Gentle {
    ///     fn grow(&mut self, w: f64, _view: &View) -> f64 {
    ///         1.0 / w
    ///     }
    ///
    ///     fn cut(&mut self, w: f64, _view: &View) -> f64 {
    ///         0.75 * w
    ///     }
    /// }
    ///
    /// impl Maker for Gentle {
    ///     fn start(&self, start: &Start) -> Box<dyn CongestionControl> {
    ///         Box::new(Window::new(self.clone(), start))
    ///     }
    /// }
    ///
    /// let spec = Spec::outside("gentle", Arc::new(Gentle));
    /// assert_eq!(spec.start(&Start::default()).control().window, Packets(10.0));
    /// ```
    #[must_use]
    pub fn outside(label: &str, maker: Arc<dyn Maker>) -> Self {
        Self { entry: &OUTSIDE, values: Values::none(&[]), text: label.into(), origin: Origin::Maker(maker) }
    }

    /// A whole stack called `label`, whose endpoints stand where those of an algorithm would. Hosts that run stacks know the type of
    /// `stack`; the others refuse [`Transport::Stack`].
    #[must_use]
    pub fn stack(label: &str, stack: Arc<dyn Any + Send + Sync>) -> Self {
        Self { entry: &STACK, values: Values::none(&[]), text: label.into(), origin: Origin::Stack(stack) }
    }

    /// Whether it is one that is not in the registry.
    #[must_use]
    pub fn is_outside(&self) -> bool {
        !matches!(self.origin, Origin::Registry)
    }

    /// The argument of [`Spec::stack`].
    #[must_use]
    pub fn as_stack(&self) -> Option<&(dyn Any + Send + Sync)> {
        if let Origin::Stack(stack) = &self.origin { Some(&**stack) } else { None }
    }

    /// Whether its unused window grows in every era, as that of one of the agents of UDT for ns-2 does.
    #[must_use]
    pub fn grows_unused(&self) -> bool {
        !self.is_outside() && matches!(self.start(&Start::default()), Algorithm::UdtAgent(_))
    }

    /// The declaration of the algorithm.
    #[must_use]
    pub fn entry(&self) -> &'static Entry<Algorithm> {
        self.entry
    }

    /// The text it was read from, or what an algorithm from outside is called: its label in tables and plots.
    #[must_use]
    pub fn label(&self) -> &str {
        &self.text
    }

    /// Each parameter with the value in force, as text.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static Parameter, String)> + '_ {
        self.entry.parameters.iter().zip(&self.values.given).map(|(parameter, given)| {
            let text = match given {
                Some(Value::Number(number)) => number.to_string(),
                Some(Value::Choice(word)) => (*word).to_string(),
                Some(Value::Text(text)) => text.clone(),
                Some(Value::Flag) => "yes".to_string(),
                None => parameter.default_text(),
            };
            (parameter, text)
        })
    }

    /// The value of a parameter as it was typed; none for one that was not given.
    ///
    /// ```
    /// let spec = cwnd::Spec::parse("aimd:b=1/4").expect("registered");
    /// assert_eq!((spec.typed("b"), spec.typed("a")), (Some("1/4"), None));
    /// ```
    #[must_use]
    pub fn typed(&self, parameter: &str) -> Option<&str> {
        let (_, arguments) = self.text.split_once(':').filter(|_| !self.is_outside())?;
        let mut given = arguments.split(',').filter_map(|part| part.split_once('='));
        given.find(|(name, _)| name.trim() == parameter).map(|(_, value)| value.trim())
    }

    /// The parameters that were given although the algorithm does not ask for them with the values of the others, each with its value as
    /// it was typed: `lambda` of `udt:lambda=0.5`, which only the profiles of ns-2 have.
    pub fn unread(&self) -> impl Iterator<Item = (&'static Parameter, String)> + '_ {
        let with_value =
            |parameter: &'static Parameter| (parameter, self.typed(parameter.name).unwrap_or_default().to_string());
        self.values.unasked().map(move |index| with_value(&self.entry.parameters[index]))
    }

    /// Those parameters as they were typed, each with the reason why it has no effect.
    pub fn idle(&self) -> impl Iterator<Item = (String, String)> {
        let why = |help: &str| format!("the other parameters leave it out ({help})");
        self.unread().map(move |(parameter, text)| (format!("{}={text}", parameter.name), why(parameter.help)))
    }

    /// A sentence for each parameter that was given although the algorithm does not ask for it with the values of the others.
    #[must_use]
    pub fn idle_parameters(&self) -> Vec<String> {
        self.idle().map(|(parameter, why)| format!("{}: `{parameter}` has no effect: {why}", self.label())).collect()
    }

    /// The parameters that were given although the algorithm does not ask for them when it begins with `start`, each with its text: of a
    /// rule that sets a rate, those of its start where the host knows the rate.
    pub fn unread_from(&self, start: &Start) -> Vec<(&'static Parameter, String)> {
        let values = self.values.unread();
        if let Origin::Registry = self.origin {
            let _ = (self.entry.build)(&values, start);
            let _ = self.entry.receiver.map(|build| build(&values, start));
        }
        let parameters: Vec<_> = self.parameters().collect();
        values.unasked().map(|index| parameters[index].clone()).collect()
    }

    /// The sender's half.
    ///
    /// # Panics
    /// It is a whole stack, which has no algorithm to start. Never otherwise: [`Spec::parse`] tried the same values, and no algorithm
    /// refuses a start.
    #[must_use]
    pub fn start(&self, start: &Start) -> Algorithm {
        if let Origin::Maker(maker) = &self.origin {
            return Algorithm::Custom(maker.start(start));
        }
        (self.entry.build)(&self.values, start).expect("the same values were accepted when the spec was read")
    }

    /// The receiver's half, if the algorithm has one.
    #[must_use]
    pub fn receiver(&self, start: &Start) -> Option<Box<dyn ReceiverSide>> {
        self.entry.receiver.map(|build| build(&self.values, start))
    }
}

impl SpecError {
    fn of(entry: &'static Entry<Algorithm>, error: ArgumentError) -> Self {
        let algorithm = entry.name;
        match error {
            ArgumentError::Syntax { part } => Self::Syntax { algorithm, part },
            ArgumentError::Repeated { parameter } => Self::Repeated { algorithm, parameter },
            ArgumentError::Unknown { name, nearest } => {
                let known = entry.parameters.iter().map(|parameter| parameter.name).collect();
                Self::UnknownParameter { entry: algorithm, name, nearest, known }
            }
            ArgumentError::Value { parameter, given } => {
                Self::Value { algorithm, parameter: parameter.name, given, accepted: parameter.accepted() }
            }
        }
    }
}

impl fmt::Display for SpecError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let meant = |out: &mut fmt::Formatter<'_>, nearest: &Option<&str>| match nearest {
            Some(name) => write!(out, "; did you mean `{name}`?"),
            None => Ok(()),
        };
        match self {
            Self::Repeated { algorithm, parameter } => write!(out, "{algorithm}: `{parameter}` is given twice"),
            Self::Syntax { algorithm, part } => {
                write!(out, "{algorithm}: expected `key=value`, found `{part}`")?;
                if find(part.split(':').next().unwrap_or_default()).is_ok() { write!(out, "; {LIST}") } else { Ok(()) }
            }
            Self::UnknownAlgorithm { name, nearest } => {
                write!(out, "unknown algorithm `{name}`")?;
                if name.contains([',', ' ']) { write!(out, "; {LIST}") } else { meant(out, nearest) }
            }
            Self::UnknownParameter { entry, name, nearest, known } => {
                write!(out, "{entry} has no parameter `{name}`")?;
                meant(out, nearest)?;
                if known.is_empty() {
                    write!(out, " (it has none)")
                } else {
                    write!(out, " (it has {})", known.join(", "))
                }
            }
            Self::Value { algorithm, parameter, given, accepted } => {
                write!(out, "{algorithm}: cannot take `{given}` for `{parameter}`: accepted is {accepted}")
            }
        }
    }
}

impl core::error::Error for SpecError {}

impl<A> Entry<A> {
    /// Other names under which [`find`] finds it.
    pub fn aliases(&self) -> impl Iterator<Item = &'static str> + '_ {
        ALIASES.iter().filter(|(_, name)| *name == self.name).map(|(alias, _)| *alias)
    }
}

/// The entry called `name`, or with that alias.
///
/// # Errors
/// No algorithm has that name; the error carries the nearest one.
pub fn find(name: &str) -> Result<&'static Entry<Algorithm>, SpecError> {
    let own = ALIASES.iter().find(|(alias, _)| *alias == name).map_or(name, |(_, own)| *own);
    let names = || ALGORITHMS.iter().map(|entry| entry.name).chain(ALIASES.iter().map(|(alias, _)| *alias));
    ALGORITHMS
        .iter()
        .find(|entry| entry.name == own)
        .copied()
        .ok_or_else(|| SpecError::UnknownAlgorithm { name: name.to_string(), nearest: nearest(name, names()) })
}

/// The error for a list where one algorithm is expected.
const LIST: &str = "expected one algorithm: the command line takes several with spaces between";

/// The entry of an algorithm from outside.
static OUTSIDE: Entry<Algorithm> = Entry {
    name: "outside",
    title: "an algorithm that is not in the registry",
    family: Family::Named,
    transport: Transport::Acked,
    basis: Basis::Losses,
    source: "given by the program that runs it",
    deviations: &[],
    parameters: &[],
    build: |_, _| Err(InvalidParameter::new("name", "nothing: it has a maker of its own")),
    receiver: None,
};

/// The entry of a whole stack.
static STACK: Entry<Algorithm> = Entry {
    name: "stack",
    title: "a transport with endpoints and a congestion controller of its own",
    family: Family::Named,
    transport: Transport::Stack,
    basis: Basis::Losses,
    source: "given by the program that runs it",
    deviations: &[],
    parameters: &[],
    build: |_, _| Err(InvalidParameter::new("name", "nothing: a stack has endpoints of its own")),
    receiver: None,
};

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Spec::parse(text).expect_err("must be refused").to_string()
    }

    #[test]
    fn every_entry_starts_with_its_defaults() {
        for entry in ALGORITHMS {
            let spec = Spec::parse(entry.name).unwrap_or_else(|error| panic!("{error}"));
            let _ = spec.start(&Start::default());
            let receiver = spec.receiver(&Start::default());
            assert!(receiver.is_some() || entry.transport != Transport::Datagram, "{}: nobody reports", entry.name);
        }
    }

    #[test]
    fn names_are_unique() {
        let aliases = ALIASES.iter().map(|(alias, _)| *alias);
        let mut names: Vec<_> = ALGORITHMS.iter().map(|entry| entry.name).chain(aliases).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALGORITHMS.len() + ALIASES.len());
    }

    #[test]
    fn an_alias_names_an_entry() {
        for (alias, name) in ALIASES {
            let entry = find(alias).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(entry.name, *name);
            assert!(entry.aliases().any(|known| known == *alias));
        }
        assert_eq!(Spec::parse("aimd-fc").map(|spec| spec.label().to_string()), Ok("aimd-fc".to_string()));
        assert_eq!(error("aimdfc"), "unknown algorithm `aimdfc`; did you mean `aimd-fc`?");
    }

    #[test]
    fn errors_name_the_place_and_what_is_accepted() {
        assert_eq!(error("rneo"), "unknown algorithm `rneo`; did you mean `reno`?");
        assert_eq!(error("zzz"), "unknown algorithm `zzz`");
        assert_eq!(error("BBRv3"), "unknown algorithm `BBRv3`; did you mean `bbr3`?");
        let list = "expected one algorithm: the command line takes several with spaces between";
        for name in ["cubic,reno", "cubic, reno", "cubic reno"] {
            assert_eq!(error(name), format!("unknown algorithm `{name}`; {list}"));
        }
        assert_eq!(error("aimd:b=1/8,reno"), format!("aimd: expected `key=value`, found `reno`; {list}"));
        assert_eq!(error("aimd:c=1"), "aimd has no parameter `c`; did you mean `a`? (it has a, b, ecn_beta)");
        assert_eq!(error("westwood:a=1"), "westwood has no parameter `a` (it has none)");
        assert_eq!(error("aimd:b=2"), "aimd: cannot take `2` for `b`: accepted is above 0 and below 1");
        assert_eq!(error("aimd:b=1/2,b=1/4"), "aimd: `b` is given twice");
        assert_eq!(error("aimd:"), "aimd: expected `key=value`, found ``");
        assert_eq!(
            error("vegas:alpha=5"),
            "vegas: cannot take `3 (the default)` for `beta`: accepted is at least alpha"
        );
        assert_eq!(error("vegas:alpha=5,beta=3"), "vegas: cannot take `3` for `beta`: accepted is at least alpha");
        let less = "reno: cannot take `0.4` for `ecn_beta`: accepted is at least 0.5, which a loss keeps, and below 1";
        assert_eq!(error("reno:ecn_beta=0.4"), less);
        assert_eq!(error("tfrc:intervals=8.5"), "tfrc: cannot take `8.5` for `intervals`: accepted is a whole number");
    }

    #[test]
    fn values_are_read_and_shown() {
        let spec = Spec::parse(" aimd:a=1, b=1/8 ").expect("valid");
        let shown: Vec<_> = spec.parameters().map(|(parameter, value)| (parameter.name, value)).collect();
        let values = [("a", "1"), ("b", "0.125"), ("ecn_beta", "as for a loss")];
        assert_eq!(shown, values.map(|(name, value)| (name, value.to_string())));
        assert_eq!(spec.label(), "aimd:a=1, b=1/8");
    }

    #[test]
    fn a_parameter_that_the_others_make_idle_is_unread() {
        let unread = |text: &str| -> Vec<String> {
            let spec = Spec::parse(text).unwrap_or_else(|error| panic!("{error}"));
            spec.unread().map(|(parameter, value)| format!("{}={value}", parameter.name)).collect()
        };
        assert_eq!(unread("udt:lambda=0.5,initial_rate=3mbit"), ["initial_rate=3mbit", "lambda=0.5"]);
        assert_eq!(unread("udt:profile=paper,lambda=0.5,start=none,initial_rate=3mbit"), [""; 0]);
        assert_eq!(unread("udt:profile=paper,capacity=1gbit,capacity_filter=newest"), ["capacity_filter=newest"]);
        assert_eq!(unread("tfrc:intervals=4"), [""; 0]);
    }
}
