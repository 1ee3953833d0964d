use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, Visitor};
use serde::ser::{Serialize, Serializer};

use super::PrimitiveSchema;

wire! {
    /// Schema of a form: a flat object of primitive fields.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_protocol::elicitation::{BooleanSchema, FormSchema, StringSchema};
    ///
    /// let form = FormSchema::new()
    ///     .with_required("reason", StringSchema::default())
    ///     .with_optional("notify", BooleanSchema::default());
    /// assert_eq!(
    ///     serde_json::to_string(&form)?,
    ///     r#"{"type":"object","properties":{"reason":{"type":"string"},"notify":{"type":"boolean"}},"required":["reason"]}"#,
    /// );
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[derive(Default)]
    pub struct FormSchema {
        tag "type" = "object";
        required {
            /// Fields, in the order in which the form shows them.
            properties: Properties = "properties",
        }
        optional {
            /// Names of the required fields.
            required: Option<Vec<String>> = "required",
            /// Schema dialect (`$schema`), if given.
            schema: Option<String> = "$schema",
        }
    }
}

impl FormSchema {
    /// Creates a form without fields.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a required field.
    #[must_use]
    pub fn with_required(
        self,
        name: impl Into<String>,
        schema: impl Into<PrimitiveSchema>,
    ) -> Self {
        let name = name.into();
        let mut form = self.with_optional(name.clone(), schema);
        form.required.get_or_insert_default().push(name);
        form
    }

    /// Adds an optional field.
    #[must_use]
    pub fn with_optional(
        mut self,
        name: impl Into<String>,
        schema: impl Into<PrimitiveSchema>,
    ) -> Self {
        self.properties.insert(name, schema);
        self
    }

    /// Returns true if the field `name` is required.
    pub fn requires(&self, name: &str) -> bool {
        let required = self.required.iter().flatten();
        required.into_iter().any(|required| required == name)
    }
}

/// Fields of a form by name, in the server's order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Properties(Vec<(String, PrimitiveSchema)>);

impl Properties {
    /// The schema of the field `name`.
    pub fn get(&self, name: &str) -> Option<&PrimitiveSchema> {
        self.iter()
            .find_map(|(found, schema)| (found == name).then_some(schema))
    }

    /// Sets the field `name`. Replaces it in place, or appends it.
    pub fn insert(&mut self, name: impl Into<String>, schema: impl Into<PrimitiveSchema>) {
        let (name, schema) = (name.into(), schema.into());
        match self.0.iter_mut().find(|(found, _)| *found == name) {
            Some((_, place)) => *place = schema,
            None => self.0.push((name, schema)),
        }
    }

    /// The fields in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &PrimitiveSchema)> {
        self.0.iter().map(|(name, schema)| (name.as_str(), schema))
    }
}

impl Serialize for Properties {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Properties {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(PropertiesVisitor)
    }
}

struct PropertiesVisitor;

impl<'de> Visitor<'de> for PropertiesVisitor {
    type Value = Properties;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of form fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Properties, A::Error> {
        let mut fields = Vec::new();
        while let Some((name, schema)) = map.next_entry::<String, PrimitiveSchema>()? {
            fields.push((name, schema));
        }
        match twice(&fields) {
            Some(name) => Err(de::Error::custom(format_args!("duplicate field `{name}`"))),
            None => Ok(Properties(fields)),
        }
    }
}

/// Returns a name that occurs twice. Sorts the names, since comparing each with
/// each would let a hostile form cost quadratic time.
fn twice(fields: &[(String, PrimitiveSchema)]) -> Option<&str> {
    let mut names: Vec<_> = fields.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    names
        .windows(2)
        .find_map(|pair| (pair[0] == pair[1]).then_some(pair[0]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_the_order_of_the_server() {
        let json =
            r#"{"type":"object","properties":{"z":{"type":"string"},"a":{"type":"boolean"}}}"#;
        let form: FormSchema = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&form).unwrap(), json);
    }

    #[test]
    fn a_field_that_stands_twice_is_refused() {
        let json = r#"{"a":{"type":"string"},"b":{"type":"string"},"a":{"type":"boolean"}}"#;
        let error = serde_json::from_str::<Properties>(json).unwrap_err();
        assert!(
            error.to_string().starts_with("duplicate field `a`"),
            "{error}"
        );
    }
}
