//! What can be wrong with how authentication was set up.

/// The configuration cannot be used; correct it and start again.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// The operating system gave no randomness.
    #[error("the operating system gave no randomness")]
    Randomness,
    /// The resource is not an absolute `http` or `https` address without query
    /// and fragment.
    #[error("{0:?} is not an absolute http or https address without query and fragment")]
    Resource(String),
    /// The file of tokens could not be read.
    #[error("the token file could not be read")]
    TokenFile(#[source] std::io::Error),
    /// A line of the token list has a token and nobody it belongs to.
    #[error("line {line} of the token list names no subject")]
    Tokens {
        /// The line, counted from one.
        line: usize,
    },
}
