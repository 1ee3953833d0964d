//! Tools that were listed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use sterna_protocol::http::{ParamHeaders, Unmirrorable};
use sterna_protocol::json::RawObject;

use crate::error::{Error, Fault};
use crate::schema::{OutputSchema, UnknownDialect};

/// Tools that were listed, by name.
#[derive(Debug, Default)]
pub(crate) struct ToolCache(Mutex<HashMap<String, Arc<KnownTool>>>);

/// The properties of a listed tool that a call depends on.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct KnownTool {
    /// Which of its parameters are repeated in headers.
    pub(crate) mirrored: ParamHeaders,
    /// Its output schema.
    pub(crate) output: Option<Result<Arc<OutputSchema>, UnknownDialect>>,
    /// In a session it runs as a task and in no other way.
    pub(crate) task_only: bool,
}

impl ToolCache {
    pub(crate) fn get(&self, tool: &str) -> Option<Arc<KnownTool>> {
        self.lock().get(tool).cloned()
    }

    pub(crate) fn put(&self, tool: &str, known: KnownTool) {
        let mut tools = self.lock();
        // A server with more tools than this has them learned when they are called.
        if tools.len() < MOST_TOOLS || tools.contains_key(tool) {
            tools.insert(tool.to_owned(), Arc::new(known));
        }
    }

    /// HTTP-C8: repeats the arguments that the tool's schema marks.
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

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<KnownTool>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const MOST_TOOLS: usize = 10_000;
