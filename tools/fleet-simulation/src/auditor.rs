//! Looks at every instance when all is quiet, and again after a night.

use std::time::Duration;

use http::Request;
use http_body_util::Full;
use tokio::time::sleep;

use crate::exchange::exchange;
use crate::instance::Instance;
use crate::message::{Said, read, request};
use crate::world::World;

pub(crate) struct Auditor {
    pub(crate) world: World,
    pub(crate) instances: usize,
    pub(crate) users: usize,
}

impl Auditor {
    pub(crate) async fn run(self) -> turmoil::Result {
        // Whatever is planned to happen has happened by then.
        sleep(Duration::from_secs(4)).await;
        while self.world.users_done() < self.users {
            sleep(Duration::from_millis(100)).await;
        }
        // Echoes arrive, and what was cut off is given up.
        sleep(Duration::from_millis(2500)).await;
        self.look_for_remains().await;
        self.world.clock.leap(NIGHT);
        self.try_old_states().await;
        Ok(())
    }

    /// Nothing that an instance holds may be there because of a flow.
    async fn look_for_remains(&self) {
        for instance in 0..self.instances {
            let asking = Request::get("/metrics").header("host", "localhost");
            let asking = asking.body(Full::default()).expect("every part is valid");
            let response = exchange(&Instance::host(instance), asking, PATIENCE).await;
            let numbers = response.map(|response| response.body).unwrap_or_default();
            let numbers = String::from_utf8_lossy(&numbers);
            for idle in ["sterna_http_calls 0", "sterna_http_listeners 0"] {
                if !numbers.lines().any(|line| line == idle) {
                    self.world
                        .violated(format_args!("instance {instance} does not say `{idle}`"));
                }
            }
        }
        let mut running = vec![0; self.instances];
        for (instance, presence) in self.world.presences() {
            running[instance] += presence;
        }
        for (instance, presence) in running.into_iter().enumerate() {
            if presence != 1 {
                self.world.violated(format_args!(
                    "instance {instance} holds {presence} things where it should hold itself"
                ));
            }
        }
    }

    /// Every state that was ever sent has expired, for every instance.
    async fn try_old_states(&self) {
        let captured = self.world.captured();
        for (at, captured) in captured.iter().rev().take(SAMPLE).enumerate() {
            let instance = at % self.instances;
            let request = request(&captured.user, captured.body.clone());
            match exchange(&Instance::host(instance), request, PATIENCE).await {
                Ok(response) if matches!(read(&response), Said::Refused) => {}
                Ok(response) => self.world.violated(format_args!(
                    "instance {instance} accepted a state of yesterday: {:?}",
                    read(&response)
                )),
                Err(_) => self
                    .world
                    .violated(format_args!("instance {instance} is gone")),
            }
        }
    }
}

const PATIENCE: Duration = Duration::from_secs(1);

/// Longer than a round may take.
const NIGHT: Duration = Duration::from_secs(2 * 60 * 60);

/// Enough that every instance gets some.
const SAMPLE: usize = 8;
