//! Header fields that go with every request, from files and the environment.

use std::collections::BTreeMap;

use anyhow::Context as _;
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use crate::config::Settings;
use crate::exit::Failure;

/// The fields of the `mcp.json` entry, those of the header file, the token.
pub(crate) fn read(
    settings: &Settings,
    entry: &BTreeMap<String, String>,
) -> Result<HeaderMap, Failure> {
    let mut headers = HeaderMap::new();
    for (name, value) in entry {
        insert(&mut headers, name, value)?;
    }
    if let Some(file) = &settings.header_file {
        let text = std::fs::read_to_string(file)
            .with_context(|| format!("{} cannot be read", file.display()))?;
        let lines = text.lines().map(str::trim);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let wrong =
                || Failure::usage(format!("{}: a line is not `Name: value`", file.display()));
            let (name, value) = line.split_once(':').ok_or_else(wrong)?;
            insert(&mut headers, name.trim(), value.trim())?;
        }
    }
    if let Some(token) = &settings.bearer {
        insert(
            &mut headers,
            AUTHORIZATION.as_str(),
            &format!("Bearer {token}"),
        )?;
    }
    Ok(headers)
}

/// Never quotes the value: it may be a secret.
fn insert(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), Failure> {
    let wrong = || Failure::usage(format!("`{name}` is not a header field that can be sent"));
    let field = HeaderName::try_from(name).map_err(|_| wrong())?;
    let mut value = HeaderValue::try_from(value).map_err(|_| wrong())?;
    value.set_sensitive(true);
    headers.insert(field, value);
    Ok(())
}
