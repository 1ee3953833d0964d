//! Calls of servers of 2026-07-28, which keep nothing between two rounds: what
//! they ask goes to the client, with their state inside of ours.

use std::time::Duration;

use sterna_client::Step;
use sterna_protocol::input::{InputRequired, InputResponses, RequestState};
use sterna_protocol::result::Outcome;
use sterna_server::RequestError;

use super::state::{Position, RouteState};
use super::{RoutedCall, UpstreamCall};
use crate::failure::{Reason, of_call};
use crate::upstream::UpstreamSession;

/// Sends one round; `state` is that of a retry, which may have none.
pub(super) async fn forward<T: UpstreamCall>(
    routed: RoutedCall,
    session: &UpstreamSession,
    state: Option<Option<String>>,
) -> Result<Outcome<T>, RequestError> {
    let (upstream, call) = (&routed.upstream, &routed.call);
    let mut answers = InputResponses::from(call.answers().clone());
    let mut retry = state.map(|state| state.map(RequestState::new));
    for turn in 0..MOST_TURNS {
        let mut built = T::build(&session.client, &routed.name, call)?;
        built = built.options(routed.options());
        if let Some(state) = retry.take() {
            let rounds = call.round().max(1);
            built = built.as_retry(rounds, std::mem::take(&mut answers), state);
        }
        let paused = match built.start().await {
            Ok(Step::Complete(result)) => return Ok(Outcome::Complete(result)),
            Ok(Step::InputRequired(paused)) => paused,
            // No server may make a task of a call that did not declare tasks.
            Ok(_) => return Err(routed.failed(Reason::Unsupported)),
            Err(error) => {
                upstream.note_failure(session, &error);
                return Err(of_call(upstream.name(), &error));
            }
        };
        let (questions, state) = paused.into_parts();
        // A client of before 2026-07-28 cannot be sent back to call again: it waits here.
        if questions.is_empty() && routed.has_waiting_client() {
            tokio::time::sleep(pause(turn)).await;
            retry = Some(state);
            continue;
        }
        let position = Position::Upstream(state.map(|state| state.as_str().to_owned()));
        let ours = RequestState::new(RouteState::write(upstream.name(), position, None));
        let required = InputRequired::new(questions, Some(ours));
        let required = required.map_err(|_| routed.failed(Reason::Unsupported))?;
        return Ok(Outcome::InputRequired(required));
    }
    Err(routed.failed(Reason::Lost))
}

/// Pause before a server that asked for nothing is called again.
fn pause(turn: u32) -> Duration {
    (FIRST_PAUSE * (1 << turn.min(8))).min(LONGEST_PAUSE)
}

/// Times that a server may ask to be called again within one request.
const MOST_TURNS: u32 = 10;
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
