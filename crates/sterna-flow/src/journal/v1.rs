//! The first format of a journal in bytes. Frozen: tokens and rows outlive a
//! release, so a change here is a new file beside this one.
//!
//! ```text
//! journal = 1 state_version count entry* count asked*
//! entry   = kind flags key [fingerprint] value
//! asked   = key fingerprint
//! key, value = length bytes          numbers are LEB128, shortest form only
//! ```

use std::ops::Range;
use std::sync::Arc;

use bytes::{BufMut, Bytes, BytesMut};
use sterna_types::UnixMillis;

use super::{Asked, DecodeError, Entry, Journal, Kind, Limits};
use crate::fingerprint::Fingerprint;
use crate::key::Key;

pub(super) fn encode(journal: &Journal) -> Bytes {
    let size = journal
        .entries
        .iter()
        .map(|entry| LONGEST_ENTRY_HEAD + entry.key.as_str().len() + entry.value.len());
    let mut out = BytesMut::with_capacity(32 + size.sum::<usize>() + journal.asked.len() * 48);
    out.put_u8(VERSION);
    put_number(&mut out, u64::from(journal.version));
    put_number(&mut out, journal.entries.len() as u64);
    for entry in &journal.entries {
        put_entry(&mut out, entry);
    }
    put_number(&mut out, journal.asked.len() as u64);
    for asked in &journal.asked {
        put_bytes(&mut out, asked.key.as_str().as_bytes());
        out.put_slice(asked.fingerprint.as_bytes());
    }
    out.freeze()
}

pub(super) fn decode(bytes: Bytes, limits: &Limits) -> Result<Journal, DecodeError> {
    let mut input = Input::new(bytes)?;
    let version = u32::try_from(input.number()?).map_err(|_| DecodeError::Number)?;
    let count = input.count(SHORTEST_ENTRY, limits.entries)?;
    let mut heads = Vec::with_capacity(count);
    for _ in 0..count {
        heads.push(input.entry(limits)?);
    }
    let count = input.count(SHORTEST_ASKED, limits.entries)?;
    let mut asked_heads = Vec::with_capacity(count);
    for _ in 0..count {
        asked_heads.push((input.key(limits)?, input.fingerprint()?));
    }
    let bytes = input.end()?;

    let ranges = heads.iter().map(|head| &head.key);
    let ranges = ranges.chain(asked_heads.iter().map(|(key, _)| key));
    let mut keys = Keys::new(&bytes, ranges)?;
    let entries = heads
        .into_iter()
        .map(|head| head.into_entry(&mut keys, &bytes))
        .collect();
    let asked = asked_heads
        .into_iter()
        .map(|(key, fingerprint)| Asked {
            key: keys.next(key.len()),
            fingerprint,
        })
        .collect();
    Journal::from_parts(version, entries, asked)
}

pub(super) fn encode_entry(entry: &Entry) -> Bytes {
    let size = LONGEST_ENTRY_HEAD + entry.key.as_str().len() + entry.value.len();
    let mut out = BytesMut::with_capacity(1 + size);
    out.put_u8(VERSION);
    put_entry(&mut out, entry);
    out.freeze()
}

pub(super) fn decode_entry(bytes: Bytes, limits: &Limits) -> Result<Entry, DecodeError> {
    let mut input = Input::new(bytes)?;
    let head = input.entry(limits)?;
    let bytes = input.end()?;
    let mut keys = Keys::new(&bytes, std::iter::once(&head.key))?;
    Ok(head.into_entry(&mut keys, &bytes))
}

fn put_entry(out: &mut BytesMut, entry: &Entry) {
    let flags = [
        (entry.fingerprint.is_some(), FINGERPRINT),
        (entry.failed, FAILED),
        (entry.by_ref, BY_REF),
        (entry.secret, SECRET),
    ];
    out.put_u8(kind_number(entry.kind));
    out.put_u8(
        flags
            .into_iter()
            .filter_map(|(set, flag)| set.then_some(flag))
            .sum(),
    );
    put_bytes(out, entry.key.as_str().as_bytes());
    if let Some(fingerprint) = entry.fingerprint {
        out.put_slice(fingerprint.as_bytes());
    }
    put_bytes(out, &entry.value);
}

fn put_bytes(out: &mut BytesMut, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.put_slice(bytes);
}

pub(crate) fn put_number(out: &mut impl BufMut, mut number: u64) {
    while number >= 0x80 {
        out.put_u8(number.to_le_bytes()[0] | 0x80);
        number >>= 7;
    }
    out.put_u8(number.to_le_bytes()[0]);
}

/// The rest of the input. Every method takes from the front or fails.
struct Input {
    bytes: Bytes,
    at: usize,
}

impl Input {
    fn new(bytes: Bytes) -> Result<Self, DecodeError> {
        let mut input = Self { bytes, at: 0 };
        match input.byte()? {
            VERSION => Ok(input),
            other => Err(DecodeError::Version(other)),
        }
    }

    fn rest(&self) -> &[u8] {
        &self.bytes[self.at..]
    }

    fn byte(&mut self) -> Result<u8, DecodeError> {
        let byte = *self.rest().first().ok_or(DecodeError::Truncated)?;
        self.at += 1;
        Ok(byte)
    }

    fn take(&mut self, length: usize) -> Result<Range<usize>, DecodeError> {
        if length > self.rest().len() {
            return Err(DecodeError::Truncated);
        }
        let start = self.at;
        self.at += length;
        Ok(start..self.at)
    }

    fn number(&mut self) -> Result<u64, DecodeError> {
        let (number, length) = read_number(self.rest())?;
        self.at += length;
        Ok(number)
    }

    fn length(&mut self) -> Result<usize, DecodeError> {
        usize::try_from(self.number()?).map_err(|_| DecodeError::Truncated)
    }

    /// Number of items that follow. Believed only as far as the bytes could hold
    /// them.
    fn count(&mut self, shortest: usize, limit: usize) -> Result<usize, DecodeError> {
        let count = self.length()?;
        if count > limit {
            return Err(DecodeError::TooManyEntries { limit });
        }
        if count > self.rest().len() / shortest {
            return Err(DecodeError::Truncated);
        }
        Ok(count)
    }

    fn key(&mut self, limits: &Limits) -> Result<Range<usize>, DecodeError> {
        let length = self.length()?;
        if length == 0 || length > limits.key_bytes {
            return Err(DecodeError::Key);
        }
        self.take(length)
    }

    fn fingerprint(&mut self) -> Result<Fingerprint, DecodeError> {
        let range = self.take(16)?;
        let bytes = <[u8; 16]>::try_from(&self.bytes[range]).expect("sixteen bytes were taken");
        Ok(Fingerprint::new(bytes))
    }

    fn entry(&mut self, limits: &Limits) -> Result<Head, DecodeError> {
        let kind = kind_of(self.byte()?)?;
        let flags = self.byte()?;
        if flags & !(FINGERPRINT | FAILED | BY_REF | SECRET) != 0 {
            return Err(DecodeError::Flags(flags));
        }
        let key = self.key(limits)?;
        let fingerprint = match flags & FINGERPRINT {
            0 => None,
            _ => Some(self.fingerprint()?),
        };
        let length = self.length()?;
        let value = self.take(length)?;
        Ok(Head {
            kind,
            flags,
            key,
            fingerprint,
            value,
        })
    }

    fn end(self) -> Result<Bytes, DecodeError> {
        if self.rest().is_empty() {
            Ok(self.bytes)
        } else {
            Err(DecodeError::TrailingBytes)
        }
    }
}

/// Writes a timestamp as the number of its milliseconds.
pub(crate) fn put_time(out: &mut impl BufMut, time: UnixMillis) {
    put_number(out, time.get().unsigned_abs());
}

/// Reads a timestamp that [`put_time`] wrote.
pub(crate) fn read_time(bytes: &[u8]) -> Result<UnixMillis, DecodeError> {
    let (millis, _) = read_number(bytes)?;
    Ok(UnixMillis::new(i64::try_from(millis).unwrap_or(i64::MAX)))
}

/// A number and how many bytes it took.
pub(crate) fn read_number(bytes: &[u8]) -> Result<(u64, usize), DecodeError> {
    let mut number = 0;
    for (at, byte) in bytes.iter().enumerate() {
        let bits = u64::from(byte & 0x7f);
        let shift = 7 * at;
        if shift > 63 || (shift == 63 && bits > 1) {
            return Err(DecodeError::Number);
        }
        number |= bits << shift;
        if byte & 0x80 == 0 {
            // One value has one spelling, so that one journal has one encoding.
            let shortest = at == 0 || *byte != 0;
            return shortest
                .then_some((number, at + 1))
                .ok_or(DecodeError::Number);
        }
    }
    Err(DecodeError::Truncated)
}

/// An entry as places in the input.
struct Head {
    kind: Kind,
    flags: u8,
    key: Range<usize>,
    fingerprint: Option<Fingerprint>,
    value: Range<usize>,
}

impl Head {
    fn into_entry(self, keys: &mut Keys, bytes: &Bytes) -> Entry {
        Entry {
            key: keys.next(self.key.len()),
            kind: self.kind,
            fingerprint: self.fingerprint,
            value: bytes.slice(self.value),
            failed: self.flags & FAILED != 0,
            by_ref: self.flags & BY_REF != 0,
            secret: self.flags & SECRET != 0,
        }
    }
}

/// All keys of a journal in one allocation, given out in order.
struct Keys {
    text: Arc<str>,
    at: usize,
}

impl Keys {
    fn new<'a>(
        bytes: &[u8],
        mut ranges: impl Iterator<Item = &'a Range<usize>> + Clone,
    ) -> Result<Self, DecodeError> {
        let text = |range: &Range<usize>| {
            let key = std::str::from_utf8(&bytes[range.clone()]);
            key.map_err(|_| DecodeError::Key)
        };
        let all = ranges.clone();
        let text = match (ranges.next(), ranges.next()) {
            // Most journals have one.
            (Some(only), None) => text(only)?.into(),
            _ => {
                let mut texts =
                    String::with_capacity(all.clone().map(ExactSizeIterator::len).sum());
                for range in all {
                    texts.push_str(text(range)?);
                }
                texts.into()
            }
        };
        Ok(Self { text, at: 0 })
    }

    /// The key that begins where the last one ended, of `length` bytes.
    fn next(&mut self, length: usize) -> Key {
        let start = self.at;
        self.at += length;
        Key::part(self.text.clone(), start, self.at)
    }
}

const fn kind_number(kind: Kind) -> u8 {
    match kind {
        Kind::Answer => 1,
        Kind::Step => 2,
        Kind::Once => 3,
        Kind::Now => 4,
        Kind::Timer => 5,
        Kind::Elapsed => 6,
        Kind::Memo => 7,
        Kind::Race => 8,
        Kind::Checkpoint => 9,
        Kind::Undo => 10,
        Kind::Rejected => 11,
    }
}

const fn kind_of(number: u8) -> Result<Kind, DecodeError> {
    Ok(match number {
        1 => Kind::Answer,
        2 => Kind::Step,
        3 => Kind::Once,
        4 => Kind::Now,
        5 => Kind::Timer,
        6 => Kind::Elapsed,
        7 => Kind::Memo,
        8 => Kind::Race,
        9 => Kind::Checkpoint,
        10 => Kind::Undo,
        11 => Kind::Rejected,
        other => return Err(DecodeError::Kind(other)),
    })
}

const VERSION: u8 = 1;
const FINGERPRINT: u8 = 1;
const FAILED: u8 = 2;
const BY_REF: u8 = 4;
const SECRET: u8 = 8;
/// Kind, flags, a key of one byte with its length, an empty value.
const SHORTEST_ENTRY: usize = 5;
const SHORTEST_ASKED: usize = 18;
/// Everything but key and value: kind, flags, two lengths, a fingerprint.
const LONGEST_ENTRY_HEAD: usize = 38;
