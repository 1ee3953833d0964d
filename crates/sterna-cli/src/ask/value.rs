//! Typed text as the value of a field.

use sterna_protocol::elicitation::{
    ElicitContent, ElicitValue, EnumOption, FormSchema, PrimitiveSchema,
};

/// Value of `text` in a field; it is not checked yet.
pub(super) fn of_text(schema: &PrimitiveSchema, text: &str) -> ElicitValue {
    let text_value = || ElicitValue::String(text.to_owned());
    match schema {
        PrimitiveSchema::Boolean(_) => match text.to_lowercase().as_str() {
            "true" | "yes" | "y" => ElicitValue::Boolean(true),
            "false" | "no" | "n" => ElicitValue::Boolean(false),
            _ => text_value(),
        },
        PrimitiveSchema::Number(_) => match serde_json::from_str(text) {
            Ok(number) => ElicitValue::Number(number),
            Err(_) => text_value(),
        },
        PrimitiveSchema::TitledMultiSelect(_) | PrimitiveSchema::UntitledMultiSelect(_) => {
            let picked = text
                .split(',')
                .map(str::trim)
                .filter(|part| !part.is_empty());
            let choices = choices(schema).unwrap_or_default();
            ElicitValue::Strings(picked.map(|part| by_title(&choices, part)).collect())
        }
        PrimitiveSchema::String(_) => text_value(),
        _ => ElicitValue::String(by_title(&choices(schema).unwrap_or_default(), text)),
    }
}

/// Choices of a field, if it has any.
pub(super) fn choices(schema: &PrimitiveSchema) -> Option<Vec<EnumOption>> {
    let untitled = |values: &[String]| {
        let option = |value: &String| EnumOption::new(value.clone(), value.clone());
        values.iter().map(option).collect()
    };
    match schema {
        PrimitiveSchema::LegacyTitledEnum(schema) => {
            let pairs = schema.values.iter().enumerate();
            let titled = pairs.map(|(at, value)| {
                let title = schema.enum_names.get(at).unwrap_or(value);
                EnumOption::new(value.clone(), title.clone())
            });
            Some(titled.collect())
        }
        PrimitiveSchema::TitledMultiSelect(schema) => Some(schema.items.any_of.clone()),
        PrimitiveSchema::TitledSingleSelect(schema) => Some(schema.one_of.clone()),
        PrimitiveSchema::UntitledMultiSelect(schema) => Some(untitled(&schema.items.values)),
        PrimitiveSchema::UntitledSingleSelect(schema) => Some(untitled(&schema.values)),
        _ => None,
    }
}

/// Reason why `value` does not fit the field, in words for the user.
pub(super) fn fault(schema: &PrimitiveSchema, value: &ElicitValue) -> Option<String> {
    let form = FormSchema::new().with_required("it", schema.clone());
    let content = ElicitContent::from_iter([("it", value.clone())]);
    let fault = form.check(content).err()?;
    Some(fault.rule.to_string())
}

/// People may type what they see instead of what is sent.
fn by_title(choices: &[EnumOption], text: &str) -> String {
    let is_value = choices.iter().any(|choice| choice.value == text);
    let titled = choices.iter().find(|choice| choice.title == text);
    match titled {
        Some(choice) if !is_value => choice.value.clone(),
        _ => text.to_owned(),
    }
}
