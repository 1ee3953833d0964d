use proptest::collection::vec;
use proptest::prelude::{any, proptest};
use proptest::test_runner::TestCaseError;
use serde::Serialize;

use super::types::TYPES;
use super::{Sample, Source};
use crate::jsonrpc::{Answer, Dispatch, Message, Notification, Request, ResultResponse, Untagged};
use crate::methods::{self, Or};
use crate::result::{Complete, Outcome};
use crate::{legacy, sep2322, tasks};

proptest! {
    #[test]
    fn what_is_written_is_read_back_as_the_same(bytes in vec(any::<u8>(), 0..512)) {
        for kind in TYPES {
            let (text, same) = (kind.trip)(&mut Source::new(&bytes));
            let same = same.map_err(|error| TestCaseError::fail(format!("{}: {error}: {text}", kind.name)))?;
            if !same {
                return Err(TestCaseError::fail(format!("{} changed: {text}", kind.name)));
            }
        }
    }

    #[test]
    fn requests_and_notifications_find_their_way_by_their_method(bytes in vec(any::<u8>(), 0..512)) {
        let bytes = bytes.as_slice();
        request::<methods::ClientRequest>(bytes, |params| params.method().as_str())?;
        request::<legacy::ClientRequest>(bytes, |params| params.method().as_str())?;
        request::<legacy::ServerRequest>(bytes, |params| params.method().as_str())?;
        request::<sep2322::ClientRequest>(bytes, |params| params.method().as_str())?;
        request::<tasks::ClientRequest>(bytes, |params| params.method().as_str())?;
        request::<Or<methods::ClientRequest, tasks::ClientRequest>>(bytes, |params| match params {
            Or::First(params) => params.method().as_str(),
            Or::Second(params) => params.method().as_str(),
        })?;
        notification::<methods::ClientNotification>(bytes, |params| params.method().as_str())?;
        notification::<methods::ServerNotification>(bytes, |params| params.method().as_str())?;
        notification::<legacy::ClientNotification>(bytes, |params| params.method().as_str())?;
        notification::<legacy::ServerNotification>(bytes, |params| params.method().as_str())?;
        notification::<tasks::ServerNotification>(bytes, |params| params.method().as_str())?;
    }

    #[test]
    fn results_find_their_way_by_their_result_type(bytes in vec(any::<u8>(), 0..512)) {
        let bytes = bytes.as_slice();
        result::<Outcome<crate::tool::CallToolResult, tasks::CreateTaskResult>>(bytes)?;
        result::<Outcome<legacy::GetTaskPayloadResult, tasks::CreateTaskResult>>(bytes)?;
        result::<Complete<crate::tool::ListToolsResult>>(bytes)?;
        result::<Complete<crate::subscription::SubscriptionsListenResult>>(bytes)?;
        result::<Complete<tasks::GetTaskResult>>(bytes)?;
        result::<Complete<crate::result::EmptyResult>>(bytes)?;
    }
}

fn request<R>(bytes: &[u8], method: fn(&R) -> &'static str) -> Result<(), TestCaseError>
where
    R: Sample + Serialize + PartialEq + for<'a> Dispatch<'a>,
{
    let params: R = Source::new(bytes).draw();
    let request = Request::new(1.into(), method(&params), params);
    let mut body = Vec::new();
    request.encode(&mut body).unwrap();
    match Message::<R, crate::jsonrpc::Nothing, Untagged<()>>::decode(&body) {
        Ok(Message::Request(back)) if back == request => Ok(()),
        other => Err(lost(&body, other.err())),
    }
}

fn notification<N>(bytes: &[u8], method: fn(&N) -> &'static str) -> Result<(), TestCaseError>
where
    N: Sample + Serialize + PartialEq + for<'a> Dispatch<'a>,
{
    let params: N = Source::new(bytes).draw();
    let notification = Notification::new(method(&params), params);
    let mut body = Vec::new();
    notification.encode(&mut body).unwrap();
    match Message::<crate::jsonrpc::Nothing, N, Untagged<()>>::decode(&body) {
        Ok(Message::Notification(back)) if back == notification => Ok(()),
        other => Err(lost(&body, other.err())),
    }
}

fn result<A>(bytes: &[u8]) -> Result<(), TestCaseError>
where
    A: Sample + Serialize + PartialEq + for<'a> Answer<'a>,
{
    let response = ResultResponse::new(1.into(), Source::new(bytes).draw::<A>());
    let mut body = Vec::new();
    response.encode(&mut body).unwrap();
    type Received<'a, A> = Message<'a, crate::jsonrpc::Nothing, crate::jsonrpc::Nothing, A>;
    match Received::<A>::decode(&body) {
        Ok(Message::Result(back)) if back == response => Ok(()),
        other => Err(lost(&body, other.err())),
    }
}

fn lost(body: &[u8], error: Option<crate::jsonrpc::DecodeError>) -> TestCaseError {
    let body = String::from_utf8_lossy(body);
    TestCaseError::fail(format!("{error:?}: {body}"))
}
