//! Decisions before anything of a request is looked at.

use sterna_http::Probes;
use sterna_http::auth::{Gate, StaticTokens};

use crate::desk::Server;

#[tokio::test]
async fn who_is_not_let_in_hears_so_before_the_body_is_read() {
    let gate = Gate::guarded(StaticTokens::parse("token-of-ada ada").unwrap());
    let server = Server::guarded(gate, Probes::new(), |_| {});
    for credential in ["", "Authorization: Bearer wrong\r\n"] {
        let mut wire = server.connect().await;
        // A body is promised and never sent: only its head can have been judged.
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\n{credential}Content-Length: 9\r\n\r\n"
        );
        wire.send(&head).await;
        assert_eq!(wire.answer().await.status, 401, "{credential}");
    }
    assert_eq!(
        server.state.begun.load(std::sync::atomic::Ordering::SeqCst),
        0
    );
}
