//! One field of a form on the terminal.

use inquire::InquireError;
use sterna_protocol::elicitation::{ElicitValue, EnumOption, PrimitiveSchema, StringFormat};

use super::prompt::Prompt;
use super::value;

/// Outcome of a field.
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
    let prompt = Prompt::new(&title(name, schema, required)).help(&help(schema));
    let start = before.cloned().or_else(|| schema.default_value());
    match (schema, value::choices(schema)) {
        (PrimitiveSchema::Boolean(_), _) => {
            let answers = [
                ("yes".to_owned(), ElicitValue::Boolean(true)),
                ("no".to_owned(), ElicitValue::Boolean(false)),
            ];
            pick_one(&prompt, answers, required, start)
        }
        (
            PrimitiveSchema::TitledMultiSelect(_) | PrimitiveSchema::UntitledMultiSelect(_),
            Some(choices),
        ) => pick_some(prompt, schema, choices, start.as_ref()),
        (_, Some(choices)) => {
            let values = choices
                .into_iter()
                .map(|choice| (choice.title, ElicitValue::String(choice.value)));
            pick_one(&prompt, values, required, start)
        }
        _ => write(&prompt, schema, required, start.as_ref()),
    }
}

fn write(
    prompt: &Prompt,
    schema: &PrimitiveSchema,
    required: bool,
    start: Option<&ElicitValue>,
) -> Result<Filled, InquireError> {
    let start = start.map(shown).unwrap_or_default();
    let checked = schema.clone();
    let objection = move |text: &str| {
        if text.is_empty() && !required {
            return None;
        }
        let fault = value::fault(&checked, &value::of_text(&checked, text))?;
        Some(format!("it {fault}"))
    };
    Ok(match prompt.line(&start, objection)? {
        None => Filled::Escaped,
        Some(text) if text.is_empty() && !required => Filled::LeftOut,
        Some(text) => Filled::Value(value::of_text(schema, &text)),
    })
}

fn pick_one(
    prompt: &Prompt,
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
    let Some(picked) = prompt.pick(&labels, cursor)? else {
        return Ok(Filled::Escaped);
    };
    Ok(match values.swap_remove(picked) {
        Some(value) => Filled::Value(value),
        None => Filled::LeftOut,
    })
}

fn pick_some(
    prompt: Prompt,
    schema: &PrimitiveSchema,
    choices: Vec<EnumOption>,
    start: Option<&ElicitValue>,
) -> Result<Filled, InquireError> {
    let is_started = |choice: &EnumOption| match start {
        Some(ElicitValue::Strings(values)) => values.contains(&choice.value),
        _ => false,
    };
    let marked: Vec<usize> = (0..choices.len())
        .filter(|&at| is_started(&choices[at]))
        .collect();
    let help = match help(schema).as_str() {
        "" => "space marks, enter goes on".to_owned(),
        help => format!("{help}; space marks, enter goes on"),
    };
    let objection = {
        let (schema, choices) = (schema.clone(), choices.clone());
        move |picked: &[usize]| {
            let fault = value::fault(&schema, &picked_of(&choices, picked))?;
            Some(format!("it {fault}"))
        }
    };
    let labels: Vec<&str> = choices.iter().map(|choice| choice.title.as_str()).collect();
    Ok(
        match prompt.help(&help).mark(&labels, &marked, objection)? {
            None => Filled::Escaped,
            Some(picked) => Filled::Value(picked_of(&choices, &picked)),
        },
    )
}

/// The values of the choices at these positions.
fn picked_of(choices: &[EnumOption], picked: &[usize]) -> ElicitValue {
    let values = picked.iter().filter_map(|&at| choices.get(at));
    ElicitValue::Strings(values.map(|choice| choice.value.clone()).collect())
}

/// Value as text for the user.
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

fn title(name: &str, schema: &PrimitiveSchema, required: bool) -> String {
    let (title, _) = texts(schema);
    let title = title.unwrap_or(name);
    match required {
        true => format!("{title}:"),
        false => format!("{title} (optional):"),
    }
}

fn help(schema: &PrimitiveSchema) -> String {
    let (_, description) = texts(schema);
    let mut parts: Vec<String> = description.map(str::to_owned).into_iter().collect();
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
