//! Tools, prompts and resources within a session.

use std::sync::{Arc, OnceLock};

use serde::Serialize;
use sterna_protocol::capabilities::ClientCapabilities;
use sterna_protocol::jsonrpc::RequestId;
use sterna_protocol::legacy::RequestMeta;
use sterna_protocol::resource::ReadResourceResult;
use sterna_protocol::tool::CallToolResult;

use super::answer_relay::AnswerRelay;
use super::dispatch::Post;
use super::prompter::SessionPrompter;
use crate::call::Reporter;
use crate::call::{Headers, Request, RequestInner, TaskPromotion};
use crate::core::Core;
use crate::cx::PendingQuestions;
use crate::failure::Failure;
use crate::reply::{Answer, CallResult, check_output};
use crate::rounds::{Round, Wanted};
use crate::session_table::stop;

/// Serves a call to its end. `None` if the client took it back: it is then owed
/// nothing.
pub(super) async fn run<T: CallResult + Serialize + Send + 'static>(
    post: Post,
    id: RequestId,
    wanted: Result<Wanted<T>, Failure>,
    sent: Option<RequestMeta>,
    finish: fn(&Core, &str, &mut T) -> Result<(), Failure>,
) -> Option<Answer> {
    let core = Arc::clone(&post.core);
    let live = match core.session_table.live(post.session.key) {
        Ok(live) => live,
        Err(failure) => return Some(answer::<T>(id, Err(failure))),
    };
    let wanted = match wanted {
        Ok(wanted) => wanted,
        Err(failure) => return Some(answer::<T>(id, Err(failure))),
    };
    let stopped = live.begin(id.clone());
    let mut meta = post.session.meta(sent);
    meta.log_level = live.level();
    if !post.accepts.events() {
        // Without a stream nothing can be asked.
        meta.client_capabilities = ClientCapabilities::default().into();
    }
    let prompter = SessionPrompter {
        live,
        sink: post.sink.clone(),
        version: post.session.version.clone(),
        instance: core.session_table.instance(),
        relay: core.tasks.as_ref().map(|tasks| AnswerRelay {
            core: Arc::clone(&core),
            tasks: Arc::clone(tasks),
            admission: post.admission.clone(),
            session: post.session.key,
            ends: post.deadline,
        }),
    };
    let reporter = Reporter::new(&meta, post.sink).filter(|_| post.accepts.events());
    let traceparent = meta.traceparent.clone();
    let request = Request::new(RequestInner {
        environment: Arc::clone(&core.environment),
        meta,
        admission: post.admission,
        extensions: post.extensions,
        headers: Headers::Shared(post.headers),
        reporter: reporter.map(Arc::new),
        mistake: OnceLock::new(),
        position: OnceLock::new(),
        promotion: TaskPromotion::default(),
        pending: PendingQuestions::default(),
    });
    let (method, name) = (wanted.target.method, wanted.target.name.clone());
    let round = Box::new(Round {
        core: Arc::clone(&core),
        request,
        target: wanted.target,
        tree: wanted.tree.map(Arc::new),
        responses: None,
        state: None,
        traceparent,
        shutdown: post.shutdown,
        entered: None,
    });
    let playing = round.run_in_session(&wanted.way, &prompter);
    let playing = tokio::time::timeout_at(post.deadline.into(), playing);
    let outcome = tokio::select! {
        biased;
        () = stop(stopped) => return None,
        outcome = playing => outcome.unwrap_or(Err(Failure::TimedOut)),
    };
    let outcome = outcome.and_then(|mut result| {
        finish(&core, &name, &mut result)?;
        Ok(result)
    });
    let outcome = outcome.map_err(|failure| match failure {
        // A model can act on it; prompts and resources have none to tell.
        Failure::Unanswered(why) if method == "tools/call" => Failure::Tool(why.to_owned()),
        failure => failure,
    });
    Some(answer(id, outcome))
}

fn answer<T: CallResult + Serialize>(id: RequestId, outcome: Result<T, Failure>) -> Answer {
    match outcome {
        Ok(result) if result.is_failed_tool() => Answer::done(id, &result).of_failed_tool(),
        Ok(result) => Answer::done(id, &result),
        Err(Failure::Tool(text)) => Answer::done(id, &CallToolResult::error(text)).of_failed_tool(),
        Err(failure) => refused(id, failure),
    }
}

pub(super) fn refused(id: RequestId, failure: Failure) -> Answer {
    match failure {
        failure @ Failure::Forbidden(_) => Answer::failed(Some(&id), &failure),
        failure => Answer::refused(id, failure.to_session_wire()),
    }
}

pub(super) fn finish_tool(
    core: &Core,
    name: &str,
    result: &mut CallToolResult,
) -> Result<(), Failure> {
    if let Some(tool) = core.offers.tools.get(name) {
        check_output(core, tool, result)?;
    }
    only_objects(result);
    Ok(())
}

/// The older revisions know structured content that is an object and no other.
pub(super) fn only_objects(result: &mut CallToolResult) {
    let content = &mut result.structured_content;
    if !content.as_ref().is_some_and(|content| content.is_object()) {
        *content = None;
    }
}

#[expect(clippy::unnecessary_wraps, reason = "one of the ways to finish")]
pub(super) fn finish_resource(
    _: &Core,
    _: &str,
    result: &mut ReadResourceResult,
) -> Result<(), Failure> {
    // Only 2026-07-28 has clients keep what they read.
    result.ttl_ms = None;
    result.cache_scope = None;
    Ok(())
}
