//! Methods of other authors' extensions.

use std::pin::pin;
use std::sync::{Arc, OnceLock};

use http::Response;
use serde_json::{Value, json};
use sterna_http::{Inbound, ResponseBody, catch_panic};
use sterna_protocol::json::mismatch;
use sterna_protocol::jsonrpc::{Message, RequestId};
use sterna_protocol::version::ProtocolVersion;

use super::admit;
use crate::call::{Headers, Request, RequestInner, TaskPromotion};
use crate::core::Core;
use crate::cx::PendingQuestions;
use crate::failure::Failure;
use crate::reply::RequestSpan;
use crate::reply::{Answer, refuse};

/// Serves `method`, which the core protocol does not have.
pub(super) async fn serve(
    core: Arc<Core>,
    inbound: Inbound,
    id: RequestId,
    method: &str,
) -> Response<ResponseBody> {
    if let Err(refusal) = inbound.admission.may(method, None) {
        return refuse(refusal);
    }
    let accepts = inbound.accepts;
    let deadline = inbound.deadline;
    let version = ProtocolVersion::V2026_07_28;
    let admission = &inbound.admission;
    let mut operation =
        RequestSpan::begin(&core, admission, method.to_owned(), None, &id, &version);
    let serving = tokio::time::timeout_at(deadline.into(), result(core, inbound, method));
    let answering = pin!(async {
        let answer = match serving.await.unwrap_or(Err(Failure::TimedOut)) {
            Ok(result) => Answer::done(id, &result),
            Err(failure) => Answer::failed(Some(&id), &failure),
        };
        let ended = answer.ended();
        (answer, Some(ended))
    });
    operation.instrument(answering).await.plain(accepts)
}

async fn result(core: Arc<Core>, inbound: Inbound, method: &str) -> Result<Value, Failure> {
    let meta = admit::check_raw(&inbound.body, admit::mirrored_headers(&inbound))?;
    let no_request = || Failure::params("the message is no request");
    let meta = meta.ok_or_else(no_request)?;
    let served = core.extensions.method(method);
    let served = served.ok_or_else(|| Failure::UnknownMethod(method.to_owned()))?;
    let Ok(Message::Request(request)) = Message::raw(&inbound.body) else {
        return Err(no_request());
    };
    let params = request.params.map_or("{}", |params| params.get());
    let params: Value =
        serde_json::from_str(params).map_err(|error| Failure::params(mismatch(&error)))?;
    let serve = served.serve(&meta.client_capabilities)?;
    let request = Request::new(RequestInner {
        environment: Arc::clone(&core.environment),
        meta,
        admission: inbound.admission,
        extensions: inbound.head.extensions,
        headers: Headers::Own(inbound.head.headers),
        reporter: None,
        mistake: OnceLock::new(),
        promotion: TaskPromotion::default(),
        pending: PendingQuestions::default(),
        position: OnceLock::new(),
    });
    let serving = catch_panic(serve(request, params)).await;
    let mut result = serving.unwrap_or_else(|_| {
        tracing::error!(target: "sterna::handler", method, "a handler panicked");
        Err(Failure::Internal)
    })?;
    let Some(members) = result.as_object_mut() else {
        tracing::error!(target: "sterna::server", method, "a result is no object");
        return Err(Failure::Internal);
    };
    // BASE-S3, BASE-S15
    members.entry("resultType").or_insert(json!("complete"));
    members
        .entry("_meta")
        .or_insert_with(|| json!(core.result_meta()));
    Ok(result)
}
