//! Surroundings of the handler.

use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use sterna_server::auth::Caller;

use super::Flow;
use crate::world;

/// Surroundings of the handler: state, world, caller, client.
impl Flow {
    /// Gives every replica a `T` of its own, as
    /// [`Server::state`](sterna_server::Server::state) does: a cache, a
    /// counter, anything that lives in the memory of one process.
    pub fn state<T: Send + Sync + 'static>(
        mut self,
        make: impl Fn() -> T + Send + Sync + 'static,
    ) -> Self {
        self.states
            .push(Arc::new(move |server| server.state(make())));
        self
    }

    /// Gives all replicas of a run the same `W`, as state: a stand-in for an
    /// outside service, such as a mail server. Every run gets a new one.
    ///
    /// `effects` lists the effects on it, each in a few words. The
    /// [checks](Self::check) fail if an effect happens twice.
    ///
    /// ```
    /// use std::sync::{Arc, Mutex};
    /// use sterna_server::{Cx, ToolError};
    /// use sterna_testkit::Flow;
    ///
    /// #[derive(Clone, Default)]
    /// struct Mail(Arc<Mutex<Vec<String>>>);
    ///
    /// async fn invite(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    ///     let who: String = cx.ask("who", "Whom?").await?;
    ///     let mail = cx.state::<Mail>().clone();
    ///     cx.once("send", |_key| async move {
    ///         mail.0.lock().unwrap().push(who);
    ///         ()
    ///     })
    ///     .await?;
    ///     Ok("invited".to_owned())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() {
    /// let flow = Flow::of(invite)
    ///     .world(Mail::default, |mail| mail.0.lock().unwrap().clone())
    ///     .answer("who", "ada@example.com");
    /// assert_eq!(flow.run().await.effects(), ["ada@example.com"]);
    /// flow.check().await;
    /// # }
    /// ```
    pub fn world<W, M, E>(mut self, make: M, effects: E) -> Self
    where
        W: Clone + Send + Sync + 'static,
        M: Fn() -> W + Send + Sync + 'static,
        E: Fn(&W) -> Vec<String> + Send + Sync + 'static,
    {
        self.worlds.push(world::maker(make, effects));
        self
    }

    /// Says who is calling.
    pub fn caller(mut self, caller: impl Into<Caller>) -> Self {
        self.caller = Some(caller.into());
        self
    }

    /// Sends a header with every request, such as a token for a server that
    /// has a gate. What no header can hold is not sent.
    pub fn header(mut self, name: &'static str, value: &str) -> Self {
        let name = HeaderName::from_bytes(name.as_bytes());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::from_str(value)) {
            let mut headers = HeaderMap::new();
            headers.insert(name, value);
            self.headers.extend(headers);
        }
        self
    }

    /// Puts `value` into the extensions of every request, as a layer around
    /// the server would.
    pub fn extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.extensions.push(Arc::new(move |extensions| {
            extensions.insert(value.clone());
        }));
        self
    }

    /// Capabilities that the client declares. By default it can be asked everything;
    /// with `json!({})` it can be asked nothing.
    pub fn capabilities(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Serves from so many replicas in turn. Without this every request goes
    /// to a replica that has seen none before.
    pub fn replicas(mut self, count: usize) -> Self {
        self.replicas = Some(count.max(1));
        self
    }

    /// Returns whether some round comes from another caller.
    pub(crate) fn changes_caller(&self) -> bool {
        self.rounds.values().any(|round| round.caller.is_some())
    }
}
