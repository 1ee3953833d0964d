//! Ids of tasks, owners and claims.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

/// A 128-bit id with one spelling: 32 lowercase hexadecimal digits.
macro_rules! id {
    ($(#[$docs:meta])* $name:ident) => {
        $(#[$docs])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name([u8; 16]);

        impl $name {
            /// Makes an id of 16 bytes, which come from a cryptographic random
            /// source or from a row that such an id was written to.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(bytes)
            }

            /// The bytes, for a column of a database.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                short(stringify!($name), &self.0, f)
            }
        }
    };
}

id! {
    /// Names a task to its client.
    ///
    /// A server without authentication has nothing else to tell callers apart,
    /// so the bits are random and `Debug` shows only the first few of them.
    TaskId
}
id! {
    /// Tells one attempt to claim an effect or a round from another.
    ///
    /// Made fresh for every attempt, kept for its repeats: if the acknowledgement of
    /// a claim was lost, its owner, and no one else, can make it again.
    Claimant
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for TaskId {
    type Err = ParseIdError;

    /// Accepts the one spelling that `Display` writes.
    fn from_str(text: &str) -> Result<Self, ParseIdError> {
        let digits = text.as_bytes();
        if digits.len() != 32 {
            return Err(ParseIdError::new());
        }
        let mut bytes = [0; 16];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks_exact(2)) {
            *byte = nibble(pair[0])? << 4 | nibble(pair[1])?;
        }
        Ok(Self(bytes))
    }
}

fn nibble(digit: u8) -> Result<u8, ParseIdError> {
    match digit {
        b'0'..=b'9' => Ok(digit - b'0'),
        b'a'..=b'f' => Ok(digit - b'a' + 10),
        _ => Err(ParseIdError::new()),
    }
}

/// A text is no task id, so it names no task.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("a task id must be 32 lowercase hexadecimal digits")]
pub struct ParseIdError(());

impl ParseIdError {
    pub(crate) const fn new() -> Self {
        Self(())
    }
}

/// Owner of a task: a digest of everything that tells callers apart (realm,
/// issuer, subject, client).
///
/// A store compares owners and cannot tell who they are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner([u8; 32]);

impl Owner {
    /// Makes an owner of a digest.
    pub const fn from_digest(digest: [u8; 32]) -> Self {
        Self(digest)
    }

    /// The digest, for a column of a database.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        short("Owner", &self.0, f)
    }
}

fn short(name: &str, bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let [a, b, c, ..] = bytes else {
        return write!(f, "{name}");
    };
    write!(f, "{name}({a:02x}{b:02x}{c:02x}…)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_id_has_one_spelling() {
        let id = TaskId::from_bytes(*b"0123456789abcdef");
        let text = id.to_string();
        assert_eq!(text, "30313233343536373839616263646566");
        assert_eq!(text.parse(), Ok(id));
        let letters = TaskId::from_bytes([0xaf; 16]);
        assert_eq!("af".repeat(16).parse(), Ok(letters));
        for other in [
            "",
            "30",
            "3031323334353637383961626364656G",
            "30313233343536373839616263646566 ",
            "3031323334353637383961626364656é",
            "3031323334353637383961626364656F",
        ] {
            assert!(other.parse::<TaskId>().is_err(), "{other}");
        }
    }

    #[test]
    fn a_log_line_does_not_hold_a_whole_id() {
        let id = TaskId::from_bytes([0xab; 16]);
        assert_eq!(format!("{id:?}"), "TaskId(ababab…)");
        let caller = Owner::from_digest([0xcd; 32]);
        assert_eq!(format!("{caller:?}"), "Owner(cdcdcd…)");
    }
}
