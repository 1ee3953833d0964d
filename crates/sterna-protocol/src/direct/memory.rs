//! Members of `_meta` that a client repeats, remembered by their text.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::cursor::Cursor;
use crate::capabilities::ClientCapabilities;
use crate::implementation::Implementation;

/// Client infos and capabilities that were read before, by their exact text.
///
/// Meant for one connection and one caller: a few clients share it, and none
/// learns of others by the time that a request takes. A text of more than 512
/// bytes or of many members is not remembered, and four texts of each kind are,
/// so that the whole stays below 40 KiB whatever a peer sends.
#[derive(Default)]
pub struct ClientMemory {
    pub(super) infos: Remembered<Implementation>,
    pub(super) capabilities: Remembered<ClientCapabilities>,
}

impl ClientMemory {
    /// Creates a memory that remembers nothing.
    pub fn disabled() -> Self {
        Self {
            infos: Remembered::of_at_most(0),
            capabilities: Remembered::of_at_most(0),
        }
    }

    /// The number of texts that are remembered.
    pub fn len(&self) -> usize {
        self.infos.known.len() + self.capabilities.known.len()
    }

    /// Returns true if nothing is remembered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl fmt::Debug for ClientMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ClientMemory({} texts)", self.len())
    }
}

/// Objects by their text, the oldest replaced first.
pub(super) struct Remembered<T> {
    known: Vec<(Box<str>, Arc<T>)>,
    most: usize,
    oldest: usize,
}

impl<T> Default for Remembered<T> {
    fn default() -> Self {
        Self::of_at_most(MOST)
    }
}

impl<T> Remembered<T> {
    fn of_at_most(most: usize) -> Self {
        Self {
            known: Vec::new(),
            most,
            oldest: 0,
        }
    }
}

impl<T: DeserializeOwned> Remembered<T> {
    /// The object at the cursor, which is left behind it.
    pub(super) fn read(&mut self, cursor: &mut Cursor<'_>) -> Option<Arc<T>> {
        let rest = cursor.rest();
        // A remembered text is a whole object, so nothing that begins with it goes on.
        let known = |(text, _): &&(Box<str>, Arc<T>)| rest.starts_with(text.as_bytes());
        if let Some((text, value)) = self.known.iter().find(known) {
            cursor.skip(text.len());
            return Some(Arc::clone(value));
        }
        let text = cursor.raw()?.get();
        if !text.starts_with('{') {
            return None;
        }
        let value = Arc::new(serde_json::from_str::<T>(text).ok()?);
        if self.most > 0 && is_small(text) {
            self.remember((text.into(), Arc::clone(&value)));
        }
        Some(value)
    }
}

impl<T> Remembered<T> {
    fn remember(&mut self, entry: (Box<str>, Arc<T>)) {
        if self.known.len() < self.most {
            self.known.push(entry);
        } else if let Some(slot) = self.known.get_mut(self.oldest) {
            *slot = entry;
            self.oldest = (self.oldest + 1) % self.most;
        }
    }
}

/// Returns true if the object of this text takes some kilobytes at most.
fn is_small(text: &str) -> bool {
    let count = |wanted: u8| text.bytes().filter(|byte| *byte == wanted).count();
    text.len() <= LONGEST && count(b':') <= MEMBERS && count(b'{') <= OBJECTS
}

/// Texts of each kind: the clients behind one connection of a gateway.
const MOST: usize = 4;
/// Clients describe themselves in some hundred bytes.
const LONGEST: usize = 512;
const MEMBERS: usize = 16;
const OBJECTS: usize = 12;
