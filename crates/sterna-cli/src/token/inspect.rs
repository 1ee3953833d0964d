use std::io::Read as _;

use serde_json::{Value, json};
use sterna_seal::{Inspection, OpenError, Realm, UnixMillis};
use sterna_server::SealedState;

use super::{checks, journal};
use crate::args::InspectArgs;
use crate::environment;
use crate::exit::{Exit, Failure};
use crate::keys;
use crate::screen::Screen;
use crate::text::Text;

pub(super) fn run(args: &InspectArgs, screen: Screen) -> Result<Exit, Failure> {
    let token = read_token(&args.token)?;
    let ring = keys::file::read(&args.keys)?;
    let realm = Realm::new(&args.audience, args.tenant.as_deref());
    let seen = ring.inspect(&token, &realm).map_err(unreadable)?;
    let at = args.at.unwrap_or_else(environment::now);
    let made = checks::all(&seen, &realm, args, at)?;
    let state = seen.content.inline().map(SealedState::decode);
    let is_taken = made.iter().all(|check| check.refusal.is_none());

    let json = json!({
        "characters": token.len(),
        "claims": claims(&seen),
        "state": journal::as_json(state.as_ref(), args.show_values),
        "taken": is_taken,
        "checks": made.iter().map(checks::NamedCheck::as_json).collect::<Vec<_>>(),
    });
    let mut text = claims_text(&token, &seen, at);
    text += journal::as_text(state.as_ref(), args.show_values);
    text += Text::from("\n") + Text::bold("would it be taken?") + "\n";
    for check in &made {
        text += check.as_text();
    }
    text += match is_taken {
        true => Text::good("yes") + ", as far as it was asked\n",
        false => {
            let told = OpenError::WIRE_MESSAGE;
            Text::bad("no") + format!(": the client would be told `{told}` and nothing else\n")
        }
    };
    screen.result(&json, text)?;
    Ok(match is_taken {
        true => Exit::Done,
        false => Exit::Failed,
    })
}

fn read_token(given: &str) -> Result<String, Failure> {
    if given != "-" {
        return Ok(given.to_owned());
    }
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    Ok(text.trim().to_owned())
}

/// Error for a token that cannot be opened, with a hint.
fn unreadable(reason: OpenError) -> Failure {
    let hint = match reason {
        OpenError::UnknownKey(_) => "the server that sealed it has another key file, or has none",
        OpenError::Unauthentic => {
            "--audience must be the server's `audience`, which is its name if none is configured, \
             and --tenant its `tenant`"
        }
        OpenError::Malformed => "a token begins with `s1.` and is copied whole",
        _ => "it may come from a later release: inspect it with that one",
    };
    let error = anyhow::anyhow!("{} ({reason})", reason.label());
    Failure::new(Exit::Failed, error.context("the token cannot be opened")).hint(hint)
}

fn claims(seen: &Inspection) -> Value {
    json!({
        "flow": seen.flow.id.to_string(),
        "round": seen.flow.round,
        "startedAt": seen.flow.started_at.to_string(),
        "issuedAt": seen.issued_at.to_string(),
        "roundEndsAt": seen.round_ends_at.to_string(),
        "flowEndsAt": seen.flow_ends_at.to_string(),
        "key": seen.key_id.to_string(),
        "caller": if seen.is_named { "known" } else { "anonymous" },
    })
}

fn claims_text(token: &str, seen: &Inspection, at: UnixMillis) -> Text {
    let caller = if seen.is_named { "known" } else { "anonymous" };
    let ends = |end: UnixMillis| if end <= at { "  (over)" } else { "" };
    let lines = format!(
        "\n  flow         {}\n\
         \x20 round        {}\n\
         \x20 started      {}\n\
         \x20 issued       {}\n\
         \x20 round ends   {}{}\n\
         \x20 flow ends    {}{}\n\
         \x20 key          {}\n\
         \x20 caller       {caller}\n\
         \x20 size         {} characters\n",
        seen.flow.id,
        seen.flow.round,
        seen.flow.started_at,
        seen.issued_at,
        seen.round_ends_at,
        ends(seen.round_ends_at),
        seen.flow_ends_at,
        ends(seen.flow_ends_at),
        seen.key_id,
        token.len(),
    );
    Text::bold("claims") + lines
}
