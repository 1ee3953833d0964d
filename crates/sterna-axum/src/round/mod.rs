//! One round of a request: from its head and body to its response.
//!
//! Nothing is kept between two rounds but, with a store, the response of each.

mod accept;
mod flow;
mod idempotency;
mod incoming;
mod operation_route;

use std::sync::Arc;

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::VARY;
use sterna_runner::state::FlowRound;
use sterna_runner::{EnteredRound, RoundError, RoundLease};

use incoming::Incoming;

use crate::core::RouteCore;
use crate::fault::Fault;
use crate::stored_response::StoredResponse;

/// Serves one request to `route`.
pub(crate) async fn serve<S>(route: Arc<RouteCore<S>>, request: Request) -> Response
where
    S: Clone + Send + Sync + 'static,
{
    let key_reloader = route.resume.key_reloader();
    let now = route.resume.config.clock.now();
    if key_reloader.refresh(now) {
        // Boxed: the first request after a freeze waits, all others do not.
        Box::pin(key_reloader.wait(now)).await;
    }
    let played = match Incoming::read(&route, request).await {
        Ok(incoming) => play(&route, incoming).await,
        Err(fault) => Err(fault),
    };
    let mut response = match played {
        Ok(response) => response,
        Err(fault) => {
            if let Fault::Refused(reason) = fault {
                tracing::info!(target: "sterna::axum", reason, "a state was refused");
                route.resume.metrics.count_refused(reason);
            }
            fault.into_response()
        }
    };
    if route.operation.is_some() {
        let prefer = HeaderValue::from_static("prefer");
        response.headers_mut().append(VARY, prefer);
    }
    response
}

async fn play<S>(route: &Arc<RouteCore<S>>, incoming: Box<Incoming>) -> Result<Response, Fault>
where
    S: Clone + Send + Sync + 'static,
{
    match (&route.operation, incoming.respond_async) {
        (Some(operation), Some(preferred)) => {
            let caller = incoming.caller.clone();
            // Boxed, so that it does not make the future of other requests larger.
            let response = Box::pin(play_round(route, incoming)).await?;
            let preference = (preferred, &caller);
            let response = accept::prefer(route, operation, preference, response);
            Ok(Box::pin(response).await)
        }
        _ => play_round(route, incoming).await,
    }
}

async fn play_round<S>(
    route: &Arc<RouteCore<S>>,
    incoming: Box<Incoming>,
) -> Result<Response, Fault>
where
    S: Clone + Send + Sync + 'static,
{
    let (flow_round, digest) = match &incoming.resume {
        Some(_) => {
            let flow_round = flow::open(route, &incoming).await?;
            route.resume.metrics.count_resumed();
            flow::check(route, &flow_round)?;
            let digest = incoming.retry_digest();
            (flow_round, Some(digest))
        }
        None => match idempotency::flow_of(route, &incoming).await? {
            Some(flow) => {
                let digest = incoming.bind(&route.resume)?.digest();
                (FlowRound::first(flow), Some(digest))
            }
            None => (FlowRound::first(flow::mint(route, &incoming)?), None),
        },
    };
    match (&route.resume.store, digest) {
        // Boxed, so that it does not make the future of a first request larger.
        (Some(_), Some(digest)) => Box::pin(play_once(route, incoming, flow_round, digest)).await,
        _ => flow::play(route, incoming, flow_round).await,
    }
}

/// Serves a round that is entered in the ledger, so that it is answered once.
async fn play_once<S>(
    route: &Arc<RouteCore<S>>,
    incoming: Box<Incoming>,
    flow_round: FlowRound,
    digest: [u8; 32],
) -> Result<Response, Fault>
where
    S: Clone + Send + Sync + 'static,
{
    let resume = &route.resume;
    let store = resume.store.as_ref().ok_or(Fault::Internal)?;
    let is_first = flow_round.is_first();
    let entered = RoundLease::enter_within(
        store,
        flow_round.flow(),
        flow_round.number(),
        digest,
        resume.config.lifetimes.flow,
        resume.config.patience,
    );
    let failed = |error| match error {
        RoundError::OtherAnswers if is_first => Fault::KeyReused,
        RoundError::OtherAnswers => Fault::Refused("other_answers"),
        error => Fault::broken("MR0404: a round cannot be entered", &error),
    };
    let lease = match entered.await.map_err(failed)? {
        None => return Err(Fault::Busy),
        Some(EnteredRound::Answered(stored)) => {
            resume.metrics.count_replayed();
            let stored = StoredResponse::read(stored).ok_or(Fault::Internal)?;
            return Ok(stored.into_response());
        }
        Some(EnteredRound::Leased(lease)) => lease,
    };
    let playing = async {
        let response = match flow::play(route, incoming, flow_round).await {
            Ok(response) => response,
            // The outcome of the flow, which no retry can change.
            Err(fault) if fault.is_final() => fault.into_response(),
            Err(fault) => return Err(fault),
        };
        let stored = StoredResponse::collect(response, resume.config.max_response).await?;
        Ok(stored.write()?)
    };
    let stored = match lease.renew_while(playing).await {
        Ok(stored) => stored,
        Err(fault) => {
            if let Err(error) = lease.release().await {
                tracing::warn!(target: "sterna::axum", %error, "a round cannot be released");
            }
            return Err(fault);
        }
    };
    let stored = lease.complete(stored).await.map_err(failed)?;
    let stored = StoredResponse::read(stored).ok_or(Fault::Internal)?;
    Ok(stored.into_response())
}
