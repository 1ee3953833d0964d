//! The pages over HTTP: access, addresses, and answers.

mod actions;
mod doctor;
mod events;
mod recorded;
mod response;
mod store;
mod views;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, Response, StatusCode};
use sterna_http::{Endpoint, Inbound, Refusal, ResponseBody};
use sterna_store::Survey;

use crate::calls::{Calls, RoundId};
use crate::catalog::SharedCatalog;
use crate::checkup::Checkup;
use crate::config::{InspectorConfig, Sampler};
use crate::connections::Connections;
use crate::guard::{Denied, Guard};
use crate::pages;
use crate::recorder::Recordings;
use crate::urlencoded::Fields;
use crate::workbench::Workbench;

use response::{asset, html, protected};

/// One inspected server and its pages.
pub(crate) struct Site {
    target: String,
    guard: Guard,
    calls: Arc<Calls>,
    connections: Connections,
    catalog: SharedCatalog,
    workbench: Option<Workbench>,
    survey: Option<Arc<dyn Survey>>,
    sampler: Option<Sampler>,
    recorded: Option<Recorded>,
    /// True if the only call was read from a file.
    is_kept: bool,
    checkup: Checkup,
    /// True if the server is reached over HTTP.
    has_headers: bool,
    /// Longest wait for a connection, and for one list.
    patience: Duration,
}

/// Exchanges of a client that is recorded.
#[derive(Debug)]
pub(crate) struct Recorded {
    pub(crate) recordings: Arc<Recordings>,
    /// Address that the client connects to; `None` if it is on stdio.
    pub(crate) url: Option<String>,
}

/// The pages as an endpoint of the HTTP server.
#[derive(Debug)]
pub(crate) struct SiteEndpoint(pub(crate) Arc<Site>);

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Site").finish_non_exhaustive()
    }
}

impl Endpoint for SiteEndpoint {
    async fn call(&self, inbound: Inbound) -> Response<ResponseBody> {
        // Boxed, because the future of a page is large and each connection would hold it.
        protected(Box::pin(self.0.answer(inbound)).await)
    }

    fn refuse(&self, refusal: Refusal) -> Response<ResponseBody> {
        protected(refusal.into_response())
    }
}

impl Site {
    pub(crate) fn new(
        guard: Guard,
        config: InspectorConfig,
        calls: Arc<Calls>,
        recorded: Option<Recorded>,
    ) -> Self {
        let is_kept = config.bundle.is_some();
        if let Some(bundle) = config.bundle {
            calls.restore(bundle.call);
        }
        let keys = config.keys;
        let workbench = keys.map(|keys| Workbench::new(keys, config.audience, config.tenant));
        Self {
            has_headers: config.target.starts_with("http://")
                || config.target.starts_with("https://"),
            target: config.target,
            guard,
            connections: Connections::new(config.connector, config.patience, calls.clone()),
            checkup: Checkup::new(calls.clone()),
            calls,
            catalog: SharedCatalog::default(),
            workbench,
            survey: config.store,
            sampler: config.sampler,
            recorded,
            is_kept,
            patience: config.patience,
        }
    }

    pub(crate) fn ticket(&self) -> Option<String> {
        self.guard.ticket()
    }

    /// Cancels what runs and closes the connections.
    pub(crate) async fn close(&self) {
        self.calls.stop().await;
        self.checkup.stop().await;
        self.connections.close().await;
    }

    async fn answer(&self, inbound: Inbound) -> Response<ResponseBody> {
        let head = &inbound.head;
        let query = Fields::parse(head.uri.query().unwrap_or_default());
        let path = head.uri.path().to_owned();
        let is_get = head.method == Method::GET;
        if let Some(ticket) = query.get("ticket").filter(|_| is_get && path == "/") {
            return self.redeem(&inbound, ticket);
        }
        if let Err(denied) = self.guard.check(head) {
            return refused(denied);
        }
        if is_get {
            return self.get(&path, &query, inbound).await;
        }
        if head.method != Method::POST {
            return html(StatusCode::METHOD_NOT_ALLOWED, &pages::denied_page(false));
        }
        if !is_form(&head.headers) {
            return html(
                StatusCode::UNSUPPORTED_MEDIA_TYPE,
                &pages::denied_page(false),
            );
        }
        let form = Fields::parse(&String::from_utf8_lossy(&inbound.body));
        if let Err(denied) = self.guard.check_form(form.get("form_token")) {
            return refused(denied);
        }
        self.post(&path, &form).await
    }

    fn redeem(&self, inbound: &Inbound, ticket: &str) -> Response<ResponseBody> {
        // A page that connects would start the server a second time.
        let is_on_stdio = self.recorded.as_ref().is_some_and(|one| one.url.is_none());
        let welcome = pages::welcome_page(if is_on_stdio { "/recorded" } else { "/" });
        match self.guard.redeem(ticket) {
            Ok(cookie) => response::with_cookie(html(StatusCode::OK, &welcome), &cookie),
            // The browser has the cookie: the user came back through its history.
            Err(_) if self.guard.has_cookie(&inbound.head) => html(StatusCode::OK, &welcome),
            Err(denied) => refused(denied),
        }
    }

    async fn get(&self, path: &str, query: &Fields, inbound: Inbound) -> Response<ResponseBody> {
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        match segments.as_slice() {
            [""] if self.is_kept => response::see_other("/calls/1"),
            [""] => self.explore(query).await,
            ["inspect.css"] => asset("text/css; charset=utf-8", STYLE),
            ["inspect.js"] => asset("text/javascript; charset=utf-8", SCRIPT),
            ["calls"] => self.list_calls(),
            ["calls", call] => self.show_call(call, query),
            ["calls", call, "bundle"] => self.download_call(call),
            ["calls", call, "export"] => self.show_export(call, query),
            ["calls", call, "rounds", round, "token"] => match round_id(call, round) {
                Some(at) => self.show_token(at, query).await,
                None => self.not_found(),
            },
            ["calls", call, "rounds", round, "image"] => match round_id(call, round) {
                Some(at) => self.show_image(at, query),
                None => self.not_found(),
            },
            ["complete"] => self.complete(query).await,
            ["connection"] => self.show_connection(),
            ["doctor"] => self.show_doctor(),
            ["eras"] => self.show_eras(query, None, StatusCode::OK),
            ["events"] => events::changes(self.calls.subscribe(), inbound.shutdown),
            ["recorded"] => self.show_recorded(),
            ["recorded", exchange] => self.show_exchange(exchange),
            ["request"] => self.show_request(query).await,
            ["store"] => self.show_store(query).await,
            ["store", "tasks", task] => self.show_task(task, query).await,
            _ => self.not_found(),
        }
    }

    async fn post(&self, path: &str, form: &Fields) -> Response<ResponseBody> {
        if self.is_kept {
            let text = "This call was read from a file. There is no server to send anything to.";
            return self.problem(StatusCode::METHOD_NOT_ALLOWED, "Not possible", text);
        }
        let segments: Vec<&str> = path.split('/').skip(1).collect();
        match segments.as_slice() {
            ["calls"] => self.begin(form).await,
            ["calls", call, "rounds", round, action] => match round_id(call, round) {
                Some(at) => self.act(at, action, form).await,
                None => self.not_found(),
            },
            ["doctor"] => self.examine(form),
            ["reconnect"] => {
                self.connections.close().await;
                self.catalog.forget();
                response::see_other("/")
            }
            ["reload"] => {
                self.catalog.forget();
                response::see_other("/")
            }
            _ => self.not_found(),
        }
    }
}

fn round_id(call: &str, round: &str) -> Option<RoundId> {
    Some(RoundId {
        call: call.parse().ok()?,
        round: round.parse().ok()?,
    })
}

fn refused(denied: Denied) -> Response<ResponseBody> {
    let page = pages::denied_page(denied == Denied::UsedTicket);
    html(StatusCode::FORBIDDEN, &page)
}

fn is_form(headers: &HeaderMap) -> bool {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next());
    kind.is_some_and(|kind| {
        kind.trim()
            .eq_ignore_ascii_case("application/x-www-form-urlencoded")
    })
}

const SCRIPT: &str = include_str!("../../assets/inspect.js");
const STYLE: &str = include_str!("../../assets/inspect.css");
