//! A key file as TOML has it: tables of fields, each with its place.

use std::borrow::Cow;
use std::iter::Peekable;
use std::vec::IntoIter;

use toml_parser::decoder::ScalarKind;
use toml_parser::parser::{Event, EventKind, RecursionGuard, ValidateWhitespace, parse_document};
use toml_parser::{Expected, ParseError, Raw, Source};

use super::{KeyTextError, KeyTextFault};

/// One `[[key]]`, and where it begins.
pub(super) struct Table<'a> {
    pub(super) at: usize,
    pub(super) fields: Vec<Field<'a>>,
}

/// One line of a table.
pub(super) struct Field<'a> {
    pub(super) name: Name<'a>,
    pub(super) value: Value<'a>,
    pub(super) value_at: usize,
}

/// A name. A dotted name is never one that this format knows.
pub(super) struct Name<'a> {
    pub(super) text: Cow<'a, str>,
    pub(super) at: usize,
}

/// The values that a key can have, and one variant for all others.
pub(super) enum Value<'a> {
    Other,
    Text(Cow<'a, str>),
    Time(Cow<'a, str>),
}

/// Reads the keys of a file, in their order.
///
/// # Errors
///
/// The text is not TOML, or there is something in it besides keys.
pub(super) fn tables(text: &str) -> Result<Vec<Table<'_>>, KeyTextError> {
    let source = Source::new(text);
    let tokens = source.lex().into_vec();
    let mut events = Vec::with_capacity(tokens.len());
    let mut checked = ValidateWhitespace::new(&mut events, source);
    let mut guarded = RecursionGuard::new(&mut checked, DEEPEST);
    let mut fault = None;
    parse_document(&tokens, &mut guarded, &mut fault);
    events.retain(|event| is_content(event.kind()));
    let mut reader = Reader {
        source,
        events: events.into_iter().peekable(),
    };
    reader.sound(fault)?;
    reader.tables()
}

/// The rest of a document whose brackets are known to match.
struct Reader<'a> {
    source: Source<'a>,
    events: Peekable<IntoIter<Event>>,
}

impl<'a> Reader<'a> {
    fn tables(&mut self) -> Result<Vec<Table<'a>>, KeyTextError> {
        let mut tables: Vec<Table<'a>> = Vec::new();
        // Whether the lines that follow are those of the last table.
        let mut headed = false;
        while let Some(event) = self.events.next() {
            match event.kind() {
                EventKind::ArrayTableOpen if headed || tables.is_empty() => {
                    self.key_name()?;
                    tables.push(self.table(event.span().start()));
                    headed = true;
                }
                EventKind::SimpleKey => match tables.last_mut() {
                    Some(table) if headed => self.field(event, table)?,
                    Some(_) => return Err(self.duplicate(event.span().start())),
                    None => tables = self.inline_tables(event)?,
                },
                EventKind::ArrayTableClose => {}
                // A table that is not one of many, or many that are there already.
                _ => {
                    let name = self.key_name()?;
                    return Err(match event.kind() {
                        EventKind::StdTableOpen => self.error(name.at, KeyTextFault::NotAKey),
                        _ => self.duplicate(name.at),
                    });
                }
            }
        }
        Ok(tables)
    }

    fn table(&self, at: usize) -> Table<'a> {
        Table {
            at,
            fields: Vec::new(),
        }
    }

    /// Reads `key = [{ … }, …]`.
    fn inline_tables(&mut self, name: Event) -> Result<Vec<Table<'a>>, KeyTextError> {
        let name = self.name(name)?;
        self.is_key(&name)?;
        if !self.take(EventKind::ArrayOpen) {
            return Err(self.error(name.at, KeyTextFault::NotAKey));
        }
        let mut tables = Vec::new();
        while !self.take(EventKind::ArrayClose) {
            let Some(event) = self.events.next() else {
                break;
            };
            let at = event.span().start();
            if event.kind() != EventKind::InlineTableOpen {
                return Err(self.error(at, KeyTextFault::NotAKey));
            }
            let mut table = self.table(at);
            while !self.take(EventKind::InlineTableClose) {
                match self.events.next() {
                    Some(name) => self.field(name, &mut table)?,
                    None => break,
                }
            }
            tables.push(table);
        }
        Ok(tables)
    }

    fn field(&mut self, name: Event, table: &mut Table<'a>) -> Result<(), KeyTextError> {
        let name = self.name(name)?;
        if table
            .fields
            .iter()
            .any(|field| field.name.text == name.text)
        {
            return Err(self.duplicate(name.at));
        }
        let Some(event) = self.events.next() else {
            return Ok(());
        };
        table.fields.push(Field {
            name,
            value: self.value(event)?,
            value_at: event.span().start(),
        });
        Ok(())
    }

    /// The name in a heading, which has to be that of the keys.
    fn key_name(&mut self) -> Result<Name<'a>, KeyTextError> {
        let Some(event) = self.events.next() else {
            return Err(self.error(0, KeyTextFault::UnknownField));
        };
        let name = self.name(event)?;
        self.is_key(&name)?;
        Ok(name)
    }

    fn is_key(&self, name: &Name<'_>) -> Result<(), KeyTextError> {
        match &*name.text {
            "key" => Ok(()),
            _ => Err(self.error(name.at, KeyTextFault::UnknownField)),
        }
    }

    fn name(&mut self, first: Event) -> Result<Name<'a>, KeyTextError> {
        let at = first.span().start();
        let mut text = Cow::Borrowed("");
        let mut fault = None;
        self.raw(first).decode_key(&mut text, &mut fault);
        self.sound(fault)?;
        while let Some(part) = self
            .events
            .next_if(|next| next.kind() == EventKind::SimpleKey)
        {
            text = Cow::Borrowed(&self.source.input()[at..part.span().end()]);
        }
        Ok(Name { text, at })
    }

    fn value(&mut self, event: Event) -> Result<Value<'a>, KeyTextError> {
        if event.kind() != EventKind::Scalar {
            self.skip();
            return Ok(Value::Other);
        }
        let mut text = Cow::Borrowed("");
        let mut fault = None;
        let kind = self.raw(event).decode_scalar(&mut text, &mut fault);
        self.sound(fault)?;
        Ok(match kind {
            ScalarKind::String => Value::Text(text),
            ScalarKind::DateTime => Value::Time(text),
            _ => Value::Other,
        })
    }

    /// Passes over the rest of a list or table that has been opened.
    fn skip(&mut self) {
        let mut depth = 1_usize;
        while depth > 0
            && let Some(event) = self.events.next()
        {
            match event.kind() {
                EventKind::ArrayOpen | EventKind::InlineTableOpen => depth += 1,
                EventKind::ArrayClose | EventKind::InlineTableClose => depth -= 1,
                _ => {}
            }
        }
    }

    fn take(&mut self, kind: EventKind) -> bool {
        self.events.next_if(|next| next.kind() == kind).is_some()
    }

    fn raw(&self, event: Event) -> Raw<'a> {
        let raw = self.source.get(event);
        raw.expect("an event is about a part of its source")
    }

    /// Fails where TOML is not as it should be.
    fn sound(&self, fault: Option<ParseError>) -> Result<(), KeyTextError> {
        let Some(fault) = fault else {
            return Ok(());
        };
        let end = self.source.input().len();
        let at = fault.unexpected().map_or(end, |span| span.start());
        Err(self.error(at, KeyTextFault::Syntax(describe(&fault))))
    }

    fn duplicate(&self, at: usize) -> KeyTextError {
        self.error(at, KeyTextFault::Syntax("duplicate key".to_owned()))
    }

    fn error(&self, at: usize, fault: KeyTextFault) -> KeyTextError {
        KeyTextError::new(self.source.input(), at, fault)
    }
}

fn is_content(kind: EventKind) -> bool {
    !matches!(
        kind,
        EventKind::Comment
            | EventKind::KeySep
            | EventKind::KeyValSep
            | EventKind::Newline
            | EventKind::ValueSep
            | EventKind::Whitespace
    )
}

fn describe(fault: &ParseError) -> String {
    let expected = fault.expected().into_iter().flatten();
    let expected: Vec<_> = expected
        .map(|expected| match expected {
            Expected::Literal("\n") => "newline".to_owned(),
            Expected::Literal(text) => format!("`{text}`"),
            Expected::Description(text) => (*text).to_owned(),
            _ => "something else".to_owned(),
        })
        .collect();
    if expected.is_empty() {
        return fault.description().to_owned();
    }
    format!("{}, expected {}", fault.description(), expected.join(", "))
}

/// More than any key file nests, and little enough for a stack.
const DEEPEST: u32 = 80;
