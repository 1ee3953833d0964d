//! One field of a form on the terminal.

use inquire::validator::{ErrorMessage, Validation};
use inquire::{InquireError, MultiSelect, Select, Text};
use sterna_protocol::elicitation::{ElicitValue, EnumOption, PrimitiveSchema, StringFormat};

use super::value;
use crate::table::one_line;

/// What came of a field.
pub(super) enum Filled {
    Value(ElicitValue),
    /// The user leaves it out.
    LeftOut,
    /// The user pressed Esc.
    Escaped,
}

/// Asks for one field until it fits. `before` is what the user said last time.
pub(super) fn ask(
    name: &str,
    schema: &PrimitiveSchema,
    required: bool,
    before: Option<&ElicitValue>,
) -> Result<Filled, InquireError> {
    let title = title(name, schema, required);
    let help = help(schema);
    let start = before.cloned().or_else(|| schema.default_value());
    match (schema, value::choices(schema)) {
        (PrimitiveSchema::Boolean(_), _) => {
            let answers = [
                ("yes", ElicitValue::Boolean(true)),
                ("no", ElicitValue::Boolean(false)),
            ];
            pick_one(
                &title,
                &help,
                answers.map(|(label, value)| (label.to_owned(), value)),
                required,
                start,
            )
        }
        (
            PrimitiveSchema::TitledMultiSelect(_) | PrimitiveSchema::UntitledMultiSelect(_),
            Some(choices),
        ) => pick_some(&title, &help, schema, choices, start.as_ref()),
        (_, Some(choices)) => {
            let values = choices
                .into_iter()
                .map(|choice| (label(&choice), ElicitValue::String(choice.value)));
            pick_one(&title, &help, values, required, start)
        }
        _ => write(&title, &help, schema, required, start.as_ref()),
    }
}

fn write(
    title: &str,
    help: &str,
    schema: &PrimitiveSchema,
    required: bool,
    start: Option<&ElicitValue>,
) -> Result<Filled, InquireError> {
    let start = start.map(shown).unwrap_or_default();
    let checked = schema.clone();
    let validator = move |text: &str| {
        if text.is_empty() && !required {
            return Ok(Validation::Valid);
        }
        Ok(
            match value::fault(&checked, &value::of_text(&checked, text)) {
                None => Validation::Valid,
                Some(fault) => Validation::Invalid(ErrorMessage::Custom(format!("it {fault}"))),
            },
        )
    };
    let mut prompt = Text::new(title)
        .with_initial_value(&start)
        .with_validator(validator);
    if !help.is_empty() {
        prompt = prompt.with_help_message(help);
    }
    Ok(match prompt.prompt_skippable()? {
        None => Filled::Escaped,
        Some(text) if text.is_empty() && !required => Filled::LeftOut,
        Some(text) => Filled::Value(value::of_text(schema, &text)),
    })
}

fn pick_one(
    title: &str,
    help: &str,
    values: impl IntoIterator<Item = (String, ElicitValue)>,
    required: bool,
    start: Option<ElicitValue>,
) -> Result<Filled, InquireError> {
    let (mut labels, mut values): (Vec<String>, Vec<Option<ElicitValue>>) = values
        .into_iter()
        .map(|(label, value)| (label, Some(value)))
        .unzip();
    if !required {
        labels.push("(leave it out)".to_owned());
        values.push(None);
    }
    let cursor = values.iter().position(|value| *value == start).unwrap_or(0);
    let mut prompt = Select::new(title, labels).with_starting_cursor(cursor);
    if !help.is_empty() {
        prompt = prompt.with_help_message(help);
    }
    let Some(picked) = prompt.raw_prompt_skippable()? else {
        return Ok(Filled::Escaped);
    };
    Ok(match values.swap_remove(picked.index) {
        Some(value) => Filled::Value(value),
        None => Filled::LeftOut,
    })
}

fn pick_some(
    title: &str,
    help: &str,
    schema: &PrimitiveSchema,
    choices: Vec<EnumOption>,
    start: Option<&ElicitValue>,
) -> Result<Filled, InquireError> {
    let is_started = |choice: &EnumOption| match start {
        Some(ElicitValue::Strings(values)) => values.contains(&choice.value),
        _ => false,
    };
    let defaults: Vec<usize> = (0..choices.len())
        .filter(|&at| is_started(&choices[at]))
        .collect();
    let picked_of = |indices: &mut dyn Iterator<Item = usize>| {
        let values = indices
            .filter_map(|at| choices.get(at))
            .map(|choice| choice.value.clone());
        ElicitValue::Strings(values.collect())
    };
    let validator = {
        let (schema, choices) = (schema.clone(), choices.clone());
        move |picked: &[inquire::list_option::ListOption<&String>]| {
            let values = picked.iter().filter_map(|option| choices.get(option.index));
            let values = values.map(|choice| choice.value.clone()).collect();
            Ok(match value::fault(&schema, &ElicitValue::Strings(values)) {
                None => Validation::Valid,
                Some(fault) => Validation::Invalid(ErrorMessage::Custom(format!("it {fault}"))),
            })
        }
    };
    let labels: Vec<String> = choices.iter().map(label).collect();
    let help = match help {
        "" => "space marks, enter goes on".to_owned(),
        help => format!("{help}; space marks, enter goes on"),
    };
    let prompt = MultiSelect::new(title, labels)
        .with_default(&defaults)
        .with_validator(validator)
        .with_help_message(&help);
    Ok(match prompt.raw_prompt_skippable()? {
        None => Filled::Escaped,
        Some(picked) => Filled::Value(picked_of(
            &mut picked.into_iter().map(|option| option.index),
        )),
    })
}

/// How a value is shown to the user.
pub(super) fn shown(value: &ElicitValue) -> String {
    match value {
        ElicitValue::Boolean(true) => "yes".to_owned(),
        ElicitValue::Boolean(false) => "no".to_owned(),
        ElicitValue::Number(number) => number.to_string(),
        ElicitValue::String(text) => text.clone(),
        ElicitValue::Strings(texts) => texts.join(", "),
        _ => String::new(),
    }
}

fn label(choice: &EnumOption) -> String {
    one_line(&choice.title)
}

fn title(name: &str, schema: &PrimitiveSchema, required: bool) -> String {
    let (title, _) = texts(schema);
    let title = one_line(title.unwrap_or(name));
    match required {
        true => format!("{title}:"),
        false => format!("{title} (optional):"),
    }
}

fn help(schema: &PrimitiveSchema) -> String {
    let (_, description) = texts(schema);
    let mut parts: Vec<String> = description.map(one_line).into_iter().collect();
    match schema {
        PrimitiveSchema::Number(number) => {
            let span = match (number.minimum, number.maximum) {
                (Some(min), Some(max)) => Some(format!("{min} to {max}")),
                (Some(min), None) => Some(format!("at least {min}")),
                (None, Some(max)) => Some(format!("at most {max}")),
                (None, None) => None,
            };
            parts.extend(span);
        }
        PrimitiveSchema::String(string) => {
            parts.extend(string.format.as_ref().map(|format| match format {
                StringFormat::Date => "a day, such as 2026-07-28".to_owned(),
                StringFormat::DateTime => "a time, such as 2026-07-28T12:00:00Z".to_owned(),
                StringFormat::Email => "a mail address".to_owned(),
                StringFormat::Uri => "an address, such as https://example.com".to_owned(),
                _ => "of a special format".to_owned(),
            }));
        }
        _ => {}
    }
    parts.join("; ")
}

fn texts(schema: &PrimitiveSchema) -> (Option<&str>, Option<&str>) {
    let (title, description) = match schema {
        PrimitiveSchema::Boolean(field) => (&field.title, &field.description),
        PrimitiveSchema::LegacyTitledEnum(field) => (&field.title, &field.description),
        PrimitiveSchema::Number(field) => (&field.title, &field.description),
        PrimitiveSchema::String(field) => (&field.title, &field.description),
        PrimitiveSchema::TitledMultiSelect(field) => (&field.title, &field.description),
        PrimitiveSchema::TitledSingleSelect(field) => (&field.title, &field.description),
        PrimitiveSchema::UntitledMultiSelect(field) => (&field.title, &field.description),
        PrimitiveSchema::UntitledSingleSelect(field) => (&field.title, &field.description),
        _ => return (None, None),
    };
    (title.as_deref(), description.as_deref())
}
