//! The key file: TOML that an operator can read.

use std::borrow::Cow;
use std::fmt::Write;

use sterna_types::UnixMillis;

use super::document::{Table, Value, tables};
use super::{KeyTextError, KeyTextFault, Keys};
use crate::key::Key;
use crate::keyring::Keyring;
use crate::secret::{SecretKey, SecretText};

impl Keyring {
    /// Reads the text of a key file.
    ///
    /// # Errors
    ///
    /// [`KeyTextError`] with the line and column to correct.
    ///
    /// # Examples
    ///
    /// ```
    /// # use sterna_seal::{Keyring, UnixMillis};
    /// let ring = Keyring::from_toml(
    ///     r#"
    ///     [[key]]
    ///     secret = "b2xkIGtleSBvbGQga2V5IG9sZCBrZXkgb2xkIGtleSE"
    ///     retire_at = 2026-08-01T01:01:00Z
    ///
    ///     [[key]]
    ///     secret = "bmV3IGtleSBuZXcga2V5IG5ldyBrZXkgbmV3IGtleSE"
    ///     activate_at = 2026-08-01T00:00:00Z
    ///     comment = "the August key"
    ///     "#,
    /// )?;
    /// assert_eq!(ring.keys().count(), 2);
    /// # Ok::<(), sterna_seal::KeyTextError>(())
    /// ```
    pub fn from_toml(text: &str) -> Result<Self, KeyTextError> {
        let mut keys = Keys::of(text);
        for table in tables(text)? {
            let at = table.at;
            let key = read_key(&keys, table)?;
            keys.add(at, key)?;
        }
        keys.into_ring()
    }

    /// Writes a key file that [`from_toml`](Self::from_toml) reads.
    pub fn to_toml(&self) -> SecretText {
        // Grown in the middle, the text would leave copies of secrets behind.
        let size: usize = self.keys().map(size_of_key).sum();
        let mut text = String::with_capacity(HEAD.len() + size);
        text.push_str(HEAD);
        for key in self.keys() {
            write_key(key, &mut text);
        }
        SecretText::from(text)
    }
}

fn read_key(keys: &Keys<'_>, table: Table<'_>) -> Result<Key, KeyTextError> {
    let mut secret = None;
    let mut activate_at = None;
    let mut retire_at = None;
    let mut comment = None;
    for field in table.fields {
        let fault = |fault| keys.error(field.value_at, fault);
        match &*field.name.text {
            "secret" => {
                let text = read_text(field.value).map_err(fault)?;
                let read = SecretKey::from_base64url(&text).map_err(KeyTextFault::from);
                secret = Some(read.map_err(fault)?);
            }
            "activate_at" => activate_at = Some(read_time(&field.value).map_err(fault)?),
            "retire_at" => retire_at = Some(read_time(&field.value).map_err(fault)?),
            "comment" => comment = Some(read_text(field.value).map_err(fault)?),
            _ => return Err(keys.error(field.name.at, KeyTextFault::UnknownField)),
        }
    }
    let secret = secret.ok_or_else(|| keys.error(table.at, KeyTextFault::NoSecret))?;
    let mut key = Key::new(secret);
    if let Some(time) = activate_at {
        key = key.activating_at(time);
    }
    if let Some(time) = retire_at {
        key = key.retiring_at(time);
    }
    if let Some(comment) = comment {
        key = key.commented(comment);
    }
    Ok(key)
}

fn read_text(value: Value<'_>) -> Result<Cow<'_, str>, KeyTextFault> {
    match value {
        Value::Text(text) => Ok(text),
        Value::Other | Value::Time(_) => Err(KeyTextFault::NotText),
    }
}

fn read_time(value: &Value<'_>) -> Result<UnixMillis, KeyTextFault> {
    match value {
        Value::Time(text) => Ok(text.parse()?),
        Value::Other | Value::Text(_) => Err(KeyTextFault::NotATime),
    }
}

fn write_key(key: &Key, text: &mut String) {
    let mut line = |line: std::fmt::Arguments<'_>| {
        text.write_fmt(line)
            .expect("a string takes all that is written to it");
        text.push('\n');
    };
    line(format_args!("\n[[key]] # {}", key.id()));
    line(format_args!(
        "secret = \"{}\"",
        key.secret().to_base64url().as_str()
    ));
    if key.activate_at() > UnixMillis::MIN {
        line(format_args!("activate_at = {}", key.activate_at()));
    }
    if let Some(time) = key.retire_at() {
        line(format_args!("retire_at = {time}"));
    }
    if let Some(comment) = key.comment() {
        line(format_args!("comment = {}", Quoted(comment)));
    }
}

/// More than the text of this key takes.
fn size_of_key(key: &Key) -> usize {
    let comment = key.comment().map_or(0, |comment| comment.len() * 6);
    200 + key.secret().as_bytes().len() * 2 + comment
}

/// Text as a TOML basic string.
struct Quoted<'a>(&'a str);

impl std::fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_char('"')?;
        for character in self.0.chars() {
            match character {
                '"' | '\\' => write!(f, "\\{character}")?,
                _ if character.is_control() => write!(f, "\\u{:04X}", u32::from(character))?,
                _ => f.write_char(character)?,
            }
        }
        f.write_char('"')
    }
}

const HEAD: &str = "\
# The keys that seal request state. Anyone who reads this file can read and forge
# it: give it to every replica and keep it from everyone else.
#
# A key opens tokens from the moment it is here until retire_at. It seals them
# from activate_at on, unless a later key does. To rotate, add a key that
# activates after this file has reached every replica.
";
