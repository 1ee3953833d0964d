//! Completion: suggestions while a user types an argument.

use std::collections::BTreeMap;

use serde::de::{self, Deserialize, Deserializer};

use crate::json::{JsonObject, Tagged, read_tagged};
use crate::meta::{RequestMeta, ResultMeta};

wire! {
    /// Parameters of `completion/complete`.
    pub struct CompleteRequestParams {
        required {
            /// Request metadata (`_meta`): protocol version, client info,
            /// capabilities.
            meta: RequestMeta = "_meta",
            /// The prompt or resource template that the argument belongs to.
            reference: CompletionReference = "ref",
            /// Name of the argument and the text typed so far.
            argument: CompletionArgument = "argument",
        }
        optional {
            /// Values of the other arguments, as far as they are known.
            context: Option<CompletionContext> = "context",
        }
    }

    /// Completes one argument, without values of the others.
    new(meta: RequestMeta, reference: CompletionReference, argument: CompletionArgument);
}

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

wire! {
    /// Reference to a prompt, by name (`ref/prompt`).
    pub struct PromptReference {
        tag "type" = "ref/prompt";
        required {
            /// Programmatic name.
            name: String = "name",
        }
        optional {
            /// Display name.
            title: Option<String> = "title",
        }
    }

    /// Refers to the prompt `name`.
    new(name: impl Into<String>);
}

wire! {
    /// Reference to a resource or a resource template (`ref/resource`).
    pub struct ResourceTemplateReference {
        tag "type" = "ref/resource";
        required {
            /// URI of the resource, or URI template.
            uri: String = "uri",
        }
    }

    /// Refers to the resource or template `uri`.
    new(uri: impl Into<String>);
}

wire! {
    /// Argument to complete: its name and the text typed so far.
    pub struct CompletionArgument {
        required {
            /// Name of the argument.
            name: String = "name",
            /// Text typed so far.
            value: String = "value",
        }
    }

    /// Creates an argument `name` with the text `value` typed so far.
    new(name: impl Into<String>, value: impl Into<String>);
}

wire! {
    /// Arguments that already have a value.
    #[derive(Default)]
    pub struct CompletionContext {
        optional {
            /// Value of each argument, by name.
            arguments: Option<BTreeMap<String, String>> = "arguments",
        }
    }
}

wire! {
    /// Result of `completion/complete`.
    pub struct CompleteResult {
        required {
            /// Suggested values, best first.
            completion: Completion = "completion",
        }
        optional {
            /// Result metadata (`_meta`).
            meta: Option<ResultMeta> = "_meta",
        }
    }

    /// Creates a result with the suggestions `completion`.
    new(completion: Completion);
}

wire! {
    /// Suggestions, best first, at most [`MAX_VALUES`](Self::MAX_VALUES).
    pub struct Completion {
        required {
            /// Suggested values, best first.
            values: Vec<String> = "values",
        }
        optional {
            /// Number of suggestions in total, if known.
            total: Option<u64> = "total",
            /// True if there are more suggestions than `values` holds.
            has_more: Option<bool> = "hasMore",
        }
    }
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
