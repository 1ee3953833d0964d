//! Pages of a list.

use sterna_http::Admission;
use sterna_protocol::jsonrpc::RequestId;

use super::Answer;
use crate::core::Core;
use crate::failure::Failure;
use crate::lists::List;

/// One page of a list as an answer.
pub(crate) fn page(
    core: &Core,
    admission: &Admission,
    id: &RequestId,
    list: &List,
    method: &'static str,
    cursor: Option<String>,
) -> Result<Answer, Failure> {
    let visible;
    let list = if admission.hides() {
        // TOOL-S2, PROMPT-S2, RES-S2
        let used_by = match method {
            "prompts/list" => "prompts/get",
            "tools/list" => "tools/call",
            _ => "resources/read",
        };
        visible = list.only(|name| admission.may(used_by, Some(name)).is_ok());
        &visible
    } else {
        list
    };
    let (page, next) = list.page(&core.keys, &core.realm, method, cursor.as_deref())?;
    Ok(match next {
        None => Answer::cached(id, &[page, b"}"]),
        // A token has no character that JSON would escape.
        Some(next) => Answer::cached(
            id,
            &[page, br#","nextCursor":""#, next.as_bytes(), br#""}"#],
        ),
    })
}
