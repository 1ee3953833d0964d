//! Questions in the middle of a call, as the revisions before 2026-07-28 have
//! them.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;

use sterna_client::{BoxError, Builder, Question};
use sterna_protocol::elicitation::ElicitResult;
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
        let (server, about, key) = (question.server, question.about, question.key);
        Box::pin(async move {
            let (server, about, key) = (&*server, &*about, &*key);
            let asker = Asker { server, about, key };
            let response = ask(&answerer, asker, request).await?;
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
    asker: Asker<'_>,
    request: InputRequest,
) -> Result<InputResponse, BoxError> {
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

/// Error for a question in the middle of a call that has no answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoAnswer;

impl fmt::Display for NoAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no answer and no terminal to ask on")
    }
}

impl std::error::Error for NoAnswer {}
