use sterna_protocol::elicitation::ElicitRequestParams;
use sterna_protocol::input::InputRequest;
use sterna_protocol::tasks::{DetailedTask, TaskState};

use super::{Asking, NamedServer, call, show};
use crate::args::{AnswerTaskArgs, TaskArgs, TaskCommand};
use crate::exit::{Exit, Failure};
use crate::rounds;
use crate::screen::Screen;
use crate::session::{self, failure};
use crate::text::{Text, one_line};

pub(crate) async fn run(command: TaskCommand, screen: Screen) -> Result<Exit, Failure> {
    match command {
        TaskCommand::Answer(args) => answer(*args, screen).await,
        TaskCommand::Cancel(args) => look(*args, Before::Cancel, screen).await,
        TaskCommand::Follow(args) => follow(*args, screen).await,
        TaskCommand::Get(args) => look(*args, Before::Nothing, screen).await,
    }
}

/// Action on a task.
enum Before {
    Cancel,
    Nothing,
}

async fn look(args: TaskArgs, before: Before, screen: Screen) -> Result<Exit, Failure> {
    let mut named = NamedServer::read(&args.words, &args.connect)?;
    let id = named.take_last("task")?;
    let client = named.connect(screen).await?;
    let task = client.task(id);
    let looked = async {
        if let Before::Cancel = before {
            task.cancel(&client).await.map_err(failure)?;
        }
        task.get(&client).await.map_err(failure)
    };
    let found = session::closing(&client, looked).await?;
    screen.result(&found, text(&found))?;
    Ok(Exit::Done)
}

async fn answer(args: AnswerTaskArgs, screen: Screen) -> Result<Exit, Failure> {
    let mut named = NamedServer::read(&args.words, &args.asking.connect)?;
    let id = named.take_last("task")?;
    let asking = Asking::connect(named, &args.asking, screen).await?;
    let (client, task) = (&asking.client, asking.client.task(id));
    let answered = async {
        let found = task.get(client).await.map_err(failure)?;
        if let TaskState::InputRequired(open) = found.state() {
            let rounds = asking.rounds();
            let left = match open.is_empty() {
                true => rounds.answer_while_waiting(&task).await?,
                false => rounds.answer_task(&task, open).await?,
            };
            if let Some(exit) = left {
                return Ok(exit);
            }
        }
        let found = task.get(client).await.map_err(failure)?;
        screen.result(&found, text(&found))?;
        Ok(Exit::Done)
    };
    session::closing(client, answered).await
}

async fn follow(args: AnswerTaskArgs, screen: Screen) -> Result<Exit, Failure> {
    let mut named = NamedServer::read(&args.words, &args.asking.connect)?;
    let id = named.take_last("task")?;
    let asking = Asking::connect(named, &args.asking, screen).await?;
    let task = asking.client.task(id);
    let reached = Box::pin(asking.rounds().follow(&task)).await;
    asking.close(&reached).await;
    rounds::finish(reached?, screen, call::text)
}

pub(super) fn text(found: &DetailedTask) -> Text {
    let task = found.task();
    let status = one_line(&task.status.to_string());
    let mut text = Text::bold(one_line(&task.task_id)) + "\n";
    let mut line = |name: &str, value: &str| {
        text += format!("  {name:<8}  {}\n", one_line(value));
    };
    line("status", &status);
    if let Some(message) = &task.status_message {
        line("says", message);
    }
    line("created", &task.created_at);
    line("changed", &task.last_updated_at);
    match found.state() {
        TaskState::InputRequired(open) => {
            for (key, request) in open.iter() {
                line("asks", &format!("{key}: {}", question(request)));
            }
        }
        TaskState::Failed(error) => {
            let why = format!("     {} ({})\n", one_line(&error.message), error.code.0);
            text += Text::from("  ") + Text::bad("error") + why;
        }
        TaskState::Completed(result) => {
            if let Ok(result) = serde_json::from_str(result.as_str()) {
                text += show::tool_result(&result);
            }
        }
        _ => {}
    }
    text
}

/// Summary of a question.
fn question(request: &InputRequest) -> String {
    match request {
        InputRequest::Elicit(elicit) => match &elicit.params {
            ElicitRequestParams::Url(url) => format!("{} ({})", url.message, url.url),
            params => params.message().to_owned(),
        },
        request => request.method().to_owned(),
    }
}
