//! The one place where the command reads its environment.

/// The value of the variable `name`, if it is set to something.
#[expect(clippy::disallowed_methods, reason = "this is the CLI")]
pub(crate) fn var(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
