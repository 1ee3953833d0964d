use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use sterna_protocol::http::{ParamHeaders, Unmirrorable};
use sterna_protocol::json::RawObject;

use crate::error::{Error, Fault};
use crate::schema::{OutputSchema, UnknownDialect};

/// How the tools are to be called, as far as they have been listed.
#[derive(Debug, Default)]
pub(crate) struct ToolBook(Mutex<HashMap<String, Arc<Known>>>);

/// How a tool is to be called.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Known {
    /// Which of its parameters are repeated in headers.
    pub(crate) mirrored: ParamHeaders,
    /// What its structured content looks like.
    pub(crate) output: Option<Result<Arc<OutputSchema>, UnknownDialect>>,
    /// In a session it runs as a task and in no other way.
    pub(crate) task_only: bool,
}

impl ToolBook {
    pub(crate) fn get(&self, tool: &str) -> Option<Arc<Known>> {
        self.lock().get(tool).cloned()
    }

    pub(crate) fn put(&self, tool: &str, known: Known) {
        let mut book = self.lock();
        // A server with more tools than this has them learned when they are called.
        if book.len() < MOST_TOOLS || book.contains_key(tool) {
            book.insert(tool.to_owned(), Arc::new(known));
        }
    }

    /// HTTP-C8: repeats what the tool's schema marks.
    pub(crate) fn mirror(
        &self,
        tool: &str,
        arguments: Option<&RawObject>,
        headers: &mut HeaderMap,
    ) -> Result<(), Error> {
        let Some(known) = self.get(tool) else {
            return Ok(());
        };
        let written = known.mirrored.write(arguments, headers);
        written.map_err(|unmirrorable| {
            match unmirrorable {
                Unmirrorable::Value(header) => Fault::Unmirrorable {
                    header: header.to_string(),
                },
                _ => Fault::Arguments(None),
            }
            .into()
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Known>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const MOST_TOOLS: usize = 10_000;
