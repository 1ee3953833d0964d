//! The server as a service inside another HTTP server.

use std::net::SocketAddr;

use bytes::Bytes;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full};
use sterna_http::auth::Gate;
use sterna_http::{
    Endpoint, HttpConfig, HttpServer, Inbound, Peer, Probes, Rate, ResponseBody, reply,
};
use tower_service::Service;

use crate::desk::NEVER;

#[derive(Debug)]
struct Guest;

#[derive(Clone)]
struct Session(&'static str);

impl Endpoint for Guest {
    async fn call(&self, inbound: Inbound) -> Response<ResponseBody> {
        let session = inbound.head.extensions.get::<Session>();
        let name = session.map_or("a stranger", |session| session.0);
        let path = inbound.head.uri.path();
        reply::json(StatusCode::OK, format!("{name} at {path}"))
    }
}

fn edge(change: impl FnOnce(&mut HttpConfig)) -> HttpServer<Guest> {
    let mut config = HttpConfig::default();
    change(&mut config);
    HttpServer::new(Guest, Gate::open(), Probes::new(), config).unwrap()
}

fn post(path: &str) -> http::request::Builder {
    Request::post(path)
        .header("host", "localhost")
        .header("content-type", "application/json")
}

async fn check(edge: &mut HttpServer<Guest>, request: Request<Full<Bytes>>) -> (u16, String) {
    let Ok(response) = edge.call(request).await;
    let status = response.status().as_u16();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

#[tokio::test]
async fn what_a_layer_put_into_the_request_reaches_the_endpoint() {
    let mut edge = edge(|_| {});
    let request = post("/mcp").extension(Session("ada"));
    let (status, body) = check(&mut edge, request.body(Full::default()).unwrap()).await;
    assert_eq!((status, body.as_str()), (200, "ada at /mcp"));
}

#[tokio::test]
async fn a_router_that_has_matched_the_path_may_leave_it_to_us() {
    let mut edge = edge(|config| config.path = None);
    for path in ["/", "/anything"] {
        let request = post(path).body(Full::default()).unwrap();
        let (status, body) = check(&mut edge, request).await;
        assert_eq!((status, body), (200, format!("a stranger at {path}")));
    }
    let live = Request::get("/livez").body(Full::default()).unwrap();
    assert_eq!(check(&mut edge, live).await.0, 200);
}

#[tokio::test]
async fn every_guard_stands_here_too() {
    let mut edge = edge(|config| config.limits.body_bytes = 10);
    let request =
        |build: http::request::Builder, size| build.body(Full::from("x".repeat(size))).unwrap();
    assert_eq!(check(&mut edge, request(post("/mcp"), 10)).await.0, 200);
    assert_eq!(check(&mut edge, request(post("/mcp"), 11)).await.0, 413);
    let foreign = post("/mcp").header("origin", "http://evil.example");
    assert_eq!(check(&mut edge, request(foreign, 1)).await.0, 403);
    let nameless = Request::post("/mcp").header("content-type", "application/json");
    assert_eq!(check(&mut edge, request(nameless, 1)).await.0, 400);
}

#[tokio::test]
async fn the_address_a_layer_tells_us_is_the_one_that_pays() {
    let mut edge = edge(|config| config.rates.anonymous_calls = Some(Rate::new(1, NEVER)));
    let from = |address: &str| {
        let peer = Peer(SocketAddr::new(address.parse().unwrap(), 1));
        post("/mcp").extension(peer).body(Full::default()).unwrap()
    };
    assert_eq!(check(&mut edge, from("10.0.0.1")).await.0, 200);
    assert_eq!(check(&mut edge, from("10.0.0.1")).await.0, 429);
    assert_eq!(check(&mut edge, from("10.0.0.2")).await.0, 200);
}

#[test]
fn limits_that_leave_no_room_are_refused_when_configured() {
    let mut config = HttpConfig::default();
    config.limits.calls = 0;
    let error = HttpServer::new(Guest, Gate::open(), Probes::new(), config).unwrap_err();
    let text = "limits.calls is too small for a single request";
    assert_eq!(error.to_string(), text);
}

#[test]
fn a_path_that_cannot_be_served_is_refused_when_configured() {
    for path in ["mcp", "", "/livez", "/metrics"] {
        let mut config = HttpConfig::default();
        config.path = Some(path.to_owned());
        let edge = HttpServer::new(Guest, Gate::open(), Probes::new(), config);
        assert!(edge.is_err(), "{path}");
    }
}
