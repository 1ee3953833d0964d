//! The tool that the fleet serves, in two builds: it plans, asks, pays and asks
//! again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use sterna_flow::StepErrorKind;
use sterna_server::{Cx, ToolError};
use tokio::time::sleep;

use crate::fault::Fault;
use crate::world::{Order, World};

/// What handlers of one instance have at hand.
#[derive(Debug)]
pub(crate) struct Desk {
    pub(crate) world: World,
    pub(crate) fault: Fault,
    /// Held by whatever is there because of a flow.
    pub(crate) presence: Arc<()>,
    /// Used by a fleet that is built wrong.
    memory: Mutex<BTreeMap<Order, (String, Arc<()>)>>,
}

impl Desk {
    pub(crate) fn new(world: World, fault: Fault) -> Self {
        Self {
            world,
            fault,
            presence: Arc::new(()),
            memory: Mutex::default(),
        }
    }

    /// An answer has reached a handler: it must be that of its own user.
    fn hear(&self, cx: &Cx<'_>, order: &Order, name: &str, answer: &str) {
        if answer != order.answer(name) {
            self.world.violated(format_args!(
                "the flow of {order} got `{answer}` for its {name}"
            ));
        }
        let caller = cx.caller().principal().subject();
        if caller.is_some_and(|caller| caller != order.user) {
            self.world
                .violated(format_args!("somebody else goes on with {order}"));
        }
    }

    fn recall(&self, order: &Order) -> Option<String> {
        if self.fault != Fault::KeptInMemory {
            return None;
        }
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
        memory.get(order).map(|(colour, _)| colour.clone())
    }

    fn keep(&self, order: &Order, colour: &str) {
        if self.fault == Fault::KeptInMemory {
            let mut memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = (colour.to_owned(), Arc::clone(&self.presence));
            memory.insert(order.clone(), kept);
        }
    }
}

/// The handler of the build that is being replaced.
pub(crate) async fn first_build(cx: Cx<'_>, order: Order) -> Result<String, ToolError> {
    sell(cx, order, "google_login").await
}

/// The handler of the build that replaces it: one question is another one.
pub(crate) async fn second_build(cx: Cx<'_>, order: Order) -> Result<String, ToolError> {
    sell(cx, order, "microsoft_login").await
}

async fn sell(cx: Cx<'_>, order: Order, login_key: &str) -> Result<String, ToolError> {
    let desk = Arc::clone(cx.state::<Arc<Desk>>());
    let _presence = Arc::clone(&desk.presence);
    let plan = cx
        .step("plan", || {
            let world = desk.world.clone();
            async move {
                sleep(PAUSE).await;
                world.fresh_plan()
            }
        })
        .await;
    let colour = match desk.recall(&order) {
        Some(colour) => colour,
        None => {
            cx.ask("colour", format!("{order} by plan {plan}: which colour?"))
                .await?
        }
    };
    desk.hear(&cx, &order, "colour", &colour);
    desk.keep(&order, &colour);
    let (size, login) = tokio::join!(
        cx.ask::<String>("size", format!("{order}: which size?")),
        cx.ask::<String>(login_key, format!("{order}: who pays?")),
    );
    let (size, login) = (size?, login?);
    desk.hear(&cx, &order, "size", &size);
    desk.hear(&cx, &order, login_key, &login);
    let (world, paid_for) = (desk.world.clone(), order.clone());
    let paid = cx
        .once("pay", |_| async move {
            // Long enough on both sides for a crash to fall before or after the payment.
            sleep(PAUSE).await;
            world.pay(&paid_for);
            sleep(PAUSE).await;
        })
        .await;
    let paid = match paid {
        Ok(()) => "paid",
        // The effect was begun by a run of which nobody knows how it ended.
        Err(error) if error.kind == StepErrorKind::Ambiguous => "unclear",
        Err(error) => return Err(error.into()),
    };
    let rating: String = cx.ask("rating", format!("{order}: how was it?")).await?;
    desk.hear(&cx, &order, "rating", &rating);
    Ok(format!("{plan} {colour} {size} {login} {rating} {paid}"))
}

/// What everything that is done takes.
const PAUSE: Duration = Duration::from_millis(15);
