use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use http::HeaderMap;
use serde::Serialize;
use serde_json::value::RawValue;
use sterna_protocol::input::InputRequest;
use sterna_protocol::jsonrpc::{
    Dispatch, ErrorCode, ErrorObject, ErrorResponse, RequestId, ResultResponse,
};
use sterna_protocol::legacy::{ElicitRequestParams, ServerRequest};
use sterna_protocol::result::EmptyResult;

use super::news::News;
use crate::answers::{Answers, Question};
use crate::error::{Error, Fault};
use crate::oauth::BoxFuture;
use crate::transport::Outgoing;

/// Answers what a legacy server asks while it works.
#[derive(Clone, Debug)]
pub(crate) struct Servant {
    pub(crate) answers: Answers,
    pub(crate) server: Arc<str>,
    /// What is being done, if that is known.
    pub(crate) about: Arc<str>,
    /// What belongs to the session.
    pub(crate) headers: HeaderMap,
    /// How many questions of the session are being answered.
    pub(crate) asking: Arc<AtomicUsize>,
    /// Who hears what is about no request.
    pub(crate) news: Arc<News>,
}

impl Servant {
    /// The answer to a request of the server, whatever it is.
    pub(crate) fn answer(
        &self,
        id: RequestId,
        method: &str,
        params: Option<&RawValue>,
    ) -> BoxFuture<'static, Outgoing> {
        let request = read(method, params);
        let servant = self.clone();
        let asked = Asked::new(&self.asking);
        Box::pin(async move {
            let _asked = asked;
            match request {
                Ok(None) => servant.done(id, &EmptyResult::default()),
                Ok(Some(request)) => {
                    let (server, about) = (servant.server.clone(), servant.about.clone());
                    let question = Question::new(server, about, id.to_string(), request);
                    match servant.answers.answer(question).await {
                        Ok(response) => servant.done(id, &response),
                        Err(error) => servant.refuse(id, refusal(&error)),
                    }
                }
                Err(error) => servant.refuse(id, *error),
            }
        })
    }

    /// Whether somebody is being asked.
    pub(crate) fn is_asking(&self) -> bool {
        self.asking.load(Ordering::Relaxed) > 0
    }

    fn done(&self, id: RequestId, result: &impl Serialize) -> Outgoing {
        let mut body = Vec::new();
        let written = ResultResponse::new(id.clone(), result).encode(&mut body);
        match written {
            Ok(()) => self.outgoing(body),
            Err(_) => self.refuse(id, internal()),
        }
    }

    fn refuse(&self, id: RequestId, error: ErrorObject) -> Outgoing {
        let mut body = Vec::new();
        ErrorResponse::new(id, error)
            .encode(&mut body)
            .expect("an error without data has a JSON form");
        self.outgoing(body)
    }

    fn outgoing(&self, body: Vec<u8>) -> Outgoing {
        let headers = self.headers.clone();
        let id = None;
        Outgoing { id, headers, body }
    }
}

/// Counts a question for as long as it is open.
struct Asked(Arc<AtomicUsize>);

impl Asked {
    fn new(asking: &Arc<AtomicUsize>) -> Self {
        asking.fetch_add(1, Ordering::Relaxed);
        Self(asking.clone())
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// What is asked; `None` if only whether we are there.
fn read(method: &str, params: Option<&RawValue>) -> Result<Option<InputRequest>, Box<ErrorObject>> {
    let refuse = |code, text| Box::new(ErrorObject::new(code, text));
    let unknown = || refuse(ErrorCode::METHOD_NOT_FOUND, "Method not found");
    let tag = ServerRequest::find(method).ok_or_else(unknown)?;
    let text = params.map_or("{}", RawValue::get);
    let body = &mut serde_json::Deserializer::from_str(text);
    let request = ServerRequest::decode(tag, body)
        .map_err(|_| refuse(ErrorCode::INVALID_PARAMS, "Invalid params"))?;
    Ok(Some(match request {
        ServerRequest::Ping(_) => return Ok(None),
        ServerRequest::Elicit(ElicitRequestParams::Form(form)) => InputRequest::elicit(form.form),
        ServerRequest::Elicit(ElicitRequestParams::Url(url)) => InputRequest::elicit(url.url),
        ServerRequest::CreateMessage(create) => InputRequest::create_message(create.message),
        ServerRequest::ListRoots(_) => InputRequest::list_roots(),
        _ => return Err(unknown()),
    }))
}

/// The only place where a failure here becomes text a server can read.
fn refusal(error: &Error) -> ErrorObject {
    match error.fault() {
        Fault::NoHandler { .. } => {
            ErrorObject::new(ErrorCode::METHOD_NOT_FOUND, "Method not found")
        }
        _ => internal(),
    }
}

fn internal() -> ErrorObject {
    ErrorObject::new(ErrorCode::INTERNAL_ERROR, "The client could not answer")
}
