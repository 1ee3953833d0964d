//! Access to the pages: a one-use ticket, a cookie, and a token in every form.

use std::fmt::Write as _;
use std::sync::{Mutex, PoisonError};

use http::header::COOKIE;
use http::request::Parts;
use http::{HeaderName, Method};
use sterna_seal::{Entropy as _, EntropyError, OsEntropy};

/// Secrets of one inspector. `Debug` shows none of them.
pub(crate) struct Guard {
    /// `None` once it was used.
    ticket: Mutex<Option<String>>,
    cookie_name: String,
    cookie: String,
    form_token: String,
}

/// Reason why a request is refused. The peer sees the same page for all of them
/// but [`UsedTicket`](Self::UsedTicket).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Denied {
    FormToken,
    NoCookie,
    OtherSite,
    UsedTicket,
}

impl Guard {
    /// Draws new secrets. Cookies of a browser are shared by all ports of a host,
    /// so the name of the cookie has the `port` in it.
    pub(crate) fn new(port: u16) -> Result<Self, EntropyError> {
        Ok(Self {
            ticket: Mutex::new(Some(secret()?)),
            cookie_name: format!("sterna_inspect_{port}"),
            cookie: secret()?,
            form_token: secret()?,
        })
    }

    /// The ticket, as long as it was not used.
    pub(crate) fn ticket(&self) -> Option<String> {
        let ticket = self.ticket.lock();
        ticket.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Token of every form.
    pub(crate) fn form_token(&self) -> &str {
        &self.form_token
    }

    /// Exchanges a ticket for the value of `Set-Cookie`. A ticket is good once.
    pub(crate) fn redeem(&self, given: &str) -> Result<String, Denied> {
        let mut ticket = self.ticket.lock().unwrap_or_else(PoisonError::into_inner);
        match ticket.as_deref() {
            Some(valid) if is_same(valid, given) => {
                *ticket = None;
                let (name, value) = (&self.cookie_name, &self.cookie);
                Ok(format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict"))
            }
            _ => Err(Denied::UsedTicket),
        }
    }

    /// Checks a request that brings no ticket.
    pub(crate) fn check(&self, head: &Parts) -> Result<(), Denied> {
        if !is_own_page(head) {
            return Err(Denied::OtherSite);
        }
        match self.has_cookie(head) {
            true => Ok(()),
            false => Err(Denied::NoCookie),
        }
    }

    /// Checks the token of a form.
    pub(crate) fn check_form(&self, given: Option<&str>) -> Result<(), Denied> {
        match given.is_some_and(|given| is_same(&self.form_token, given)) {
            true => Ok(()),
            false => Err(Denied::FormToken),
        }
    }

    pub(crate) fn has_cookie(&self, head: &Parts) -> bool {
        let values = head.headers.get_all(COOKIE).iter();
        let texts = values.filter_map(|value| value.to_str().ok());
        let mut pairs = texts.flat_map(|text| text.split(';'));
        pairs.any(|pair| {
            let named = pair.trim().split_once('=');
            named.is_some_and(|(name, value)| {
                name == self.cookie_name && is_same(&self.cookie, value)
            })
        })
    }
}

impl std::fmt::Debug for Guard {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guard").finish_non_exhaustive()
    }
}

/// Returns true unless the browser says that another site made the request.
/// Another port of loopback is the same site and still not our page. A person
/// who types the address (`none`) may read, and only our own forms may write.
fn is_own_page(head: &Parts) -> bool {
    let reads = head.method == Method::GET;
    match head
        .headers
        .get(SEC_FETCH_SITE)
        .map(|value| value.as_bytes())
    {
        None | Some(b"same-origin") => true,
        Some(b"none") => reads,
        Some(_) => false,
    }
}

/// 256 random bits as hexadecimal digits.
fn secret() -> Result<String, EntropyError> {
    let mut bytes = [0; 32];
    OsEntropy.fill(&mut bytes)?;
    let mut text = String::with_capacity(64);
    for byte in bytes {
        write!(text, "{byte:02x}").expect("a string takes what is written");
    }
    Ok(text)
}

/// Compares without telling by its time how much was right.
fn is_same(valid: &str, given: &str) -> bool {
    let (valid, given) = (valid.as_bytes(), given.as_bytes());
    let differences = valid.iter().zip(given).fold(0, |sum, (a, b)| sum | (a ^ b));
    valid.len() == given.len() && differences == 0
}

const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
