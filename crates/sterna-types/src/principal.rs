//! The principal that a caller is.

use std::fmt;

/// Principal of a caller: a subject that an issuer vouches for, acting through
/// a client, or an anonymous caller.
///
/// The anonymous principal equals no named one, not even one with empty names.
/// `Debug` shows the issuer but not the subject.
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct Principal(Option<Identity>);

#[derive(Clone, Eq, Hash, PartialEq)]
struct Identity {
    issuer: Box<str>,
    subject: Box<str>,
    client: Option<Box<str>>,
}

impl Principal {
    /// Makes the principal of a caller that was not authenticated.
    #[must_use]
    pub const fn anonymous() -> Self {
        Self(None)
    }

    /// Makes the principal that `issuer` knows as `subject`.
    #[must_use]
    pub fn named(issuer: &str, subject: &str) -> Self {
        Self(Some(Identity {
            issuer: issuer.into(),
            subject: subject.into(),
            client: None,
        }))
    }

    /// Returns the same principal acting through `client`. The anonymous
    /// principal stays anonymous.
    #[must_use]
    pub fn through(mut self, client: &str) -> Self {
        if let Some(identity) = &mut self.0 {
            identity.client = Some(client.into());
        }
        self
    }

    /// Returns `true` if the caller was not authenticated.
    #[must_use]
    pub const fn is_anonymous(&self) -> bool {
        self.0.is_none()
    }

    /// Issuer that vouches for the subject.
    #[must_use]
    pub fn issuer(&self) -> Option<&str> {
        self.0.as_ref().map(|identity| &*identity.issuer)
    }

    /// User, or service that acts for itself.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.0.as_ref().map(|identity| &*identity.subject)
    }

    /// OAuth client through which the subject acts, if the credential names one.
    #[must_use]
    pub fn client(&self) -> Option<&str> {
        self.0.as_ref()?.client.as_deref()
    }

    /// Encodes the principal, for a digest.
    ///
    /// Fields carry their lengths, so no two principals have the same encoding.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let Some(identity) = &self.0 else {
            return vec![0];
        };
        let mut bytes = vec![1];
        let fields = [
            Some(&identity.issuer),
            Some(&identity.subject),
            identity.client.as_ref(),
        ];
        for field in fields.into_iter().flatten() {
            bytes.extend_from_slice(&(field.len() as u64).to_be_bytes());
            bytes.extend_from_slice(field.as_bytes());
        }
        bytes
    }
}

impl fmt::Debug for Principal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            None => f.write_str("Principal(anonymous)"),
            Some(identity) => write!(f, "Principal(named by {:?})", identity.issuer),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_principals_are_equal_or_share_an_encoding() {
        let all = [
            Principal::anonymous(),
            Principal::named("", ""),
            Principal::named("a", "bc"),
            Principal::named("ab", "c"),
            Principal::named("a", "bc").through(""),
            Principal::named("a", "bc").through("d"),
            Principal::named("a", "bcd"),
        ];
        let encodings: BTreeSet<_> = all.iter().map(Principal::to_bytes).collect();
        assert_eq!(encodings.len(), all.len());
        for (i, one) in all.iter().enumerate() {
            for (j, other) in all.iter().enumerate() {
                assert_eq!(one == other, i == j, "{i} {j}");
            }
        }
    }

    #[test]
    fn an_anonymous_principal_gets_no_name_through_a_client() {
        let anonymous = Principal::anonymous().through("app");
        assert!(anonymous.is_anonymous());
        assert_eq!(anonymous, Principal::anonymous());
    }

    #[test]
    fn debug_does_not_show_the_subject() {
        let ada = Principal::named("https://as.example", "ada").through("app");
        assert_eq!(
            format!("{ada:?}"),
            r#"Principal(named by "https://as.example")"#
        );
    }
}
