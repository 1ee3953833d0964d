//! The checks that a server makes before it accepts a token, each with its
//! reason.

use serde_json::{Value, json};
use sterna_inspect::token::{self, CheckError, Circumstance, Circumstances, Refusal};
use sterna_seal::{Inspection, Principal, Realm, Target, UnixMillis};

use crate::args::InspectArgs;
use crate::exit::Failure;
use crate::text::Text;

/// One check and its outcome, with the name of what was checked.
#[derive(Debug)]
pub(super) struct NamedCheck {
    what: String,
    pub(super) refusal: Option<Refusal>,
}

impl NamedCheck {
    pub(super) fn as_json(&self) -> Value {
        let reason = self.refusal.as_ref().map(|refusal| refusal.label);
        let detail = self.refusal.as_ref().map(|refusal| &refusal.detail);
        json!({"check": self.what, "ok": self.refusal.is_none(), "reason": reason, "detail": detail})
    }

    pub(super) fn as_text(&self) -> Text {
        let indent = Text::from("  ");
        match &self.refusal {
            None => indent + Text::good("ok") + format!("       {}\n", self.what),
            Some(Refusal { label, detail, .. }) => {
                let why = format!("  {}: {label}, {detail}\n", self.what);
                indent + Text::bad("refused") + why
            }
        }
    }
}

/// The checks that can be made with what was given, in the order a server
/// makes them.
pub(super) fn all(
    seen: &Inspection,
    realm: &Realm,
    args: &InspectArgs,
    at: UnixMillis,
) -> Result<Vec<NamedCheck>, Failure> {
    let (caller, principal) = principal(args).unzip();
    let (target_name, target) = target(args).unzip();
    let mut given = Circumstances::at(at);
    given.principal = principal;
    given.target = target;
    given.arguments = args.arguments.as_deref();
    let made = token::checks(seen, realm, &given).map_err(|error| match error {
        CheckError::Arguments(error) => Failure::usage(format!("--arguments: {error}")),
        _ => Failure::usage("--arguments can only be checked for a caller and a tool or prompt")
            .hint("give --anonymous, or --subject and --issuer; and --tool or --prompt"),
    })?;
    let named = made.into_iter().map(|check| NamedCheck {
        what: match check.about {
            Circumstance::Caller => format!("caller {}", caller.as_deref().unwrap_or_default()),
            Circumstance::Target => target_name.clone().unwrap_or_default(),
            Circumstance::Arguments => {
                format!(
                    "arguments {}",
                    args.arguments.as_deref().unwrap_or_default()
                )
            }
            _ => format!("at {at}"),
        },
        refusal: check.refusal,
    });
    Ok(named.collect())
}

fn principal(args: &InspectArgs) -> Option<(String, Principal)> {
    if args.anonymous {
        return Some(("anonymous".to_owned(), Principal::anonymous()));
    }
    let (subject, issuer) = (args.subject.as_deref()?, args.issuer.as_deref()?);
    let client = args.client.as_deref();
    let through = client.map_or(String::new(), |client| format!(" through {client}"));
    let mut principal = Principal::named(issuer, subject);
    if let Some(client) = client {
        principal = principal.through(client);
    }
    Some((format!("{subject} of {issuer}{through}"), principal))
}

fn target(args: &InspectArgs) -> Option<(String, Target<'_>)> {
    [
        ("tool", "tools/call", &args.tool),
        ("prompt", "prompts/get", &args.prompt),
        ("resource", "resources/read", &args.resource),
    ]
    .into_iter()
    .find_map(|(kind, method, name)| {
        let name = name.as_deref()?;
        Some((format!("{kind} {name}"), Target::new(method, name)))
    })
}
