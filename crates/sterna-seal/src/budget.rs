//! Limits on the size of the state that a client carries.

use std::fmt;

/// Sizes of a payload, in bytes, at which something happens.
///
/// A token is about a third longer than its payload, and it travels twice.
/// Common web application firewalls look at or allow no more than the first
/// 8 KiB of a request.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Budget {
    /// Above this the token is marked [heavy](crate::Sealed::over_warn_budget). 4 KiB:
    /// with the rest of the request it stays below the firewalls' 8 KiB.
    pub warn: usize,
    /// Above this nothing is sealed, or the payload is spilled. 64 KiB; more
    /// than 92 KiB is never sealed, because no token that long is read.
    pub refuse: usize,
    /// Above this not even a spilled payload is taken. 4 MiB: it has to be
    /// fetched and decrypted in every round.
    pub spill: usize,
}

impl Default for Budget {
    fn default() -> Self {
        Self {
            warn: 4 * 1024,
            refuse: 64 * 1024,
            spill: 4 * 1024 * 1024,
        }
    }
}

/// A payload is larger than its budget.
///
/// Lists the parts of the payload, if the caller [named
/// them](crate::SealRequest::with_parts).
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct OverBudget {
    /// The size of the payload.
    pub len: usize,
    /// The size that would have been accepted.
    pub limit: usize,
    /// Parts of the payload, the largest first.
    pub parts: Vec<Part>,
}

/// One named part of a payload.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Part {
    /// Name that its author gave it.
    pub name: String,
    /// Size in bytes.
    pub len: usize,
}

impl Part {
    /// A part called `name` that takes `len` bytes.
    pub fn new(name: impl Into<String>, len: usize) -> Self {
        Self {
            name: name.into(),
            len,
        }
    }
}

impl OverBudget {
    pub(crate) fn new(len: usize, limit: usize, mut parts: Vec<Part>) -> Self {
        parts.sort_by(|a, b| b.len.cmp(&a.len).then_with(|| a.name.cmp(&b.name)));
        Self { len, limit, parts }
    }
}

impl std::error::Error for OverBudget {}

/// Names the largest parts and sums up the others.
impl fmt::Display for OverBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { len, limit, parts } = self;
        write!(f, "the state has {len} bytes, {limit} are allowed")?;
        let (named, others) = parts.split_at(parts.len().min(PARTS_NAMED));
        for (position, part) in named.iter().enumerate() {
            let lead = if position == 0 { ": " } else { ", " };
            write!(f, "{lead}{} {}", part.name, part.len)?;
        }
        if !others.is_empty() {
            let sum: usize = others.iter().map(|part| part.len).sum();
            write!(f, ", {} others {sum}", others.len())?;
        }
        Ok(())
    }
}

/// As many as fit a line; the culprits are the first few.
const PARTS_NAMED: usize = 8;

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    #[track_caller]
    fn check(parts: &[(&str, usize)], expected: Expect) {
        let parts = parts.iter().map(|&(name, len)| Part::new(name, len));
        let error = OverBudget::new(70_000, 65_536, parts.collect());
        expected.assert_eq(&error.to_string());
    }

    #[test]
    fn the_refusal_lists_the_largest_parts_first() {
        check(&[], expect!["the state has 70000 bytes, 65536 are allowed"]);
        check(
            &[("approval", 200), ("plan", 60_000), ("summary", 9_800)],
            expect![
                "the state has 70000 bytes, 65536 are allowed: plan 60000, summary 9800, approval 200"
            ],
        );
    }

    #[test]
    fn the_refusal_sums_up_what_does_not_fit_a_line() {
        let names: Vec<_> = (0..20).map(|n| format!("step-{n}")).collect();
        let parts: Vec<_> = names.iter().map(|name| (name.as_str(), 3_500)).collect();
        check(
            &parts,
            expect![
                "the state has 70000 bytes, 65536 are allowed: step-0 3500, step-1 3500, step-10 3500, step-11 3500, step-12 3500, step-13 3500, step-14 3500, step-15 3500, 12 others 42000"
            ],
        );
    }
}
