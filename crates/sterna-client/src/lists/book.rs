use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use sterna_protocol::http::{ParamHeaders, Unmirrorable};
use sterna_protocol::json::RawObject;

use crate::error::{Error, Fault};

/// Which parameters of which tool are repeated in headers, as far as the tools
/// have been listed.
#[derive(Debug, Default)]
pub(crate) struct ToolBook(Mutex<HashMap<String, Arc<ParamHeaders>>>);

impl ToolBook {
    pub(crate) fn get(&self, tool: &str) -> Option<Arc<ParamHeaders>> {
        self.lock().get(tool).cloned()
    }

    pub(crate) fn put(&self, tool: &str, mirrored: ParamHeaders) {
        let mut book = self.lock();
        // A server with more tools than this has them learned when they are called.
        if book.len() < MOST_TOOLS || book.contains_key(tool) {
            book.insert(tool.to_owned(), Arc::new(mirrored));
        }
    }

    /// HTTP-C8: repeats what the tool's schema marks.
    pub(crate) fn mirror(
        &self,
        tool: &str,
        arguments: Option<&RawObject>,
        headers: &mut HeaderMap,
    ) -> Result<(), Error> {
        let Some(mirrored) = self.get(tool) else {
            return Ok(());
        };
        mirrored.write(arguments, headers).map_err(|unmirrorable| {
            match unmirrorable {
                Unmirrorable::Value(header) => Fault::Unmirrorable {
                    header: header.to_string(),
                },
                _ => Fault::Arguments(None),
            }
            .into()
        })
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<ParamHeaders>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const MOST_TOOLS: usize = 10_000;
