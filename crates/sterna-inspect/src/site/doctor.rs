//! The page of the doctor.

use http::{Response, StatusCode};
use serde_json::{Map, Value};
use sterna_http::ResponseBody;

use super::Site;
use super::response::{html, see_other};
use crate::checkup::CheckupState;
use crate::doctor::{Examination, Trial};
use crate::pages::{self, Here};
use crate::urlencoded::Fields;

impl Site {
    pub(super) fn show_doctor(&self) -> Response<ResponseBody> {
        self.render_doctor(None, StatusCode::OK)
    }

    fn render_doctor(
        &self,
        entered: Option<(&Fields, &str)>,
        status: StatusCode,
    ) -> Response<ResponseBody> {
        let state = self.checkup.state();
        let mut frame = self.frame(Here::Doctor);
        frame.is_live = matches!(state, CheckupState::Running(_));
        frame.is_reloaded = frame.is_live;
        let tools = self.catalog.tool_names();
        html(status, &pages::doctor_page(&frame, &state, &tools, entered))
    }

    /// Begins an examination.
    pub(super) fn examine(&self, form: &Fields) -> Response<ResponseBody> {
        let mut examination = Examination {
            trials: Vec::new(),
            has_headers: self.has_headers,
        };
        if let Some(tool) = form.get("tool").filter(|tool| !tool.is_empty()) {
            let text = form.get("arguments").unwrap_or("{}");
            let arguments: Map<String, Value> = match serde_json::from_str(text) {
                Ok(arguments) => arguments,
                Err(error) => {
                    let text = format!("This is not a JSON object: {error}");
                    let status = StatusCode::UNPROCESSABLE_ENTITY;
                    return self.render_doctor(Some((form, &text)), status);
                }
            };
            examination.trials.push(Trial {
                tool: tool.to_owned(),
                arguments,
            });
        }
        self.checkup
            .begin(examination, self.connections.connector());
        see_other("/doctor")
    }
}
