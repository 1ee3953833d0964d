//! The body of a token request.

use std::fmt;

use url::form_urlencoded::byte_serialize;
use zeroize::Zeroizing;

use crate::scope::Scopes;

/// Names and values as `application/x-www-form-urlencoded`; wiped when dropped,
/// because some of the values are credentials.
#[derive(Clone)]
pub(crate) struct Form(Zeroizing<String>);

impl Form {
    pub(crate) fn new(grant_type: &str) -> Self {
        // Room for everything, so that growing leaves no copies behind.
        let mut form = Self(Zeroizing::new(String::with_capacity(8192)));
        form.add("grant_type", grant_type);
        form
    }

    pub(crate) fn add(&mut self, name: &str, value: &str) {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        self.0.extend(byte_serialize(name.as_bytes()));
        self.0.push('=');
        self.0.extend(byte_serialize(value.as_bytes()));
    }

    pub(crate) fn add_some(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }

    pub(crate) fn add_scopes(&mut self, scopes: &Scopes) {
        self.add_some("scope", scopes.to_parameter().as_deref());
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Form(…)")
    }
}
