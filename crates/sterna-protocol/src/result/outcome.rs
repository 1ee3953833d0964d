use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{Serialize, Serializer};
use thiserror::Error;

use super::complete::{read_complete, write_complete};
use crate::input::{InputRequired, InputRequiredError};
use crate::jsonrpc::{Dispatch, Nothing};

/// How a request ended that may take several rounds.
///
/// `X` are the results of extensions that were negotiated, such as
/// [`CreateTaskResult`](crate::tasks::CreateTaskResult); without any, a
/// `resultType` of theirs is as unknown as it should be.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "what else there is to come arrives as an extension"
)]
#[expect(
    clippy::large_enum_variant,
    reason = "what stands in for T is about as large"
)]
pub enum Outcome<T, X = Nothing> {
    /// It is done.
    Complete(T),
    /// The client must answer first and ask again.
    InputRequired(InputRequired),
    /// An extension decides how it goes on.
    Extension(X),
}

impl<T: DeserializeOwned, X> Outcome<T, X>
where
    X: for<'de> Dispatch<'de>,
{
    /// Reads a whole result, telling apart what can be wrong with it.
    ///
    /// [`Message::decode`](crate::jsonrpc::Message::decode) reads one too,
    /// together with its envelope and in one pass, but can only say that it is
    /// malformed.
    ///
    /// # Errors
    ///
    /// Every [`OutcomeError`] means that the server is broken or hostile; a
    /// retry will not help.
    pub fn decode(json: &str) -> Result<Self, OutcomeError> {
        let head: ResultTypeMember = serde_json::from_str(json)?;
        let name = head.result_type.as_str();
        let body = &mut serde_json::Deserializer::from_str(json);
        match <Self as Dispatch<'_>>::find(name) {
            // BASE-C2: what nobody knows is no result.
            None => Err(OutcomeError::UnknownResultType(name.to_owned())),
            Some(OutcomeKind::Complete) => Ok(Self::Complete(read_complete(body)?)),
            Some(OutcomeKind::InputRequired) => {
                Ok(Self::InputRequired(InputRequired::decode(json)?))
            }
            Some(OutcomeKind::Extension(tag)) => Ok(Self::Extension(X::decode(tag, body)?)),
        }
    }
}

/// The one member that decides.
#[derive(serde::Deserialize)]
struct ResultTypeMember {
    #[serde(rename = "resultType", default = "complete")]
    result_type: String,
}

fn complete() -> String {
    // BASE-C3: an earlier server does not say it.
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

/// Which kind of [`Outcome`] a `resultType` stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the kinds of `Outcome`")]
pub enum OutcomeKind<X> {
    /// `complete`, or none.
    Complete,
    /// `input_required`.
    InputRequired,
    /// One of an extension.
    Extension(X),
}

/// Why a result is none.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum OutcomeError {
    /// It asks for input, but not in a way that can be answered.
    #[error("a request for input that cannot be answered")]
    InputRequired(#[from] InputRequiredError),
    /// It is not what the request promises.
    #[error("malformed")]
    Malformed(#[from] serde_json::Error),
    /// It is of a kind that neither the core protocol nor a negotiated
    /// extension defines.
    #[error("unknown result type `{0}`")]
    UnknownResultType(String),
}
