//! Checks of `Host` and `Origin`: the names of the server and the pages it
//! serves.
//!
//! A web page can make a browser send requests to any address, also to one on
//! the user's own machine. Two headers that the page cannot forge give it away:
//! the `Origin`, and the `Host` when the page's own name points at us. Both are
//! checked; a good `Host` does not make up for a foreign `Origin`.

mod authority;

#[cfg(test)]
mod tests;

use std::net::SocketAddr;

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, HOST,
    ORIGIN, VARY,
};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, Response, StatusCode};

use super::body::ResponseBody;
use super::config::ConfigError;
use super::config::HttpConfig;
use super::refusal::Refusal;
use authority::Authority;

#[derive(Debug)]
pub(super) struct Access {
    hosts: Vec<Authority<String>>,
    origins: Vec<String>,
    any_host: bool,
    any_origin: bool,
}

impl Access {
    pub(super) fn new(config: &HttpConfig) -> Result<Self, ConfigError> {
        let host = |text: &String| match Authority::parse(text) {
            Some(host) => Ok(host.into_owned()),
            None => Err(ConfigError::Host(text.clone())),
        };
        let origin = |text: &String| match is_origin(text) {
            true => Ok(text.clone()),
            false => Err(ConfigError::Origin(text.clone())),
        };
        Ok(Self {
            hosts: config.hosts.iter().map(host).collect::<Result<_, _>>()?,
            origins: config
                .origins
                .iter()
                .map(origin)
                .collect::<Result<_, _>>()?,
            any_host: config.dangerous_any_host,
            any_origin: config.dangerous_any_origin,
        })
    }

    /// Returns whether a server that listens on `address` has a name that clients can
    /// call it by.
    pub(super) fn is_reachable_at(&self, address: SocketAddr) -> bool {
        self.any_host || !self.hosts.is_empty() || !address.ip().is_unspecified()
    }

    /// The page the request comes from, if it comes from one we serve (HTTP-S2).
    pub(super) fn origin<'a>(
        &self,
        headers: &'a HeaderMap,
    ) -> Result<Option<&'a HeaderValue>, Refusal> {
        let mut values = headers.get_all(ORIGIN).iter();
        let Some(value) = values.next() else {
            return Ok(None);
        };
        let ours = values.next().is_none()
            && (self.any_origin || value.to_str().is_ok_and(|text| self.serves(text)));
        if ours {
            Ok(Some(value))
        } else {
            Err(Refusal::ForeignOrigin)
        }
    }

    fn serves(&self, origin: &str) -> bool {
        is_loopback_page(origin)
            || self
                .origins
                .iter()
                .any(|listed| listed.eq_ignore_ascii_case(origin))
    }

    /// Checks that a probe is meant for us. It may name any address: only a
    /// name can be pointed at us without our knowledge.
    pub(super) fn probe_host(
        &self,
        head: &Parts,
        bound: Option<SocketAddr>,
    ) -> Result<(), Refusal> {
        match named_host(head) {
            Ok(host) if host.is_any_address() => Ok(()),
            _ => self.host(head, bound),
        }
    }

    /// Checks that the request is meant for us, on a connection to `bound`.
    pub(super) fn host(&self, head: &Parts, bound: Option<SocketAddr>) -> Result<(), Refusal> {
        let host = named_host(head)?;
        let ours = self.any_host
            || host.is_loopback()
            || bound.is_some_and(|bound| host.is_address(bound))
            || self.hosts.iter().any(|listed| listed.covers(&host));
        if ours {
            Ok(())
        } else {
            Err(Refusal::ForeignHost)
        }
    }
}

/// Checks that a request with an `Origin` comes from a page of the host that it
/// names.
pub(super) fn same_origin(head: &Parts) -> Result<(), Refusal> {
    let mut values = head.headers.get_all(ORIGIN).iter();
    let Some(value) = values.next() else {
        return Ok(());
    };
    let page = value.to_str().ok().and_then(split_origin);
    let host = named_host(head)?;
    match page {
        Some(("http" | "https", page)) if values.next().is_none() && page == host => Ok(()),
        _ => Err(Refusal::ForeignOrigin),
    }
}

/// The one host a request names, in its `Host` header, in its target, or the
/// same in both.
fn named_host(head: &Parts) -> Result<Authority<&str>, Refusal> {
    let target = head.uri.authority().map(http::uri::Authority::as_str);
    let mut values = head.headers.get_all(HOST).iter();
    let header = match values.next() {
        None => None,
        Some(value) => Some(value.to_str().map_err(|_| Refusal::BadHost)?),
    };
    let named = match (header, target) {
        _ if values.next().is_some() => return Err(Refusal::BadHost),
        (Some(header), Some(target)) if !header.eq_ignore_ascii_case(target) => {
            return Err(Refusal::BadHost);
        }
        (Some(named), _) | (None, Some(named)) => named,
        (None, None) => return Err(Refusal::BadHost),
    };
    Authority::parse(named).ok_or(Refusal::BadHost)
}

fn is_loopback_page(origin: &str) -> bool {
    let page = split_origin(origin);
    page.is_some_and(|(scheme, authority)| {
        matches!(scheme, "http" | "https") && authority.is_loopback()
    })
}

/// Returns whether `text` can be an origin; `null` is one only when it is listed.
fn is_origin(text: &str) -> bool {
    text == "null" || split_origin(text).is_some()
}

fn split_origin(text: &str) -> Option<(&str, Authority<&str>)> {
    let (scheme, rest) = text.split_once("://")?;
    let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    let is_scheme = !scheme.is_empty() && scheme.bytes().all(letters);
    Some((scheme, Authority::parse(rest)?)).filter(|_| is_scheme)
}

/// Answers the question a browser asks before a page's first request.
///
/// Any header may be sent: the endpoint may have headers of its own, and the
/// page is one we serve. Cookies never count, so none are allowed.
pub(super) fn preflight(asked: &HeaderMap, methods: &'static str) -> Response<ResponseBody> {
    let mut response = Response::new(ResponseBody::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    headers.insert(
        ACCESS_CONTROL_ALLOW_METHODS,
        HeaderValue::from_static(methods),
    );
    if let Some(names) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("7200"));
    response
}

/// Marks an answer as one that `page` may read.
pub(super) fn share(
    response: &mut Response<ResponseBody>,
    page: HeaderValue,
    exposed: &'static str,
) {
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, page);
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static(exposed),
    );
    headers.append(VARY, HeaderValue::from_static("Origin"));
}
