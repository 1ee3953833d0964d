use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::json::{JsonObject, Number, RawJson, RawObject};
use crate::jsonrpc::RequestId;

/// Generator of values, from the bytes of a property test.
///
/// Without bytes it generates the simplest value, so that a failing test
/// shrinks to a simple message.
pub(crate) struct Source<'a>(&'a [u8]);

/// Type that the property tests can generate.
pub(crate) trait Sample: Sized {
    fn sample(source: &mut Source<'_>) -> Self;
}

impl<'a> Source<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    pub(crate) fn draw<T: Sample>(&mut self) -> T {
        T::sample(self)
    }

    pub(crate) fn byte(&mut self) -> u8 {
        match self.0.split_first() {
            Some((first, rest)) => {
                self.0 = rest;
                *first
            }
            None => 0,
        }
    }

    pub(crate) fn pick<'t, T>(&mut self, choices: &'t [T]) -> &'t T {
        &choices[usize::from(self.byte()) % choices.len()]
    }

    /// Returns one of the `known` names, or an unknown one.
    pub(crate) fn name(&mut self, known: &[&str]) -> String {
        match usize::from(self.byte()) % (known.len() + 1) {
            place if place < known.len() => known[place].to_owned(),
            _ => format!("other {}", self.draw::<String>()),
        }
    }

    /// Returns a JSON value of limited depth.
    fn value(&mut self, depth: u8) -> Value {
        match self.byte() % if depth == 0 { 5 } else { 7 } {
            0 => Value::Null,
            1 => self.draw::<bool>().into(),
            2 => serde_json::to_value(self.draw::<Number>()).unwrap(),
            3 => self.draw::<i64>().into(),
            4 => self.draw::<String>().into(),
            5 => (0..self.byte() % 3)
                .map(|_| self.value(depth - 1))
                .collect(),
            _ => (0..self.byte() % 3)
                .map(|_| (self.draw::<String>(), self.value(depth - 1)))
                .collect(),
        }
    }
}

impl Sample for bool {
    fn sample(source: &mut Source<'_>) -> Self {
        source.byte() % 2 == 1
    }
}

impl Sample for u64 {
    fn sample(source: &mut Source<'_>) -> Self {
        *source.pick(&[0, 1, 60_000, 9_007_199_254_740_993, Self::MAX])
    }
}

impl Sample for i64 {
    fn sample(source: &mut Source<'_>) -> Self {
        *source.pick(&[0, 1, -1, 60_000, Self::MIN, Self::MAX])
    }
}

impl Sample for Number {
    fn sample(source: &mut Source<'_>) -> Self {
        match source.byte() % 3 {
            0 => source.draw::<i64>().into(),
            1 => source.draw::<u64>().into(),
            _ => {
                let bytes = std::array::from_fn(|_| source.byte());
                let float = f64::from_bits(u64::from_le_bytes(bytes));
                Self::try_from(float).unwrap_or_else(|_| 0.into())
            }
        }
    }
}

impl Sample for String {
    fn sample(source: &mut Source<'_>) -> Self {
        let letters = ["a", "B", "7", "é", "\"", "\\", "\n", "\0", "/", "😀", " "];
        (0..source.byte() % 4)
            .map(|_| *source.pick(&letters))
            .collect()
    }
}

impl<T: Sample> Sample for Option<T> {
    fn sample(source: &mut Source<'_>) -> Self {
        source.draw::<bool>().then(|| source.draw())
    }
}

impl<T: Sample> Sample for Arc<T> {
    fn sample(source: &mut Source<'_>) -> Self {
        Self::new(source.draw())
    }
}

impl<T: Sample> Sample for Vec<T> {
    fn sample(source: &mut Source<'_>) -> Self {
        (0..source.byte() % 3).map(|_| source.draw()).collect()
    }
}

impl<T: Sample> Sample for BTreeMap<String, T> {
    fn sample(source: &mut Source<'_>) -> Self {
        (0..source.byte() % 3)
            .map(|_| (source.draw(), source.draw()))
            .collect()
    }
}

impl Sample for RequestId {
    fn sample(source: &mut Source<'_>) -> Self {
        match source.draw() {
            true => Self::String(source.draw()),
            false => Self::Integer(source.draw()),
        }
    }
}

impl Sample for RawJson {
    fn sample(source: &mut Source<'_>) -> Self {
        source.value(2).into()
    }
}

impl Sample for RawObject {
    fn sample(source: &mut Source<'_>) -> Self {
        Self::try_from(RawJson::from(json!({ OPEN: source.value(2) }))).unwrap()
    }
}

impl Sample for JsonObject {
    fn sample(source: &mut Source<'_>) -> Self {
        let count = usize::from(source.byte().saturating_sub(200) % 3);
        let names = [OPEN, "x-open-2"].into_iter().take(count);
        names.map(|name| (name, source.draw())).collect()
    }
}

/// Name of members whose values are not interpreted.
pub(super) const OPEN: &str = "x-open";
