//! Claims of the demo, each confirmed or not.

use serde::Serialize;

use crate::text::Text;

/// Claims in the order they were tried.
#[derive(Debug, Default, Serialize)]
pub(super) struct Claims {
    claims: Vec<Claim>,
}

#[derive(Debug, Serialize)]
struct Claim {
    claim: &'static str,
    holds: bool,
    seen: String,
}

impl Claims {
    /// Notes whether a claim holds, and what was seen.
    pub(super) fn note(&mut self, claim: &'static str, holds: bool, seen: impl Into<String>) {
        let seen = seen.into();
        self.claims.push(Claim { claim, holds, seen });
    }

    /// Notes whether something was refused, and with which words.
    pub(super) fn refused(&mut self, claim: &'static str, words: Option<String>) {
        let refused = words.is_some();
        let seen = words.unwrap_or_else(|| "it was taken".to_owned());
        self.note(claim, refused, seen);
    }

    pub(super) fn all_hold(&self) -> bool {
        self.claims.iter().all(|claim| claim.holds)
    }

    pub(super) fn table(&self) -> Text {
        let width = self
            .claims
            .iter()
            .map(|claim| claim.claim.len())
            .max()
            .unwrap_or(0);
        let mut text = Text::from("\n") + Text::bold("what was shown") + "\n";
        for Claim { claim, holds, seen } in &self.claims {
            let mark = match holds {
                true => Text::good("yes"),
                false => Text::bad("NO "),
            };
            text += Text::from("  ") + mark + format!("  {claim:<width$}  {seen}\n");
        }
        text
    }
}
