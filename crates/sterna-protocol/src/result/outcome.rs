use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{Serialize, Serializer};
use thiserror::Error;

use super::complete::{read_complete, write_complete};
use crate::input::{InputRequired, InputRequiredError};
use crate::jsonrpc::{Dispatch, Nothing};

/// Outcome of a request that may take several rounds.
///
/// `X` is the family of results of negotiated extensions, such as
/// [`CreateTaskResult`](crate::tasks::CreateTaskResult). Without it, their
/// `resultType` is unknown.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "other results are those of extensions"
)]
pub enum Outcome<T, X = Nothing> {
    /// The request is complete.
    Complete(T),
    /// The client must answer questions and retry.
    InputRequired(InputRequired),
    /// An extension defines the result.
    Extension(X),
}

impl<T: DeserializeOwned, X> Outcome<T, X>
where
    X: for<'de> Dispatch<'de>,
{
    /// Decodes a whole result, with a separate error for each cause.
    ///
    /// [`Message::decode`](crate::jsonrpc::Message::decode) decodes a result
    /// together with its envelope, in one pass, but reports all of these causes
    /// as malformed.
    ///
    /// # Errors
    ///
    /// Every [`OutcomeError`] means that the server is faulty or hostile; a
    /// retry does not help.
    pub fn decode(json: &str) -> Result<Self, OutcomeError> {
        let head: ResultTypeMember = serde_json::from_str(json)?;
        let name = head.result_type.as_str();
        let body = &mut serde_json::Deserializer::from_str(json);
        match <Self as Dispatch<'_>>::find(name) {
            // BASE-C2: an unknown type is an error.
            None => Err(OutcomeError::UnknownResultType(name.to_owned())),
            Some(OutcomeKind::Complete) => Ok(Self::Complete(read_complete(body)?)),
            Some(OutcomeKind::InputRequired) => {
                Ok(Self::InputRequired(InputRequired::decode(json)?))
            }
            Some(OutcomeKind::Extension(tag)) => Ok(Self::Extension(X::decode(tag, body)?)),
        }
    }
}

/// The member that selects the type.
#[derive(serde::Deserialize)]
struct ResultTypeMember {
    #[serde(rename = "resultType", default = "complete")]
    result_type: String,
}

fn complete() -> String {
    // BASE-C3: servers of earlier revisions omit it.
    "complete".to_owned()
}

impl<'de, T: Deserialize<'de>, X: Dispatch<'de>> Dispatch<'de> for Outcome<T, X> {
    type Tag = OutcomeKind<X::Tag>;

    fn find(name: &str) -> Option<Self::Tag> {
        match name {
            "complete" => Some(OutcomeKind::Complete),
            "input_required" => Some(OutcomeKind::InputRequired),
            other => X::find(other).map(OutcomeKind::Extension),
        }
    }

    fn decode<D: Deserializer<'de>>(tag: Self::Tag, body: D) -> Result<Self, D::Error> {
        match tag {
            OutcomeKind::Complete => read_complete(body).map(Self::Complete),
            OutcomeKind::InputRequired => InputRequired::deserialize(body).map(Self::InputRequired),
            OutcomeKind::Extension(tag) => X::decode(tag, body).map(Self::Extension),
        }
    }
}

impl<T: Serialize, X: Serialize> Serialize for Outcome<T, X> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Complete(result) => write_complete(result, serializer),
            Self::InputRequired(result) => result.serialize(serializer),
            Self::Extension(result) => result.serialize(serializer),
        }
    }
}

/// Kind of [`Outcome`], from the `resultType`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the kinds of `Outcome`")]
pub enum OutcomeKind<X> {
    /// `complete`, or no `resultType`.
    Complete,
    /// `input_required`.
    InputRequired,
    /// A `resultType` of an extension.
    Extension(X),
}

/// JSON that is not a result of the request.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OutcomeError {
    /// The result asks for input, but is malformed.
    #[error("the request for input cannot be answered")]
    InputRequired(#[from] InputRequiredError),
    /// The result is not of the type of the request.
    #[error("malformed result")]
    Malformed(#[from] serde_json::Error),
    /// Neither the core protocol nor a negotiated extension defines the
    /// `resultType`.
    #[error("unknown result type `{0}`")]
    UnknownResultType(String),
}
