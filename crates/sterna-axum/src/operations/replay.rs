//! Makes a request that axum's extractors can read of a stored one.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, OriginalUri, Request};
use axum::response::IntoResponse;
use http::StatusCode;
use http::request::Parts;
use sterna_seal::Principal;
use tower_service::Service as _;

use super::stored_request::StoredRequest;

/// Puts back into the head of a stored request what the application's middleware
/// had left in it.
pub(crate) type RestoreHead = dyn Fn(&mut Parts, &Principal) + Send + Sync;

/// Returns the request of `stored`; `None` if it is none.
///
/// Only axum's router can make the parameters of a path, so the request goes
/// through one with the route that it had matched.
pub(crate) async fn replay(
    stored: &StoredRequest,
    restore: Option<&RestoreHead>,
) -> Option<Request> {
    let (method, uri, nested_uri) = stored.head.line()?;
    let mut request = Request::new(Body::from(stored.body.clone()));
    *request.method_mut() = method;
    *request.uri_mut() = uri;
    *request.headers_mut() = stored.head.headers()?;
    let matched = Arc::new(Mutex::new(None));
    let keep = {
        let matched = Arc::clone(&matched);
        async move |request: Request| {
            *matched.lock().unwrap_or_else(PoisonError::into_inner) = Some(request);
            StatusCode::NO_CONTENT.into_response()
        }
    };
    // The router that has accepted the route may have been one without these checks.
    let router = Router::new().without_v07_checks();
    let mut router = match &stored.head.route {
        Some(route) if route.starts_with('/') => router.route(route, axum::routing::any(keep)),
        _ => router.fallback(keep),
    }
    // It had its size checked when it was accepted.
    .layer(DefaultBodyLimit::disable());
    let Ok(_) = router.call(request).await;
    let request = matched
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .take();
    let (mut head, body) = request?.into_parts();
    let original = std::mem::replace(&mut head.uri, nested_uri);
    head.extensions.insert(OriginalUri(original));
    if let Some(restore) = restore {
        restore(&mut head, &stored.head.caller());
    }
    Some(Request::from_parts(head, body))
}
