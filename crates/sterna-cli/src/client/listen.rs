use serde_json::{Value, json};
use sterna_client::{Change, Client};
use sterna_protocol::subscription::SubscriptionFilter;

use super::{Place, task};
use crate::args::ListenArgs;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::screen::Screen;
use crate::session::{self, failure};
use crate::table::one_line;

pub(crate) async fn run(args: ListenArgs, screen: Screen) -> Result<Exit, Failure> {
    let filter = filter(&args);
    let client = Place::alone(&args.target)?.connect(screen).await?;
    let ended = tokio::select! {
        ended = follow(&client, filter, args.count, screen) => ended,
        // That is how listening ends.
        () = interrupt::heard() => Ok(()),
    };
    session::close(client).await;
    ended.map(|()| Exit::Done)
}

async fn follow(
    client: &Client,
    filter: SubscriptionFilter,
    count: Option<u64>,
    screen: Screen,
) -> Result<(), Failure> {
    let mut changes = client.listen(filter).await.map_err(failure)?;
    let granted = serde_json::to_value(changes.granted())?;
    let names = granted.as_object().into_iter().flatten();
    let names: Vec<_> = names.map(|(name, _)| one_line(name)).collect();
    screen.note(format!("listening: {}", names.join(", ")));
    let mut seen = 0;
    while count.is_none_or(|count| seen < count) {
        let Some(change) = changes.next().await.map_err(failure)? else {
            screen.note("the server has ended the stream");
            break;
        };
        let (json, text) = show(&change)?;
        screen.line(&json, text)?;
        seen += 1;
    }
    Ok(())
}

/// What to listen to: what was named, or all lists.
fn filter(args: &ListenArgs) -> SubscriptionFilter {
    let everything = !(args.tools || args.prompts || args.resources)
        && args.resource.is_empty()
        && args.task.is_empty();
    let some = |named: bool| (named || everything).then_some(true);
    let mut filter = SubscriptionFilter::default();
    filter.tools_list_changed = some(args.tools);
    filter.prompts_list_changed = some(args.prompts);
    filter.resources_list_changed = some(args.resources);
    filter.resource_subscriptions =
        Some(args.resource.clone()).filter(|resources| !resources.is_empty());
    filter.task_ids = Some(args.task.clone()).filter(|tasks| !tasks.is_empty());
    filter
}

fn show(change: &Change) -> Result<(Value, String), Failure> {
    let plain = |name: &str| (json!({"changed": name}), format!("{name}\n"));
    Ok(match change {
        Change::Prompts => plain("prompts"),
        Change::Reopened => plain("reopened"),
        Change::Resources => plain("resources"),
        Change::Tools => plain("tools"),
        Change::Resource(uri) => (
            json!({"changed": "resource", "uri": uri}),
            format!("resource {}\n", one_line(uri)),
        ),
        Change::Task(found) => (
            json!({"changed": "task", "task": serde_json::to_value(found)?}),
            format!("task {}", task::text(found)),
        ),
        _ => plain("something that this release does not know"),
    })
}
