use std::sync::{Arc, Mutex, PoisonError};

use sterna_client::CallOptions;
use sterna_server::{BackendCall, Progress};

/// Request that hears of the progress and the log of a call: the one of the
/// current round.
#[derive(Debug)]
pub(super) struct Listener(Mutex<BackendCall>);

impl Listener {
    pub(super) fn new(call: &BackendCall) -> Self {
        Self(Mutex::new(call.clone()))
    }

    /// Has the request of another round hear from here on.
    pub(super) fn replace(&self, call: &BackendCall) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = call.clone();
    }

    fn current(&self) -> BackendCall {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Options of a call that the server tells as much as the client wants to hear.
    pub(super) fn options(self: &Arc<Self>, call: &BackendCall) -> CallOptions {
        let mut options = CallOptions::new();
        if call.wants_progress() {
            let listener = Arc::clone(self);
            options = options.on_progress(move |told| {
                let mut progress = Progress::new(told.progress.as_f64());
                progress.total = told.total.as_ref().map(|total| total.as_f64());
                progress.message.clone_from(&told.message);
                listener.current().progress(progress);
            });
        }
        if let Some(level) = call.log_level() {
            let listener = Arc::clone(self);
            options = options.on_log(level.clone(), move |message| {
                listener.current().pass_on_log(message);
            });
        }
        options
    }
}
