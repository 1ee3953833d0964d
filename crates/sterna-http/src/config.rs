//! Every number and name of the server, with the reason for its default.

use std::time::Duration;
use std::{fmt, io};

use crate::clock::Clock;

/// Configuration of an HTTP server.
///
/// # Examples
///
/// ```
/// use sterna_http::HttpConfig;
///
/// let mut config = HttpConfig::default();
/// config.hosts.push("mcp.example.com".to_owned());
/// config.limits.body_bytes = 1 << 20;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpConfig {
    /// Path of the endpoint. By default `/mcp`, where MCP clients look. `None`
    /// takes every path that is not one of our own, for a server mounted inside
    /// a router that has already matched the path.
    pub path: Option<String>,
    /// Lets GET and DELETE reach the endpoint. On by default: sessions of MCP's
    /// 2025 revisions need them. Off, they are answered with 405.
    pub get_and_delete: bool,
    /// Serves web pages instead of an API. Off by default. On, forms of any media
    /// type may be posted, any kind of answer is returned, and a request with an
    /// `Origin` must come from a page of this very server: no other page may call,
    /// not even one on another port of loopback, and no answer is shared with one.
    pub pages: bool,
    /// Names this server goes by, as `host` (any port) or `host:port`, besides
    /// loopback and the address it listens on. Empty by default, so that DNS
    /// rebinding cannot reach the server.
    pub hosts: Vec<String>,
    /// Web origins whose pages may call, as `https://app.example.com`, besides
    /// those on loopback. Empty by default: a page is foreign until it is named.
    pub origins: Vec<String>,
    /// Answers to any `Host`. Off: only for a server behind a proxy that checks
    /// the name itself.
    pub dangerous_any_host: bool,
    /// Answers pages of any origin. Off: every web page a user opens could then
    /// call a server on the user's machine.
    pub dangerous_any_origin: bool,
    /// Limits on the memory and the number of simultaneous requests.
    pub limits: Limits,
    /// Rate limits of one caller.
    pub rates: Rates,
    /// Time-outs.
    pub timeouts: Timeouts,
    /// Serves `/metrics`. Off: it tells a stranger how busy we are.
    pub metrics: bool,
    /// Wall clock by which access tokens expire. The system's by default; a test
    /// gives another one.
    pub clock: Clock,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            path: Some("/mcp".to_owned()),
            get_and_delete: true,
            pages: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            dangerous_any_host: false,
            dangerous_any_origin: false,
            limits: Limits::default(),
            rates: Rates::default(),
            timeouts: Timeouts::default(),
            metrics: false,
            clock: Clock::system(),
        }
    }
}

/// Limits on the memory and the number of simultaneous requests.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The largest request body; a larger one is 413. 4 MiB holds an image in
    /// an argument and is what other servers take.
    pub body_bytes: usize,
    /// The memory that one body may take once its JSON is parsed, as it is
    /// estimated from its brackets and commas; more is 413. 96 MiB: enough for
    /// 4 MiB of any numbers or records, and less than a sixth of what 4 MiB of
    /// brackets would take. Half of [`buffered_bytes`](Self::buffered_bytes) is
    /// the most it can be.
    pub parsed_bytes: usize,
    /// The memory that all peers together may make the server hold: bodies that
    /// come in pieces, parsed arguments, answers and events that have not been
    /// read, and what listeners have named. Beyond it 503, and the connection
    /// whose answer has waited longest is closed. 256 MiB: a server with a
    /// gigabyte keeps room for its handlers.
    pub buffered_bytes: usize,
    /// The largest request head; a larger one is 431. 32 KiB holds a long token
    /// and mirrored arguments, and is what proxies in front let through.
    pub head_bytes: usize,
    /// Open connections. Beyond 4096, the connection that has been without a
    /// request for longest is closed for a new one. If all have one, the new
    /// one is served probes only; anything else is 503.
    pub connections: usize,
    /// Calls running at once; one more is 503 with `Retry-After`. 512 keeps a
    /// call's share of two cores worth having.
    pub calls: usize,
    /// Open subscription streams, which wait rather than work; one more is 503.
    /// 2048 leave half of the connections for calls.
    pub listeners: usize,
    /// The percentage of `calls` and of `listeners` that one named caller may
    /// hold; one more is 429. 50: a single caller always leaves room for others.
    pub caller_percent: u8,
    /// The same for callers without a name, by their address or IPv6 network.
    /// Not for loopback, where a proxy may stand in front of all callers. 75: an
    /// address may be a proxy too, and is then set to 100.
    pub address_percent: u8,
    /// Bytes that one stream may hold before its reader takes them. 256 KiB: some
    /// thousand notifications. All listeners together have a quarter of
    /// [`buffered_bytes`](Self::buffered_bytes).
    pub event_bytes: usize,
    /// Resources that one listener or session may subscribe to; one more is
    /// `-32602`, in a session `-32603`. 1024: far above what a client shows.
    pub subscriptions: usize,
    /// The longest address that may be subscribed to; a longer one is `-32602`.
    /// 4 KiB: the longest path of a file system.
    pub uri_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 4 << 20,
            parsed_bytes: 96 << 20,
            buffered_bytes: 256 << 20,
            head_bytes: 32 << 10,
            connections: 4096,
            calls: 512,
            listeners: 2048,
            caller_percent: 50,
            address_percent: 75,
            event_bytes: 256 << 10,
            subscriptions: 1024,
            uri_bytes: 4 << 10,
        }
    }
}

/// Time-outs.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Timeouts {
    /// From a connection's first byte, or from its opening, to the end of a
    /// request head. Ten seconds: a head is one packet.
    pub head: Duration,
    /// From the end of the head to the end of the body. A minute: 4 MiB on a
    /// slow line.
    pub body: Duration,
    /// Time for which a connection may stay open without a request. 75 seconds:
    /// longer than the 60 of common load balancers, so that it is they who
    /// close and no request meets a closing connection.
    pub idle: Duration,
    /// Time for which a peer may leave our bytes unread, whether of a stream or of a
    /// whole answer; an answer is written in pieces of 64 KiB, each of which has
    /// this long. Thirty seconds: a peer that stops reading for longer is gone
    /// or means harm.
    pub write: Duration,
    /// The longest a call may run. Ten minutes: work that takes longer is a task.
    pub call: Duration,
    /// Interval between comments on a silent stream. Fifteen seconds: the strictest
    /// proxies we know cut a silent connection after sixty.
    pub keep_alive: Duration,
    /// Time for which we go on accepting after a shutdown began, while `/readyz` says
    /// that we leave. Zero by default: an orchestrator removes an instance
    /// before it stops it. Behind a load balancer that only polls, its polling
    /// interval.
    pub notice: Duration,
    /// Time without a request after which the server ends by itself, as if it had
    /// been told to. An open stream, a request of which a part is missing and a
    /// task that is worked on are no such time; a probe counts as a request.
    /// `None` by default: for a process that is started again by the next
    /// request, as by socket activation.
    pub exit_when_idle: Option<Duration>,
    /// Time for which running calls may go on after that. 25 seconds: within the 30
    /// that orchestrators grant before they kill.
    pub drain: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            body: Duration::from_secs(60),
            idle: Duration::from_secs(75),
            write: Duration::from_secs(30),
            call: Duration::from_secs(600),
            keep_alive: Duration::from_secs(15),
            notice: Duration::ZERO,
            exit_when_idle: None,
            drain: Duration::from_secs(25),
        }
    }
}

impl Timeouts {
    /// Makes every time one that can be added to a moment, so that "for ever"
    /// may be written as [`Duration::MAX`].
    pub(super) fn bound(&mut self) {
        let Self {
            head,
            body,
            idle,
            write,
            call,
            keep_alive,
            notice,
            exit_when_idle,
            drain,
        } = self;
        if let Some(time) = exit_when_idle {
            *time = (*time).min(LONGEST);
        }
        for time in [head, body, idle, write, call, keep_alive, notice, drain] {
            *time = LONGEST.min(*time);
        }
    }
}

/// A year: as good as for ever.
pub(super) const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Rates at which one caller may call and be asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rates {
    /// Calls of one named principal; one too many is 429. A hundred a second,
    /// five hundred at once: far above any agent, below what hurts.
    pub calls: Option<Rate>,
    /// Questions one named principal may cause. Ten a second, three hundred at
    /// once: no person answers faster, and a loop is stopped.
    pub questions: Option<Rate>,
    /// The same two for anonymous callers, by their address. Off: one address
    /// is often a proxy with many callers behind it.
    pub anonymous_calls: Option<Rate>,
    /// See [`anonymous_calls`](Self::anonymous_calls).
    pub anonymous_questions: Option<Rate>,
    /// Callers remembered at once. 16384 take a megabyte; further ones share
    /// one allowance.
    pub remembered: usize,
}

impl Default for Rates {
    fn default() -> Self {
        Self {
            calls: Some(Rate::new(500, Duration::from_millis(10))),
            questions: Some(Rate::new(300, Duration::from_millis(100))),
            anonymous_calls: None,
            anonymous_questions: None,
            remembered: 16_384,
        }
    }
}

/// So many at once, and one more for every `each` that passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub(super) burst: u32,
    pub(super) each: Duration,
}

impl Rate {
    /// `burst` at once, at least one, and one more for every `each`.
    #[must_use]
    pub fn new(burst: u32, each: Duration) -> Self {
        Self {
            burst: burst.max(1),
            each,
        }
    }
}

/// The configuration cannot be used; correct it and start again.
///
/// Its `Debug` is its text, so that a `main` that returns it says what to do.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// An entry of `hosts` is not `host` or `host:port`.
    #[error("{0:?} is not of the form host or host:port")]
    Host(String),
    /// A limit is too small for a single request.
    #[error("{0} is too small for a single request")]
    NoRoom(&'static str),
    /// An entry of `origins` is not `scheme://host` or `scheme://host:port`.
    #[error("{0:?} is not of the form scheme://host or scheme://host:port")]
    Origin(String),
    /// The path does not begin with a slash, or it is one of ours.
    #[error("{0:?} cannot be the path of the endpoint")]
    Path(String),
}

impl fmt::Debug for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The server could not be started.
#[derive(thiserror::Error)]
#[error("the server could not listen")]
pub struct ServeError {
    #[source]
    cause: io::Error,
}

impl fmt::Debug for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}: {}", self.cause)
    }
}

impl From<io::Error> for ServeError {
    fn from(cause: io::Error) -> Self {
        Self { cause }
    }
}
