use std::collections::BTreeMap;
use std::fmt;

use serde::de::{self, Deserialize, DeserializeOwned, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use crate::json::{JsonObject, NotFinite, Number, OtherName};

wire! {
    /// Result of `elicitation/create`: the user's action and input.
    pub struct ElicitResult {
        required {
            /// Action of the user.
            action: ElicitAction = "action",
        }
        optional {
            /// Input of the user. `Some` only for a form that was accepted.
            content: Option<ElicitContent> = "content",
            /// Metadata (`_meta`) under keys of the sender's choice.
            meta: Option<JsonObject> = "_meta",
        }
    }

    /// Creates a result without content.
    new(action: ElicitAction);
}

impl ElicitResult {
    /// Accepts a form. `content` is pairs of field and value, or an
    /// [`ElicitContent`].
    ///
    /// # Examples
    ///
    /// ```
    /// use serde::Serialize;
    /// use sterna_protocol::elicitation::{ElicitContent, ElicitResult};
    ///
    /// #[derive(Serialize)]
    /// struct Approval {
    ///     reason: String,
    ///     hosts: u8,
    /// }
    ///
    /// let approval = Approval { reason: "tested".to_owned(), hosts: 2 };
    /// let answer = ElicitResult::accept(ElicitContent::of(&approval)?);
    /// assert_eq!(
    ///     serde_json::to_string(&answer)?,
    ///     r#"{"action":"accept","content":{"hosts":2,"reason":"tested"}}"#,
    /// );
    /// assert_eq!(
    ///     ElicitResult::accept([("hosts", 2)]).content,
    ///     Some(ElicitContent::from_iter([("hosts", 2)])),
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn accept(content: impl Into<ElicitContent>) -> Self {
        Self {
            content: Some(content.into()),
            ..Self::new(ElicitAction::Accept)
        }
    }

    /// Declines the request.
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline)
    }

    /// Dismisses the request without an answer.
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel)
    }
}

/// Action of a user on an elicitation request.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ElicitAction {
    /// The user accepted.
    Accept,
    /// The user dismissed the request without a choice.
    Cancel,
    /// The user declined.
    Decline,
    /// Value that this revision does not define.
    Other(OtherName),
}

names!(ElicitAction {
    Accept = "accept",
    Cancel = "cancel",
    Decline = "decline",
});

/// Input of a user: one value per field.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ElicitContent(BTreeMap<String, ElicitValue>);

impl ElicitContent {
    /// Converts `value` to content, one field per member.
    ///
    /// # Errors
    ///
    /// `value` is not an object of strings, numbers, booleans and lists of
    /// strings.
    pub fn of(value: &impl Serialize) -> serde_json::Result<Self> {
        serde_json::from_slice(&serde_json::to_vec(value)?)
    }

    /// The value of the field `name`.
    pub fn get(&self, name: &str) -> Option<&ElicitValue> {
        self.0.get(name)
    }

    /// Sets the field `name`.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<ElicitValue>) {
        self.0.insert(name.into(), value.into());
    }

    /// The fields in the order of their names.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &ElicitValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Decodes all fields as a `T`.
    ///
    /// # Errors
    ///
    /// The fields are not those of a `T`.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_protocol::elicitation::ElicitContent;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Approval {
    ///     reason: String,
    /// }
    ///
    /// let content: ElicitContent = serde_json::from_str(r#"{"reason":"tested"}"#)?;
    /// assert_eq!(content.decode::<Approval>()?.reason, "tested");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn decode<T: DeserializeOwned>(&self) -> serde_json::Result<T> {
        // Decoding from text is faster, but its errors name lines and columns,
        // which mean nothing to the user who filled in the form.
        match serde_json::from_slice(&serde_json::to_vec(self)?) {
            Ok(form) => Ok(form),
            Err(_) => serde_json::from_value(serde_json::to_value(self)?),
        }
    }
}

impl<K: Into<String>, V: Into<ElicitValue>> FromIterator<(K, V)> for ElicitContent {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(fields: I) -> Self {
        let fields = fields.into_iter();
        Self(
            fields
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
        )
    }
}

impl<K: Into<String>, V: Into<ElicitValue>, const N: usize> From<[(K, V); N]> for ElicitContent {
    fn from(fields: [(K, V); N]) -> Self {
        fields.into_iter().collect()
    }
}

impl Serialize for ElicitContent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ElicitContent {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        BTreeMap::deserialize(deserializer).map(Self)
    }
}

/// Value of a field.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitValue {
    /// Boolean.
    Boolean(bool),
    /// Number.
    Number(Number),
    /// Text, or the one choice that was selected.
    String(String),
    /// Choices that were selected.
    Strings(Vec<String>),
}

impl From<bool> for ElicitValue {
    fn from(value: bool) -> Self {
        Self::Boolean(value)
    }
}

/// Implements `From` for number types that always have a JSON form.
macro_rules! numbers {
    ($($type:ty),+) => {$(
        impl From<$type> for ElicitValue {
            fn from(value: $type) -> Self {
                Self::Number(value.into())
            }
        }
    )+};
}

numbers!(i8, i16, i32, i64, u8, u16, u32, u64);

impl TryFrom<f64> for ElicitValue {
    type Error = NotFinite;

    fn try_from(value: f64) -> Result<Self, NotFinite> {
        Number::try_from(value).map(Self::Number)
    }
}

impl From<Number> for ElicitValue {
    fn from(value: Number) -> Self {
        Self::Number(value)
    }
}

impl From<String> for ElicitValue {
    fn from(value: String) -> Self {
        Self::String(value)
    }
}

impl From<&str> for ElicitValue {
    fn from(value: &str) -> Self {
        Self::String(value.to_owned())
    }
}

impl From<Vec<String>> for ElicitValue {
    fn from(values: Vec<String>) -> Self {
        Self::Strings(values)
    }
}

impl Serialize for ElicitValue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Boolean(value) => value.serialize(serializer),
            Self::Number(value) => value.serialize(serializer),
            Self::String(value) => value.serialize(serializer),
            Self::Strings(values) => values.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for ElicitValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = ElicitValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string, a number, a boolean or a list of strings")
    }

    fn visit_bool<E>(self, value: bool) -> Result<ElicitValue, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<ElicitValue, E> {
        Ok(ElicitValue::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<ElicitValue, E> {
        Ok(ElicitValue::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<ElicitValue, E> {
        Number::try_from(value)
            .map(ElicitValue::Number)
            .map_err(E::custom)
    }

    fn visit_str<E>(self, value: &str) -> Result<ElicitValue, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<ElicitValue, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<ElicitValue, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = list.next_element()? {
            values.push(value);
        }
        Ok(ElicitValue::Strings(values))
    }
}
