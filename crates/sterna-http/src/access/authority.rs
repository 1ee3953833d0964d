//! A host and perhaps a port.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// A host and perhaps a port, in text that is borrowed or owned: requests are
/// many and are read in place, the list of our names is kept.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Authority<T> {
    host: Host<T>,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq)]
enum Host<T> {
    Address(IpAddr),
    Name(T),
}

impl<'a> Authority<&'a str> {
    pub(super) fn parse(text: &'a str) -> Option<Self> {
        let (host, rest) = match text.strip_prefix('[') {
            Some(bracketed) => {
                let (address, rest) = bracketed.split_once(']')?;
                let address: Ipv6Addr = address.parse().ok()?;
                (Host::Address(address.into()), rest)
            }
            None => {
                let end = text.find(':').unwrap_or(text.len());
                let (host, rest) = text.split_at(end);
                (Host::parse(host)?, rest)
            }
        };
        let port = match rest.strip_prefix(':') {
            None if rest.is_empty() => None,
            Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(digits.parse().ok()?)
            }
            _ => return None,
        };
        Some(Self { host, port })
    }

    pub(super) fn into_owned(self) -> Authority<String> {
        Authority {
            host: match self.host {
                Host::Address(address) => Host::Address(address),
                Host::Name(name) => Host::Name(name.to_owned()),
            },
            port: self.port,
        }
    }

    pub(super) fn is_loopback(&self) -> bool {
        match &self.host {
            Host::Address(address) => address.is_loopback(),
            Host::Name(name) => name.eq_ignore_ascii_case("localhost"),
        }
    }

    /// Returns `true` for an address, `false` for a name.
    pub(super) fn is_any_address(&self) -> bool {
        matches!(self.host, Host::Address(_))
    }

    /// Returns whether this is the very address a connection came in at.
    pub(super) fn is_address(&self, bound: SocketAddr) -> bool {
        let here = matches!(self.host, Host::Address(address) if address == bound.ip());
        here && self.port.is_none_or(|port| port == bound.port())
    }
}

impl Authority<String> {
    /// Returns whether a listed name covers `asked`; without a port it covers any.
    pub(super) fn covers(&self, asked: &Authority<&str>) -> bool {
        let same = match (&self.host, &asked.host) {
            (Host::Address(listed), Host::Address(asked)) => listed == asked,
            (Host::Name(listed), Host::Name(asked)) => listed.eq_ignore_ascii_case(asked),
            (Host::Address(_), Host::Name(_)) | (Host::Name(_), Host::Address(_)) => false,
        };
        same && (self.port.is_none() || self.port == asked.port)
    }
}

impl<'a> Host<&'a str> {
    fn parse(text: &'a str) -> Option<Self> {
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Some(Self::Address(address.into()));
        }
        let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let is_name = !text.is_empty() && text.bytes().all(letters);
        is_name.then_some(Self::Name(text))
    }
}
