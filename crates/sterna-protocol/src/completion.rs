//! Completion: suggestions while a user types an argument.

use std::collections::BTreeMap;

use serde::de::{self, Deserialize, Deserializer};

use crate::json::{JsonObject, Tagged, read_tagged};
use crate::meta::{RequestMeta, ResultMeta};

/// The parameters of `completion/complete`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompleteRequestParams {
    /// What makes the request stand alone.
    pub meta: RequestMeta,
    /// Whose argument is being typed.
    pub reference: CompletionReference,
    /// The argument and what is typed so far.
    pub argument: CompletionArgument,
    /// What is known about the other arguments.
    pub context: Option<CompletionContext>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CompleteRequestParams {
    /// Completes one argument, nothing being known about the others.
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

/// What an argument belongs to, told apart by `type`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CompletionReference {
    /// A prompt.
    Prompt(PromptReference),
    /// A resource template.
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

/// Names a prompt.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PromptReference {
    /// The name for programs.
    pub name: String,
    /// The name for people.
    pub title: Option<String>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl PromptReference {
    /// The prompt `name`.
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

/// Names a resource or a resource template.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ResourceTemplateReference {
    /// Its address, or its pattern.
    pub uri: String,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl ResourceTemplateReference {
    /// The template `uri`.
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

/// An argument and what is typed so far.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompletionArgument {
    /// The argument.
    pub name: String,
    /// What is typed so far.
    pub value: String,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CompletionArgument {
    /// `value` is typed for `name`.
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

/// The arguments that are settled already.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct CompletionContext {
    /// Their values.
    pub arguments: Option<BTreeMap<String, String>>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

members!(CompletionContext {
    optional: arguments = "arguments";
    rest: extra
});

/// The result of `completion/complete`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct CompleteResult {
    /// The suggestions.
    pub completion: Completion,
    /// What the result says about itself.
    pub meta: Option<ResultMeta>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl CompleteResult {
    /// Suggests `completion`.
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

/// Suggestions, best first.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Completion {
    /// The suggestions.
    pub values: Vec<String>,
    /// How many there are in all, if that is known.
    pub total: Option<u64>,
    /// Whether there are more than these.
    pub has_more: Option<bool>,
    /// Members this revision does not define.
    pub extra: JsonObject,
}

impl Completion {
    /// How many suggestions a result may hold.
    pub const MAX_VALUES: usize = 100;

    /// The first [`MAX_VALUES`](Self::MAX_VALUES) of `values`, saying so if
    /// there are more.
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
