//! The keys that vary over the points of a sweep, as axes of plots and columns of tables.

use std::collections::BTreeMap;

use super::{Sweep, Value};

/// A key with the values that it has at the points of a sweep.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Indexes [`Sweep::keys`].
    pub key: usize,
    /// Its name: the last name in the key, or the whole key where several keys end in that.
    pub name: String,
    /// The unit in which its numbers are shown; empty for plain numbers and words.
    pub unit: &'static str,
    /// Its values: ascending where they are numbers, otherwise as the sweep has them.
    pub values: Vec<AxisValue>,
    places: BTreeMap<Option<String>, usize>,
}

/// A value on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisValue {
    /// The label: the number in the unit of the axis, or the text.
    pub label: String,
    /// The number in the unit of the axis; none for a word.
    pub number: Option<f64>,
}

impl Axis {
    /// An axis for every key. Numbers where all points set a key to quantities of one kind.
    pub(super) fn all(sweep: &Sweep) -> Vec<Self> {
        let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_string();
        let keys = sweep.keys();
        let all = keys.iter().enumerate().map(|(index, key)| {
            let alone = keys.iter().filter(|other| last(other) == last(key)).count() == 1;
            Self::of(sweep, index, if alone { last(key) } else { key.clone() })
        });
        all.collect()
    }

    fn of(sweep: &Sweep, key: usize, name: String) -> Self {
        let mut texts: Vec<Option<&Value>> = Vec::new();
        let mut places = BTreeMap::new();
        for point in sweep.points() {
            let value = point.values[key].as_ref();
            let next = texts.len();
            let at = *places.entry(value.map(|value| value.text.clone())).or_insert(next);
            if at == next {
                texts.push(value);
            }
        }
        let quantity = sweep.quantity(key).filter(|_| texts.iter().all(Option::is_some));
        let numbers = quantity.and_then(|quantity| {
            let numbers: Vec<f64> = texts.iter().flatten().filter_map(|value| quantity.number(value)).collect();
            (numbers.len() == texts.len()).then_some((quantity, numbers))
        });
        let Some((quantity, numbers)) = numbers else {
            let word = |value: &Option<&Value>| value.map_or(OF_BASE.to_string(), |value| value.text.clone());
            let values = texts.iter().map(|value| AxisValue { label: word(value), number: None }).collect();
            return Self { key, name, unit: "", values, places };
        };
        let (unit, scale) = quantity.unit().shown(numbers.iter().copied());
        // Equal numbers are one value, however they were written.
        let mut sorted = numbers.clone();
        sorted.sort_by(f64::total_cmp);
        sorted.dedup();
        for at in places.values_mut() {
            *at = sorted.partition_point(|number| *number < numbers[*at]);
        }
        let values = sorted.iter().map(|number| {
            let number = rounded(number * scale);
            AxisValue { label: number.to_string(), number: Some(number) }
        });
        let name = if quantity.of_what().is_empty() { name } else { format!("{name} {}", quantity.of_what()) };
        Self { key, name, unit, values: values.collect(), places }
    }

    /// Where a point of the sweep is on it: indexes [`Self::values`].
    #[must_use]
    pub fn place(&self, sweep: &Sweep, point: usize) -> usize {
        let text = sweep.points()[point].values[self.key].as_ref().map(|value| value.text.clone());
        self.places.get(&text).copied().unwrap_or(0)
    }

    /// Whether it has numbers.
    #[must_use]
    pub fn is_numeric(&self) -> bool {
        self.values.iter().all(|value| value.number.is_some())
    }

    /// Its name with its unit.
    #[must_use]
    pub fn title(&self) -> String {
        if self.unit.is_empty() { self.name.clone() } else { format!("{} ({})", self.name, self.unit) }
    }
}

/// Without what multiplication has added: 0.0003 s are 0.3 ms and not 0.29999999999999999.
fn rounded(number: f64) -> f64 {
    format!("{number:.11e}").parse().unwrap_or(number)
}

/// The value of a key at points that do not set it.
const OF_BASE: &str = "as in the base";
