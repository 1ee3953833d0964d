//! A user's client: it orders, answers, and sends again what got lost.

use std::time::Duration;

use serde_json::Map;
use tokio::time::sleep;

use crate::balancer::{Balancer, INSTANCE};
use crate::dice::Dice;
use crate::exchange::exchange;
use crate::message::{Question, Retry, Said, accept, body, read, request};
use crate::world::{Order, World};

pub(crate) struct Client {
    pub(crate) user: String,
    pub(crate) world: World,
    pub(crate) dice: Dice,
    /// The instance whose clock is further off than is allowed.
    pub(crate) beyond: Option<usize>,
    pub(crate) orders: u64,
}

/// How far an order has come.
#[derive(Default)]
struct Progress {
    retry: Option<Retry>,
    /// The plan that was shown with the first question.
    plan: String,
    /// The instance that sealed the state.
    sealed_by: Option<usize>,
}

impl Client {
    pub(crate) async fn run(mut self) -> turmoil::Result {
        for number in 0..self.orders {
            let user = self.user.clone();
            self.order(&Order { user, number }).await;
        }
        self.world.user_is_done();
        Ok(())
    }

    async fn order(&mut self, order: &Order) {
        let mut progress = Progress::default();
        for attempt in 0..ATTEMPTS {
            let body = body(order, progress.retry.as_ref(), attempt);
            let request = request(&self.user, body);
            let Ok(response) = exchange(Balancer::HOST, request, PATIENCE).await else {
                self.world.log(format_args!("{order}: hears nothing"));
                self.world.disturb(order);
                self.pause(20, 150).await;
                continue;
            };
            let instance = response.headers.get(INSTANCE);
            let instance = instance.and_then(|value| value.to_str().ok()?.parse().ok());
            match read(&response) {
                Said::Asked(questions, state) => {
                    self.answer(order, &mut progress, &questions, state);
                    progress.sealed_by = instance;
                    self.pause(1, 120).await;
                }
                Said::Done(text) => return self.check(order, &progress, &text),
                Said::Refused if self.may_refuse(order, instance, &progress) => {
                    self.world.log(format_args!("{order}: a wrong clock"));
                    self.world.disturb(order);
                    self.pause(20, 150).await;
                }
                Said::Refused => {
                    return self
                        .world
                        .violated(format_args!("a good state of {order} was refused"));
                }
                Said::Unavailable => self.pause(20, 150).await,
                Said::Other(text) => {
                    return self.world.violated(format_args!("{order} got {text}"));
                }
            }
        }
        self.world.violated(format_args!("{order} never ended"));
    }

    fn answer(
        &mut self,
        order: &Order,
        progress: &mut Progress,
        questions: &[Question],
        state: String,
    ) {
        let keys: Vec<_> = questions
            .iter()
            .map(|question| question.key.as_str())
            .collect();
        self.world
            .log(format_args!("{order}: asked {}", keys.join(", ")));
        let mut answers = Map::new();
        for question in questions {
            let about = question.message.split([' ', ':']).next();
            if about != Some(&order.to_string()) {
                self.world
                    .violated(format_args!("{order} is asked `{}`", question.message));
            }
            if progress.retry.is_none()
                && let Some((_, plan)) = question.message.split_once(" plan ")
            {
                progress.plan = plan.split(':').next().unwrap_or_default().to_owned();
            }
            let answer = accept(question, order.answer(&question.field));
            answers.insert(question.key.clone(), answer);
            // Some people answer one thing at a time.
            if self.dice.percent(20) {
                break;
            }
        }
        progress.retry = Some(Retry { state, answers });
    }

    /// Whether an instance may refuse a good state: its clock, or that of the
    /// instance that sealed it, is too wrong. Who sealed it cannot be known of a
    /// response that was remembered for a request that came twice.
    fn may_refuse(&self, order: &Order, instance: Option<usize>, progress: &Progress) -> bool {
        let is_suspect = self.beyond == instance || self.beyond == progress.sealed_by;
        self.beyond.is_some() && (is_suspect || self.world.is_disturbed(order))
    }

    fn check(&self, order: &Order, progress: &Progress, text: &str) {
        self.world.log(format_args!("{order}: done: {text}"));
        let [colour, size, rating] = ["colour", "size", "rating"].map(|name| order.answer(name));
        let plan = &progress.plan;
        let is_right = |login: &str, paid: &str| {
            let login = order.answer(login);
            text == format!("{plan} {colour} {size} {login} {rating} {paid}")
        };
        let ends = |paid| is_right("google_login", paid) || is_right("microsoft_login", paid);
        let payments = self.world.payments(order);
        let is_unclear = ends("unclear");
        if ends("paid") && payments == 1 {
            self.world.order_ended(false);
        } else if is_unclear && payments <= 1 && self.world.is_disturbed(order) {
            self.world.order_ended(true);
        } else {
            self.world.violated(format_args!(
                "{order}, planned as {plan} and paid {payments} times, ended with `{text}`"
            ));
        }
    }

    async fn pause(&mut self, low: u64, high: u64) {
        sleep(Duration::from_millis(self.dice.between(low, high))).await;
    }
}

/// How long a client waits for a response.
const PATIENCE: Duration = Duration::from_millis(1200);

/// How often a client sends before it gives up; it must never have to.
const ATTEMPTS: u64 = 120;
