use std::collections::BTreeMap;

use super::{ClientCapabilities, ElicitationCapability, SamplingCapability};
use crate::json::JsonObject;

impl ClientCapabilities {
    /// Returns the part of `required` that `self` does not declare; `None` if
    /// it declares all of it.
    ///
    /// Settings count as declared if they are present: only the extension
    /// itself could compare their values. Members in `extra` are not compared.
    pub fn missing(&self, required: &Self) -> Option<Self> {
        let missing = Self {
            elicitation: missing_elicitation(
                self.elicitation.as_ref(),
                required.elicitation.as_ref(),
            ),
            roots: unless(&self.roots, &required.roots),
            sampling: missing_sampling(self.sampling.as_ref(), required.sampling.as_ref()),
            extensions: missing_names(self.extensions.as_ref(), required.extensions.as_ref()),
            experimental: missing_names(self.experimental.as_ref(), required.experimental.as_ref()),
            extra: JsonObject::new(),
        };
        (missing != Self::default()).then_some(missing)
    }
}

fn missing_elicitation(
    declared: Option<&ElicitationCapability>,
    required: Option<&ElicitationCapability>,
) -> Option<ElicitationCapability> {
    let required = required?;
    let declares = |has: fn(&ElicitationCapability) -> bool| declared.is_some_and(has);
    let form = required.has_form() && !declares(ElicitationCapability::has_form);
    let url = required.has_url() && !declares(ElicitationCapability::has_url);
    match (form, url) {
        (true, true) => Some(ElicitationCapability::form_and_url()),
        (true, false) => Some(ElicitationCapability::form()),
        (false, true) => Some(ElicitationCapability::url()),
        (false, false) => None,
    }
}

fn missing_sampling(
    declared: Option<&SamplingCapability>,
    required: Option<&SamplingCapability>,
) -> Option<SamplingCapability> {
    let required = required?;
    let Some(declared) = declared else {
        return Some(required.clone());
    };
    let missing = SamplingCapability {
        tools: unless(&declared.tools, &required.tools),
        context: unless(&declared.context, &required.context),
        extra: JsonObject::new(),
    };
    (missing != SamplingCapability::default()).then_some(missing)
}

fn missing_names(
    declared: Option<&BTreeMap<String, JsonObject>>,
    required: Option<&BTreeMap<String, JsonObject>>,
) -> Option<BTreeMap<String, JsonObject>> {
    let is_declared = |name| declared.is_some_and(|declared| declared.contains_key(name));
    let missing: BTreeMap<_, _> = required?
        .iter()
        .filter(|(name, _)| !is_declared(name.as_str()))
        .map(|(name, settings)| (name.clone(), settings.clone()))
        .collect();
    (!missing.is_empty()).then_some(missing)
}

fn unless(declared: &Option<JsonObject>, required: &Option<JsonObject>) -> Option<JsonObject> {
    match declared {
        Some(_) => None,
        None => required.clone(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(declared: &str, required: &str, expected: Expect) {
        let [declared, required] = [declared, required]
            .map(|json| serde_json::from_str::<ClientCapabilities>(json).unwrap());
        let missing = declared.missing(&required);
        expected.assert_eq(&missing.map_or_else(
            || "nothing".to_owned(),
            |missing| serde_json::to_string(&missing).unwrap(),
        ));
    }

    #[test]
    fn elicitation_without_a_mode_is_form_mode() {
        check(
            r#"{"elicitation":{}}"#,
            r#"{"elicitation":{"form":{}}}"#,
            expect!["nothing"],
        );
        check(
            r#"{"elicitation":{}}"#,
            r#"{"elicitation":{"url":{}}}"#,
            expect![[r#"{"elicitation":{"url":{}}}"#]],
        );
        check(
            r#"{"elicitation":{"url":{}}}"#,
            r#"{"elicitation":{}}"#,
            expect![[r#"{"elicitation":{"form":{}}}"#]],
        );
        check(
            "{}",
            r#"{"elicitation":{"form":{},"url":{}}}"#,
            expect![[r#"{"elicitation":{"form":{},"url":{}}}"#]],
        );
    }

    #[test]
    fn sampling_with_tools_needs_its_own_word() {
        check(
            r#"{"sampling":{}}"#,
            r#"{"sampling":{}}"#,
            expect!["nothing"],
        );
        check(
            r#"{"sampling":{}}"#,
            r#"{"sampling":{"tools":{}}}"#,
            expect![[r#"{"sampling":{"tools":{}}}"#]],
        );
        check("{}", r#"{"sampling":{}}"#, expect![[r#"{"sampling":{}}"#]]);
    }

    #[test]
    fn extensions_are_compared_by_name() {
        check(
            r#"{"extensions":{"a/x":{"v":1}}}"#,
            r#"{"extensions":{"a/x":{"v":2},"a/y":{}},"roots":{}}"#,
            expect![[r#"{"roots":{},"extensions":{"a/y":{}}}"#]],
        );
    }
}
