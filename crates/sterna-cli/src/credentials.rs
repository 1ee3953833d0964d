//! Tokens and header fields, each sent to the server it belongs to and to no
//! other.
//!
//! A URL that is typed names the server that the user means. A URL in a paused
//! call or in an `mcp.json` was chosen by the author of that file: a token goes
//! there only if the configuration or `--credentials-for` names its origin.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use http::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use url::{Host, Url};

use crate::args::RequestArgs;
use crate::environment;
use crate::exit::{Exit, Failure};
use crate::target::NamedBy;
use crate::text::{excerpt, one_line};
use crate::trace;

/// Scheme, host and port of a server.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Origin {
    text: String,
    /// True if others on the way cannot read what is sent.
    is_private: bool,
}

impl Origin {
    /// The origin of an http or https URL, read as the connection reads it.
    pub(crate) fn of(url: &str) -> Result<Self, Failure> {
        let wrong = || {
            Failure::usage(format!("`{}` is not the URL of a server", excerpt(url)))
                .hint("a URL looks like https://mcp.example/mcp")
        };
        let url = Url::parse(url).map_err(|_| wrong())?;
        let is_local = match url.host() {
            Some(Host::Domain(name)) => name == "localhost",
            Some(Host::Ipv4(address)) => address.is_loopback(),
            Some(Host::Ipv6(address)) => address.is_loopback(),
            None => return Err(wrong()),
        };
        let is_private = match url.scheme() {
            "https" => true,
            "http" => is_local,
            _ => return Err(wrong()),
        };
        Ok(Self {
            text: url.origin().ascii_serialization(),
            is_private,
        })
    }
}

/// Files of secrets by the origin that they belong to, from the configuration.
#[derive(Debug, Default)]
pub(crate) struct BoundFiles(BTreeMap<Origin, PathBuf>);

impl BoundFiles {
    pub(crate) fn read(files: BTreeMap<String, PathBuf>) -> Result<Self, Failure> {
        let bound = files
            .into_iter()
            .map(|(url, file)| Ok((Origin::of(&url)?, file)));
        bound.collect::<Result<_, Failure>>().map(Self)
    }
}

/// Everything that may be sent, and where to.
#[derive(Debug)]
pub(crate) struct Credentials {
    bearer: Vec<Offer>,
    headers: Vec<Offer>,
    bearer_files: BoundFiles,
    header_files: BoundFiles,
    bound_to: Vec<Origin>,
}

/// A secret that no configuration binds to an origin.
#[derive(Debug)]
struct Offer {
    /// The flag or the variable that names it.
    source: String,
    content: Content,
    /// `true` if a flag asks to send it; a variable applies to every command.
    is_demanded: bool,
}

#[derive(Debug)]
enum Content {
    File(PathBuf),
    Value(String),
}

impl Credentials {
    pub(crate) fn read(
        args: &RequestArgs,
        bearer_files: BoundFiles,
        header_files: BoundFiles,
    ) -> Result<Self, Failure> {
        let flag = |name: &str, content| Offer {
            source: name.to_owned(),
            content,
            is_demanded: true,
        };
        let variable = |name: &str, content: fn(String) -> Content| {
            let value = environment::var(name)?;
            Some(Offer {
                source: format!("${name}"),
                content: content(value),
                is_demanded: false,
            })
        };
        let file = |text: String| Content::File(text.into());
        let mut bearer = Vec::new();
        if let Some(name) = &args.bearer_env {
            let missing = || {
                Failure::usage(format!("the environment variable {name} is not set")).hint(format!(
                    "`export {name}=…` sets it, or leave --bearer-env out"
                ))
            };
            let value = environment::var(name).ok_or_else(missing)?;
            bearer.push(flag(&format!("--bearer-env {name}"), Content::Value(value)));
        }
        if let Some(path) = &args.bearer_file {
            bearer.push(flag("--bearer-file", Content::File(path.clone())));
        }
        bearer.extend(variable("STERNA_BEARER", Content::Value));
        bearer.extend(variable("STERNA_BEARER_FILE", file));
        let mut headers = Vec::new();
        if let Some(path) = &args.header_file {
            headers.push(flag("--header-file", Content::File(path.clone())));
        }
        headers.extend(variable("STERNA_HEADER_FILE", file));
        let named = args.credentials_for.iter().cloned();
        let named = named.chain(environment::var("STERNA_CREDENTIALS_FOR"));
        let bound_to = named.map(|url| Origin::of(&url));
        Ok(Self {
            bearer,
            headers,
            bearer_files,
            header_files,
            bound_to: bound_to.collect::<Result<_, _>>()?,
        })
    }

    /// The header fields for the server at `url`: those of its `mcp.json`
    /// entry, those of a file, and the token.
    pub(crate) fn for_server(
        &self,
        url: &str,
        named_by: &NamedBy,
        entry: &BTreeMap<String, String>,
    ) -> Result<Granted, Failure> {
        let server = SecretTarget {
            origin: Origin::of(url)?,
            named_by,
        };
        let mut granted = Granted::default();
        for (name, value) in entry {
            insert(&mut granted.headers, name, value)?;
        }
        if let Some(text) = self.pick(&server, &self.headers, &self.header_files, &mut granted)? {
            for line in text.lines().map(str::trim) {
                if !line.is_empty() && !line.starts_with('#') {
                    let (name, value) = line.split_once(':').ok_or_else(not_a_field)?;
                    insert(&mut granted.headers, name.trim(), value.trim())?;
                }
            }
        }
        if let Some(token) = self.pick(&server, &self.bearer, &self.bearer_files, &mut granted)? {
            let value = format!("Bearer {}", token.trim());
            insert(&mut granted.headers, AUTHORIZATION.as_str(), &value)?;
        }
        let secret = granted.headers.keys().find(|name| trace::is_secret(name));
        match secret {
            Some(name) if !server.origin.is_private => Err(server.in_the_clear(name)),
            _ => Ok(granted),
        }
    }

    /// The first secret that may go to `server`. One that a flag demands and
    /// that may not is an error; others are held back.
    fn pick(
        &self,
        server: &SecretTarget<'_>,
        offers: &[Offer],
        bound: &BoundFiles,
        granted: &mut Granted,
    ) -> Result<Option<String>, Failure> {
        let may = matches!(server.named_by, NamedBy::CommandLine)
            || self.bound_to.contains(&server.origin);
        for offer in offers {
            if may {
                return match &offer.content {
                    Content::File(path) => read(path).map(Some),
                    Content::Value(value) => Ok(Some(value.clone())),
                };
            }
            let refused = server.unbound(&offer.source);
            if offer.is_demanded {
                return Err(refused);
            }
            granted.held_back.get_or_insert(refused);
        }
        let file = bound.0.get(&server.origin);
        file.map(|path| read(path)).transpose()
    }
}

/// The header fields that may be sent to a server.
#[derive(Debug, Default)]
pub(crate) struct Granted {
    pub(crate) headers: HeaderMap,
    /// Reason why a token of the environment is not among them.
    pub(crate) held_back: Option<Failure>,
}

/// The server that a secret would go to.
#[derive(Debug)]
struct SecretTarget<'a> {
    origin: Origin,
    named_by: &'a NamedBy,
}

impl SecretTarget<'_> {
    fn unbound(&self, source: &str) -> Failure {
        let origin = &self.origin.text;
        let error = anyhow!(
            "the secret of {source} is not sent to {origin}: {} names that server, \
             and nothing says that the secret belongs to it (MR0610)",
            self.named_by
        );
        Failure::new(Exit::Unauthorized, error).hint(format!(
            "if it belongs there, add `--credentials-for {origin}`, or write in {}:\n\
             [bearer_files]\n\"{origin}\" = \"/path/of/the/token\"",
            environment::config_file().map_or_else(
                || "the configuration".to_owned(),
                |path| path.display().to_string()
            )
        ))
    }

    fn in_the_clear(&self, field: &HeaderName) -> Failure {
        let origin = &self.origin.text;
        let error = anyhow!(
            "`{field}` is not sent to {origin}: without https, others on the way could read it \
             (MR0611)"
        );
        Failure::new(Exit::Unauthorized, error).hint(
            "use the https address of the server; \
             plain http takes secrets on this machine only (127.0.0.1, [::1], localhost)",
        )
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let text = std::fs::read_to_string(path);
    Ok(text.with_context(|| format!("{} cannot be read", path.display()))?)
}

fn not_a_field() -> Failure {
    Failure::usage("a line of the header file is not `Name: value`")
}

/// Never quotes the value: it may be a secret.
fn insert(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), Failure> {
    let wrong = || {
        let name = one_line(name);
        Failure::usage(format!("`{name}` is not a header field that can be sent"))
            .hint("a name has letters, digits and `-`; a value has no line end")
    };
    let field = HeaderName::try_from(name).map_err(|_| wrong())?;
    let mut value = HeaderValue::try_from(value).map_err(|_| wrong())?;
    value.set_sensitive(true);
    headers.insert(field, value);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_scheme_host_and_port_and_nothing_else_of_a_url() {
        for (url, origin, is_private) in [
            ("https://mcp.example/mcp", "https://mcp.example", true),
            ("HTTPS://MCP.example:443/", "https://mcp.example", true),
            ("https://mcp.example:8443", "https://mcp.example:8443", true),
            (
                "http://127.0.0.1:80@evil.example/",
                "http://evil.example",
                false,
            ),
            (
                "http://localhost.evil.example",
                "http://localhost.evil.example",
                false,
            ),
            ("http://127.0.0.1:8080/mcp", "http://127.0.0.1:8080", true),
            ("http://[::1]:8080/mcp", "http://[::1]:8080", true),
            ("http://2130706433/", "http://127.0.0.1", true),
            ("http://10.0.0.1/", "http://10.0.0.1", false),
        ] {
            let found = Origin::of(url).unwrap();
            assert_eq!(
                (found.text.as_str(), found.is_private),
                (origin, is_private),
                "{url}"
            );
        }
        for url in ["mcp.example", "file:///etc/passwd", "ftp://a/", ""] {
            assert!(Origin::of(url).is_err(), "{url}");
        }
    }
}
