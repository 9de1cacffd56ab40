//! The values of a key as numbers, where all of them are quantities of one kind: `10mbit` and `1gbit` are rates.

use cwnd::quantity;

use super::Value;

/// The kind of quantity of the values of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Plain numbers: counts, probabilities, factors.
    Plain,
    /// Rates, bit/s.
    BitRate,
    /// Times, seconds.
    Time,
    /// Sizes, bytes.
    Bytes,
    /// Whole packets.
    Packets,
    /// Bandwidth-delay products.
    Bdp,
}

/// The kind of the values of a key, and how they are read.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    unit: Unit,
    /// Before and behind the quantity in every value, as in `droptail:1bdp`.
    around: (String, String),
}

impl Unit {
    const ALL: [Self; 6] = [Self::Plain, Self::BitRate, Self::Time, Self::Bytes, Self::Packets, Self::Bdp];

    /// The end of the name of a column.
    #[must_use]
    pub fn suffix(self) -> &'static str {
        match self {
            Self::Plain => "_number",
            Self::BitRate => "_bps",
            Self::Time => "_s",
            Self::Bytes => "_bytes",
            Self::Packets => "_packets",
            Self::Bdp => "_bdp",
        }
    }

    /// Its base unit; empty for plain numbers.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::BitRate => "bit/s",
            Self::Time => "s",
            Self::Bytes => "bytes",
            Self::Packets => "packets",
            Self::Bdp => "bandwidth-delay products",
        }
    }

    /// The unit in which people read such numbers, and what a number in the base unit is multiplied by: rates in Mbit/s, times in ms where
    /// one of them is below a second.
    #[must_use]
    pub fn shown(self, numbers: impl Iterator<Item = f64>) -> (&'static str, f64) {
        match self {
            Self::Plain => ("", 1.0),
            Self::BitRate => ("Mbit/s", 1e-6),
            Self::Time => {
                let least = numbers.filter(|number| *number > 0.0).fold(f64::INFINITY, f64::min);
                if least < 1.0 { ("ms", 1e3) } else { ("s", 1.0) }
            }
            Self::Bytes => ("bytes", 1.0),
            Self::Packets => ("packets", 1.0),
            Self::Bdp => ("BDP", 1.0),
        }
    }

    fn read(self, text: &str) -> Option<f64> {
        let number = match self {
            Self::Plain => quantity::number(text).ok()?,
            Self::BitRate => quantity::bit_rate(text).ok()?.0,
            Self::Time => quantity::span(text).ok()?.as_secs_f64(),
            Self::Bytes => quantity::memory(text).ok()? as f64,
            Self::Packets | Self::Bdp => {
                let unit = if self == Self::Packets { "p" } else { "bdp" };
                let (number, own) = quantity::split(text);
                quantity::number(number).ok().filter(|_| own == unit)?
            }
        };
        number.is_finite().then_some(number)
    }
}

impl Quantity {
    /// The kind of `values`; none where one of them is a word, they are of several kinds, or there are none.
    pub(super) fn of<'a>(values: impl Iterator<Item = &'a Value>) -> Option<Self> {
        let texts: Vec<&str> = values.map(|value| value.text.as_str()).collect();
        let around = around(texts.first()?);
        let bare = (String::new(), String::new());
        let kinds = [bare, around]
            .into_iter()
            .flat_map(|around| Unit::ALL.into_iter().map(move |unit| Self { unit, around: around.clone() }));
        kinds.into_iter().find(|kind| texts.iter().all(|text| kind.read(text).is_some()))
    }

    /// Its kind.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.unit
    }

    /// The number that a value is, in the base unit; none for one of another kind.
    #[must_use]
    pub fn number(&self, value: &Value) -> Option<f64> {
        self.read(&value.text)
    }

    /// The text before the number in every value, such as `droptail`; empty for a bare quantity.
    #[must_use]
    pub fn of_what(&self) -> &str {
        self.around.0.trim_end_matches(':')
    }

    fn read(&self, text: &str) -> Option<f64> {
        self.unit.read(text.strip_prefix(&self.around.0)?.strip_suffix(&self.around.1)?)
    }
}

/// The text before and after the size of `droptail:1bdp` or of `red:20p,max_p=0.1`.
fn around(text: &str) -> (String, String) {
    let (head, rest) = text.split_once(':').map_or(("", text), |(head, rest)| (head, rest));
    let tail = rest.find(',').map_or("", |at| &rest[at..]);
    let head = if head.is_empty() { String::new() } else { format!("{head}:") };
    (head, tail.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(texts: &[&str]) -> Option<(Unit, Vec<f64>)> {
        let value = |text: &&str| Value { literal: text.to_string(), text: text.to_string(), number: None };
        let values: Vec<Value> = texts.iter().map(value).collect();
        let quantity = Quantity::of(values.iter())?;
        Some((quantity.unit(), values.iter().filter_map(|value| quantity.number(value)).collect()))
    }

    #[test]
    fn values_of_one_kind_are_numbers() {
        assert_eq!(read(&["10mbit", "1 Gbit/s"]), Some((Unit::BitRate, vec![1e7, 1e9])));
        assert_eq!(read(&["0s", "40ms", "2min"]), Some((Unit::Time, vec![0.0, 0.04, 120.0])));
        assert_eq!(read(&["1/1000", "0.01"]), Some((Unit::Plain, vec![0.001, 0.01])));
        assert_eq!(read(&["1500B", "9kB"]), Some((Unit::Bytes, vec![1500.0, 9000.0])));
        assert_eq!(read(&["100p", "1000p"]), Some((Unit::Packets, vec![100.0, 1000.0])));
        assert_eq!(read(&["droptail:0.5bdp", "droptail:4bdp"]), Some((Unit::Bdp, vec![0.5, 4.0])));
        assert_eq!(read(&["red:20p,max_p=0.1", "red:40p,max_p=0.1"]), Some((Unit::Packets, vec![20.0, 40.0])));
    }

    #[test]
    fn words_and_mixtures_are_none() {
        for texts in [
            &["reno", "cubic"][..],
            &["10mbit", "10ms"],
            &["droptail:1bdp", "codel:1bdp"],
            &["droptail:1bdp", "droptail:100p"],
            &["red:20p,max_p=0.1", "red:20p,max_p=0.2"],
            &["aimd:b=1/8", "aimd:b=1/4"],
            &["nan"],
            &["1e999"],
            &[],
        ] {
            assert_eq!(read(texts), None, "{texts:?}");
        }
    }

    #[test]
    fn times_are_read_in_the_unit_of_the_shortest() {
        let shown = |numbers: &[f64]| Unit::Time.shown(numbers.iter().copied());
        assert_eq!([shown(&[0.0, 0.04, 2.0]), shown(&[20.0, 60.0])], [("ms", 1e3), ("s", 1.0)]);
    }
}
