use std::sync::Arc;

/// Something a server wants to know before it can finish a call.
///
/// ELICIT-C1: whoever asks the user must be able to say who wants to know.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Question<P> {
    /// Where the server is, as the application named it.
    pub server: Arc<str>,
    /// What is being done: the tool, the prompt or the resource.
    pub about: Arc<str>,
    /// The server's name for the question.
    pub key: String,
    /// What is asked.
    pub params: P,
}

impl<P> Question<P> {
    pub(crate) fn new(server: Arc<str>, about: Arc<str>, key: String, params: P) -> Self {
        Self {
            server,
            about,
            key,
            params,
        }
    }

    /// The question without what is asked, and that.
    pub(crate) fn take(self) -> (P, Question<()>) {
        let about = Question::new(self.server, self.about, self.key, ());
        (self.params, about)
    }

    /// The same circumstances with another question.
    pub(crate) fn with<Q>(self, params: Q) -> Question<Q> {
        Question::new(self.server, self.about, self.key, params)
    }
}
