//! Tool parameters that are mirrored in headers named `Mcp-Param-…`.

mod annotation;
mod extract;

use http::{HeaderMap, HeaderName, HeaderValue};

pub use annotation::AnnotationError;
use extract::{PathTree, Scalar};

use super::field::{require, single};
use super::mismatch::{HeaderMismatch, Unmirrorable};
use super::value::{decode_value, encode_value};
use crate::json::RawObject;
use crate::tool::ObjectSchema;

/// Parameters of a tool that its `inputSchema` marks with `x-mcp-header`.
///
/// # Examples
///
/// ```
/// use http::HeaderMap;
/// use serde_json::json;
/// use sterna_protocol::http::ParamHeaders;
///
/// let schema = serde_json::from_value(json!({
///     "type": "object",
///     "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
/// }))?;
/// let mirrored = ParamHeaders::of(&schema)?;
///
/// let arguments = serde_json::from_value(json!({ "region": "us-west1", "query": "…" }))?;
/// let mut headers = HeaderMap::new();
/// mirrored.write(Some(&arguments), &mut headers)?;
/// assert_eq!(headers["mcp-param-region"], "us-west1");
/// assert!(mirrored.check(Some(&arguments), &headers).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParamHeaders {
    headers: Vec<HeaderName>,
    root: PathTree,
}

impl ParamHeaders {
    /// Reads the annotations of a tool's `inputSchema`.
    ///
    /// # Errors
    ///
    /// An annotation is invalid. An HTTP client leaves the tool out of its list
    /// and logs the reason; a server does not offer it.
    pub fn of(input_schema: &ObjectSchema) -> Result<Self, AnnotationError> {
        annotation::find(input_schema)
    }

    /// Returns true if no parameter is mirrored.
    pub fn is_empty(&self) -> bool {
        self.headers.is_empty()
    }

    /// The names of the headers, in unspecified order.
    pub fn names(&self) -> impl Iterator<Item = &HeaderName> {
        self.headers.iter()
    }

    /// Sets a header for each mirrored parameter in `arguments`.
    ///
    /// # Errors
    ///
    /// A value cannot be sent in a header. The call cannot be made over HTTP,
    /// since a server refuses it with and without the header.
    pub fn write(
        &self,
        arguments: Option<&RawObject>,
        headers: &mut HeaderMap,
    ) -> Result<(), Unmirrorable> {
        for (header, scalar) in self.headers.iter().zip(self.scalars(arguments)?) {
            let value = match scalar {
                // HTTP-C14: a missing or null parameter has no header.
                Scalar::Absent => continue,
                Scalar::Boolean(flag) => HeaderValue::from_static(spelled(flag)),
                Scalar::Integer(number) => HeaderValue::from(number),
                Scalar::Text(text) => encode_value(&text),
                Scalar::Other => return Err(Unmirrorable::Value(header.clone())),
            };
            headers.insert(header, value);
        }
        Ok(())
    }

    /// Compares the headers of a call with its arguments.
    ///
    /// # Errors
    ///
    /// A header is missing, malformed, repeated, different, or has no value in
    /// the arguments.
    pub fn check(
        &self,
        arguments: Option<&RawObject>,
        headers: &HeaderMap,
    ) -> Result<(), HeaderMismatch> {
        for (header, scalar) in self.headers.iter().zip(self.scalars(arguments)?) {
            match scalar {
                Scalar::Absent => {
                    if single(headers, header)?.is_some() {
                        return Err(HeaderMismatch::Unexpected(header.clone()));
                    }
                }
                Scalar::Boolean(flag) => {
                    require(headers, header, decode_value, |text| text == spelled(flag))?;
                }
                Scalar::Integer(number) => {
                    require(headers, header, decode_value, |text| {
                        whole_number(text) == Some(number)
                    })?;
                }
                Scalar::Text(value) => {
                    require(headers, header, decode_value, |text| text == value)?;
                }
                Scalar::Other => return Err(Unmirrorable::Value(header.clone()).into()),
            }
        }
        Ok(())
    }

    /// Returns the value for each header, in the order of `headers`.
    fn scalars<'a>(
        &self,
        arguments: Option<&'a RawObject>,
    ) -> Result<Vec<Scalar<'a>>, Unmirrorable> {
        let mut scalars = vec![Scalar::Absent; self.headers.len()];
        if let Some(arguments) = arguments
            && !self.is_empty()
        {
            let text = arguments.as_str();
            let read = self.root.extract(text, &mut scalars);
            read.map_err(|_| Unmirrorable::Arguments)?;
        }
        Ok(scalars)
    }
}

fn spelled(flag: bool) -> &'static str {
    if flag { "true" } else { "false" }
}

/// Reads an integer such as `42` or `42.0`.
///
/// HTTP-S19: integers are compared as numbers, and exactly. As a double,
/// 9007199254740991.4 would equal its neighbour.
fn whole_number(text: &str) -> Option<i64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = whole.strip_prefix('-').unwrap_or(whole);
    let sound = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    let empty = !fraction.is_empty() && fraction.bytes().all(|byte| byte == b'0');
    if sound && empty {
        whole.parse().ok()
    } else {
        None
    }
}
