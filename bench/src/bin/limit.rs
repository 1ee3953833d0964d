//! The limit: hyper and nothing else.

use std::convert::Infallible;
use std::rc::Rc;

use bench::{Bare, listen};
use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::task::{LocalSet, spawn_local};

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let listener = listen()?;
    let bare = Rc::new(Bare::new()?);
    let serve = async {
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let bare = Rc::clone(&bare);
            spawn_local(async move {
                let service = service_fn(|request| answer(&bare, request));
                // A client that goes away is no error of ours.
                let _ = http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    };
    let local = LocalSet::new();
    tokio::select! {
        ended = local.run_until(serve) => ended,
        _ = tokio::signal::ctrl_c() => Ok(()),
    }
}

async fn answer(
    bare: &Bare,
    request: Request<Incoming>,
) -> Result<Response<Full<Bytes>>, Infallible> {
    let body = request.into_body().collect().await;
    let answer = body.ok().and_then(|body| bare.answer(&body.to_bytes()));
    let status = match answer {
        Some(_) => StatusCode::OK,
        None => StatusCode::BAD_REQUEST,
    };
    let mut response = Response::new(Full::from(answer.unwrap_or_default()));
    *response.status_mut() = status;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    Ok(response)
}
