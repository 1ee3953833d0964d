//! The least that a correct answer takes: a body read into a small struct, a
//! state of 200 bytes that is sealed and opened, an answer written by hand.

use std::borrow::Cow;
use std::sync::atomic::{AtomicU64, Ordering};

use base64_simd::URL_SAFE_NO_PAD;
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, Nonce, UnboundKey};
use ring::rand::{SecureRandom as _, SystemRandom};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Answers the benchmark's requests and nothing else.
pub struct Bare {
    key: LessSafeKey,
    prefix: [u8; 4],
    count: AtomicU64,
}

#[derive(Deserialize)]
struct Request<'a> {
    #[serde(borrow)]
    id: &'a RawValue,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(borrow)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow)]
    arguments: Option<Arguments<'a>>,
    #[serde(borrow)]
    request_state: Option<Cow<'a, str>>,
    #[serde(borrow)]
    input_responses: Option<Responses<'a>>,
}

#[derive(Deserialize)]
struct Arguments<'a> {
    #[serde(borrow)]
    message: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Responses<'a> {
    #[serde(borrow)]
    name: Response<'a>,
}

#[derive(Deserialize)]
struct Response<'a> {
    #[serde(borrow)]
    content: Person<'a>,
}

#[derive(Deserialize)]
struct Person<'a> {
    #[serde(borrow)]
    name: Cow<'a, str>,
}

impl Bare {
    /// A server with a key of its own.
    ///
    /// # Errors
    ///
    /// The system gives no randomness.
    pub fn new() -> anyhow::Result<Self> {
        let mut random = [0; 36];
        let unspecified = |_| anyhow::anyhow!("no randomness");
        SystemRandom::new().fill(&mut random).map_err(unspecified)?;
        let key = UnboundKey::new(&AES_256_GCM, &random[..32]).map_err(unspecified)?;
        Ok(Self {
            key: LessSafeKey::new(key),
            prefix: random[32..].try_into()?,
            count: AtomicU64::new(0),
        })
    }

    /// The answer to `body`, or nothing if it is not one of ours.
    pub fn answer(&self, body: &[u8]) -> Option<Vec<u8>> {
        let request: Request<'_> = serde_json::from_slice(body).ok()?;
        let mut out = Vec::with_capacity(512);
        out.extend_from_slice(br#"{"jsonrpc":"2.0","id":"#);
        out.extend_from_slice(request.id.get().as_bytes());
        out.extend_from_slice(br#","result":"#);
        match (&*request.method, &request.params) {
            ("tools/call", params) => self.call(params, &mut out)?,
            ("tools/list", _) => out.extend_from_slice(TOOLS.as_bytes()),
            ("server/discover", _) => out.extend_from_slice(DISCOVER.as_bytes()),
            _ => return None,
        }
        out.push(b'}');
        Some(out)
    }

    fn call(&self, params: &Params<'_>, out: &mut Vec<u8>) -> Option<()> {
        let message = &params.arguments.as_ref()?.message;
        match (params.name.as_deref()?, &params.request_state) {
            ("echo", _) => complete(out, message),
            ("ask", None) => self.ask(out, QUESTION),
            ("ask_about", None) => self.ask(out, &format!("What is your name, for {message}?")),
            ("ask" | "ask_about", Some(state)) => {
                let name = &params.input_responses.as_ref()?.name.content.name;
                self.open(state)?;
                complete(out, &format!("{message}, {name}"))
            }
            _ => None,
        }
    }

    fn ask(&self, out: &mut Vec<u8>, question: &str) -> Option<()> {
        out.extend_from_slice(ASK.as_bytes());
        serde_json::to_writer(&mut *out, question).ok()?;
        out.extend_from_slice(FORM.as_bytes());
        out.extend_from_slice(self.seal()?.as_bytes());
        out.extend_from_slice(br#""}"#);
        Some(())
    }

    fn seal(&self) -> Option<String> {
        let mut nonce = [0; 12];
        nonce[..4].copy_from_slice(&self.prefix);
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        nonce[4..].copy_from_slice(&count.to_be_bytes());
        let mut sealed = Vec::with_capacity(12 + STATE.len() + 16);
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(&STATE);
        let nonce = Nonce::assume_unique_for_key(nonce);
        let (_, state) = sealed.split_at_mut(12);
        let tag = self
            .key
            .seal_in_place_separate_tag(nonce, Aad::empty(), state)
            .ok()?;
        sealed.extend_from_slice(tag.as_ref());
        Some(URL_SAFE_NO_PAD.encode_to_string(&sealed))
    }

    fn open(&self, state: &str) -> Option<()> {
        let mut sealed = URL_SAFE_NO_PAD.decode_to_vec(state).ok()?;
        let (nonce, state) = sealed.split_at_mut_checked(12)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
        let state = self.key.open_in_place(nonce, Aad::empty(), state).ok()?;
        (*state == STATE).then_some(())
    }
}

fn complete(out: &mut Vec<u8>, text: &str) -> Option<()> {
    out.extend_from_slice(br#"{"resultType":"complete","content":[{"type":"text","text":"#);
    serde_json::to_writer(&mut *out, text).ok()?;
    out.extend_from_slice(b"}]}");
    Some(())
}

const STATE: [u8; 200] = [7; 200];
const QUESTION: &str = "What is your name?";
const ASK: &str = r#"{"resultType":"input_required","inputRequests":{"name":{"method":"elicitation/create","params":{"mode":"form","message":"#;
const FORM: &str = r#","requestedSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}}},"requestState":""#;
const TOOLS: &str = r#"{"resultType":"complete","tools":[{"name":"echo","description":"Says the message again","inputSchema":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}},{"name":"ask","description":"Asks for a name first","inputSchema":{"type":"object","properties":{"message":{"type":"string"}},"required":["message"]}}],"ttlMs":0,"cacheScope":"private"}"#;
const DISCOVER: &str = r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"bare","version":"1.0.0"},"ttlMs":0,"cacheScope":"private"}"#;
