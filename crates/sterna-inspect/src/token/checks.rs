//! The checks that a server makes before it accepts a token, each with its
//! reason.

use sterna_seal::{Binding, CanonicalError, Inspection, Principal, Realm, Target, UnixMillis};
use thiserror::Error;

/// Circumstances under which a token is presented. A check whose circumstance is
/// `None` is not made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Circumstances<'a> {
    /// The time.
    pub at: UnixMillis,
    /// The caller.
    pub principal: Option<Principal>,
    /// The tool, the prompt or the resource.
    pub target: Option<Target<'a>>,
    /// The arguments, as JSON. They can only be checked for a caller and a target.
    pub arguments: Option<&'a str>,
}

impl Circumstances<'_> {
    /// Only the time is given.
    pub fn at(at: UnixMillis) -> Self {
        Self {
            at,
            principal: None,
            target: None,
            arguments: None,
        }
    }
}

/// One check and its outcome.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TokenCheck {
    /// The circumstance that was checked.
    pub about: Circumstance,
    /// `None` if the token passed.
    pub refusal: Option<Refusal>,
}

/// A circumstance of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Circumstance {
    /// The arguments of the request.
    Arguments,
    /// The caller.
    Caller,
    /// The tool, the prompt or the resource.
    Target,
    /// The time.
    Time,
}

/// Reason why a check refuses a token.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Refusal {
    /// Name of the reason, as in logs and metrics.
    pub label: &'static str,
    /// The reason in words.
    pub detail: String,
}

/// The checks cannot be made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckError {
    /// The arguments are not JSON of an object.
    #[error("the arguments cannot be read")]
    Arguments(#[from] CanonicalError),
    /// Arguments were given without a caller or a target.
    #[error("arguments can only be checked for a caller and a tool or prompt")]
    Incomplete,
}

/// Makes the checks that can be made, in the order a server makes them.
///
/// # Errors
///
/// [`CheckError`] if the arguments cannot be checked.
pub fn checks(
    seen: &Inspection,
    realm: &Realm,
    given: &Circumstances<'_>,
) -> Result<Vec<TokenCheck>, CheckError> {
    let mut made = Vec::new();
    let check = |about, passes: bool, label, detail: &str| TokenCheck {
        about,
        refusal: (!passes).then(|| Refusal {
            label,
            detail: detail.to_owned(),
        }),
    };
    if let Some(principal) = &given.principal {
        let detail = match seen.is_named {
            true => "it was sealed for another caller",
            false => "it was sealed for anonymous callers",
        };
        let passes = seen.is_of_principal(principal);
        made.push(check(
            Circumstance::Caller,
            passes,
            "other_principal",
            detail,
        ));
    }
    if let Some(target) = &given.target {
        let passes = seen.is_of_target(target);
        let detail = "it was sealed for something else";
        made.push(check(Circumstance::Target, passes, "other_target", detail));
    }
    if let Some(arguments) = given.arguments {
        let (Some(principal), Some(target)) = (&given.principal, &given.target) else {
            return Err(CheckError::Incomplete);
        };
        let binding = Binding::new(realm, principal, target, Some(arguments))?;
        // A token of another caller or tool has another digest for that reason alone.
        if made.iter().all(|check| check.refusal.is_none()) {
            let passes = seen.is_of_request(&binding);
            let detail = "it was sealed for other arguments";
            made.push(check(
                Circumstance::Arguments,
                passes,
                "other_arguments",
                detail,
            ));
        }
    }
    made.push(TokenCheck {
        about: Circumstance::Time,
        refusal: seen.refused_at(given.at).map(|reason| Refusal {
            label: reason.label(),
            detail: reason.to_string(),
        }),
    });
    Ok(made)
}
