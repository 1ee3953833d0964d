use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::{
    LegacyTitledEnumSchema, TitledMultiSelectEnumSchema, TitledSingleSelectEnumSchema,
    UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
};
use crate::json::{JsonObject, Number, OtherName, Tagged, read_tagged};

/// One field of a form.
///
/// `type` tells most of them apart; among strings `oneOf`, `enumNames` or
/// `enum` does, among arrays what their `items` hold.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PrimitiveSchema {
    /// Yes or no.
    Boolean(BooleanSchema),
    /// One of several strings, titled as 2025-06-18 did it.
    LegacyTitledEnum(LegacyTitledEnumSchema),
    /// A number or an integer.
    Number(NumberSchema),
    /// Text.
    String(StringSchema),
    /// Some of several titled strings.
    TitledMultiSelect(TitledMultiSelectEnumSchema),
    /// One of several titled strings.
    TitledSingleSelect(TitledSingleSelectEnumSchema),
    /// Some of several strings.
    UntitledMultiSelect(UntitledMultiSelectEnumSchema),
    /// One of several strings.
    UntitledSingleSelect(UntitledSingleSelectEnumSchema),
}

variants!(PrimitiveSchema {
    Boolean(BooleanSchema),
    LegacyTitledEnum(LegacyTitledEnumSchema),
    Number(NumberSchema),
    String(StringSchema),
    TitledMultiSelect(TitledMultiSelectEnumSchema),
    TitledSingleSelect(TitledSingleSelectEnumSchema),
    UntitledMultiSelect(UntitledMultiSelectEnumSchema),
    UntitledSingleSelect(UntitledSingleSelectEnumSchema),
});

impl Tagged for PrimitiveSchema {
    const TAG: &'static str = "type";

    fn decode<'de, D: Deserializer<'de>>(tag: Option<&str>, object: D) -> Result<Self, D::Error> {
        match tag.ok_or_else(|| de::Error::missing_field(Self::TAG))? {
            "boolean" => BooleanSchema::deserialize(object).map(Self::Boolean),
            "number" | "integer" => NumberSchema::deserialize(object).map(Self::Number),
            "string" => Self::string(&JsonObject::deserialize(object)?).map_err(de::Error::custom),
            "array" => Self::array(&JsonObject::deserialize(object)?).map_err(de::Error::custom),
            other => Err(de::Error::unknown_variant(
                other,
                &["array", "boolean", "integer", "number", "string"],
            )),
        }
    }
}

impl PrimitiveSchema {
    fn string(members: &JsonObject) -> serde_json::Result<Self> {
        let has = |name| members.get(name).is_some();
        if has("oneOf") {
            members.decode().map(Self::TitledSingleSelect)
        } else if has("enumNames") {
            members.decode().map(Self::LegacyTitledEnum)
        } else if has("enum") {
            members.decode().map(Self::UntitledSingleSelect)
        } else {
            members.decode().map(Self::String)
        }
    }

    fn array(members: &JsonObject) -> serde_json::Result<Self> {
        let items: JsonObject = match members.get("items") {
            Some(items) => items.decode()?,
            None => return Err(de::Error::missing_field("items")),
        };
        if items.get("anyOf").is_some() {
            members.decode().map(Self::TitledMultiSelect)
        } else {
            members.decode().map(Self::UntitledMultiSelect)
        }
    }
}

impl<'de> Deserialize<'de> for PrimitiveSchema {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_tagged(deserializer)
    }
}

/// A field for text.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct StringSchema {
    /// What to call the field.
    pub title: Option<String>,
    /// What belongs there.
    pub description: Option<String>,
    /// How many characters there must be.
    pub min_length: Option<u64>,
    /// How many characters there may be.
    pub max_length: Option<u64>,
    /// What the text must be.
    pub format: Option<StringFormat>,
    /// What stands there before the user types.
    pub default: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(StringSchema {
    tag: "type" = "string";
    optional: title = "title", description = "description", min_length = "minLength",
        max_length = "maxLength", format = "format", default = "default";
    rest: extra
});

/// What the text in a field must be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StringFormat {
    /// A day, such as `2026-07-28`.
    Date,
    /// A moment, after RFC 3339.
    DateTime,
    /// A mail address.
    Email,
    /// An absolute URI, after RFC 3986.
    Uri,
    /// A format this revision does not define.
    Other(OtherName),
}

names!(StringFormat {
    Date = "date",
    DateTime = "date-time",
    Email = "email",
    Uri = "uri",
});

/// A field for a number.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct NumberSchema {
    /// Whether the number must be whole.
    pub kind: NumberType,
    /// What to call the field.
    pub title: Option<String>,
    /// What belongs there.
    pub description: Option<String>,
    /// The least it may be.
    pub minimum: Option<Number>,
    /// The most it may be.
    pub maximum: Option<Number>,
    /// What stands there before the user types.
    pub default: Option<Number>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl NumberSchema {
    /// Any whole number.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_protocol::elicitation::{FormSchema, NumberSchema};
    ///
    /// let hosts = NumberSchema::integer().with_title("Hosts").at_least(1).at_most(9);
    /// assert_eq!(
    ///     serde_json::to_string(&hosts)?,
    ///     r#"{"type":"integer","title":"Hosts","minimum":1,"maximum":9}"#,
    /// );
    /// let form = FormSchema::new().with_required("hosts", hosts);
    /// # let _ = form;
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn integer() -> Self {
        Self::new(NumberType::Integer)
    }

    /// Any number, whole or not.
    pub fn number() -> Self {
        Self::new(NumberType::Number)
    }

    /// Names the field.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Says what belongs there.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Takes no number below `minimum`. A float goes through
    /// [`Number::try_from`], because JSON has neither infinity nor NaN.
    #[must_use]
    pub fn at_least(mut self, minimum: impl Into<Number>) -> Self {
        self.minimum = Some(minimum.into());
        self
    }

    /// Takes no number above `maximum`.
    #[must_use]
    pub fn at_most(mut self, maximum: impl Into<Number>) -> Self {
        self.maximum = Some(maximum.into());
        self
    }

    /// Fills the field in before the user types.
    #[must_use]
    pub fn with_default(mut self, default: impl Into<Number>) -> Self {
        self.default = Some(default.into());
        self
    }

    /// Any number of this kind.
    pub fn new(kind: NumberType) -> Self {
        Self {
            kind,
            title: None,
            description: None,
            minimum: None,
            maximum: None,
            default: None,
            extra: JsonObject::new(),
        }
    }
}

members!(NumberSchema {
    required: kind = "type";
    optional: title = "title", description = "description", minimum = "minimum",
        maximum = "maximum", default = "default";
    rest: extra
});

/// Whether a number must be whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "JSON Schema has these two types of number"
)]
pub enum NumberType {
    /// Whole.
    Integer,
    /// Whole or not.
    Number,
}

impl Serialize for NumberType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(match self {
            Self::Integer => "integer",
            Self::Number => "number",
        })
    }
}

impl<'de> Deserialize<'de> for NumberType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match String::deserialize(deserializer)?.as_str() {
            "integer" => Ok(Self::Integer),
            "number" => Ok(Self::Number),
            other => Err(de::Error::unknown_variant(other, &["integer", "number"])),
        }
    }
}

/// A field for yes or no.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BooleanSchema {
    /// What to call the field.
    pub title: Option<String>,
    /// What belongs there.
    pub description: Option<String>,
    /// What stands there before the user chooses.
    pub default: Option<bool>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(BooleanSchema {
    tag: "type" = "boolean";
    optional: title = "title", description = "description", default = "default";
    rest: extra
});
