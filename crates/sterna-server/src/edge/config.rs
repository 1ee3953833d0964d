//! Every number and name of the edge, with the reason for its default.

use std::time::Duration;

/// How the server meets the network.
///
/// # Examples
///
/// ```
/// use sterna_server::edge::EdgeConfig;
///
/// let mut config = EdgeConfig::default();
/// config.hosts.push("mcp.example.com".to_owned());
/// config.limits.body_bytes = 1 << 20;
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EdgeConfig {
    /// Where the MCP endpoint is. `/mcp` is where clients and the official
    /// suite look. `None` takes every path that is not one of our own, for a
    /// server mounted inside a router that has already matched the path.
    pub path: Option<String>,
    /// Whether GET and DELETE reach the endpoint. They do: sessions of the 2025
    /// revisions need them. A modern-only server answers them with 405.
    pub legacy: bool,
    /// Names this server goes by, as `host` (any port) or `host:port`, besides
    /// loopback and the address it listens on. None: a web page that has a name
    /// of its own point at us must not be able to call us.
    pub hosts: Vec<String>,
    /// Web origins whose pages may call, as `https://app.example.com`, besides
    /// those on loopback. None: pages are strangers until named.
    pub origins: Vec<String>,
    /// Answers to any `Host`. Off: only for a server behind a proxy that checks
    /// the name itself.
    pub dangerous_any_host: bool,
    /// Answers pages of any origin. Off: every web page a user opens could then
    /// call a server on the user's machine.
    pub dangerous_any_origin: bool,
    /// How much is taken in at once.
    pub limits: Limits,
    /// How often one caller may call.
    pub rates: Rates,
    /// How long things may take.
    pub timeouts: Timeouts,
    /// Whether `/metrics` is served. Off: it tells a stranger how busy we are.
    pub metrics: bool,
}

impl Default for EdgeConfig {
    fn default() -> Self {
        Self {
            path: Some("/mcp".to_owned()),
            legacy: true,
            hosts: Vec::new(),
            origins: Vec::new(),
            dangerous_any_host: false,
            dangerous_any_origin: false,
            limits: Limits::default(),
            rates: Rates::default(),
            timeouts: Timeouts::default(),
            metrics: false,
        }
    }
}

/// How much is taken in at once.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Limits {
    /// The largest request body; a larger one is 413. 4 MiB holds an image in
    /// an argument and is what other servers take.
    pub body_bytes: usize,
    /// What all request bodies that come in pieces may hold together; beyond it
    /// 503. 256 MiB: many large ones cannot fill the memory of a small machine.
    pub buffered_bytes: usize,
    /// The largest request head; a larger one is 431. 32 KiB holds a long token
    /// and mirrored arguments, and is what proxies in front let through.
    pub head_bytes: usize,
    /// Open connections. At 4096 we stop accepting and the kernel queues; a
    /// process that has fewer descriptors is slowed, not stopped.
    pub connections: usize,
    /// Calls running at once; one more is 503 with `Retry-After`. 512 keeps a
    /// call's share of two cores worth having.
    pub calls: usize,
    /// Open subscription streams, which wait rather than work; one more is 503.
    /// 2048 leave half of the connections for calls.
    pub listeners: usize,
    /// What one stream may hold that its reader has not taken. 256 KiB: some
    /// thousand notifications, times all listeners half a gigabyte at worst.
    pub event_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 4 << 20,
            buffered_bytes: 256 << 20,
            head_bytes: 32 << 10,
            connections: 4096,
            calls: 512,
            listeners: 2048,
            event_bytes: 256 << 10,
        }
    }
}

/// How long things may take.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Timeouts {
    /// From a connection's first byte, or from its opening, to the end of a
    /// request head. Ten seconds: a head is one packet.
    pub head: Duration,
    /// From the end of the head to the end of the body. A minute: 4 MiB on a
    /// slow line.
    pub body: Duration,
    /// How long a connection may be kept open without a request. 75 seconds:
    /// longer than the 60 of common load balancers, so that it is they who
    /// close and no request meets a closing connection.
    pub idle: Duration,
    /// How long a peer may leave our bytes unread. Thirty seconds: whoever
    /// stops reading for longer is gone or means harm.
    pub write: Duration,
    /// The longest a call may run. Ten minutes: what takes longer is a task.
    pub call: Duration,
    /// How often a silent stream sends a comment. Fifteen seconds: the strictest
    /// proxies we know cut a silent connection after sixty.
    pub keep_alive: Duration,
    /// How long we go on accepting after a shutdown began, while `/readyz` says
    /// that we leave. Not at all: orchestrators send nobody to a server they
    /// stop. Behind a load balancer that only polls, its polling interval.
    pub notice: Duration,
    /// How long running calls may go on after that. 25 seconds: within the 30
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
            drain,
        } = self;
        for time in [head, body, idle, write, call, keep_alive, notice, drain] {
            *time = LONGEST.min(*time);
        }
    }
}

/// A year: as good as for ever.
pub(super) const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// How often one caller may call and have itself asked.
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
    /// is often a proxy with everybody behind it.
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
