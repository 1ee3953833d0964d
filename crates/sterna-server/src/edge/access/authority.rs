//! A host and perhaps a port.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Authority {
    host: Host,
    port: Option<u16>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Host {
    Address(IpAddr),
    Name(String),
}

impl Authority {
    pub(super) fn parse(text: &str) -> Option<Self> {
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

    pub(super) fn is_loopback(&self) -> bool {
        match &self.host {
            Host::Address(address) => address.is_loopback(),
            Host::Name(name) => name == "localhost",
        }
    }

    /// Whether this is the very address a connection came in at.
    pub(super) fn is_address(&self, bound: SocketAddr) -> bool {
        self.host == Host::Address(bound.ip()) && self.port.is_none_or(|port| port == bound.port())
    }

    /// Whether a listed name covers `asked`; without a port it covers any.
    pub(super) fn covers(&self, asked: &Self) -> bool {
        self.host == asked.host && (self.port.is_none() || self.port == asked.port)
    }
}

impl Host {
    fn parse(text: &str) -> Option<Self> {
        if let Ok(address) = text.parse::<Ipv4Addr>() {
            return Some(Self::Address(address.into()));
        }
        let letters = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
        let is_name = !text.is_empty() && text.bytes().all(letters);
        is_name.then(|| Self::Name(text.to_ascii_lowercase()))
    }
}
