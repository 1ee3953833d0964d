//! The pages of the recorder.

use http::{Response, StatusCode};
use sterna_http::ResponseBody;

use super::response::html;
use super::{Recorded, Site};
use crate::pages::{self, Here};
use crate::recorder::Exchange;

impl Site {
    pub(super) fn show_recorded(&self) -> Response<ResponseBody> {
        let Some(Recorded { recordings, url }) = &self.recorded else {
            return self.no_recorder();
        };
        let lines = recordings.each(pages::exchange_line);
        let mut frame = self.frame(Here::Recorded);
        // The next request may come at any time.
        frame.is_live = true;
        frame.is_reloaded = true;
        let page = pages::recorded_page(&frame, url.as_deref(), recordings.unread(), &lines);
        html(StatusCode::OK, &page)
    }

    pub(super) fn show_exchange(&self, id: &str) -> Response<ResponseBody> {
        let Some(Recorded { recordings, .. }) = &self.recorded else {
            return self.no_recorder();
        };
        let title = id.parse().ok();
        let title = title.and_then(|id| Some((id, recordings.read(id, pages::recorded_title)?)));
        let Some((id, title)) = title else {
            return self.not_found();
        };
        let rounds = recordings.rounds_of(id);
        let runs = rounds
            .iter()
            .filter_map(|id| recordings.read(*id, Exchange::is_running));
        let mut frame = self.frame(Here::Recorded);
        frame.is_live = runs.into_iter().any(|runs| runs);
        frame.is_reloaded = frame.is_live;
        let rounds = rounds.iter().enumerate();
        let cards: Vec<_> = rounds
            .filter_map(|(at, id)| {
                recordings.read(*id, |exchange| pages::exchange_card(exchange, at + 1))
            })
            .collect();
        html(
            StatusCode::OK,
            &pages::exchange_page(&frame, &title, &cards),
        )
    }

    fn no_recorder(&self) -> Response<ResponseBody> {
        let text = "No client is recorded. Start the inspector with --record 127.0.0.1:PORT, or with --record stdio.";
        self.problem(StatusCode::NOT_FOUND, "Not recording", text)
    }
}
