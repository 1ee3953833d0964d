//! A small endpoint: two requests, one notification, two kinds of result.

use serde::de::Deserializer;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sterna_protocol::jsonrpc::{Dispatch, Message};

/// A message as the small endpoint sees it.
pub(crate) type Typed<'a> = Message<'a, Call, Note, Outcome>;

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Call {
    Echo(Echo),
    List(Option<List>),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Echo {
    pub(crate) text: String,
    #[serde(default)]
    pub(crate) times: u8,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct List {
    pub(crate) cursor: Option<String>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum CallTag {
    Echo,
    List,
}

impl<'de> Dispatch<'de> for Call {
    type Tag = CallTag;

    fn find(name: &str) -> Option<CallTag> {
        match name {
            "echo" => Some(CallTag::Echo),
            "list" => Some(CallTag::List),
            _ => None,
        }
    }

    fn decode<D: Deserializer<'de>>(tag: CallTag, params: D) -> Result<Self, D::Error> {
        match tag {
            CallTag::Echo => Echo::deserialize(params).map(Self::Echo),
            CallTag::List => Option::deserialize(params).map(Self::List),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Note {
    #[serde(default)]
    pub(crate) level: i32,
}

impl<'de> Dispatch<'de> for Note {
    type Tag = ();

    fn find(name: &str) -> Option<()> {
        (name == "note").then_some(())
    }

    fn decode<D: Deserializer<'de>>((): (), params: D) -> Result<Self, D::Error> {
        Self::deserialize(params)
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Outcome {
    Complete(Complete),
    Open(Open),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Complete {
    pub(crate) content: Vec<Value>,
    #[serde(flatten)]
    pub(crate) extra: Map<String, Value>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Open {
    pub(crate) state: String,
    #[serde(flatten)]
    pub(crate) extra: Map<String, Value>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum OutcomeTag {
    Complete,
    Open,
}

impl<'de> Dispatch<'de> for Outcome {
    type Tag = OutcomeTag;

    fn find(name: &str) -> Option<OutcomeTag> {
        match name {
            "complete" => Some(OutcomeTag::Complete),
            "open" => Some(OutcomeTag::Open),
            _ => None,
        }
    }

    fn decode<D: Deserializer<'de>>(tag: OutcomeTag, result: D) -> Result<Self, D::Error> {
        match tag {
            OutcomeTag::Complete => Complete::deserialize(result).map(Self::Complete),
            OutcomeTag::Open => Open::deserialize(result).map(Self::Open),
        }
    }
}
