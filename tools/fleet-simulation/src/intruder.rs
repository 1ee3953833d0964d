//! Somebody with an account of their own who got hold of other people's
//! requests.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::dice::Dice;
use crate::exchange::exchange;
use crate::instance::Instance;
use crate::message::{Said, read, request};
use crate::world::{Captured, World};

pub(crate) struct Intruder {
    pub(crate) world: World,
    pub(crate) dice: Dice,
    pub(crate) instances: usize,
    pub(crate) users: usize,
}

impl Intruder {
    pub(crate) const NAME: &str = "mallory";

    /// Tries its luck until everybody has gone home.
    pub(crate) async fn run(mut self) -> turmoil::Result {
        while self.world.users_done() < self.users {
            sleep(Duration::from_millis(self.dice.between(50, 250))).await;
            let captured = self.world.captured();
            if captured.is_empty() {
                continue;
            }
            let captured = &captured[self.dice.index(captured.len())];
            self.intrude(captured).await;
        }
        Ok(())
    }

    async fn intrude(&mut self, captured: &Captured) {
        let mut message = serde_json::from_slice::<Value>(&captured.body).unwrap_or_default();
        if let Some(answers) = message["params"]["inputResponses"].as_object_mut() {
            for answer in answers.values_mut() {
                let content = answer["content"].as_object_mut().into_iter().flatten();
                content.for_each(|(_, value)| *value = json!("mine now"));
            }
        }
        let host = Instance::host(self.dice.index(self.instances));
        let request = request(Self::NAME, message.to_string().into());
        let Ok(response) = exchange(&host, request, PATIENCE).await else {
            return;
        };
        match read(&response) {
            Said::Refused | Said::Unavailable => {}
            said => self.world.violated(format_args!(
                "a stranger used a state of {} and got {said:?}",
                captured.user
            )),
        }
    }
}

const PATIENCE: Duration = Duration::from_millis(500);
