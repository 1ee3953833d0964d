use serde::de::{self, Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::{
    LegacyTitledEnumSchema, TitledMultiSelectEnumSchema, TitledSingleSelectEnumSchema,
    UntitledMultiSelectEnumSchema, UntitledSingleSelectEnumSchema,
};
use crate::json::{JsonObject, Number, OtherName, Tagged, read_tagged};

/// Schema of one field of a form.
///
/// `type` distinguishes most variants. Strings are distinguished by `oneOf`,
/// `enumNames` or `enum`, arrays by their `items`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PrimitiveSchema {
    /// Boolean field.
    Boolean(BooleanSchema),
    /// Single choice with titles, as in 2025-06-18.
    LegacyTitledEnum(LegacyTitledEnumSchema),
    /// Number or integer field.
    Number(NumberSchema),
    /// Text field.
    String(StringSchema),
    /// Multiple choice with titles.
    TitledMultiSelect(TitledMultiSelectEnumSchema),
    /// Single choice with titles.
    TitledSingleSelect(TitledSingleSelectEnumSchema),
    /// Multiple choice.
    UntitledMultiSelect(UntitledMultiSelectEnumSchema),
    /// Single choice.
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

wire! {
    /// Schema of a text field.
    #[derive(Default)]
    pub struct StringSchema {
        tag "type" = "string";
        optional {
            /// Display name of the field.
            title: Option<String> = "title",
            /// Description of the value.
            description: Option<String> = "description",
            /// Least number of characters.
            min_length: Option<u64> = "minLength",
            /// Largest number of characters.
            max_length: Option<u64> = "maxLength",
            /// Format of the text.
            format: Option<StringFormat> = "format",
            /// Value before the user types.
            default: Option<String> = "default",
        }
    }
}

/// Format of the text in a field.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StringFormat {
    /// Date, such as `2026-07-28`.
    Date,
    /// Date and time, as in RFC 3339.
    DateTime,
    /// Email address.
    Email,
    /// Absolute URI, as in RFC 3986.
    Uri,
    /// Format that this revision does not define.
    Other(OtherName),
}

names!(StringFormat {
    Date = "date",
    DateTime = "date-time",
    Email = "email",
    Uri = "uri",
});

wire! {
    /// Schema of a number field.
    pub struct NumberSchema {
        required {
            /// Integer or any number (`type`).
            kind: NumberType = "type",
        }
        optional {
            /// Display name of the field.
            title: Option<String> = "title",
            /// Description of the value.
            description: Option<String> = "description",
            /// Smallest value.
            minimum: Option<Number> = "minimum",
            /// Largest value.
            maximum: Option<Number> = "maximum",
            /// Value before the user types.
            default: Option<Number> = "default",
        }
    }

    /// Creates a field for any number of this type.
    new(kind: NumberType);
}

impl NumberSchema {
    /// Creates a field for any integer.
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

    /// Creates a field for any number.
    pub fn number() -> Self {
        Self::new(NumberType::Number)
    }

    /// Sets the display name.
    #[must_use]
    pub fn with_title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets the description.
    #[must_use]
    pub fn with_description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Sets the smallest value. Convert a float with [`Number::try_from`],
    /// since JSON has neither infinity nor NaN.
    #[must_use]
    pub fn at_least(mut self, minimum: impl Into<Number>) -> Self {
        self.minimum = Some(minimum.into());
        self
    }

    /// Sets the largest value.
    #[must_use]
    pub fn at_most(mut self, maximum: impl Into<Number>) -> Self {
        self.maximum = Some(maximum.into());
        self
    }

    /// Sets the value before the user types.
    #[must_use]
    pub fn with_default(mut self, default: impl Into<Number>) -> Self {
        self.default = Some(default.into());
        self
    }
}

/// Type of a number field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "JSON Schema has these two types of number"
)]
pub enum NumberType {
    /// Integer.
    Integer,
    /// Integer or fraction.
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

wire! {
    /// Schema of a boolean field.
    #[derive(Default)]
    pub struct BooleanSchema {
        tag "type" = "boolean";
        optional {
            /// Display name of the field.
            title: Option<String> = "title",
            /// Description of the value.
            description: Option<String> = "description",
            /// Value before the user chooses.
            default: Option<bool> = "default",
        }
    }
}
