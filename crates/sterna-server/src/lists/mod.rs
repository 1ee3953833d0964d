//! Lists and the answer to `server/discover`, written once when the server is
//! built.

mod cached;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use ring::digest::{SHA256, digest};
use serde::Serialize;
use serde_json::Value;
use sterna_protocol::caching::Cacheable;
use sterna_protocol::caching::Caching;
use sterna_protocol::discover::DiscoverResult;
use sterna_protocol::json::JsonObject;
use sterna_protocol::legacy;
use sterna_protocol::meta::ResultMeta;
use sterna_protocol::result::Complete;
use sterna_seal::{
    Binding, Flow, FlowId, Keyring, Principal, Realm, SealRequest, SharedKeyring, Target,
    ThreadEntropy, UnixMillis,
};

pub(crate) use cached::{CachedReplies, Profile};

use crate::catalog::{Catalog, ToolEntry};
use crate::failure::Failure;
use crate::task_mode::TaskMode;

/// Everything that is the same for every request.
#[derive(Debug)]
pub(crate) struct Lists {
    pub(crate) tools: List,
    pub(crate) prompts: List,
    pub(crate) resources: List,
    pub(crate) templates: List,
}

impl Lists {
    pub(crate) fn write(
        offers: &Catalog,
        caching: &Caching,
        page: usize,
        meta: &ResultMeta,
    ) -> Self {
        let write = |member, items| List::write(Frame::modern(member, caching, meta), items, page);
        Self::of(offers, |entry| Some(value(&entry.wire)), write)
    }

    /// As [`write`](Self::write), for clients that speak of tasks as SEP-2322
    /// does.
    pub(crate) fn write_with_tasks(
        offers: &Catalog,
        caching: &Caching,
        page: usize,
        meta: &ResultMeta,
    ) -> Self {
        let write = |member, items| List::write(Frame::modern(member, caching, meta), items, page);
        Self::of(offers, with_execution, write)
    }

    /// The lists as sessions of 2025-11-25 see them, which know tasks.
    pub(crate) fn write_legacy(offers: &Catalog, page: usize, meta: Option<&JsonObject>) -> Self {
        Self::of_sessions(offers, page, meta, with_execution)
    }

    /// The lists as sessions of the revisions before see them. What runs as a
    /// task only is not for them.
    pub(crate) fn write_older(offers: &Catalog, page: usize, meta: Option<&JsonObject>) -> Self {
        Self::of_sessions(offers, page, meta, |entry| {
            (entry.task.mode != TaskMode::Always).then(|| value(&entry.wire))
        })
    }

    fn of_sessions(
        offers: &Catalog,
        page: usize,
        meta: Option<&JsonObject>,
        tool: impl Fn(&ToolEntry) -> Option<Value>,
    ) -> Self {
        let write = |member, mut items: Vec<Named>| {
            items
                .iter_mut()
                .for_each(|(_, tool)| without_odd_output(tool));
            List::write(Frame::plain(member, meta), items, page)
        };
        Self::of(offers, tool, write)
    }

    fn of(
        offers: &Catalog,
        tool: impl Fn(&ToolEntry) -> Option<Value>,
        write: impl Fn(&'static str, Vec<Named>) -> List,
    ) -> Self {
        let tools = offers.tools.iter();
        let tools = tools.filter_map(|one| Some((one.wire.name.clone(), tool(one)?)));
        let prompts = offers.prompts.iter();
        let prompts = prompts.map(|one| (one.wire.name.clone(), value(&one.wire)));
        let resources = offers.resources.iter();
        let resources = resources.map(|one| (one.wire.uri.clone(), value(&one.wire)));
        let templates = offers.templates.iter();
        let templates = templates.map(|one| (one.wire.uri_template.clone(), value(&one.wire)));
        Self {
            tools: write("tools", tools.collect()),
            prompts: write("prompts", prompts.collect()),
            resources: write("resources", resources.collect()),
            templates: write("resourceTemplates", templates.collect()),
        }
    }
}

/// A tool that says how it runs.
fn with_execution(entry: &ToolEntry) -> Option<Value> {
    let mut tool = legacy::Tool::from(entry.wire.clone());
    tool.execution = entry.task.mode.execution();
    Some(value(&tool))
}

/// The answer to `server/discover`.
pub(crate) fn discover(result: DiscoverResult, caching: &Caching, meta: &ResultMeta) -> Bytes {
    let mut result = result.with_caching(caching.clone());
    result.meta = Some(meta.clone());
    text(&Complete(result)).into()
}

/// An entry of a list, by the name it is used by.
type Named = (String, Value);

/// A list in pages, in the order of registration (TOOL-S4).
#[derive(Debug)]
pub(crate) struct List {
    items: Vec<Item>,
    frame: Frame,
    /// Items on a page.
    size: usize,
    pages: Vec<Page>,
    /// Digest of the list, so that no cursor of another one fits.
    mark: [u8; 8],
}

/// An entry, written.
#[derive(Clone, Debug)]
struct Item {
    name: String,
    text: Bytes,
}

/// Text around the entries of a page.
#[derive(Clone, Debug)]
struct Frame {
    before: Bytes,
    /// Without the closing brace, so that a cursor can follow.
    after: Bytes,
}

impl Frame {
    /// The frame of a list at 2026-07-28.
    fn modern(member: &str, caching: &Caching, meta: &ResultMeta) -> Self {
        let (ttl, scope) = (text(&caching.ttl_ms), text(&caching.scope));
        let after: [&[u8]; 6] = [
            br#"],"ttlMs":"#,
            &ttl,
            br#","cacheScope":"#,
            &scope,
            br#","_meta":"#,
            &text(meta),
        ];
        Self {
            before: format!(r#"{{"resultType":"complete","{member}":["#).into(),
            after: after.concat().into(),
        }
    }

    /// The frame of a list in the revisions before; most need no metadata.
    fn plain(member: &str, meta: Option<&JsonObject>) -> Self {
        Self {
            before: format!(r#"{{"{member}":["#).into(),
            after: match meta {
                None => Bytes::from_static(b"]"),
                Some(meta) => [br#"],"_meta":"#, &*text(meta)].concat().into(),
            },
        }
    }

    fn around(&self, items: &[Item]) -> Bytes {
        let items: Vec<&[u8]> = items.iter().map(|item| &*item.text).collect();
        [&*self.before, &items.join(&b','), &*self.after]
            .concat()
            .into()
    }
}

#[derive(Debug)]
struct Page {
    /// A result without its closing brace, so that a cursor can follow.
    text: Bytes,
    /// The cursor of the page after this one, as it was last given out.
    next: Mutex<Option<Cursor>>,
}

/// A cursor that serves for a while: sealing one costs as much as everything
/// else that a list does, and it is the same for every caller.
#[derive(Debug)]
struct Cursor {
    token: Arc<str>,
    keys: Arc<Keyring>,
    sealed_at: UnixMillis,
}

impl Cursor {
    /// Returns `true` if it may be used in place of one sealed with `keys` at
    /// `now`.
    fn serves(&self, keys: &Arc<Keyring>, now: UnixMillis) -> bool {
        let fresh = self.sealed_at <= now && now < self.sealed_at + REUSE;
        fresh && Arc::ptr_eq(&self.keys, keys)
    }
}

impl List {
    fn write(frame: Frame, items: Vec<Named>, size: usize) -> Self {
        let items = items.into_iter().map(|(name, value)| Item {
            name,
            text: text(&value).into(),
        });
        Self::of(frame, items.collect(), size.max(1))
    }

    fn of(frame: Frame, items: Vec<Item>, size: usize) -> Self {
        let mut texts: Vec<Bytes> = items
            .chunks(size)
            .map(|items| frame.around(items))
            .collect();
        if texts.is_empty() {
            texts.push(frame.around(&[]));
        }
        let all: Vec<u8> = texts.iter().flatten().copied().collect();
        let mut mark = [0; 8];
        mark.copy_from_slice(&digest(&SHA256, &all).as_ref()[..8]);
        let page = |text| Page {
            text,
            next: Mutex::default(),
        };
        Self {
            pages: texts.into_iter().map(page).collect(),
            items,
            frame,
            size,
            mark,
        }
    }

    /// The list without what is not `wanted`, by its name.
    pub(crate) fn only(&self, wanted: impl Fn(&str) -> bool) -> Self {
        let items = self.items.iter().filter(|item| wanted(&item.name));
        Self::of(self.frame.clone(), items.cloned().collect(), self.size)
    }

    /// Returns `true` if the text of the lists differs.
    pub(crate) fn differs(&self, other: &Self) -> bool {
        self.mark != other.mark
    }

    /// The page at `cursor`, and the cursor of the next one.
    ///
    /// # Errors
    ///
    /// A cursor that this list never gave out is -32602 (PAGE-S1).
    pub(crate) fn page(
        &self,
        keys: &SharedKeyring,
        realm: &Realm,
        now: UnixMillis,
        method: &'static str,
        cursor: Option<&str>,
    ) -> Result<(&Bytes, Option<Arc<str>>), Failure> {
        let at = match cursor {
            None => 0,
            Some(cursor) => self
                .open(keys, realm, now, method, cursor)
                .ok_or_else(|| Failure::params(UNKNOWN_CURSOR))?,
        };
        let page = self
            .pages
            .get(at)
            .ok_or_else(|| Failure::params(UNKNOWN_CURSOR))?;
        if at + 1 == self.pages.len() {
            return Ok((&page.text, None));
        }
        let keys = keys.current();
        let mut next = page.next.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cursor) = next.as_ref().filter(|cursor| cursor.serves(&keys, now)) {
            return Ok((&page.text, Some(Arc::clone(&cursor.token))));
        }
        let binding = binding(realm, method)?;
        let cursor = next.insert(self.seal(&keys, &binding, at + 1, now)?);
        Ok((&page.text, Some(Arc::clone(&cursor.token))))
    }

    fn seal(
        &self,
        keys: &Arc<Keyring>,
        binding: &Binding,
        page: usize,
        now: UnixMillis,
    ) -> Result<Cursor, Failure> {
        let page = u32::try_from(page).map_err(|_| Failure::Internal)?;
        let mut payload = self.mark.to_vec();
        payload.extend_from_slice(&page.to_be_bytes());
        let flow = Flow::begin(FlowId::from_bytes([0; 16]), now);
        let draft = SealRequest::new(flow, &payload);
        let sealed = keys.seal(&draft, binding, now, &mut ThreadEntropy);
        let sealed = sealed.map_err(|error| {
            tracing::error!(target: "sterna::server", %error, "a cursor cannot be sealed");
            Failure::Internal
        })?;
        Ok(Cursor {
            token: sealed.token.into(),
            keys: Arc::clone(keys),
            sealed_at: now,
        })
    }

    fn open(
        &self,
        keys: &SharedKeyring,
        realm: &Realm,
        now: UnixMillis,
        method: &'static str,
        cursor: &str,
    ) -> Option<usize> {
        let binding = binding(realm, method).ok()?;
        let claims = keys.current().open(cursor, &binding, now).ok()?;
        let page = claims.content.inline()?.strip_prefix(&self.mark)?;
        usize::try_from(u32::from_be_bytes(page.try_into().ok()?)).ok()
    }
}

/// The older revisions know structured output that is an object and no other.
fn without_odd_output(tool: &mut Value) {
    let odd = tool
        .get("outputSchema")
        .is_some_and(|schema| schema["type"] != "object");
    if let (true, Some(tool)) = (odd, tool.as_object_mut()) {
        tool.remove("outputSchema");
    }
}

/// Cursors are the same for every caller that sees the same list.
fn binding(realm: &Realm, method: &'static str) -> Result<Binding, Failure> {
    let target = Target::new(method, "cursor");
    let binding = Binding::new(realm, &Principal::anonymous(), &target, None);
    binding.map_err(|_| Failure::Internal)
}

fn value(wire: &impl Serialize) -> Value {
    serde_json::to_value(wire).expect("wire types have string keys only")
}

fn text(wire: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(wire).expect("wire types have string keys only")
}

/// One text for every reason: a cursor is sealed, and its reader learns nothing.
pub(crate) const UNKNOWN_CURSOR: &str =
    "`cursor` is none that this list gave out, or too old; begin again without one";

/// A small part of the hour for which a cursor is good, so that a
/// client that gets one has nearly all of it left.
const REUSE: Duration = Duration::from_secs(60);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_serves_for_a_minute_and_with_the_keys_it_was_sealed_with() {
        let keys = || Arc::new(Keyring::generate(&mut ThreadEntropy).unwrap());
        let (ours, reloaded) = (keys(), keys());
        let cursor = Cursor {
            token: "s1.".into(),
            keys: Arc::clone(&ours),
            sealed_at: UnixMillis::new(1_000_000),
        };
        let serves = |keys, now| cursor.serves(keys, UnixMillis::new(now));
        assert!(serves(&ours, 1_000_000) && serves(&ours, 1_059_999));
        assert!(!serves(&ours, 999_999), "the clock was set back");
        assert!(!serves(&ours, 1_060_000));
        assert!(!serves(&reloaded, 1_000_000));
    }
}
