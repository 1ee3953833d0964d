use sterna_client::CallOptions;
use sterna_protocol::version::ProtocolVersion;
use sterna_server::{BackendCall, Progress};

use super::RoutedCall;

impl RoutedCall {
    /// Options of one round at the server, which tells as much as the client wants
    /// to hear.
    pub(super) fn options(&self) -> CallOptions {
        let mut options = CallOptions::new();
        if self.call.wants_progress() {
            let call: BackendCall = self.call.clone();
            options = options.on_progress(move |told| {
                let mut progress = Progress::new(told.progress.as_f64());
                progress.total = told.total.as_ref().map(|total| total.as_f64());
                progress.message.clone_from(&told.message);
                call.progress(progress);
            });
        }
        if let Some(level) = self.call.log_level() {
            let call = self.call.clone();
            options = options.on_log(level.clone(), move |message| call.pass_on_log(message));
        }
        // The request of a client of before 2026-07-28 stays open at this gateway, and
        // ends the call at the server when it is dropped.
        if self.has_waiting_client() || !self.upstream.config.resume {
            options = options.hold();
        }
        options
    }

    /// Returns `true` if the client waits on its open request while it is asked, and
    /// cannot be sent back to call again.
    pub(super) fn has_waiting_client(&self) -> bool {
        *self.call.protocol_version() != ProtocolVersion::V2026_07_28
    }
}
