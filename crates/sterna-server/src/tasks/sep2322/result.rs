//! `tasks/result`: what came of a task, or what it asks.

use sterna_protocol::input::InputRequired;
use sterna_protocol::legacy::TaskRequestParams;
use sterna_protocol::result::Outcome;
use sterna_protocol::tool::CallToolResult;
use sterna_store::Status;
use tokio::time::Instant;

use super::related;
use crate::call::Request;
use crate::handler::RequestError;
use crate::tasks::extension::{find, unknown};
use crate::tasks::older::{self, End};
use crate::tasks::show;

/// Answers when there is something to say: what the task asks while it is
/// `input_required`, what came of it once it has ended.
pub(in crate::tasks) async fn result(
    request: Request,
    params: TaskRequestParams,
) -> Result<Outcome<CallToolResult>, RequestError> {
    let (tasks, id) = find(&request, &params.task_id)?;
    let mut changed = tasks.changes();
    loop {
        let looked_at = Instant::now();
        let found = tasks.find(request.caller(), id).await?;
        let task = found.ok_or_else(unknown)?;
        match older::end(&task) {
            Some(End::Result(result)) => return Ok(Outcome::Complete(*result)),
            Some(End::Error(error)) => return Err(RequestError::of(error)),
            None => {}
        }
        if task.summary.status == Status::InputRequired
            && let Ok(mut asked) = InputRequired::new(show::requests(&task.questions), None)
        {
            asked.meta = Some(related(&request, id));
            return Ok(Outcome::InputRequired(asked));
        }
        tasks.pause(looked_at, &mut changed).await;
    }
}
