//! The verbs that ask the client.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use sterna_form::Form;
use sterna_protocol::elicitation::{ElicitRequestFormParams, ElicitRequestUrlParams, FormSchema};
use sterna_protocol::input::InputRequest;
use sterna_protocol::roots::Root;
use sterna_protocol::sampling::{CreateMessageRequestParams, CreateMessageResult};
use sterna_protocol::uri::Uri;

use super::question::{self, Question, Subject};
use super::{Ask, Cx, SamplingRequest};

/// # Questions
///
/// The server replies `input_required`. When the client retries with the
/// answer, on any instance, the handler resumes. In a session of an older
/// revision the client is asked while the request is open, and a task waits in
/// the store.
impl<'a> Cx<'a> {
    /// Shows the user a form and returns the values that they entered.
    ///
    /// A struct has one field per member. A string, a number, a boolean, an
    /// enum or a list of enum values is a form with one field, named `key`. The
    /// answer is checked against the form before it is read. An answer that does
    /// not fit is asked for again, with the reason.
    ///
    /// A type that cannot be a form fails the call, and the log says why
    /// (MR0201).
    ///
    /// ```
    /// use schemars::JsonSchema;
    /// use serde::Deserialize;
    /// use sterna_server::{Cx, ToolError};
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Approval {
    ///     /// Why is it safe to deploy?
    ///     reason: String,
    ///     #[serde(default)]
    ///     urgent: bool,
    /// }
    ///
    /// async fn deploy(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    ///     let approval: Approval = cx.ask("approval", "Deploy to production?").await?;
    ///     let replicas: u8 = cx.ask("replicas", "How many replicas?").await?;
    ///     Ok(format!("{replicas} replicas: {}", approval.reason))
    /// }
    /// ```
    #[track_caller]
    pub fn ask<T>(&self, key: &str, message: impl Into<String>) -> Ask<'a, T>
    where
        T: JsonSchema + DeserializeOwned + Send + 'static,
    {
        let form = match Form::known::<T>() {
            Ok(form) => form,
            Err(mistake) => {
                self.request.record_misuse(mistake);
                return Ask::never();
            }
        };
        self.put(key, Subject::form(form, key, message.into()))
    }

    /// Asks the user to agree: `true` if they accept, `false` if they decline.
    #[track_caller]
    pub fn confirm(&self, key: &str, message: impl Into<String>) -> Ask<'a, bool> {
        let params = ElicitRequestFormParams::new(message, FormSchema::new());
        let request = InputRequest::elicit(params);
        self.put(key, Subject::whole(request, question::confirmed))
    }

    /// Sends the user to `url`, for data that must not pass through the client:
    /// credentials, payments. Completes when the user has agreed to open the
    /// page. The page itself tells the server what the user did there.
    ///
    /// The page is `https`, or on this machine; any other fails the call, and
    /// the log says why (MR0602).
    #[track_caller]
    pub fn ask_url(&self, key: &str, message: impl Into<String>, url: Uri) -> Ask<'a, ()> {
        let params = ElicitRequestUrlParams::new(message, url);
        let request = InputRequest::elicit(params);
        self.put(key, Subject::whole(request, question::visited))
    }

    /// Requests a completion from the client's model.
    ///
    /// ```
    /// use sterna_server::{Cx, ToolError};
    ///
    /// async fn summarize(cx: Cx<'_>, (): ()) -> Result<String, ToolError> {
    ///     let reply = cx.sample("summary", "Summarize the incident in one line.").await?;
    ///     Ok(reply.model)
    /// }
    /// ```
    #[track_caller]
    pub fn sample(
        &self,
        key: &str,
        request: impl Into<SamplingRequest>,
    ) -> Ask<'a, CreateMessageResult> {
        let params: CreateMessageRequestParams = request.into().0;
        let request = InputRequest::create_message(params);
        self.put(key, Subject::whole(request, question::sampled))
    }

    /// Asks for the directories that the client works on.
    #[track_caller]
    pub fn roots(&self, key: &str) -> Ask<'a, Vec<Root>> {
        let request = InputRequest::list_roots();
        self.put(key, Subject::whole(request, question::listed))
    }

    #[track_caller]
    fn put<T: Send + 'static>(&self, key: &str, subject: Subject<T>) -> Ask<'a, T> {
        let question = Question::new(subject, self.request.clone());
        Ask::new(self.flow.ask(key, question))
    }
}
