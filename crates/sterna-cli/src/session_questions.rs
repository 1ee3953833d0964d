//! Questions in the middle of a call, as the revisions before 2026-07-28 have
//! them.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use sterna_client::{BoxError, Builder, Question};
use sterna_protocol::elicitation::{ElicitRequestParams, ElicitResult};
use sterna_protocol::input::{InputRequest, InputResponse};

use crate::ask::{Answer, Asker, SharedAnswerer};

/// Has `answerer` answer, and declares the kinds of questions it answers.
pub(crate) async fn answer_by(answerer: &SharedAnswerer, builder: Builder) -> Builder {
    let (samples, has_roots) = {
        let answerer = answerer.lock().await;
        (answerer.samples(), answerer.has_roots())
    };
    let mut builder = builder
        .on_form(handler(answerer, InputRequest::elicit, elicited))
        .on_url(handler(answerer, InputRequest::elicit, elicited));
    if samples {
        let written = |response| match response {
            InputResponse::CreateMessage(result) => Some(result),
            _ => None,
        };
        builder = builder.on_sample(handler(answerer, InputRequest::create_message, written));
    }
    if has_roots {
        let listed = |response| match response {
            InputResponse::ListRoots(result) => Some(result.roots),
            _ => None,
        };
        builder = builder.on_roots(handler(answerer, |()| InputRequest::list_roots(), listed));
    }
    builder
}

/// Has `answerer` answer one kind of question: how it is asked, and how its answer
/// is read.
fn handler<P, T>(
    answerer: &SharedAnswerer,
    request: impl Fn(P) -> InputRequest + Send + Sync + 'static,
    read: fn(InputResponse) -> Option<T>,
) -> impl Fn(Question<P>) -> Answered<T> + Send + Sync + 'static
where
    P: 'static,
    T: Send + 'static,
{
    let answerer = Arc::clone(answerer);
    move |question| {
        let (answerer, request) = (Arc::clone(&answerer), request(question.params));
        let (server, about) = (question.server, question.about);
        Box::pin(async move {
            let response = ask(&answerer, &server, &about, request).await?;
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
    answerer: &SharedAnswerer,
    server: &str,
    about: &str,
    request: InputRequest,
) -> Result<InputResponse, BoxError> {
    let key = name(&request);
    let asker = Asker { server, about, key };
    let mut answerer = answerer.lock().await;
    match answerer.answer(asker, &request).await {
        Ok(Answer::Ready(response)) => Ok(*response),
        Ok(Answer::Missing) if !answerer.leave(asker, &request) => Err(NoAnswer.into()),
        // The answerer has said so, and the call is about to be dropped: nothing more is sent.
        Ok(Answer::Missing | Answer::Stopped) => {
            drop(answerer);
            std::future::pending().await
        }
        Err(failure) => Err(failure.error.into()),
    }
}

/// Key of a question in the middle of a call, which the server does not name:
/// its only field, or its kind.
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

/// Error for a question in the middle of a call that has no answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoAnswer;

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no answer and no terminal to ask on")
    }
}

impl std::error::Error for NoAnswer {}
