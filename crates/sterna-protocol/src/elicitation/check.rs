use std::fmt;

use thiserror::Error;

use super::{
    BooleanSchema, ElicitContent, ElicitValue, EnumOption, FormSchema, NumberSchema, NumberType,
    PrimitiveSchema, StringFormat, StringSchema, format,
};
use crate::json::Number;

impl FormSchema {
    /// Validates `content` against the form and fills in the defaults of
    /// missing fields.
    ///
    /// Fields that the form does not define are kept, as JSON Schema allows
    /// them.
    ///
    /// # Errors
    ///
    /// The first field that breaks a rule, and the rule. Its text can be shown
    /// to the user, who can be asked again.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_protocol::elicitation::{ElicitContent, FormSchema};
    ///
    /// let form: FormSchema = serde_json::from_str(
    ///     r#"{
    ///         "type": "object",
    ///         "properties": {
    ///             "age": {"type": "integer", "minimum": 18},
    ///             "news": {"type": "boolean", "default": false}
    ///         },
    ///         "required": ["age"]
    ///     }"#,
    /// )?;
    ///
    /// let young: ElicitContent = serde_json::from_str(r#"{"age":17}"#)?;
    /// assert_eq!(form.check(young).unwrap_err().to_string(), "`age` must be at least 18");
    ///
    /// let old: ElicitContent = serde_json::from_str(r#"{"age":80}"#)?;
    /// assert_eq!(form.check(old)?.get("news"), Some(&false.into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn check(&self, mut content: ElicitContent) -> Result<ElicitContent, AnswerError> {
        let broken = |field: &str, rule| AnswerError {
            field: field.to_owned(),
            rule,
        };
        for (name, schema) in self.properties.iter() {
            if content.get(name).is_none()
                && let Some(default) = schema.default_value()
            {
                content.insert(name, default);
            }
            if let Some(value) = content.get(name) {
                schema.check(value).map_err(|rule| broken(name, rule))?;
            }
        }
        match self
            .required
            .iter()
            .flatten()
            .find(|name| content.get(name).is_none())
        {
            Some(name) => Err(broken(name, Rule::Required)),
            None => Ok(content),
        }
    }
}

impl PrimitiveSchema {
    /// The default of the field, if it has one.
    pub fn default_value(&self) -> Option<ElicitValue> {
        match self {
            Self::Boolean(schema) => schema.default.map(Into::into),
            Self::LegacyTitledEnum(schema) => schema.default.clone().map(Into::into),
            Self::Number(schema) => schema.default.map(Into::into),
            Self::String(schema) => schema.default.clone().map(Into::into),
            Self::TitledMultiSelect(schema) => schema.default.clone().map(Into::into),
            Self::TitledSingleSelect(schema) => schema.default.clone().map(Into::into),
            Self::UntitledMultiSelect(schema) => schema.default.clone().map(Into::into),
            Self::UntitledSingleSelect(schema) => schema.default.clone().map(Into::into),
        }
    }

    fn check(&self, value: &ElicitValue) -> Result<(), Rule> {
        match self {
            Self::Boolean(schema) => schema.check(value),
            Self::Number(schema) => schema.check(value),
            Self::String(schema) => schema.check(value),
            Self::LegacyTitledEnum(schema) => one_of(value, schema.values.iter()),
            Self::UntitledSingleSelect(schema) => one_of(value, schema.values.iter()),
            Self::TitledSingleSelect(schema) => one_of(value, values(&schema.one_of)),
            Self::UntitledMultiSelect(schema) => some_of(
                value,
                schema.items.values.iter(),
                schema.min_items,
                schema.max_items,
            ),
            Self::TitledMultiSelect(schema) => some_of(
                value,
                values(&schema.items.any_of),
                schema.min_items,
                schema.max_items,
            ),
        }
    }
}

impl StringSchema {
    fn check(&self, value: &ElicitValue) -> Result<(), Rule> {
        let ElicitValue::String(text) = value else {
            return Err(Rule::String);
        };
        let length = text.chars().count() as u64;
        if let Some(min) = self.min_length.filter(|min| length < *min) {
            return Err(Rule::MinLength(min));
        }
        if let Some(max) = self.max_length.filter(|max| length > *max) {
            return Err(Rule::MaxLength(max));
        }
        match &self.format {
            Some(format) if !format::matches(format, text) => Err(Rule::Format(format.clone())),
            _ => Ok(()),
        }
    }
}

impl NumberSchema {
    fn check(&self, value: &ElicitValue) -> Result<(), Rule> {
        let number = match value {
            ElicitValue::Number(number) => *number,
            _ if self.kind == NumberType::Integer => return Err(Rule::Integer),
            _ => return Err(Rule::Number),
        };
        if self.kind == NumberType::Integer && !number.is_integer() {
            return Err(Rule::Integer);
        }
        if let Some(min) = self.minimum.filter(|min| number < *min) {
            return Err(Rule::Minimum(min));
        }
        match self.maximum.filter(|max| number > *max) {
            Some(max) => Err(Rule::Maximum(max)),
            None => Ok(()),
        }
    }
}

impl BooleanSchema {
    fn check(&self, value: &ElicitValue) -> Result<(), Rule> {
        match value {
            ElicitValue::Boolean(_) => Ok(()),
            _ => Err(Rule::Boolean),
        }
    }
}

fn values(options: &[EnumOption]) -> impl ExactSizeIterator<Item = &String> + Clone {
    options.iter().map(|option| &option.value)
}

fn one_of<'a>(
    value: &ElicitValue,
    options: impl ExactSizeIterator<Item = &'a String> + Clone,
) -> Result<(), Rule> {
    match value {
        ElicitValue::String(picked) if options.clone().any(|option| option == picked) => Ok(()),
        _ => Err(Rule::OneOf(Choices::of(options))),
    }
}

fn some_of<'a>(
    value: &ElicitValue,
    options: impl ExactSizeIterator<Item = &'a String> + Clone,
    min: Option<u64>,
    max: Option<u64>,
) -> Result<(), Rule> {
    let ElicitValue::Strings(picked) = value else {
        return Err(Rule::SomeOf(Choices::of(options)));
    };
    let count = picked.len() as u64;
    if let Some(min) = min.filter(|min| count < *min) {
        return Err(Rule::MinItems(min));
    }
    if let Some(max) = max.filter(|max| count > *max) {
        return Err(Rule::MaxItems(max));
    }
    // Both lists come from peers: comparing each with each would cost quadratic time.
    let known: std::collections::BTreeSet<_> = options.clone().collect();
    match picked.iter().all(|picked| known.contains(picked)) {
        true => Ok(()),
        false => Err(Rule::SomeOf(Choices::of(options))),
    }
}

/// Answer that does not fit its form.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("`{field}` {rule}")]
#[non_exhaustive]
pub struct AnswerError {
    /// Name of the field.
    pub field: String,
    /// Rule that it breaks.
    pub rule: Rule,
}

/// Rule for one field of a form.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum Rule {
    /// The value must be a boolean.
    #[error("must be yes or no")]
    Boolean,
    /// The text must have this format.
    #[error("must be of the format {0}")]
    Format(StringFormat),
    /// The value must be a whole number.
    #[error("must be a whole number")]
    Integer,
    /// At most this number of choices.
    #[error("must be at most {0} of the choices")]
    MaxItems(u64),
    /// At most this number of characters.
    #[error("must have at most {0} characters")]
    MaxLength(u64),
    /// Largest value.
    #[error("must be at most {0}")]
    Maximum(Number),
    /// At least this number of choices.
    #[error("must be at least {0} of the choices")]
    MinItems(u64),
    /// At least this number of characters.
    #[error("must have at least {0} characters")]
    MinLength(u64),
    /// Smallest value.
    #[error("must be at least {0}")]
    Minimum(Number),
    /// The value must be a number.
    #[error("must be a number")]
    Number,
    /// The value must be one of the choices.
    #[error("must be one of {0}")]
    OneOf(Choices),
    /// The field must not be empty.
    #[error("must be filled in")]
    Required,
    /// The value must be a list of choices.
    #[error("must be some of {0}")]
    SomeOf(Choices),
    /// The value must be a string.
    #[error("must be text")]
    String,
}

/// Choices of a field, for error texts. Shows at most 12 of them, and at most
/// 40 characters of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choices {
    shown: Vec<String>,
    hidden: usize,
}

impl Choices {
    fn of<'a>(options: impl ExactSizeIterator<Item = &'a String>) -> Self {
        let hidden = options.len().saturating_sub(MOST_SHOWN);
        let cut = |option: &String| match option.char_indices().nth(LONGEST_SHOWN) {
            Some((end, _)) => format!("{}…", &option[..end]),
            None => option.clone(),
        };
        Self {
            shown: options.take(MOST_SHOWN).map(cut).collect(),
            hidden,
        }
    }
}

impl fmt::Display for Choices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, choice) in self.shown.iter().enumerate() {
            let is_last = at + 1 == self.shown.len() && self.hidden == 0;
            let lead = match at {
                0 => "",
                _ if is_last => " and ",
                _ => ", ",
            };
            write!(f, "{lead}`{choice}`")?;
        }
        match self.hidden {
            0 => Ok(()),
            hidden => write!(f, " and {hidden} more"),
        }
    }
}

const MOST_SHOWN: usize = 12;
const LONGEST_SHOWN: usize = 40;
