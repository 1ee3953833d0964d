//! The checks that a server makes before it accepts a token, each with its
//! reason.

use serde_json::{Value, json};
use sterna_seal::{Binding, Inspection, Principal, Realm, Target, UnixMillis};

use crate::args::InspectArgs;
use crate::exit::Failure;
use crate::text::Text;

/// One check and how it went.
#[derive(Debug)]
pub(super) struct TokenCheck {
    what: String,
    /// The reason's label, as in logs and metrics, and what it means.
    pub(super) refusal: Option<(&'static str, String)>,
}

impl TokenCheck {
    fn new(what: String, refusal: Option<(&'static str, String)>) -> Self {
        Self { what, refusal }
    }

    pub(super) fn as_json(&self) -> Value {
        let (reason, detail) = self.refusal.clone().unzip();
        json!({"check": self.what, "ok": self.refusal.is_none(), "reason": reason, "detail": detail})
    }

    pub(super) fn as_text(&self) -> Text {
        let indent = Text::from("  ");
        match &self.refusal {
            None => indent + Text::good("ok") + format!("       {}\n", self.what),
            Some((reason, detail)) => {
                let why = format!("  {}: {reason}, {detail}\n", self.what);
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
) -> Result<Vec<TokenCheck>, Failure> {
    let mut checks = Vec::new();
    let principal = principal(args);
    if let Some((name, principal)) = &principal {
        let sealed_for = if seen.is_named {
            "another caller"
        } else {
            "anonymous callers"
        };
        let refusal = (!seen.is_of_principal(principal))
            .then(|| ("other_principal", format!("it was sealed for {sealed_for}")));
        checks.push(TokenCheck::new(format!("caller {name}"), refusal));
    }
    let target = target(args);
    if let Some((name, target)) = &target {
        let refusal = (!seen.is_of_target(target)).then(|| {
            (
                "other_target",
                "it was sealed for something else".to_owned(),
            )
        });
        checks.push(TokenCheck::new(name.clone(), refusal));
    }
    if let Some(arguments) = &args.arguments {
        let (Some((_, principal)), Some((_, target))) = (&principal, &target) else {
            return Err(Failure::usage(
                "--arguments can only be checked for a caller and a tool or prompt",
            )
            .hint("give --anonymous, or --subject and --issuer; and --tool or --prompt"));
        };
        let binding = Binding::new(realm, principal, target, Some(arguments))
            .map_err(|error| Failure::usage(format!("--arguments: {error}")))?;
        let earlier = checks.iter().any(|check| check.refusal.is_some());
        if !earlier {
            let refusal = (!seen.is_of_request(&binding)).then(|| {
                (
                    "other_arguments",
                    "it was sealed for other arguments".to_owned(),
                )
            });
            checks.push(TokenCheck::new(format!("arguments {arguments}"), refusal));
        }
    }
    let refusal = seen
        .refused_at(at)
        .map(|reason| (reason.label(), reason.to_string()));
    checks.push(TokenCheck::new(format!("at {at}"), refusal));
    Ok(checks)
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
