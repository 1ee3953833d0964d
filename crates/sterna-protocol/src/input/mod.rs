//! Multi round-trip requests: questions of a server and answers of the client.
//!
//! A server that needs input ends the request with [`InputRequired`]. The
//! client collects the answers and sends the same request again, under a new
//! id, with [`InputResponses`] and the [`RequestState`] of the server.

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
