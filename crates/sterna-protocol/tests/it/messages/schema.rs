//! A small JSON Schema validator: the keywords the official schemas use, and
//! the corrections that the text of the specification makes to them.

use serde_json::{Map, Value};

/// Members that the schema requires and the specification tells readers to
/// live without.
pub(super) const TOLERATED: &[(&str, &str)] = &[
    (
        "cacheScope",
        "caching: goes with ttlMs; an official example of resources/read lacks both",
    ),
    (
        "resultType",
        "basic: an absent resultType is that of an earlier server and means complete",
    ),
    (
        "ttlMs",
        "caching: an absent ttlMs is that of an earlier server and means 0",
    ),
];

pub(super) struct Schema<'a> {
    definitions: &'a Map<String, Value>,
}

impl<'a> Schema<'a> {
    pub(super) fn new(definitions: &'a Map<String, Value>) -> Self {
        Self { definitions }
    }

    pub(super) fn definition(&self, name: &str) -> &'a Value {
        &self.definitions[name]
    }

    /// True if the revision has an `initialize` handshake.
    pub(super) fn is_legacy(&self) -> bool {
        self.definitions.contains_key("InitializeRequest")
    }

    /// Follows `$ref` to where it leads, and says what that is called.
    pub(super) fn resolve(&self, rule: &'a Value) -> (&'a Value, Option<&'a str>) {
        match rule["$ref"].as_str() {
            Some(reference) => {
                let name = reference.rsplit('/').next().unwrap();
                (self.definition(name), Some(name))
            }
            None => (rule, None),
        }
    }

    /// Returns true if `value` fits `definition`.
    pub(super) fn describes(&self, definition: &str, value: &Value) -> bool {
        self.judge(self.definition(definition), Some(definition), value)
    }

    fn admits(&self, rule: &'a Value, value: &Value) -> bool {
        let (rule, name) = self.resolve(rule);
        self.judge(rule, name, value)
    }

    fn judge(&self, rule: &'a Value, name: Option<&str>, value: &Value) -> bool {
        match name {
            // Open objects: the generated schema lacks null in them.
            Some("JSONObject") => value.is_object(),
            Some("JSONValue") => true,
            // Answers are decoded on demand.
            Some("InputResponses") => value.is_object(),
            Some("InputRequiredResult") => asks_or_reminds(value) && self.obeys(rule, value),
            // Without its list of titles it is an untitled choice.
            Some("LegacyTitledEnumSchema") => {
                value.get("enumNames").is_some() && self.obeys(rule, value)
            }
            Some("EnumSchema" | "PrimitiveSchemaDefinition") => self.is_field(value),
            Some("MultiSelectEnumSchema" | "SingleSelectEnumSchema") => self.is_field(value),
            _ => self.obeys(rule, value),
        }
    }

    fn obeys(&self, rule: &'a Value, value: &Value) -> bool {
        let keywords = rule.as_object().into_iter().flatten();
        let mut keywords = keywords.map(|(keyword, demand)| (keyword.as_str(), demand));
        keywords.all(|(keyword, demand)| match keyword {
            "$ref" => self.admits(rule, value),
            "additionalProperties" => self.admits_others(rule, demand, value),
            "allOf" => list(demand).iter().all(|part| self.admits(part, value)),
            "anyOf" => self.admits_one(list(demand), value),
            "const" => value == demand,
            // Unknown names survive, unless the name decides what the rest is.
            "enum" if demand[0] == "integer" => list(demand).contains(value),
            "enum" => value.is_string(),
            "items" => items(value).all(|item| self.admits(demand, item)),
            "properties" => self.admits_members(rule, value),
            "required" => has_required(rule, list(demand), value),
            "type" => is_of(demand, value),
            // Numbers are carried, a negative ttlMs is to be read as 0, and
            // text is not looked into.
            "format" | "maxItems" | "maximum" | "minimum" => true,
            "$schema" | "default" | "description" | "propertyNames" => true,
            other => panic!("unknown keyword {other}"),
        })
    }

    fn admits_members(&self, whole: &'a Value, value: &Value) -> bool {
        let rules = &whole["properties"];
        members(value).all(|(name, member)| match (name, rules.get(name)) {
            (_, None) => true,
            // Schemas and structured content of tools are carried, not checked.
            ("inputSchema", Some(_)) => member["type"] == "object",
            ("outputSchema", Some(_)) => member.is_object(),
            ("structuredContent", Some(_)) => true,
            // elicitation: the url must be a valid one.
            ("url", Some(rule)) if rule["format"] == "uri" => {
                member.as_str().is_some_and(|url| url.contains(':'))
            }
            // basic: a resultType that is not known must be considered invalid.
            ("resultType", Some(rule)) if rule.get("const").is_none() => {
                let asks = rules.get("inputRequests").is_some();
                // Extensions build on what leaves other members open.
                let base = whole.get("additionalProperties").is_some();
                match asks {
                    true => member == "input_required",
                    false => member == "complete" || base && member.is_string(),
                }
            }
            (_, Some(rule)) => self.admits(rule, member),
        })
    }

    fn admits_others(&self, rule: &'a Value, demand: &'a Value, value: &Value) -> bool {
        let others = members(value).filter(|(name, _)| rule["properties"].get(name).is_none());
        demand.is_boolean() || { others }.all(|(_, member)| self.admits(demand, member))
    }

    /// The tag selects the type of a union, not the first type that fits.
    fn admits_one(&self, alternatives: &'a [Value], value: &Value) -> bool {
        let find = |name| {
            alternatives
                .iter()
                .find(|a| self.resolve(a).1 == Some(name))
        };
        let except = |name| {
            alternatives
                .iter()
                .find(|a| self.resolve(a).1 != Some(name))
                .unwrap()
        };
        let tags = |path: &'static str| {
            alternatives
                .iter()
                .map(move |a| self.resolve(a).0.pointer(path))
        };
        let knows = |path, tag: &Value| tags(path).any(|known| known == Some(tag));
        if alternatives.iter().all(|a| a["const"].is_string()) {
            // A list of names spelled as a union; unknown ones survive.
            value.is_string()
        } else if let Some(question) =
            find("InputRequiredResult").filter(|_| alternatives.len() == 2)
        {
            match value["resultType"] == "input_required" {
                true => self.admits(question, value),
                false => self.admits(except("InputRequiredResult"), value),
            }
        } else if let Some(url) = find("ElicitRequestURLParams") {
            match value["mode"] == "url" {
                true => self.admits(url, value),
                false => self.admits(except("ElicitRequestURLParams"), value),
            }
        } else if tags("/properties/status/const").any(|tag| tag.is_some())
            && value["status"].is_string()
            && !knows("/properties/status/const", &value["status"])
        {
            // A task of an unknown status survives, and so does unknown content.
            self.describes("Task", value)
        } else if find("TextContent").is_some()
            && value["type"].is_string()
            && !knows("/properties/type/const", &value["type"])
        {
            true
        } else {
            // Contents that are both text and bytes are neither.
            let both = value.get("text").is_some() && value.get("blob").is_some();
            let fits = |alternative| self.admits(alternative, value);
            alternatives.iter().any(fits) && !(both && find("BlobResourceContents").is_some())
        }
    }

    /// The member that is there tells which kind of field it is.
    fn is_field(&self, value: &Value) -> bool {
        let has = |name: &str| value.get(name).is_some();
        let kind = match value["type"].as_str() {
            Some("boolean") => "BooleanSchema",
            Some("integer" | "number") => "NumberSchema",
            Some("string") if has("oneOf") => "TitledSingleSelectEnumSchema",
            Some("string") if has("enumNames") => "LegacyTitledEnumSchema",
            Some("string") if has("enum") => "UntitledSingleSelectEnumSchema",
            Some("string") => "StringSchema",
            Some("array") if value["items"].get("anyOf").is_some() => "TitledMultiSelectEnumSchema",
            Some("array") => "UntitledMultiSelectEnumSchema",
            _ => return false,
        };
        match self.definitions.get(kind) {
            Some(definition) => self.obeys(definition, value),
            // 2025-06-18 has one kind of choice.
            None => self.obeys(&self.definitions["EnumSchema"], value),
        }
    }
}

fn asks_or_reminds(value: &Value) -> bool {
    let asks = members(&value["inputRequests"]).next().is_some();
    let reminds = value.get("requestState").is_some();
    // Without resultType it would be complete.
    value.get("resultType").is_some() && (asks || reminds)
}

fn has_required(rule: &Value, required: &[Value], value: &Value) -> bool {
    let Value::Object(members) = value else {
        return true;
    };
    // A task says "for ever" with a null, so its ttlMs cannot be missing.
    let of_a_task = rule["properties"].get("taskId").is_some();
    // Nor can what makes a result a task.
    let makes_a_task = rule["properties"]["resultType"]["const"] == "task";
    let is_tolerated = |name: &str| {
        TOLERATED.iter().any(|(member, _)| *member == name) && !of_a_task && !makes_a_task
    };
    let mut required = required.iter().map(|name| name.as_str().unwrap());
    required.all(|name| members.contains_key(name) || is_tolerated(name))
}

fn is_of(types: &Value, value: &Value) -> bool {
    match types {
        Value::Array(types) => types.iter().any(|one| is_of(one, value)),
        _ => match types.as_str().unwrap() {
            "array" => value.is_array(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "null" => value.is_null(),
            "number" => value.is_number(),
            "object" => value.is_object(),
            "string" => value.is_string(),
            other => panic!("unknown type {other}"),
        },
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn members(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = value.as_object().into_iter().flatten();
    members.map(|(name, member)| (name.as_str(), member))
}
