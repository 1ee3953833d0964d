//! `tasks/list`: a caller's own tasks, page by page.

use sterna_http::auth::Caller;
use sterna_protocol::legacy::ListTasksResult;
use sterna_seal::{Flow, FlowId, SealRequest, Target, ThreadEntropy};
use sterna_store::{Cursor, Page};

use crate::core::Core;
use crate::failure::Failure;
use crate::lists::UNKNOWN_CURSOR;
use crate::sessions::dispatch::Post;
use crate::sessions::session::bind;
use crate::tasks::{store_failed, tasks_2025_11_25};

/// Returns `true` if a caller has a name. Callers without one share their
/// tasks, and a list would show them to each other.
pub(in crate::sessions) fn has_name(caller: &Caller) -> bool {
    caller.principal().subject().is_some()
}

/// `tasks/list`.
pub(in crate::sessions) async fn list(
    post: &Post,
    cursor: Option<String>,
) -> Result<ListTasksResult, Failure> {
    let (core, caller) = (&*post.core, post.admission.caller());
    let tasks = core
        .tasks
        .as_ref()
        .ok_or_else(|| Failure::UnknownMethod("tasks/list".to_owned()))?;
    let page = match cursor {
        None => Page::first(PAGE),
        Some(cursor) => {
            let cursor = open(core, caller, &cursor);
            Page::after(cursor.ok_or_else(|| Failure::params(UNKNOWN_CURSOR))?, PAGE)
        }
    };
    let listing = tasks.list(caller, page).await;
    let listing = listing.map_err(|error| store_failed(&error))?;
    let shown = listing.tasks.iter();
    let mut result = ListTasksResult::new(
        shown
            .map(|task| tasks_2025_11_25::head(tasks, task))
            .collect(),
    );
    if let Some(next) = listing.next {
        result.next_cursor = Some(seal(core, caller, &next).ok_or(Failure::Internal)?);
    }
    Ok(result)
}

fn seal(core: &Core, caller: &Caller, cursor: &Cursor) -> Option<String> {
    let payload = cursor.to_string();
    let flow = Flow::begin(FlowId::from_bytes([0; 16]), core.now());
    let draft = SealRequest::new(flow, payload.as_bytes());
    let binding = bind(core, caller, &TARGET)?;
    let ring = core.keys.current();
    let sealed = ring.seal(&draft, &binding, core.now(), &mut ThreadEntropy);
    sealed
        .inspect_err(|error| {
            tracing::error!(target: "sterna::sessions", %error, "a cursor cannot be sealed");
        })
        .ok()
        .map(|sealed| sealed.token)
}

fn open(core: &Core, caller: &Caller, cursor: &str) -> Option<Cursor> {
    let binding = bind(core, caller, &TARGET)?;
    let claims = core
        .keys
        .current()
        .open(cursor, &binding, core.now())
        .ok()?;
    let text = std::str::from_utf8(claims.content.inline()?).ok()?;
    text.parse().ok()
}

/// Target that a cursor is bound to.
const TARGET: Target<'static> = Target::new("tasks/list", "cursor");

/// As many tasks as a person looks through at once.
const PAGE: u32 = 50;
