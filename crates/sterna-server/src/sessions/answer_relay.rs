//! Answers that arrive on another instance than the one that asked.
//!
//! If instances share a store, the id of a question is sealed. Any instance that
//! gets the answer can read from it that the question was asked, in this session
//! and of this caller, and until when. It puts the answer into the store, where
//! the instance that asked polls for it until its request ends.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use ring::digest::{Context, SHA256};
use sterna_http::auth::Caller;
use sterna_http::{Admission, clock};
use sterna_protocol::jsonrpc::{ErrorObject, RequestId};
use sterna_runner::tasks::jitter;
use sterna_seal::{Flow, FlowId, Lifetimes, SealRequest, Target, ThreadEntropy};
use sterna_store::{Backoff, BlobId, Error, Mailbox};

use super::session::{Session, bind};
use crate::core::Core;
use crate::session_table::ClientAnswer;
use crate::session_table::Key;
use crate::tasks::{Tasks, store_failed};

/// Relay of one request for answers that arrive at another instance.
pub(super) struct AnswerRelay {
    pub(super) core: Arc<Core>,
    pub(super) tasks: Arc<Tasks>,
    pub(super) admission: Admission,
    pub(super) session: Key,
    /// Time at which the request stops waiting.
    pub(super) ends: Instant,
}

impl AnswerRelay {
    /// The id of the question `short`, for any instance to read; `None` if it
    /// cannot be sealed, which has been logged.
    pub(super) fn address(&self, short: &str) -> Option<RequestId> {
        let binding = bind(
            &self.core,
            self.admission.caller(),
            &Target::new("answer", short),
        )?;
        let flow = Flow::begin(FlowId::from_bytes([0; 16]), self.core.now());
        let left = self.ends.saturating_duration_since(clock::now());
        let draft =
            SealRequest::new(flow, &self.session).with_lifetimes(Lifetimes::new(left, left));
        let ring = self.core.keys.current();
        let sealed = ring.seal(&draft, &binding, self.core.now(), &mut ThreadEntropy);
        let sealed = sealed.inspect_err(|error| {
            tracing::error!(target: "sterna::sessions", %error, "MR0300: a question cannot be sealed");
        });
        Some(RequestId::from(format!("{short}.{}", sealed.ok()?.token)))
    }

    /// Waits for an answer that arrives elsewhere.
    pub(super) fn wait(
        &self,
        short: &str,
    ) -> impl Future<Output = ClientAnswer> + Send + use<> + 'static {
        let id = answer_blob_id(&self.tasks, self.admission.caller(), &self.session, short);
        collect(Arc::clone(&self.tasks), id)
    }
}

/// Leaves an answer for the instance that asked, if one did.
///
/// # Errors
///
/// The store failed, and the client must answer again.
pub(super) async fn leave(
    core: &Core,
    caller: &Caller,
    session: &Session,
    id: &RequestId,
    answer: ClientAnswer,
) -> Result<(), Error> {
    let id = id.to_string();
    let Some(tasks) = &core.tasks else {
        return Ok(());
    };
    let Some((short, left)) = read_address(core, caller, session, &id) else {
        return Ok(());
    };
    let id = answer_blob_id(tasks, caller, &session.key, short);
    // The first answer counts.
    let mailbox = Mailbox::new(Arc::clone(&tasks.store), id);
    mailbox.post(write(answer), left).await
}

/// The short form of a question's id and how long its answer is waited for;
/// `None` if it was not asked in this session.
fn read_address<'a>(
    core: &Core,
    caller: &Caller,
    session: &Session,
    id: &'a str,
) -> Option<(&'a str, Duration)> {
    let (number, _) = id.match_indices('.').nth(1)?;
    let (short, token) = (&id[..number], &id[number + 1..]);
    let binding = bind(core, caller, &Target::new("answer", short))?;
    let claims = core.keys.current().open(token, &binding, core.now()).ok()?;
    (claims.content.inline()? == session.key).then_some(())?;
    Some((short, claims.expires_at - core.now()))
}

/// Id of the blob for the answer to a question; callers do not share it.
fn answer_blob_id(tasks: &Tasks, caller: &Caller, session: &Key, short: &str) -> BlobId {
    let mut context = Context::new(&SHA256);
    context.update(b"an answer within a session\n");
    context.update(tasks.owner(caller).as_bytes());
    context.update(session);
    context.update(short.as_bytes());
    let mut id = [0; 16];
    id.copy_from_slice(&context.finish().as_ref()[..16]);
    BlobId::from_bytes(id)
}

/// Polls for an answer until it is there.
async fn collect(tasks: Arc<Tasks>, id: BlobId) -> ClientAnswer {
    let mailbox = Mailbox::new(Arc::clone(&tasks.store), id);
    let mut backoff = Backoff::new(SHORTEST_POLL, tasks.config.longest_poll);
    loop {
        match mailbox.collect(&mut backoff, jitter).await {
            Ok(bytes) => {
                if let Some(answer) = read(&bytes) {
                    return answer;
                }
                // Another release wrote it. The answer may still arrive here.
                std::future::pending::<()>().await;
            }
            // It may also arrive here, so there is no reason to give up.
            Err(error) => drop(store_failed(&error)),
        }
    }
}

fn write(answer: ClientAnswer) -> Bytes {
    let (kind, text) = match answer {
        Ok(text) => (RESULT, text),
        Err(error) => {
            let text = serde_json::to_string(&error).expect("an error holds JSON only");
            (REFUSAL, text)
        }
    };
    let mut bytes = vec![VERSION, kind];
    bytes.extend(text.into_bytes());
    bytes.into()
}

/// Reads what any build of this version wrote; `None` if none did.
fn read(bytes: &[u8]) -> Option<ClientAnswer> {
    let (&[VERSION, kind], text) = bytes.split_first_chunk()? else {
        return None;
    };
    match kind {
        RESULT => Some(Ok(std::str::from_utf8(text).ok()?.to_owned())),
        REFUSAL => Some(Err(serde_json::from_slice::<ErrorObject>(text).ok()?)),
        _ => None,
    }
}

const VERSION: u8 = b'1';
const RESULT: u8 = b'r';
const REFUSAL: u8 = b'e';

/// An answer is looked for this soon after the question. People take longer.
const SHORTEST_POLL: Duration = Duration::from_millis(250);

#[cfg(test)]
mod tests {
    use sterna_protocol::jsonrpc::ErrorCode;

    use super::*;

    #[test]
    fn the_format_is_frozen() {
        let accepted = Ok(r#"{"action":"accept"}"#.to_owned());
        assert_eq!(write(accepted), r#"1r{"action":"accept"}"#);
        let refused = Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, "no"));
        assert_eq!(write(refused), r#"1e{"code":-32603,"message":"no"}"#);
        let read_back = read(br#"1r{"action":"accept"}"#).unwrap().unwrap();
        assert_eq!(read_back, r#"{"action":"accept"}"#);
        let read_back = read(br#"1e{"code":-32603,"message":"no"}"#).unwrap();
        assert_eq!(read_back.unwrap_err().message, "no");
    }

    #[test]
    fn other_versions_and_nonsense_are_not_read() {
        for bytes in [&b""[..], b"1", b"2r{}", b"1x{}", b"1e{}", b"1r\xff"] {
            assert!(read(bytes).is_none(), "{bytes:?}");
        }
    }
}
