//! What the suite wants, as it says in the environment.

use anyhow::{Context, Result};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// One scenario and what the suite gives for it.
pub(crate) struct Scenario {
    name: String,
    version: String,
    context: Value,
}

impl Scenario {
    pub(crate) fn from_environment() -> Result<Self> {
        let variable = |name: &str| {
            #[expect(clippy::disallowed_methods, reason = "the suite speaks by environment")]
            std::env::var(name).with_context(|| format!("the suite did not set {name}"))
        };
        let context = match variable("MCP_CONFORMANCE_CONTEXT") {
            Ok(text) => serde_json::from_str(&text).context("the context is not JSON")?,
            Err(_) => Value::Null,
        };
        Ok(Self {
            name: variable("MCP_CONFORMANCE_SCENARIO")?,
            version: variable("MCP_CONFORMANCE_PROTOCOL_VERSION")?,
            context,
        })
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The revision whose rules the suite applies.
    pub(crate) fn version(&self) -> &str {
        &self.version
    }

    /// A text of the context, such as a secret.
    pub(crate) fn text(&self, member: &str) -> Result<String> {
        self.member(member)
    }

    /// A member of the context.
    pub(crate) fn member<T: DeserializeOwned>(&self, member: &str) -> Result<T> {
        let value = self.context.get(member);
        let value = value.with_context(|| format!("the context has no {member}"))?;
        serde_json::from_value(value.clone()).with_context(|| format!("{member} of the context"))
    }
}
