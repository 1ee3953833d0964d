//! Multi round-trip requests: what a server asks before it can finish, and
//! what the client answers.
//!
//! A server that needs something ends the request with [`InputRequired`]. The
//! client finds the answers and sends the same request again, as a request of
//! its own, with [`InputResponses`] and the [`RequestState`] it was given.

mod request;
mod requests;
mod required;
mod response;

pub use crate::retry::{InputResponseError, InputResponses, RequestState};
pub use request::{
    CreateMessageRequest, ElicitRequest, InputRequest, InputRequestError, ListRootsRequest,
};
pub use requests::{InputRequests, InputRequestsError};
pub use required::{InputRequired, InputRequiredError};
pub use response::InputResponse;
