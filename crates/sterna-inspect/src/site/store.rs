//! The pages of the store.

use std::sync::Arc;

use bytes::Bytes;
use http::{Response, StatusCode};
use sterna_flow::Limits;
use sterna_http::ResponseBody;
use sterna_store::{
    EffectQuery, Error, Status, StoredValue, Survey, TaskDetails, TaskId, TaskQuery,
};

use super::Site;
use super::response::html;
use crate::pages::{self, Here, ShownValue};
use crate::token::entry_value;
use crate::urlencoded::Fields;

impl Site {
    pub(super) async fn show_store(&self, query: &Fields) -> Response<ResponseBody> {
        let Some(survey) = &self.survey else {
            return self.no_store();
        };
        let mut wanted = TaskQuery::latest(TASKS);
        wanted.status = query.get("status").and_then(Status::parse);
        wanted.before = query.get("before").and_then(|text| text.parse().ok());
        let effects = EffectQuery::latest(EFFECTS);
        let (tasks, effects) =
            tokio::join!(survey.survey_tasks(wanted), survey.survey_effects(effects));
        match (tasks, effects) {
            (Ok(tasks), Ok(effects)) => {
                let frame = self.frame(Here::Store);
                let page = pages::store_page(&frame, &tasks, wanted.status, &effects);
                html(StatusCode::OK, &page)
            }
            (Err(error), _) | (_, Err(error)) => self.store_failed(&error),
        }
    }

    pub(super) async fn show_task(&self, id: &str, query: &Fields) -> Response<ResponseBody> {
        let Some(survey) = &self.survey else {
            return self.no_store();
        };
        let Ok(id) = id.parse::<TaskId>() else {
            return self.not_found();
        };
        let details = match survey.survey_task(id, ENTRIES).await {
            Ok(Some(details)) => details,
            Ok(None) => {
                let text = "There is no such task. It may have been swept away.";
                return self.problem(StatusCode::NOT_FOUND, "No task", text);
            }
            Err(error) => return self.store_failed(&error),
        };
        let effects = EffectQuery::of(details.task.flow, EFFECTS);
        let effects = match survey.survey_effects(effects).await {
            Ok(effects) => effects,
            Err(error) => return self.store_failed(&error),
        };
        let wanted = query
            .get("value")
            .and_then(|what| pages::value_of(what, query.get("key")));
        let value = match wanted {
            Some(wanted) => match shown(survey, &details, wanted).await {
                Ok(value) => Some(value),
                Err(error) => return self.store_failed(&error),
            },
            None => None,
        };
        let frame = self.frame(Here::Store);
        let page = pages::task_page(&frame, &details, &effects, value.as_ref());
        html(StatusCode::OK, &page)
    }

    fn no_store(&self) -> Response<ResponseBody> {
        let text = "The inspector has no store. Start it with --store URL to see tasks, journals \
                    and the ledger of effects.";
        self.problem(StatusCode::NOT_FOUND, "No store", text)
    }

    fn store_failed(&self, error: &Error) -> Response<ResponseBody> {
        let text = format!("{error:?}");
        self.problem(StatusCode::BAD_GATEWAY, "The store cannot be read", &text)
    }
}

/// Fetches one value and writes it as text. The author's mark on a secret holds
/// here too.
async fn shown(
    survey: &Arc<dyn Survey>,
    details: &TaskDetails,
    wanted: StoredValue,
) -> Result<ShownValue, Error> {
    let id = details.task.summary.id;
    let found = survey.survey_value(id, wanted.clone(), LARGEST).await?;
    let text = found.map_or_else(
        || "(there is none)".to_owned(),
        |found| spelled(&wanted, found),
    );
    let name = match wanted {
        StoredValue::Entry(key) => key.as_str().to_owned(),
        StoredValue::Outcome => "the outcome".to_owned(),
        StoredValue::Question(key) => format!("the question {}", key.as_str()),
        StoredValue::Request => "the request".to_owned(),
        StoredValue::Response(key) => format!("the answer to {}", key.as_str()),
    };
    Ok(ShownValue { name, text })
}

fn spelled(wanted: &StoredValue, value: Bytes) -> String {
    let is_cut = value.len() >= usize::try_from(LARGEST).unwrap_or(usize::MAX);
    let mut text = match wanted {
        // An entry says in its first bytes whether it is secret, so one that was
        // cut cannot be read.
        StoredValue::Entry(_) if is_cut => return "(too large to be shown)".to_owned(),
        StoredValue::Entry(_) => match sterna_flow::Entry::from_bytes(value, &Limits::default()) {
            Ok(entry) => entry_value(&entry),
            Err(error) => return format!("(it cannot be read: {error})"),
        },
        _ => match std::str::from_utf8(&value) {
            Ok(text) => text.to_owned(),
            // A cut may be in the middle of a character.
            Err(_) if is_cut => String::from_utf8_lossy(&value).into_owned(),
            Err(_) => format!("({} bytes that are no text)", value.len()),
        },
    };
    if is_cut {
        text.push_str("\n… (cut)");
    }
    text
}

/// Tasks of one page.
const TASKS: u32 = 50;

/// Effects of one page.
const EFFECTS: u32 = 50;

/// Entries and questions of one task.
const ENTRIES: u32 = 500;

/// Bytes of one value.
const LARGEST: u32 = 64 * 1024;
