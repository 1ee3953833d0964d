//! One round of a call, in either era.

use http::HeaderMap;
use sterna_protocol::input::{
    InputRequest, InputRequests, InputRequired, InputResponses, RequestState,
};
use sterna_protocol::jsonrpc::Request;
use sterna_protocol::legacy;
use sterna_protocol::result::Outcome;
use sterna_protocol::tasks::CreateTaskResult;

use super::{Core, Meta, Spoken};
use crate::call::{Hearing, Listeners, Reply, Subject};
use crate::error::Error;
use crate::wire::Patience;

impl Core {
    /// Sends one round of a call.
    pub(crate) async fn call<T: Reply>(
        &self,
        subject: &Subject,
        meta: Meta,
        (responses, state): (Option<InputResponses>, Option<RequestState>),
        listeners: &Listeners,
        patience: Patience,
    ) -> Result<Outcome<T, CreateTaskResult>, Error> {
        let session = match &self.spoken {
            Spoken::Legacy(session) => session,
            Spoken::Modern => {
                let id = self.wire.next_id();
                let mut meta = self.meta(meta);
                // PROG-C1: no other request has this id.
                meta.progress_token = listeners.progress.as_ref().map(|_| id.into());
                let request = subject.modern(meta, responses, state);
                let mut headers = HeaderMap::new();
                if let Subject::Tool { name, arguments } = subject {
                    self.tools.mirror(name, arguments.as_ref(), &mut headers)?;
                }
                let hearing = Hearing {
                    listeners,
                    token: id.into(),
                    servant: None,
                };
                let name = Some(subject.name());
                let request = Request::new(id.into(), subject.method(), request);
                return self
                    .modern(request, name, headers, &hearing, patience)
                    .await;
            }
        };
        let request = |id: i64| {
            let mut said = legacy::RequestMeta::default();
            said.extra.clone_from(&meta.extra);
            said.progress_token = listeners.progress.as_ref().map(|_| id.into());
            let silent = said == legacy::RequestMeta::default();
            Ok(subject.legacy((!silent).then_some(said)))
        };
        let about = subject.name();
        let asked = self.in_session(session, about, listeners, patience, request);
        match asked.await {
            Ok(result) => Ok(Outcome::Complete(result)),
            Err(error) => visits(error).map(Outcome::InputRequired),
        }
    }
}

/// A legacy server that wants the user to visit a URL first: a question like
/// any other, after which the call is made again.
fn visits(error: Error) -> Result<InputRequired, Error> {
    let found = error.rpc().map(legacy::UrlElicitationRequired::find);
    let Some(Ok(Some(required))) = found else {
        return Err(error);
    };
    let questions: InputRequests = required
        .elicitations
        .into_iter()
        .map(|visit| (visit.elicitation_id, InputRequest::elicit(visit.url)))
        .collect();
    InputRequired::new(questions, None).map_err(|_| error)
}
