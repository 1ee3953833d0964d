//! Cases that a peer is known to answer otherwise; `docs/interop.md` has the reasons.

use super::{Era, Role};

/// A cell that differs, and the heading in `docs/interop.md` that says why.
pub(super) struct Difference {
    peer: &'static str,
    role: Role,
    era: Era,
    case: &'static str,
    pub(super) why: &'static str,
}

/// Every entry must still differ: one that has become right fails the run, so
/// that this table never hides a fault of ours.
const KNOWN: &[Difference] = &[Difference {
    peer: "rmcp",
    role: Role::Client,
    era: Era::Modern,
    case: "url",
    why: "URL questions carry an elicitationId",
}];

pub(super) fn known(peer: &str, role: Role, era: Era, case: &str) -> Option<&'static Difference> {
    KNOWN.iter().find(|known| {
        known.peer == peer && known.role == role && known.era == era && known.case == case
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_known_difference_has_its_heading_in_the_docs() {
        let page = crate::shell::workspace_root().join("docs/interop.md");
        let page = std::fs::read_to_string(page).unwrap();
        for known in KNOWN {
            let heading = format!("### {}", known.why);
            assert!(page.lines().any(|line| line == heading), "{heading}");
        }
    }
}
