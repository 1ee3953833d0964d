//! A page the user is to visit: shown whole, and opened only on their word.

use std::fmt;
use std::process::{Command, Stdio};

use inquire::InquireError;
use sterna_protocol::elicitation::{ElicitAction, ElicitResult};
use sterna_protocol::uri::Uri;

use super::prompt::Prompt;
use crate::environment;
use crate::text::one_line;

/// Shows the host and the whole address, and asks.
pub(super) fn offer(url: &Uri) -> Result<ElicitResult, InquireError> {
    let address = one_line(url.as_str());
    let title = match host(url) {
        Some(host) => format!("Go to {host}? The whole address is {address}"),
        None => format!("Go to {address}?"),
    };
    let mut options = vec![
        VisitChoice::Myself,
        VisitChoice::Decline,
        VisitChoice::Cancel,
    ];
    // Other schemes start other programs; the user may do that, we do not.
    if matches!(url.scheme(), "http" | "https") {
        options.insert(0, VisitChoice::Open);
    }
    let labels: Vec<String> = options.iter().map(ToString::to_string).collect();
    let picked = Prompt::new(&title).pick(&labels, 0)?;
    let picked = picked.and_then(|at| options.get(at).copied());
    Ok(ElicitResult::new(
        match picked.ok_or(InquireError::OperationCanceled)? {
            VisitChoice::Open => match open(url.as_str()) {
                Ok(()) => ElicitAction::Accept,
                Err(error) => return Err(InquireError::IO(error)),
            },
            VisitChoice::Myself => ElicitAction::Accept,
            VisitChoice::Decline => ElicitAction::Decline,
            VisitChoice::Cancel => ElicitAction::Cancel,
        },
    ))
}

#[derive(Clone, Copy, Debug)]
enum VisitChoice {
    Cancel,
    Decline,
    Myself,
    Open,
}

impl fmt::Display for VisitChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cancel => "Cancel: answer neither yes nor no",
            Self::Decline => "Decline: say no",
            Self::Myself => "Yes, I open it myself",
            Self::Open => "Yes, open it in the browser",
        })
    }
}

/// The part of a web address that decides where it leads.
fn host(url: &Uri) -> Option<String> {
    let (_, rest) = url.as_str().split_once("://")?;
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    (!host.is_empty()).then(|| one_line(host))
}

fn open(url: &str) -> std::io::Result<()> {
    let opener = match std::env::consts::OS {
        "macos" => "open",
        "windows" => "explorer",
        _ => "xdg-open",
    };
    let opener = environment::var("BROWSER").unwrap_or_else(|| opener.to_owned());
    Command::new(opener)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_what_decides_where_an_address_leads() {
        for (url, expected) in [
            ("https://example.com/a?b#c", Some("example.com")),
            (
                "https://good.example@evil.example:8443/",
                Some("evil.example:8443"),
            ),
            ("mailto:a@example.com", None),
        ] {
            let url: Uri = url.parse().unwrap();
            assert_eq!(host(&url).as_deref(), expected, "{url}");
        }
    }
}
