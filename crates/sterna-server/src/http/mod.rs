//! HTTP as MCP uses it: the front of a server, and the endpoint behind it.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use http::{HeaderMap, Response};
use sterna_protocol::http::decode_value;

pub use sterna_http::clock::Clock;
pub use sterna_http::{
    Aborted, Accepts, Admission, Check, Checking, ConfigError, ConnectionStore, Counter,
    DrainReport, Endpoint, Events, Gauge, Health, Histogram, HttpConfig, HttpServer, Inbound,
    Inbox, Limits, Operation, Outbox, Peer, Probes, PushError, Rate, Rates, Refusal, Registry,
    ResponseBody, ServeError, Shutdown, Timeouts, interrupted, outbox, reply,
};

use crate::core::Core;
use crate::current::CurrentCore;
use crate::era::{Era, era};
use crate::reply::{Reply, refuse};
use crate::{sessions, v2026};

/// Response headers of MCP that a web page may read.
const EXPOSED_HEADERS: &str = "Mcp-Session-Id, WWW-Authenticate, Retry-After";

/// Reads the method and the name that a request's headers mirror.
fn operation(headers: &HeaderMap) -> Operation<'_> {
    let text = |name| headers.get(name).and_then(|value| decode_value(value).ok());
    Operation {
        method: text("mcp-method").unwrap_or(Cow::Borrowed("")),
        // AUTH-S2: the same scopes as the body would lead to, however it is spelled here.
        name: text("mcp-name"),
    }
}

/// MCP endpoint of a [`Service`](crate::Service).
pub struct Mcp(pub(crate) CurrentCore);

impl Endpoint for Mcp {
    fn refuse(&self, refusal: Refusal) -> Response<ResponseBody> {
        refuse(refusal)
    }

    fn operation<'a>(&self, headers: &'a HeaderMap) -> Option<Operation<'a>> {
        Some(operation(headers))
    }

    fn exposed_headers(&self) -> &'static str {
        EXPOSED_HEADERS
    }

    fn last_work(&self) -> Option<Instant> {
        let core = self.0.core();
        let worked = core.tasks.as_ref()?.queue.last_work()?;
        Some(worked.into_std())
    }

    fn call(&self, inbound: Inbound) -> impl Future<Output = Response<ResponseBody>> + Send {
        let core = self.0.core();
        let now = core.now();
        let reply = if core.key_reloader.refresh(now) {
            Reply::pending(async move {
                core.key_reloader.wait(now).await;
                answer(core, inbound).finish().await
            })
        } else {
            answer(core, inbound)
        };
        reply.finish()
    }
}

fn answer(core: Arc<Core>, inbound: Inbound) -> Reply {
    match era(&inbound) {
        Era::Standalone => v2026::answer(core, inbound),
        Era::Session if core.serves_sessions => Reply::pending(sessions::answer(core, inbound)),
        Era::Session => match sessions::reject_initialize(&core, &inbound) {
            Some(refusal) => Reply::Ready(refusal),
            None => v2026::answer(core, inbound),
        },
    }
}

impl fmt::Debug for Mcp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.core().fmt(f)
    }
}
