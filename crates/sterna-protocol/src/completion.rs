//! Completion: suggestions while a user types an argument.

use std::collections::BTreeMap;

use serde::de::{self, Deserialize, Deserializer};

use crate::json::{JsonObject, Tagged, read_tagged};
use crate::meta::{RequestMeta, ResultMeta};

/// Parameters of `completion/complete`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompleteRequestParams {
    /// Request metadata (`_meta`): protocol version, client info, capabilities.
    pub meta: RequestMeta,
    /// The prompt or resource template that the argument belongs to.
    pub reference: CompletionReference,
    /// Name of the argument and the text typed so far.
    pub argument: CompletionArgument,
    /// Values of the other arguments, as far as they are known.
    pub context: Option<CompletionContext>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CompleteRequestParams {
    /// Completes one argument, without values of the others.
    pub fn new(
        meta: RequestMeta,
        reference: CompletionReference,
        argument: CompletionArgument,
    ) -> Self {
        Self {
            meta,
            reference,
            argument,
            context: None,
            extra: JsonObject::new(),
        }
    }
}

members!(CompleteRequestParams {
    required: meta = "_meta", reference = "ref", argument = "argument";
    optional: context = "context";
    rest: extra
});

/// Owner of an argument: a prompt or a resource template, distinguished by
/// `type`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CompletionReference {
    /// Reference to a prompt.
    Prompt(PromptReference),
    /// Reference to a resource template.
    ResourceTemplate(ResourceTemplateReference),
}

variants!(CompletionReference {
    Prompt(PromptReference),
    ResourceTemplate(ResourceTemplateReference),
});

impl Tagged for CompletionReference {
    const TAG: &'static str = "type";

    fn decode<'de, D: Deserializer<'de>>(tag: Option<&str>, object: D) -> Result<Self, D::Error> {
        match tag.ok_or_else(|| de::Error::missing_field(Self::TAG))? {
            "ref/prompt" => PromptReference::deserialize(object).map(Self::Prompt),
            "ref/resource" => {
                ResourceTemplateReference::deserialize(object).map(Self::ResourceTemplate)
            }
            other => Err(de::Error::unknown_variant(
                other,
                &["ref/prompt", "ref/resource"],
            )),
        }
    }
}

impl<'de> Deserialize<'de> for CompletionReference {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        read_tagged(deserializer)
    }
}

/// Reference to a prompt, by name (`ref/prompt`).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptReference {
    /// Programmatic name.
    pub name: String,
    /// Display name.
    pub title: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl PromptReference {
    /// Refers to the prompt `name`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: None,
            extra: JsonObject::new(),
        }
    }
}

members!(PromptReference {
    tag: "type" = "ref/prompt";
    required: name = "name";
    optional: title = "title";
    rest: extra
});

/// Reference to a resource or a resource template (`ref/resource`).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceTemplateReference {
    /// URI of the resource, or URI template.
    pub uri: String,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ResourceTemplateReference {
    /// Refers to the resource or template `uri`.
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            extra: JsonObject::new(),
        }
    }
}

members!(ResourceTemplateReference {
    tag: "type" = "ref/resource";
    required: uri = "uri";
    rest: extra
});

/// Argument to complete: its name and the text typed so far.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompletionArgument {
    /// Name of the argument.
    pub name: String,
    /// Text typed so far.
    pub value: String,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CompletionArgument {
    /// Creates an argument `name` with the text `value` typed so far.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            extra: JsonObject::new(),
        }
    }
}

members!(CompletionArgument {
    required: name = "name", value = "value";
    rest: extra
});

/// Arguments that already have a value.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CompletionContext {
    /// Value of each argument, by name.
    pub arguments: Option<BTreeMap<String, String>>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(CompletionContext {
    optional: arguments = "arguments";
    rest: extra
});

/// Result of `completion/complete`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompleteResult {
    /// Suggested values, best first.
    pub completion: Completion,
    /// Result metadata (`_meta`).
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CompleteResult {
    /// Creates a result with the suggestions `completion`.
    pub fn new(completion: Completion) -> Self {
        Self {
            completion,
            meta: None,
            extra: JsonObject::new(),
        }
    }
}

members!(CompleteResult {
    required: completion = "completion";
    optional: meta = "_meta";
    rest: extra
});

/// Suggestions, best first, at most [`MAX_VALUES`](Self::MAX_VALUES).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Completion {
    /// Suggested values, best first.
    pub values: Vec<String>,
    /// Number of suggestions in total, if known.
    pub total: Option<u64>,
    /// True if there are more suggestions than `values` holds.
    pub has_more: Option<bool>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Completion {
    /// Largest number of suggestions in one result.
    pub const MAX_VALUES: usize = 100;

    /// Takes the first [`MAX_VALUES`](Self::MAX_VALUES) of `values`. Sets
    /// `total` and `has_more` if there are more.
    pub fn new(mut values: Vec<String>) -> Self {
        let total = values.len();
        values.truncate(Self::MAX_VALUES);
        Self {
            has_more: (total > values.len()).then_some(true),
            total: (total > values.len()).then_some(total as u64),
            values,
            extra: JsonObject::new(),
        }
    }
}

members!(Completion {
    required: values = "values";
    optional: total = "total", has_more = "hasMore";
    rest: extra
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_never_holds_more_than_a_hundred_suggestions() {
        let many = Completion::new(vec![String::new(); 101]);
        assert_eq!(many.values.len(), 100);
        assert_eq!((many.total, many.has_more), (Some(101), Some(true)));
        let few = Completion::new(vec![String::new(); 100]);
        assert_eq!((few.total, few.has_more), (None, None));
    }
}
