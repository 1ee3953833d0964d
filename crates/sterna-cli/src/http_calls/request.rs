//! A request as the user typed it, and the same with the member `resume`.

use std::io::Read as _;
use std::path::Path;

use anyhow::Context as _;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE, HOST, TRANSFER_ENCODING};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sterna_seal::{Entropy as _, ThreadEntropy};
use url::Url;

use crate::args::CallHttpArgs;
use crate::exit::Failure;
use crate::text::{excerpt, one_line};
use crate::trace;

/// Request to an HTTP API. It holds no secret of the user, so that it can be
/// saved; credentials are added where it is sent.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct HttpRequest {
    method: String,
    pub(crate) url: String,
    /// Names and values, in the order in which they were typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    headers: Vec<(String, String)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    body: Option<String>,
}

impl HttpRequest {
    /// Reads the request that was typed.
    pub(crate) fn read(args: &CallHttpArgs) -> Result<Self, Failure> {
        let method = args.method.to_ascii_uppercase();
        let body = args.body.as_deref().map(read_body).transpose()?;
        let headers = args.headers.iter().map(|field| read_field(field));
        let mut request = Self {
            method,
            url: args.url.clone(),
            headers: headers.collect::<Result<_, _>>()?,
            body,
        };
        if args.respond_async {
            request.set_default(PREFER, "respond-async");
        }
        let key = args.idempotency_key.clone();
        let is_post = request.method()? == Method::POST;
        if let Some(key) = key.or(is_post.then(new_key).transpose()?) {
            // The draft has a string of structured fields, in quotation marks.
            request.set_default(IDEMPOTENCY_KEY, &format!("{key:?}"));
        }
        if request.body.is_some() {
            request.set_default(CONTENT_TYPE.as_str(), "application/json");
        }
        // What is wrong is said before anything is sent.
        let url = request.url()?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Failure::usage("the URL holds a name or a password").hint(
                "secrets are not typed: give a token with --bearer-file, or an \
                 `Authorization:` line in a file with --header-file",
            ));
        }
        request.headers()?;
        if request
            .object()
            .is_some_and(|body| body.contains_key(RESUME))
        {
            return Err(Failure::usage("the body has a member `resume`")
                .hint("this command adds it, once the server has asked; `sterna resume` goes on with a saved request"));
        }
        Ok(request)
    }

    pub(crate) fn url(&self) -> Result<Url, Failure> {
        let wrong = || {
            Failure::usage(format!(
                "`{}` is not the URL of a server",
                excerpt(&self.url)
            ))
            .hint("a URL looks like https://shop.example/checkout")
        };
        let mut url = Url::parse(&self.url).map_err(|_| wrong())?;
        url.set_fragment(None);
        match (url.scheme(), url.has_host()) {
            ("http" | "https", true) => Ok(url),
            _ => Err(wrong()),
        }
    }

    pub(crate) fn method(&self) -> Result<Method, Failure> {
        let method = Method::from_bytes(self.method.as_bytes());
        method.map_err(|_| {
            let method = excerpt(&self.method);
            Failure::usage(format!("`{method}` is not a method"))
                .hint("write the method before the URL: sterna call-http POST URL BODY")
        })
    }

    pub(crate) fn headers(&self) -> Result<HeaderMap, Failure> {
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let wrong = || Failure::usage(format!("`{}` cannot be sent", excerpt(name)));
            let field = HeaderName::try_from(name).map_err(|_| wrong())?;
            if [HOST, CONTENT_LENGTH, TRANSFER_ENCODING].contains(&field) {
                return Err(wrong().hint("the connection sets this field"));
            }
            headers.append(field, HeaderValue::try_from(value).map_err(|_| wrong())?);
        }
        Ok(headers)
    }

    pub(crate) fn body(&self) -> Option<&str> {
        self.body.as_deref()
    }

    /// Returns the method and the path, as a name for people.
    pub(crate) fn name(&self) -> String {
        let path = self.url().map(|url| url.path().to_owned());
        format!("{} {}", self.method, path.unwrap_or_default())
    }

    /// Returns scheme, host and port of the server, as a name for people.
    pub(crate) fn server(&self) -> String {
        let origin = self.url().map(|url| url.origin().ascii_serialization());
        origin.unwrap_or_default()
    }

    /// Returns the key under which the server knows the first request.
    pub(crate) fn idempotency_key(&self) -> Option<&str> {
        let mut fields = self.headers.iter();
        let (_, key) = fields.find(|(name, _)| name.eq_ignore_ascii_case(IDEMPOTENCY_KEY))?;
        Some(key.trim_matches('"'))
    }

    /// Returns the same request to another server: its path and query stay,
    /// because the state is bound to them.
    pub(crate) fn at(&self, server: &str) -> Result<Self, Failure> {
        let old = self.url()?;
        let other = Self {
            url: server.to_owned(),
            ..self.clone()
        };
        let mut url = other.url()?;
        url.set_path(old.path());
        url.set_query(old.query());
        Ok(Self {
            url: url.into(),
            ..other
        })
    }

    /// Returns a request to the operation at `location`, which the server has
    /// named. The request is refused where it is sent if that is another origin.
    pub(super) fn to_operation(&self, method: &str, location: &str) -> Result<Self, Failure> {
        let place = self.url()?.join(location);
        let place = place.with_context(|| {
            let location = excerpt(location);
            format!("the server names an operation at `{location}`, which is no address")
        })?;
        let content_type = CONTENT_TYPE;
        let left_out = [IDEMPOTENCY_KEY, content_type.as_str(), PREFER];
        let is_kept = |name: &str| !left_out.iter().any(|out| name.eq_ignore_ascii_case(out));
        let headers = self.headers.iter().filter(|(name, _)| is_kept(name));
        Ok(Self {
            method: method.to_owned(),
            url: place.into(),
            headers: headers.cloned().collect(),
            body: None,
        })
    }

    /// Returns the same request with another method.
    pub(super) fn with_method(&self, method: &str) -> Self {
        Self {
            method: method.to_owned(),
            ..self.clone()
        }
    }

    /// Returns the same request with one header field more.
    pub(super) fn with(&self, name: &str, value: &str) -> Self {
        let mut request = self.clone();
        request.headers.push((name.to_owned(), value.to_owned()));
        request
    }

    /// Returns the request that brings answers to this operation.
    pub(super) fn answers(&self, answers: &Map<String, Value>) -> Result<Self, Failure> {
        let mut place = self.url()?;
        let path = format!("{}/answers", place.path().trim_end_matches('/'));
        place.set_path(&path);
        let body = Map::from_iter([("answers".to_owned(), answers.clone().into())]);
        let mut request = Self {
            method: "POST".to_owned(),
            url: place.into(),
            headers: self.headers.clone(),
            body: Some(Value::from(body).to_string()),
        };
        request.set_default(CONTENT_TYPE.as_str(), "application/json");
        Ok(request)
    }

    /// Returns the same request with the member `resume`.
    pub(crate) fn resuming(
        &self,
        token: &str,
        answers: &Map<String, Value>,
    ) -> Result<Self, Failure> {
        let text = self.body.as_deref().unwrap_or_default().trim();
        let resume = serde_json::to_string(&ResumeMember { token, answers })?;
        // The text of the body stays as it was typed: numbers keep their digits.
        let body = match (text, self.object()) {
            ("", _) => format!("{{\"{RESUME}\":{resume}}}"),
            (_, Some(members)) => {
                let rest = text.strip_suffix('}').unwrap_or(text).trim_end();
                let comma = if members.is_empty() { "" } else { "," };
                format!("{rest}{comma}\"{RESUME}\":{resume}}}")
            }
            (_, None) => {
                return Err(Failure::usage(
                    "the server asks, and a body that is no JSON object has no place for the answer",
                )
                .hint("send a JSON object"));
            }
        };
        let mut request = Self {
            body: Some(body),
            ..self.clone()
        };
        request.set_default(CONTENT_TYPE.as_str(), "application/json");
        Ok(request)
    }

    fn object(&self) -> Option<Map<String, Value>> {
        serde_json::from_str(self.body.as_deref()?).ok()
    }

    fn set_default(&mut self, name: &str, value: &str) {
        let mut fields = self.headers.iter();
        if !fields.any(|(field, _)| field.eq_ignore_ascii_case(name)) {
            self.headers.push((name.to_owned(), value.to_owned()));
        }
    }
}

/// Member by which a request is resumed.
#[derive(Serialize)]
struct ResumeMember<'a> {
    token: &'a str,
    answers: &'a Map<String, Value>,
}

/// Reads the body itself, from a file after `@`, or from stdin.
fn read_body(word: &str) -> Result<String, Failure> {
    let largest = u64::try_from(LARGEST_BODY).unwrap_or(u64::MAX);
    let text = match word.strip_prefix('@') {
        None if word == "-" => {
            let mut text = String::new();
            std::io::stdin()
                .lock()
                .take(largest + 1)
                .read_to_string(&mut text)?;
            text
        }
        None => word.to_owned(),
        Some(file) => {
            let path = Path::new(file);
            let mut text = String::new();
            let read = std::fs::File::open(path)
                .and_then(|file| file.take(largest + 1).read_to_string(&mut text));
            read.with_context(|| format!("{} cannot be read", path.display()))?;
            text
        }
    };
    match text.len() > LARGEST_BODY {
        false => Ok(text),
        true => Err(Failure::usage(format!(
            "the body is larger than {} MiB",
            LARGEST_BODY >> 20
        ))
        .hint("upload large data before, and name it in the request")),
    }
}

/// Reads `Name: value`. A flag takes no secret: flags stay in the history of the
/// shell, and every user of the machine sees them.
fn read_field(field: &str) -> Result<(String, String), Failure> {
    let (name, value) = field.split_once(':').ok_or_else(|| {
        Failure::usage(format!("`{}` is not a header field", excerpt(field)))
            .hint("write -H 'Name: value'")
    })?;
    let name = name.trim();
    let is_secret = HeaderName::try_from(name).is_ok_and(|name| trace::is_secret(&name));
    match is_secret {
        true => Err(Failure::usage(format!(
            "`{}` is a secret, and -H takes none: others can see the flags of a command",
            one_line(name)
        ))
        .hint("give a token with --bearer-file, --bearer-env or $STERNA_BEARER, other fields with --header-file")),
        false => Ok((name.to_owned(), value.trim().to_owned())),
    }
}

/// Draws a new `Idempotency-Key`.
fn new_key() -> Result<String, Failure> {
    let mut bytes = [0; 16];
    ThreadEntropy.fill(&mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

const IDEMPOTENCY_KEY: &str = "Idempotency-Key";
const PREFER: &str = "Prefer";
const RESUME: &str = "resume";

/// More than pausing routes take, which is 2 MiB unless configured otherwise.
const LARGEST_BODY: usize = 16 << 20;

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use serde_json::json;

    use super::*;

    fn request(body: Option<&str>) -> HttpRequest {
        HttpRequest {
            method: "POST".to_owned(),
            url: "http://127.0.0.1:1/a?b=c#d".to_owned(),
            headers: Vec::new(),
            body: body.map(str::to_owned),
        }
    }

    #[track_caller]
    fn check(body: Option<&str>, expected: Expect) {
        let answers = Map::from_iter([("q".to_owned(), json!(true))]);
        let shown = match request(body).resuming("t", &answers) {
            Ok(resumed) => resumed.body.unwrap(),
            Err(failure) => format!("{:#}", failure.error),
        };
        expected.assert_eq(&shown);
    }

    #[test]
    fn the_member_is_added_and_the_rest_stays_as_it_was() {
        check(
            None,
            expect![[r#"{"resume":{"token":"t","answers":{"q":true}}}"#]],
        );
        check(
            Some(" { } "),
            expect![[r#"{"resume":{"token":"t","answers":{"q":true}}}"#]],
        );
        check(
            Some("{\"n\": 1.50,\n \"o\": {}}\n"),
            expect![[r#"
                {"n": 1.50,
                 "o": {},"resume":{"token":"t","answers":{"q":true}}}"#]],
        );
    }

    #[test]
    fn a_body_of_another_form_cannot_be_resumed() {
        for body in ["[1]", "{} {}", "a=b"] {
            assert!(request(Some(body)).resuming("t", &Map::new()).is_err());
        }
    }

    #[test]
    fn another_server_gets_the_same_path_and_query() {
        let moved = request(None).at("https://other.example/x").unwrap();
        assert_eq!(moved.url, "https://other.example/a?b=c");
    }

    #[test]
    fn a_flag_takes_no_secret() {
        for field in ["Authorization: Bearer a", "cookie:a=b", "X-Api-Key: k"] {
            assert!(read_field(field).is_err(), "{field}");
        }
        assert_eq!(
            read_field("Accept-Language: de").unwrap(),
            ("Accept-Language".to_owned(), "de".to_owned())
        );
    }
}
