//! Whether a client may be asked: nothing goes out that it did not declare on
//! this very request (MRTR-S7).

use sterna_protocol::capabilities::{ClientCapabilities, ElicitationCapability};
use sterna_protocol::input::InputRequest;

/// What `client` would have to declare to be asked `question`.
pub(crate) fn missing(
    client: &ClientCapabilities,
    question: &InputRequest,
) -> Option<ClientCapabilities> {
    client.missing(&question.required_capabilities())
}

/// Adds `more` to what is missing.
pub(crate) fn add(missing: &mut ClientCapabilities, more: ClientCapabilities) {
    missing.elicitation = match (missing.elicitation.take(), more.elicitation) {
        (Some(one), Some(other)) => {
            let mut both = ElicitationCapability::default();
            both.form = one.form.or(other.form);
            both.url = one.url.or(other.url);
            Some(both)
        }
        (one, other) => one.or(other),
    };
    missing.sampling = match (missing.sampling.take(), more.sampling) {
        (Some(mut one), Some(other)) => {
            one.tools = one.tools.or(other.tools);
            one.context = one.context.or(other.context);
            Some(one)
        }
        (one, other) => one.or(other),
    };
    missing.roots = missing.roots.take().or(more.roots);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_adds_up() {
        let caps = |json: &str| serde_json::from_str::<ClientCapabilities>(json).unwrap();
        let mut missing = ClientCapabilities::default();
        for more in [
            r#"{"elicitation":{"url":{}}}"#,
            r#"{"sampling":{}}"#,
            r#"{"sampling":{"tools":{}}}"#,
            r#"{"elicitation":{"form":{}}}"#,
            r#"{"roots":{}}"#,
        ] {
            add(&mut missing, caps(more));
        }
        let all = r#"{"elicitation":{"form":{},"url":{}},"roots":{},"sampling":{"tools":{}}}"#;
        assert_eq!(missing, caps(all));
    }
}
