//! Metadata of a client.

use serde_json::{Value, json};
use url::Url;

use crate::endpoint::is_loopback;

/// Metadata of a client, shown to servers and through them to users.
#[derive(Clone, Debug)]
pub struct ClientMetadata {
    name: String,
    uri: Option<String>,
    logo: Option<String>,
}

impl ClientMetadata {
    /// A client of this name; users see it when they are asked for consent.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            uri: None,
            logo: None,
        }
    }

    /// The client's home page.
    #[must_use]
    pub fn uri(mut self, uri: impl Into<String>) -> Self {
        self.uri = Some(uri.into());
        self
    }

    /// A picture that users recognise the client by.
    #[must_use]
    pub fn logo(mut self, uri: impl Into<String>) -> Self {
        self.logo = Some(uri.into());
        self
    }

    /// The Client ID Metadata Document to serve at `client_id`, its own URL.
    ///
    /// It describes a public client; one with a key adds its
    /// `token_endpoint_auth_method` and `jwks_uri`.
    ///
    /// # Examples
    ///
    /// ```
    /// use sterna_oauth::ClientMetadata;
    ///
    /// let url = "https://app.example/client.json";
    /// let document = ClientMetadata::new("My app").to_document(url, ["http://127.0.0.1:3000/callback"]);
    /// assert_eq!(document["client_id"], url);
    /// assert_eq!(document["grant_types"][1], "refresh_token");
    /// ```
    pub fn to_document<'a>(
        &self,
        client_id: &str,
        redirect_uris: impl IntoIterator<Item = &'a str>,
    ) -> Value {
        let redirect_uris: Vec<_> = redirect_uris.into_iter().collect();
        let mut document = self.describe(&redirect_uris, "none", &GRANT_TYPES);
        document["client_id"] = json!(client_id);
        document
    }

    /// The body of a registration request (RFC 7591).
    pub(super) fn to_request(
        &self,
        redirect_uri: &str,
        auth_method: &str,
        known_grants: Option<&[String]>,
    ) -> Value {
        let known =
            |grant: &&str| known_grants.is_none_or(|known| known.iter().any(|own| own == grant));
        // A server that lists its grants may refuse a registration that asks for others.
        let mut grants = vec![GRANT_TYPES[0]];
        grants.extend(GRANT_TYPES[1..].iter().filter(|grant| known(grant)));
        self.describe(&[redirect_uri], auth_method, &grants)
    }

    fn describe(&self, redirect_uris: &[&str], auth_method: &str, grants: &[&str]) -> Value {
        // REG-C8, REG-C9: without it OpenID servers take us for a website.
        let native = redirect_uris.iter().all(|uri| is_native(uri));
        let mut description = json!({
            "application_type": if native { "native" } else { "web" },
            "client_name": self.name,
            "grant_types": grants,
            "redirect_uris": redirect_uris,
            "response_types": ["code"],
            "token_endpoint_auth_method": auth_method,
        });
        for (name, value) in [("client_uri", &self.uri), ("logo_uri", &self.logo)] {
            if let Some(value) = value {
                description[name] = json!(value);
            }
        }
        description
    }
}

fn is_native(redirect_uri: &str) -> bool {
    Url::parse(redirect_uri).is_ok_and(|url| is_loopback(&url))
}

const GRANT_TYPES: [&str; 2] = ["authorization_code", "refresh_token"];

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[test]
    fn a_redirect_to_this_machine_makes_a_native_client() {
        check(
            "http://127.0.0.1:7/cb",
            None,
            expect![[
                r#"{"application_type":"native","client_name":"App","grant_types":["authorization_code","refresh_token"],"redirect_uris":["http://127.0.0.1:7/cb"],"response_types":["code"],"token_endpoint_auth_method":"none","client_uri":"https://app.example"}"#
            ]],
        );
    }

    #[test]
    fn a_redirect_elsewhere_makes_a_web_client() {
        check(
            "https://app.example/cb",
            Some(&["authorization_code"]),
            expect![[
                r#"{"application_type":"web","client_name":"App","grant_types":["authorization_code"],"redirect_uris":["https://app.example/cb"],"response_types":["code"],"token_endpoint_auth_method":"none","client_uri":"https://app.example"}"#
            ]],
        );
    }

    #[track_caller]
    fn check(redirect_uri: &str, grants: Option<&[&str]>, expected: Expect) {
        let grants: Option<Vec<_>> = grants.map(|g| g.iter().map(ToString::to_string).collect());
        let metadata = ClientMetadata::new("App").uri("https://app.example");
        let request = metadata.to_request(redirect_uri, "none", grants.as_deref());
        expected.assert_eq(&request.to_string());
    }
}
