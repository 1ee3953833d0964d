use anyhow::anyhow;
use serde_json::{Value, json};
use sterna_client::{Change, Client};
use sterna_protocol::subscription::SubscriptionFilter;

use super::{NamedServer, task};
use crate::args::ListenArgs;
use crate::exit::{Exit, Failure};
use crate::interrupt;
use crate::screen::Screen;
use crate::session::{self, failure};
use crate::text::{Text, excerpt, one_line};

pub(crate) async fn run(args: ListenArgs, screen: Screen) -> Result<Exit, Failure> {
    let filter = filter(&args);
    let client = NamedServer::alone(&args.target)?.connect(screen).await?;
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
    let asked = named(&filter);
    let mut changes = client.listen(filter).await.map_err(failure)?;
    let granted = named(changes.granted());
    if granted.is_empty() {
        let asked = asked.join(", ");
        let error = anyhow!("the server tells of no changes; asked for: {asked}");
        return Err(Failure::new(Exit::Failed, error).hint(
            "it has to declare `listChanged` or `subscribe`; `sterna --json discover` shows what it \
             declares",
        ));
    }
    let left_out: Vec<_> = asked
        .iter()
        .filter(|name| !granted.contains(name))
        .collect();
    if !left_out.is_empty() {
        let left_out: Vec<_> = left_out.into_iter().map(String::as_str).collect();
        screen.note(format!(
            "the server does not tell of: {}",
            left_out.join(", ")
        ));
    }
    screen.note(format!(
        "listening: {}; nothing has come yet, Ctrl-C ends it",
        granted.join(", ")
    ));
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

/// Filter in words.
fn named(filter: &SubscriptionFilter) -> Vec<String> {
    let lists = [
        (filter.tools_list_changed, "list of tools"),
        (filter.prompts_list_changed, "list of prompts"),
        (filter.resources_list_changed, "list of resources"),
    ];
    let lists = lists.into_iter().filter(|(asked, _)| *asked == Some(true));
    let mut names: Vec<_> = lists.map(|(_, name)| name.to_owned()).collect();
    let resources = filter.resource_subscriptions.iter().flatten();
    names.extend(resources.map(|uri| format!("resource {}", excerpt(uri))));
    let tasks = filter.task_ids.iter().flatten();
    names.extend(tasks.map(|id| format!("task {}", excerpt(id))));
    names
}

/// Filter of the subscription: what was named, or all lists.
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

fn show(change: &Change) -> Result<(Value, Text), Failure> {
    let plain = |name: &str| (json!({"changed": name}), Text::from(format!("{name}\n")));
    Ok(match change {
        Change::Prompts => plain("prompts"),
        Change::Reopened => plain("reopened"),
        Change::Resources => plain("resources"),
        Change::Tools => plain("tools"),
        Change::Resource(uri) => (
            json!({"changed": "resource", "uri": uri}),
            format!("resource {}\n", one_line(uri)).into(),
        ),
        Change::Task(found) => (
            json!({"changed": "task", "task": serde_json::to_value(found)?}),
            Text::from("task ") + task::text(found),
        ),
        _ => plain("something that this release does not know"),
    })
}
