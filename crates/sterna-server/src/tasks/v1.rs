//! The request of a task as it is stored. Frozen: other builds read it.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sterna_http::auth::{Caller, Principal, Scopes};
use sterna_protocol::meta::RequestMeta;
use sterna_runner::tasks::Unreadable;

/// Request of a task: all that a worker needs besides the journal.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// The build that created the task.
    pub(crate) build: [u8; 8],
    /// The version of the handler's state.
    pub(crate) version: u32,
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    pub(crate) meta: RequestMeta,
    caller: StoredCaller,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredCaller {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<StoredName>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    scopes: Vec<String>,
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    claims: Map<String, Value>,
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredName {
    issuer: String,
    subject: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    client: Option<String>,
}

impl Stored {
    pub(crate) fn new(
        build: [u8; 8],
        version: u32,
        tool: &str,
        arguments: Value,
        meta: RequestMeta,
        caller: &Caller,
    ) -> Self {
        let principal = caller.principal();
        let name = match (principal.issuer(), principal.subject()) {
            (Some(issuer), Some(subject)) => Some(StoredName {
                issuer: issuer.to_owned(),
                subject: subject.to_owned(),
                client: principal.client().map(str::to_owned),
            }),
            _ => None,
        };
        Self {
            build,
            version,
            tool: tool.to_owned(),
            arguments,
            meta,
            caller: StoredCaller {
                name,
                scopes: caller.scopes().iter().map(str::to_owned).collect(),
                claims: caller.claims().clone(),
            },
        }
    }

    /// Returns the caller who created the task, with the grants of that time.
    pub(crate) fn caller(&self) -> Caller {
        let principal = match &self.caller.name {
            None => Principal::anonymous(),
            Some(name) => {
                let principal = Principal::named(&name.issuer, &name.subject);
                match &name.client {
                    Some(client) => principal.through(client),
                    None => principal,
                }
            }
        };
        Caller::from(principal)
            .with_scopes(self.caller.scopes.iter().collect::<Scopes>())
            .with_claims(self.caller.claims.clone())
    }

    pub(crate) fn write(&self) -> Bytes {
        let mut bytes = vec![VERSION];
        serde_json::to_writer(&mut bytes, self).expect("wire types have string keys only");
        bytes.into()
    }

    /// Reads the request that any build of this version wrote.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self, Unreadable> {
        let json = match bytes.split_first() {
            Some((&VERSION, json)) => json,
            Some((version, _)) if *version > VERSION => return Err(Unreadable::Newer),
            _ => return Err(Unreadable::Damaged),
        };
        serde_json::from_slice(json).map_err(|_| Unreadable::Damaged)
    }
}

const VERSION: u8 = b'1';

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::json;
    use sterna_protocol::capabilities::ClientCapabilities;
    use sterna_protocol::version::ProtocolVersion;

    use super::*;

    #[test]
    fn the_format_is_frozen() {
        let principal = Principal::named("https://as.example", "ada").through("app");
        let caller = Caller::from(principal.clone())
            .with_scopes(Scopes::parse("mcp:write mcp:read"))
            .with_claims(Map::from_iter([("tenant".to_owned(), json!("t1"))]));
        let meta = RequestMeta::new(ProtocolVersion::V2026_07_28, ClientCapabilities::default());
        let stored = Stored::new([7; 8], 3, "deploy", json!({"n": 1}), meta, &caller);
        let bytes = stored.write();
        expect![[r#"1{"build":[7,7,7,7,7,7,7,7],"version":3,"tool":"deploy","arguments":{"n":1},"meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"caller":{"name":{"issuer":"https://as.example","subject":"ada","client":"app"},"scopes":["mcp:read","mcp:write"],"claims":{"tenant":"t1"}}}"#]]
            .assert_eq(std::str::from_utf8(&bytes).unwrap());
        let read = Stored::read(&bytes).unwrap();
        assert_eq!(read.caller().principal(), &principal);
        assert!(read.caller().scopes().contains("mcp:write"));
        assert_eq!(read.write(), bytes);
    }

    #[test]
    fn other_versions_and_nonsense_are_not_read() {
        for bytes in [&b""[..], b"1", b"0{}", b"1{}", b"1[]"] {
            assert_eq!(Stored::read(bytes).unwrap_err(), Unreadable::Damaged);
        }
        assert_eq!(Stored::read(b"2{}").unwrap_err(), Unreadable::Newer);
    }

    #[test]
    fn what_a_newer_build_says_besides_is_passed_over() {
        let meta = RequestMeta::new(ProtocolVersion::V2026_07_28, ClientCapabilities::default());
        let stored = Stored::new([7; 8], 3, "deploy", json!({}), meta, &Caller::anonymous());
        let text = String::from_utf8(stored.write().to_vec()).unwrap();
        let newer = text.replacen("{", r#"{"priority":"high","#, 1);
        assert_eq!(Stored::read(newer.as_bytes()).unwrap().write(), text);
    }
}
