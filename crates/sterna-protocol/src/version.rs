//! Protocol revisions.

use std::cmp::Ordering;

use crate::json::OtherName;

/// Revision of the protocol, named by its date.
///
/// Revisions compare by date. An unknown one keeps its name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProtocolVersion {
    /// First revision with Streamable HTTP.
    V2025_03_26,
    /// First revision with elicitation.
    V2025_06_18,
    /// Last revision with an `initialize` handshake.
    V2025_11_25,
    /// First revision without sessions: every request carries its own metadata.
    V2026_07_28,
    /// Revision that this crate does not know.
    Other(OtherName),
}

names!(ProtocolVersion {
    V2025_03_26 = "2025-03-26",
    V2025_06_18 = "2025-06-18",
    V2025_11_25 = "2025-11-25",
    V2026_07_28 = "2026-07-28",
});

impl ProtocolVersion {
    /// Newest revision that this crate speaks.
    pub const LATEST: Self = Self::V2026_07_28;

    /// All revisions that this crate speaks, newest first.
    pub const KNOWN: [Self; 4] = [
        Self::V2026_07_28,
        Self::V2025_11_25,
        Self::V2025_06_18,
        Self::V2025_03_26,
    ];

    /// Returns true for revisions in which every request carries its version,
    /// client info and capabilities, instead of a session opened by
    /// `initialize`.
    ///
    /// An unknown later date is modern. A name that is not a date is not.
    pub fn is_modern(&self) -> bool {
        self.is_date() && *self >= Self::V2026_07_28
    }

    fn is_date(&self) -> bool {
        let name = self.as_str().as_bytes();
        name.len() == 10
            && name.iter().enumerate().all(|(place, byte)| match place {
                4 | 7 => *byte == b'-',
                _ => byte.is_ascii_digit(),
            })
    }
}

impl PartialOrd for ProtocolVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for ProtocolVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        // Dates written year first sort as text.
        self.as_str().cmp(other.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_revisions_are_ordered_by_date() {
        assert!(ProtocolVersion::KNOWN.iter().rev().is_sorted());
        assert!(ProtocolVersion::from("2024-11-05") < ProtocolVersion::V2025_03_26);
        assert!(ProtocolVersion::from("2027-01-01") > ProtocolVersion::LATEST);
    }

    #[test]
    fn modern_begins_with_2026_07_28() {
        let modern = |name: &str| ProtocolVersion::from(name).is_modern();
        assert!(modern("2026-07-28"));
        assert!(modern("2027-01-01"));
        for name in ["2025-11-25", "1900-01-01", "DRAFT-2027", "", "2026-07-2x"] {
            assert!(!modern(name), "{name}");
        }
    }

    #[test]
    fn an_unknown_revision_keeps_its_name() {
        let version: ProtocolVersion = serde_json::from_str("\"1999\"").unwrap();
        assert_eq!(version.as_str(), "1999");
        assert_eq!(version, ProtocolVersion::from("1999"));
        assert_eq!(serde_json::to_string(&version).unwrap(), "\"1999\"");
    }
}
