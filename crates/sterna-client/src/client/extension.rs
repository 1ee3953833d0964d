use http::HeaderMap;
use serde::Serialize;
use serde::de::DeserializeOwned;
use sterna_protocol::json::{JsonObject, RawJson};
use sterna_protocol::jsonrpc::Request;
use sterna_protocol::result::Complete;

use super::Client;
use crate::core::Protocol;
use crate::error::{Error, Fault};
use crate::wire::IgnoreAll;

impl Client {
    /// Asks something that an extension defines.
    ///
    /// `params` is a struct or a map, or `()` for none; `_meta` is added to it.
    /// A server that asks back breaks the protocol: no extension may.
    ///
    /// # Errors
    ///
    /// The server refuses, cannot be reached, or is one of before 2026-07-28;
    /// or its answer is no `R`.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// # async fn example(client: sterna_client::Client) -> Result<(), sterna_client::Error> {
    /// let skills: serde_json::Value = client.request("skills/list", ()).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub async fn request<R: DeserializeOwned>(
        &self,
        method: &str,
        params: impl Serialize,
    ) -> Result<R, Error> {
        self.dangerous_request(method, params, HeaderMap::new())
            .await
    }

    /// The same, with these header fields in place of those that repeat parts of the
    /// request.
    ///
    /// Dangerous, because headers that contradict the request mislead proxies between
    /// the client and the server. For tests that servers refuse such requests.
    ///
    /// # Errors
    ///
    /// As of [`request`](Self::request).
    pub async fn dangerous_request<R: DeserializeOwned>(
        &self,
        method: &str,
        params: impl Serialize,
        instead: HeaderMap,
    ) -> Result<R, Error> {
        if let Protocol::Legacy(_) = self.core.protocol {
            let older = "a revision before 2026-07-28".to_owned();
            return Err(Fault::Unsupported(older).into());
        }
        let written = RawJson::of(&params).map_err(|error| Fault::Arguments(Some(error)))?;
        let members: Option<JsonObject> = written.decode().map_err(|_| Fault::Arguments(None))?;
        let mut members = members.unwrap_or_default();
        let meta = RawJson::of(&self.core.plain_meta());
        members.insert(
            "_meta",
            meta.map_err(|error| Fault::Arguments(Some(error)))?,
        );
        let request = Request::new(self.core.wire.next_id().into(), method, members);
        let (mut headers, timeouts) = (HeaderMap::new(), self.core.timeouts());
        self.core.standard_headers(method, None, &mut headers)?;
        headers.extend(instead);
        let asked = self.core.wire.ask(request, headers, &IgnoreAll, timeouts);
        let Complete(result) = asked.await?;
        Ok(result)
    }
}
