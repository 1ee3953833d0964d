use std::fmt;

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use sterna_form::{Form, NotAForm};
use sterna_protocol::elicitation::{ElicitAction, ElicitContent, ElicitResult, FormSchema};
use sterna_protocol::json::JsonObject;
use sterna_protocol::roots::{ListRootsResult, Root};
use sterna_protocol::sampling::CreateMessageResult;

use crate::failure::AskError;

/// The client's answers to what a low-level handler asked.
///
/// Every method gives `None` for an answer that is missing or does not fit its
/// question: ask again. If the round before returned a state, only the keys it
/// asked for are here; if it returned none, nothing is known of that round and
/// all that the client sent is.
#[derive(Clone, Default)]
pub struct Answers(JsonObject);

impl Answers {
    pub(crate) fn new(answers: JsonObject) -> Self {
        Self(answers)
    }

    /// The answer to a form made of the fields of `T`, or of one field named
    /// `key`.
    pub fn form<T: JsonSchema + DeserializeOwned>(&self, key: &str) -> Option<Result<T, AskError>> {
        let form = Form::of::<T>().ok()?;
        let content = match self.checked(key, &form.schema(key))? {
            Ok(content) => content,
            Err(refused) => return Some(Err(refused)),
        };
        form.read(key, &content).ok().map(Ok)
    }

    /// The answer to a form that was put together by hand.
    #[must_use]
    pub fn content(
        &self,
        key: &str,
        schema: &FormSchema,
    ) -> Option<Result<ElicitContent, AskError>> {
        self.checked(key, schema)
    }

    /// Answer of the user to a URL: `Ok` if they agreed to visit it.
    #[must_use]
    pub fn visit(&self, key: &str) -> Option<Result<(), AskError>> {
        let result: ElicitResult = self.read(key)?;
        AskError::from_action(&result.action)
    }

    /// Message of the model.
    #[must_use]
    pub fn sample(&self, key: &str) -> Option<CreateMessageResult> {
        self.read(key)
    }

    /// The client's roots.
    #[must_use]
    pub fn roots(&self, key: &str) -> Option<Vec<Root>> {
        self.read(key).map(|result: ListRootsResult| result.roots)
    }

    /// Returns `true` if there are no answers.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn checked(&self, key: &str, schema: &FormSchema) -> Option<Result<ElicitContent, AskError>> {
        let result: ElicitResult = self.read(key)?;
        if result.action != ElicitAction::Accept {
            return Some(Err(AskError::from_action(&result.action)?.err()?));
        }
        let content = result.content.unwrap_or_default();
        schema.check(content).ok().map(Ok)
    }

    fn read<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        let answer = self.0.get(key).filter(|answer| answer.is_object())?;
        answer.decode().ok()
    }
}

impl fmt::Debug for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<_> = self.0.iter().map(|(key, _)| key).collect();
        f.debug_tuple("Answers").field(&keys).finish()
    }
}

/// The form of a Rust type, for a low-level handler that asks with it and reads
/// the answer with [`Answers::form`].
///
/// A struct has one field per member; anything else that fits into one field is
/// a form of one field, named `key`.
///
/// # Errors
///
/// `T` has a shape that no form can show; the error names the field.
///
/// # Examples
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use sterna_protocol::elicitation::ElicitRequestFormParams;
/// use sterna_protocol::input::{InputRequest, InputRequired};
/// use sterna_protocol::result::Outcome;
/// use sterna_protocol::tool::CallToolResult;
/// use sterna_server::{Answers, Call, ToolError, form_schema};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Approval {
///     /// Why is it safe?
///     reason: String,
/// }
///
/// async fn deploy(_: Call, answers: Answers) -> Result<Outcome<CallToolResult>, ToolError> {
///     if let Some(approval) = answers.form::<Approval>("approval") {
///         let text = format!("deployed: {}", approval?.reason);
///         return Ok(Outcome::Complete(CallToolResult::text(text)));
///     }
///     let form = form_schema::<Approval>("approval")?;
///     let question = InputRequest::elicit(ElicitRequestFormParams::new("Deploy?", form));
///     Ok(Outcome::InputRequired(InputRequired::asking("approval", question)))
/// }
/// # let form = form_schema::<Approval>("approval").unwrap();
/// # assert!(form.requires("reason"));
/// ```
pub fn form_schema<T: JsonSchema>(key: &str) -> Result<FormSchema, NotAForm> {
    Form::of::<T>().map(|form| form.schema(key))
}
