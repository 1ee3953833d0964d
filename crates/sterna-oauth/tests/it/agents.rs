//! The user's browser, played by the test.

use std::sync::{Arc, Mutex};

use sterna_oauth::{AuthorizationCode, ClientMetadata, Headless, Loopback, UserAgent};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use url::Url;

use crate::world::{Reply, World, serve};

#[tokio::test]
async fn a_browser_comes_back_to_the_loopback_listener() {
    let world = World::start().await;
    let (open, mut opened) = mpsc::unbounded_channel();
    let agent = Loopback::new(move |url| {
        open.send(url.to_owned()).unwrap();
        Ok(())
    });
    let grant = AuthorizationCode::new(agent).dynamic_registration(ClientMetadata::new("Test"));
    let oauth = world.build(grant);
    let browser = async {
        let url = opened.recv().await.unwrap();
        let redirect = redirect_of(&url).await;
        get(&redirect).await
    };
    let (outcome, page) = tokio::join!(world.outcome(&oauth), browser);
    assert_eq!(outcome, "200");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    assert!(
        page.contains("Content-Security-Policy: default-src 'none'"),
        "{page}"
    );
}

#[tokio::test]
async fn strangers_at_the_listener_do_not_end_the_sign_in() {
    let (agent, redirect_uri) = listener().await;
    let strangers = async {
        // A connection that a browser opens in advance and never uses.
        let silent = TcpStream::connect(address(&redirect_uri)).await.unwrap();
        let wrong_state = get(&format!("{redirect_uri}?code=evil&state=guess")).await;
        assert!(wrong_state.starts_with("HTTP/1.1 400 "), "{wrong_state}");
        let no_state = get(&format!("{redirect_uri}?code=evil")).await;
        assert!(no_state.starts_with("HTTP/1.1 400 "), "{no_state}");
        let icon = get(&redirect_uri.replace("/callback", "/favicon.ico")).await;
        assert!(icon.starts_with("HTTP/1.1 404 "), "{icon}");
        let nonsense = send(&redirect_uri, b"\x16\x03\x01\r\n\r\n").await;
        assert_eq!(nonsense, "");
        let right = get(&format!("{redirect_uri}?code=good&state=right")).await;
        assert!(right.starts_with("HTTP/1.1 200 "), "{right}");
        drop(silent);
    };
    let visit = agent.visit("https://as.example/authorize?state=right");
    let (redirect, ()) = tokio::join!(visit, strangers);
    assert_eq!(
        redirect.unwrap(),
        format!("{redirect_uri}?code=good&state=right")
    );
}

#[tokio::test]
async fn the_listener_keeps_its_address_for_the_next_sign_in() {
    let (agent, redirect_uri) = listener().await;
    let abandoned = agent.visit("https://as.example/authorize?state=one");
    drop(abandoned);
    assert_eq!(agent.redirect_uri().await.unwrap(), redirect_uri);
    let visit = agent.visit("https://as.example/authorize?state=two");
    let url = format!("{redirect_uri}?state=two&error=access_denied");
    let (redirect, _) = tokio::join!(visit, get(&url));
    assert_eq!(redirect.unwrap(), url);
}

#[tokio::test]
async fn a_browser_that_cannot_be_opened_is_an_error() {
    let agent = Loopback::new(|_| Err(std::io::Error::other("no display")));
    agent.redirect_uri().await.unwrap();
    let error = agent
        .visit("https://as.example/authorize?state=s")
        .await
        .unwrap_err();
    assert_eq!(error.to_string(), "no display");
}

#[tokio::test]
async fn a_headless_agent_follows_redirects_but_not_for_ever() {
    let hops = Arc::new(Mutex::new(0));
    let counted = hops.clone();
    let origin = serve(move |asked| {
        *counted.lock().unwrap() += 1;
        let reply = match &*asked.path {
            "/short" => Reply::redirect("/hop"),
            "/hop" => Reply::redirect("http://127.0.0.1:9/callback?code=c"),
            "/page" => Reply::status(200),
            _ => Reply::redirect("/again"),
        };
        std::future::ready(reply)
    })
    .await;
    let agent = Headless::new("http://127.0.0.1:9/callback");
    let visit = async |path| {
        let url = format!("{origin}{path}");
        agent.visit(&url).await.map_err(|error| error.to_string())
    };
    assert_eq!(
        visit("/short").await.unwrap(),
        "http://127.0.0.1:9/callback?code=c"
    );
    assert_eq!(
        visit("/page").await.unwrap_err(),
        "the authorization server wants to talk to a person"
    );
    *hops.lock().unwrap() = 0;
    assert_eq!(
        visit("/again").await.unwrap_err(),
        "the authorization server redirects without end"
    );
    assert_eq!(*hops.lock().unwrap(), 10);
}

async fn listener() -> (Loopback, String) {
    let agent = Loopback::new(|_| Ok(()));
    let redirect_uri = agent.redirect_uri().await.unwrap();
    assert!(
        redirect_uri.starts_with("http://127.0.0.1:"),
        "{redirect_uri}"
    );
    (agent, redirect_uri)
}

/// Address to which the authorization server sends a browser.
async fn redirect_of(url: &str) -> String {
    let answer = send(url, request(url).as_bytes()).await;
    let location = answer
        .lines()
        .find_map(|line| line.strip_prefix("location: "));
    location.unwrap().to_owned()
}

async fn get(url: &str) -> String {
    send(url, request(url).as_bytes()).await
}

fn request(url: &str) -> String {
    let parsed = Url::parse(url).unwrap();
    let target = &url[parsed.origin().ascii_serialization().len()..];
    format!(
        "GET {target} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
        address(url)
    )
}

async fn send(url: &str, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(address(url)).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

fn address(url: &str) -> String {
    let url = Url::parse(url).unwrap();
    format!("{}:{}", url.host_str().unwrap(), url.port().unwrap())
}
