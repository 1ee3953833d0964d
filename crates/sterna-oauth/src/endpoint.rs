//! Which URLs may be contacted, and which belong together.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use url::{Host, Url};

use crate::error::Fault;
use crate::printable::printable;

/// Hosts that the URLs of a server may name.
///
/// A server somewhere in the network must not send us to this machine or to
/// its metadata service; a server on this machine may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reach {
    Loopback,
    Network,
}

impl Reach {
    pub(crate) fn of(url: &Url) -> Self {
        if is_loopback(url) {
            Self::Loopback
        } else {
            Self::Network
        }
    }

    /// Accepts a URL that a peer or the user has named.
    pub(crate) fn check(self, what: &'static str, text: &str) -> Result<Endpoint, Fault> {
        let refuse = |why| Fault::Url {
            what,
            url: printable(text),
            why,
        };
        // The parser would silently repair these, and what is compared would
        // not be what was sent.
        if text.len() > MAX_URL_BYTES || text.bytes().any(|b| b <= b' ' || b == 0x7f || b == b'\\')
        {
            return Err(refuse("is not a well-formed URL"));
        }
        let url = Url::parse(text).map_err(|_| refuse("is not a well-formed URL"))?;
        if url.fragment().is_some() {
            return Err(refuse("has a fragment"));
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse("holds a user name or a password"));
        }
        match (url.scheme(), self) {
            ("http", Self::Loopback) if is_loopback(&url) => {}
            ("https", Self::Loopback) => {}
            ("https", Self::Network) if !is_this_machine(&url) => {}
            ("https" | "http", Self::Network) if is_this_machine(&url) => {
                return Err(refuse(
                    "points to this machine, but its server is elsewhere",
                ));
            }
            _ => return Err(refuse("is not https")),
        }
        Ok(Endpoint(url))
    }
}

/// A URL that has passed [`Reach::check`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Endpoint(Url);

impl Endpoint {
    pub(crate) fn url(&self) -> &Url {
        &self.0
    }

    pub(crate) fn host(&self) -> String {
        self.0.host_str().map(printable).unwrap_or_default()
    }

    /// Scheme, host and port: what a DPoP nonce is kept for.
    pub(crate) fn origin(&self) -> String {
        self.0.origin().ascii_serialization()
    }

    /// The same place with another path and no query.
    pub(crate) fn at(&self, path: &str) -> Self {
        let mut url = self.0.clone();
        url.set_path(path);
        url.set_query(None);
        Self(url)
    }

    /// The same place with another path and its own query.
    pub(crate) fn with_path(&self, path: &str) -> Self {
        let mut url = self.0.clone();
        url.set_path(path);
        Self(url)
    }

    /// The path, empty if it is only a slash.
    pub(crate) fn path(&self) -> &str {
        self.0.path().trim_end_matches('/')
    }

    /// Returns true if `other` is this resource or a part of it: same origin, and
    /// a path below this one.
    pub(crate) fn covers(&self, other: &Url) -> bool {
        let below = other
            .path()
            .strip_prefix(self.path())
            .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        let queried = self.0.query().is_none() || self.0.query() == other.query();
        self.0.origin() == other.origin() && below && queried
    }
}

/// Returns true for a redirect URI that is on this machine or uses https
/// (AUTHSEC-C2).
pub(crate) fn is_redirect_uri(text: &str) -> bool {
    Reach::Loopback.check("redirect URI", text).is_ok()
}

/// Returns true if only this machine can answer requests to `url`.
pub fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Also counts addresses that mean "here" or "the link", such as the metadata
/// service of a cloud machine.
fn is_this_machine(url: &Url) -> bool {
    let literal = match url.host() {
        Some(Host::Ipv4(address)) => IpAddr::V4(address),
        Some(Host::Ipv6(address)) => address.to_canonical(),
        Some(Host::Domain(_)) | None => return is_loopback(url),
    };
    match literal {
        IpAddr::V4(address) => {
            address.is_loopback() || address.is_link_local() || address == Ipv4Addr::UNSPECIFIED
        }
        IpAddr::V6(address) => {
            address.is_loopback()
                || address.is_unicast_link_local()
                || address == Ipv6Addr::UNSPECIFIED
        }
    }
}

const MAX_URL_BYTES: usize = 4096;

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn a_server_in_the_network_reaches_the_network_only() {
        check(
            Reach::Network,
            &[
                "https://as.example.com/token?x=1",
                "https://10.0.0.5/token",
                "http://as.example.com/token",
                "https://localhost/token",
                "http://127.0.0.1:8080/admin",
                "https://169.254.169.254/latest",
                "https://[::ffff:169.254.169.254]/latest",
                "https://[fe80::1]/",
                "https://0.0.0.0/",
                "https://2130706433/",
            ],
            expect![[r#"
                ok
                ok
                is not https
                points to this machine, but its server is elsewhere
                points to this machine, but its server is elsewhere
                points to this machine, but its server is elsewhere
                points to this machine, but its server is elsewhere
                points to this machine, but its server is elsewhere
                points to this machine, but its server is elsewhere
                points to this machine, but its server is elsewhere
            "#]],
        );
    }

    #[test]
    fn a_server_on_this_machine_may_use_plain_http_here() {
        check(
            Reach::Loopback,
            &[
                "http://127.0.0.1:8080/mcp",
                "http://[::1]/mcp",
                "http://localhost/mcp",
                "https://as.example.com",
                "http://as.example.com",
                "http://127.0.0.1.example.com/",
                "ftp://127.0.0.1/",
                "file:///etc/passwd",
            ],
            expect![[r#"
                ok
                ok
                ok
                ok
                is not https
                is not https
                is not https
                is not https
            "#]],
        );
    }

    #[test]
    fn what_a_parser_would_repair_is_refused() {
        check(
            Reach::Network,
            &[
                "https://a.example/\tb",
                " https://a.example/",
                "https:\\\\a.example\\",
                "https://user@a.example/",
                "https://:pw@a.example/",
                "https://a.example/#top",
                "a.example/token",
                "",
            ],
            expect![[r#"
                is not a well-formed URL
                is not a well-formed URL
                is not a well-formed URL
                holds a user name or a password
                holds a user name or a password
                has a fragment
                is not a well-formed URL
                is not a well-formed URL
            "#]],
        );
    }

    #[test]
    fn a_resource_covers_itself_and_what_is_below_it() {
        let covers = |resource: &str, url: &str| {
            let resource = Reach::Network.check("resource", resource).unwrap();
            resource.covers(&Url::parse(url).unwrap())
        };
        assert!(covers("https://a.example/mcp", "https://a.example/mcp"));
        assert!(covers("https://a.example/mcp/", "https://a.example/mcp"));
        assert!(covers("https://a.example", "https://a.example/any/mcp?x=1"));
        assert!(covers(
            "HTTPS://A.example:443/mcp",
            "https://a.example/mcp/sub"
        ));
        assert!(!covers("https://a.example/mcp", "https://a.example/mcp2"));
        assert!(!covers(
            "https://a.example/mcp",
            "https://a.example/mcp/../other"
        ));
        assert!(!covers(
            "https://a.example/mcp",
            "https://a.example:444/mcp"
        ));
        assert!(!covers("https://a.example/mcp", "https://b.example/mcp"));
        assert!(!covers(
            "https://a.example/mcp?t=1",
            "https://a.example/mcp?t=2"
        ));
    }

    #[track_caller]
    fn check(reach: Reach, urls: &[&str], expected: Expect) {
        let verdicts: String = urls
            .iter()
            .map(|url| match reach.check("URL", url) {
                Ok(_) => "ok\n".to_owned(),
                Err(Fault::Url { why, .. }) => format!("{why}\n"),
                Err(other) => format!("{other}\n"),
            })
            .collect();
        expected.assert_eq(&verdicts);
    }
}
