//! Calls of servers of before 2026-07-28, which ask while a call runs. It pauses
//! there: *carried* by the client if the server can resume the stream of the call,
//! and otherwise *held* here.

use sterna_client::{Client, Error, ErrorKind, PausedCall, Step};
use sterna_protocol::input::{
    InputRequest, InputRequests, InputRequired, InputResponse, InputResponses, RequestState,
};
use sterna_protocol::json::RawJson;
use sterna_protocol::result::Outcome;
use sterna_server::RequestError;

use super::held::HeldCalls;
use super::state::{Position, RouteState};
use super::{RoutedCall, UpstreamCall};
use crate::config::SessionScope;
use crate::failure::{Reason, of_call, of_carried};
use crate::upstream::{SessionLease, UpstreamSession};

/// Connection that a call runs on.
#[derive(Debug)]
pub(super) enum CallConnection {
    /// A session that is this call's alone.
    Leased(SessionLease),
    /// Any client of the caller: a carried call has its own session.
    Shared(Client),
}

impl CallConnection {
    pub(super) fn client(&self) -> &Client {
        match self {
            Self::Leased(lease) => &lease.session.client,
            Self::Shared(client) => client,
        }
    }

    /// Gives the session back, with nothing of this call left on it.
    fn end(self, routed: &RoutedCall) {
        if let Self::Leased(mut lease) = self {
            lease.settle();
            if routed.upstream.config.session == SessionScope::Call {
                lease.session.retire();
            }
        }
    }
}

/// Calls the server.
///
/// # Cancel safety
///
/// Dropped, the call is cancelled at the server.
pub(super) async fn begin<T: UpstreamCall>(
    routed: RoutedCall,
    held: &HeldCalls,
    lease: SessionLease,
) -> Result<Outcome<T>, RequestError> {
    if wants_roots_first(&routed, &lease.session) {
        CallConnection::Leased(lease).end(&routed);
        let roots = InputRequests::from_iter([(ROOTS, InputRequest::list_roots())]);
        return asking(&routed, roots, Position::Begin);
    }
    let call = T::build(&lease.session.client, &routed.name, &routed.call)?;
    let mut reached = call.options(routed.options()).start().await;
    // What the call was told before it was lost, it is told again.
    let mut record = routed.record.clone().unwrap_or_default();
    while let Ok(Step::InputRequired(paused)) = &mut reached
        && paused.is_in_session()
        && record.answer(paused)
    {
        let resumed = paused.resume(&lease.session.client);
        reached = resumed.options(routed.options()).await;
    }
    proceed(routed, held, CallConnection::Leased(lease), reached)
}

/// Goes on with a call that its client has carried.
///
/// # Cancel safety
///
/// Dropped, the call goes on at the server: the same retry finds it again, here or
/// at another gateway.
pub(super) async fn go_on_carried<T: UpstreamCall>(
    routed: RoutedCall,
    held: &HeldCalls,
    carried: &RawJson,
) -> Result<Outcome<T>, RequestError> {
    // The server or its place in the configuration has changed.
    let lost = |_| routed.failed(Reason::CarriedCallGone);
    let mut paused: PausedCall<T> = carried.decode().map_err(lost)?;
    let answers = InputResponses::from(routed.call.answers().clone());
    if !answer(&mut paused, &answers) {
        return asking(
            &routed,
            open_questions(&paused),
            carried_at(&routed, &paused)?,
        );
    }
    let (key, capabilities) = (&routed.key, routed.capabilities());
    let found = routed.upstream.carrier(key, capabilities, &paused).await;
    let reached = match found {
        Ok(client) => {
            let resumed = paused.resume(&client).options(routed.options()).await;
            resumed.map(|step| (client, step))
        }
        Err(error) => Err(error),
    };
    match reached {
        Ok((client, step)) => proceed(routed, held, CallConnection::Shared(client), Ok(step)),
        Err(error) => {
            routed.upstream.note_failure_of_carried(&error);
            let refused = Err(of_carried(routed.upstream.name(), &error));
            match error.kind() {
                ErrorKind::Lost => routed.reissue(held).await.unwrap_or(refused),
                _ => refused,
            }
        }
    }
}

/// Passes on what a call has reached: its result, or its questions.
pub(super) fn proceed<T: UpstreamCall>(
    routed: RoutedCall,
    held: &HeldCalls,
    connection: CallConnection,
    reached: Result<Step<T>, Error>,
) -> Result<Outcome<T>, RequestError> {
    match reached {
        Ok(Step::Complete(result)) => {
            connection.end(&routed);
            Ok(Outcome::Complete(result))
        }
        Ok(Step::InputRequired(paused)) if !paused.is_in_session() => {
            // The user is to visit a URL first; then the server is called again.
            connection.end(&routed);
            asking(&routed, open_questions(&paused), Position::Begin)
        }
        Ok(Step::InputRequired(paused)) if paused.is_detached() => {
            let client = connection.client().clone();
            connection.end(&routed);
            carry(&routed, held, client, paused)
        }
        Ok(Step::InputRequired(paused)) => held.hold(&routed, connection, paused),
        // No server may make a task of a call that did not declare tasks.
        Ok(_) => Err(routed.failed(Reason::Unsupported)),
        Err(error) => {
            if let CallConnection::Leased(lease) = &connection {
                routed.upstream.note_failure(&lease.session, &error);
            }
            let failure = of_call(routed.upstream.name(), &error);
            // After any other failure the server may still be busy with the call.
            if error.rpc().is_some() {
                connection.end(&routed);
            }
            Err(failure)
        }
    }
}

/// Returns to the client with the open questions of a call, and all that it takes
/// to go on with it.
fn carry<T: UpstreamCall>(
    routed: &RoutedCall,
    held: &HeldCalls,
    client: Client,
    paused: PausedCall<T>,
) -> Result<Outcome<T>, RequestError> {
    // The state is bound to the arguments, and the server has them.
    let paused = paused.without_arguments();
    let position = carried_at(routed, &paused)?;
    match &position {
        // A store takes what a state cannot.
        Position::Carried(carried)
            if carried.as_str().len() > LARGEST_CARRIED && held.store().is_none() =>
        {
            held.hold(routed, CallConnection::Shared(client), paused)
        }
        _ => asking(routed, open_questions(&paused), position),
    }
}

fn carried_at<T: UpstreamCall>(
    routed: &RoutedCall,
    paused: &PausedCall<T>,
) -> Result<Position, RequestError> {
    let carried = RawJson::of(paused);
    let carried = carried.map_err(|_| routed.failed(Reason::Unsupported))?;
    Ok(Position::Carried(carried))
}

/// Returns to the client with questions, and the place where the call goes on.
pub(super) fn asking<T>(
    routed: &RoutedCall,
    questions: InputRequests,
    position: Position,
) -> Result<Outcome<T>, RequestError> {
    let record = routed.record.as_ref();
    let record = record.map(|record| record.asking(&questions));
    let state = RouteState::write(routed.upstream.name(), position, record);
    let required = InputRequired::new(questions, Some(RequestState::new(state)));
    let required = required.map_err(|_| routed.failed(Reason::Unsupported))?;
    Ok(Outcome::InputRequired(required))
}

pub(super) fn open_questions<T: UpstreamCall>(paused: &PausedCall<T>) -> InputRequests {
    let open = paused.open();
    open.map(|(key, request)| (key, request.clone())).collect()
}

/// Gives a paused call the answers of the client. Returns `false` if questions
/// without a fitting answer are left.
pub(super) fn answer<T: UpstreamCall>(
    paused: &mut PausedCall<T>,
    answers: &InputResponses,
) -> bool {
    let open = open_questions(paused);
    for (key, request) in open.iter() {
        if let Ok(Some(response)) = request.response_in(answers, key) {
            // An answer that does not fit leaves its question open.
            let _ = paused.answer(key, response);
        }
    }
    paused.open().next().is_none()
}

/// Returns `true` if the server waits for the roots of the client since its session
/// was opened, so that the client has to tell them before the call is sent. A call
/// is returned for them once; the answer of the retry goes to the server.
fn wants_roots_first(routed: &RoutedCall, session: &UpstreamSession) -> bool {
    if routed.call.state().is_none() {
        // A call that was approved goes to its server at once: the state that is
        // returned here could begin it twice.
        let is_approved = routed.upstream.config.needs_approval(&routed.name);
        return !is_approved && session.outside.wants_roots();
    }
    let answers = InputResponses::from(routed.call.answers().clone());
    let told = InputRequest::list_roots().response_in(&answers, ROOTS);
    if let Ok(Some(InputResponse::ListRoots(told))) = told {
        session.outside.tell_roots(&told.roots);
    }
    false
}

/// Largest paused call in a state, in bytes: a state may have 64 KiB, with the answers
/// of the next rounds and in Base64. The document that a model is to read may be larger.
const LARGEST_CARRIED: usize = 32 * 1024;

/// Key of the question for the roots that belongs to no call.
const ROOTS: &str = "roots";
