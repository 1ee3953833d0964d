//! Changes of the configuration file, taken over while the gateway serves.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sterna_gateway::Gateway;
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

use super::settings::GatewaySettings;
use crate::exit::Failure;

/// Reads `file` again every two seconds, with all files that it names, and has
/// `gateway` take over the servers if anything is different. Never ends by itself.
pub(super) async fn watch(gateway: Gateway, file: PathBuf, mut settings: GatewaySettings) {
    let shown = file.display().to_string();
    let mut ticks = tokio::time::interval(PAUSE);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut refused, mut unheeded) = (None, None);
    loop {
        ticks.tick().await;
        let changed = match read(&file).await {
            Ok(read) => read,
            Err(reason) => {
                refuse(&mut refused, reason);
                continue;
            }
        };
        if changed.servers != settings.servers {
            if let Err(error) = gateway.reload(&changed.servers).await {
                refuse(&mut refused, format!("{shown}: {error}"));
                continue;
            }
            let servers = changed.servers.len();
            tracing::info!(target: "sterna::gateway", servers, "{shown} was read again");
        }
        refused = None;
        let rest = changed.without_servers();
        settings.servers = changed.servers;
        let is_unheeded = rest != settings.without_servers();
        if is_unheeded && unheeded.as_ref() != Some(&rest) {
            tracing::warn!(target: "sterna::gateway", "MR0924: {shown} has changed beside its servers, which needs a restart");
        }
        unheeded = is_unheeded.then_some(rest);
    }
}

/// Says why a file is not taken over, once.
fn refuse(refused: &mut Option<String>, reason: String) {
    if refused.as_ref() != Some(&reason) {
        tracing::error!(target: "sterna::gateway", "MR0923: the configuration cannot be used, and the gateway goes on with the one before: {reason}");
        *refused = Some(reason);
    }
}

/// Reads the settings on a thread of its own, which a file that hangs does not
/// keep the command from ending.
async fn read(file: &Path) -> Result<GatewaySettings, String> {
    let (done, read) = oneshot::channel();
    let file = file.to_owned();
    let thread = std::thread::Builder::new().name("sterna-config".to_owned());
    let started = thread.spawn(move || {
        let settings = GatewaySettings::read(&file);
        // A gateway that ends waits no longer.
        let _ = done.send(settings.map_err(|Failure { error, .. }| format!("{error:#}")));
    });
    started.map_err(|error| error.to_string())?;
    read.await
        .unwrap_or_else(|_| Err("it was not read".to_owned()))
}

/// Time between two looks at the file. An operator who has changed it waits no
/// longer.
const PAUSE: Duration = Duration::from_secs(2);
