//! Questions in the middle of a call, as the revisions before 2026-07-28 have
//! them.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use sterna_client::{BoxError, Builder, Question};
use sterna_protocol::elicitation::{ElicitRequestParams, ElicitResult};
use sterna_protocol::input::{InputRequest, InputResponse};

use crate::ask::{Answer, Asker};
use crate::session::SharedDesk;

/// Has `desk` answer, and declares what it answers.
pub(crate) async fn answer_by(desk: &SharedDesk, builder: Builder) -> Builder {
    let (samples, has_roots) = {
        let desk = desk.lock().await;
        (desk.samples(), desk.has_roots())
    };
    let mut builder = builder
        .on_form(handler(desk, InputRequest::elicit, elicited))
        .on_url(handler(desk, InputRequest::elicit, elicited));
    if samples {
        let written = |response| match response {
            InputResponse::CreateMessage(result) => Some(result),
            _ => None,
        };
        builder = builder.on_sample(handler(desk, InputRequest::create_message, written));
    }
    if has_roots {
        let listed = |response| match response {
            InputResponse::ListRoots(result) => Some(result.roots),
            _ => None,
        };
        builder = builder.on_roots(handler(desk, |()| InputRequest::list_roots(), listed));
    }
    builder
}

/// Has `desk` answer one kind of question: how it is asked, and how its answer
/// is read.
fn handler<P, T>(
    desk: &SharedDesk,
    request: impl Fn(P) -> InputRequest + Send + Sync + 'static,
    read: fn(InputResponse) -> Option<T>,
) -> impl Fn(Question<P>) -> Answered<T> + Send + Sync + 'static
where
    P: 'static,
    T: Send + 'static,
{
    let desk = Arc::clone(desk);
    move |question| {
        let (desk, request) = (Arc::clone(&desk), request(question.params));
        let (server, about) = (question.server, question.about);
        Box::pin(async move {
            let response = ask(&desk, &server, &about, request).await?;
            read(response).ok_or_else(|| "an answer of another kind".into())
        })
    }
}

type Answered<T> = Pin<Box<dyn Future<Output = Result<T, BoxError>> + Send>>;

fn elicited(response: InputResponse) -> Option<ElicitResult> {
    match response {
        InputResponse::Elicit(result) => Some(result),
        _ => None,
    }
}

async fn ask(
    desk: &SharedDesk,
    server: &str,
    about: &str,
    request: InputRequest,
) -> Result<InputResponse, BoxError> {
    let key = name(&request);
    let asker = Asker { server, about, key };
    let mut desk = desk.lock().await;
    match desk.answer(asker, &request).await {
        Ok(Answer::Ready(response)) => Ok(*response),
        Ok(Answer::Nobody) if !desk.leave(asker, &request) => Err(Unanswered.into()),
        // The desk has said so, and the call is about to be dropped: nothing more is sent.
        Ok(Answer::Nobody | Answer::Stopped) => {
            drop(desk);
            std::future::pending().await
        }
        Err(failure) => Err(failure.error.into()),
    }
}

/// What to call a question in the middle of a call, which has no key: by its
/// only field, or by its kind.
fn name(request: &InputRequest) -> &str {
    match request {
        InputRequest::CreateMessage(_) => "sample",
        InputRequest::Elicit(elicit) => match &elicit.params {
            ElicitRequestParams::Form(params) => {
                let mut fields = params.requested_schema.properties.iter();
                match (fields.next(), fields.next()) {
                    (Some((only, _)), None) => only,
                    _ => "form",
                }
            }
            _ => "url",
        },
        _ => "roots",
    }
}

/// A question in the middle of a call found nobody to answer it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unanswered;

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("nobody is here to answer")
    }
}

impl std::error::Error for Unanswered {}
