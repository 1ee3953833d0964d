//! Finding the metadata of the MCP server and of its authorization server.

use expect_test::{Expect, expect};
use serde_json::json;
use sterna_oauth::{ClientAuth, OAuth, Registration};

use crate::world::{AuthServer, Client, REDIRECT_URI, Reply, World, serve, user};

#[tokio::test]
async fn the_challenge_points_to_the_metadata() {
    let world = World::start().await;
    world
        .mcp
        .change(|rules| rules.metadata_path = "/custom/place.json".to_owned());
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(world.log.count("mcp GET"), 1);
    assert_eq!(world.log.count("mcp GET /custom/place.json -> 200"), 1);
}

#[tokio::test]
async fn without_a_pointer_the_path_is_tried_and_then_the_root() {
    let world = World::start().await;
    world.mcp.change(|rules| rules.points = false);
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(world.log.count("mcp GET"), 1);

    let world = World::start().await;
    let origin = world.mcp.origin().to_owned();
    world.mcp.change(|rules| {
        rules.points = false;
        rules.metadata_path = "/.well-known/oauth-protected-resource".to_owned();
        rules.metadata = json!({"resource": origin});
    });
    assert_eq!(world.outcome(&world.user()).await, "200");
    world.log.check(expect![[r#"
        mcp POST /mcp -> 401
        mcp GET /.well-known/oauth-protected-resource/mcp -> 404
        mcp GET /.well-known/oauth-protected-resource -> 200
        as GET /.well-known/oauth-authorization-server -> 200
        as POST /register {"application_type":"native","client_name":"Test","grant_types":["authorization_code","refresh_token"],"redirect_uris":["http://127.0.0.1:9/callback"],"response_types":["code"],"token_endpoint_auth_method":"none"} -> 201
        as GET /authorize response_type=code client_id=client-1 redirect_uri=http://127.0.0.1:9/callback state=… code_challenge=… code_challenge_method=S256 resource={mcp} -> 302
        as POST /token grant_type=authorization_code code=code-2 code_verifier=… redirect_uri=http://127.0.0.1:9/callback resource={mcp} client_id=client-1 -> 200
        mcp POST /mcp Bearer at-3 -> 200
    "#]]);
}

#[tokio::test]
async fn an_issuer_without_a_path_is_looked_up_in_two_places() {
    check_places(
        "",
        "/.well-known/openid-configuration",
        expect![[r#"
        as GET /.well-known/oauth-authorization-server -> 404
        as GET /.well-known/openid-configuration -> 200
    "#]],
    )
    .await;
}

#[tokio::test]
async fn an_issuer_with_a_path_is_looked_up_in_three_places() {
    check_places(
        "/tenant1",
        "/.well-known/oauth-authorization-server/tenant1",
        expect![[r#"
            as GET /.well-known/oauth-authorization-server/tenant1 -> 200
        "#]],
    )
    .await;
    check_places(
        "/tenant1",
        "/.well-known/openid-configuration/tenant1",
        expect![[r#"
            as GET /.well-known/oauth-authorization-server/tenant1 -> 404
            as GET /.well-known/openid-configuration/tenant1 -> 200
        "#]],
    )
    .await;
    check_places(
        "/tenant1",
        "/tenant1/.well-known/openid-configuration",
        expect![[r#"
            as GET /.well-known/oauth-authorization-server/tenant1 -> 404
            as GET /.well-known/openid-configuration/tenant1 -> 404
            as GET /tenant1/.well-known/openid-configuration -> 200
        "#]],
    )
    .await;
}

#[tokio::test]
async fn metadata_of_another_issuer_is_not_used() {
    for found in ["https://attacker.example", "{as}/", "{AS}"] {
        let world = World::start().await;
        let own = world.auth.issuer();
        let found = found
            .replace("{as}", &own)
            .replace("{AS}", &own.replace("http", "HTTP"));
        world
            .auth
            .change(|state| state.metadata = json!({"issuer": found}));
        let outcome = world.outcome(&world.user()).await;
        assert!(
            outcome.starts_with(
                "Peer authorization server metadata: the document of {as} says that its issuer is"
            ),
            "{outcome}"
        );
        assert_eq!(
            world.log.count("as POST") + world.log.count("/authorize"),
            0
        );
    }
}

#[tokio::test]
async fn metadata_for_another_resource_is_not_used() {
    let cases = [
        (
            json!("https://evil.example/mcp"),
            expect![
                "Peer resource metadata: the metadata is for https://evil.example/mcp, not for {mcp}/mcp; do not go on: this may be an attack, otherwise the server is set up wrongly"
            ],
        ),
        (
            json!("{mcp}/mcp/deeper"),
            expect![
                "Peer resource metadata: the metadata is for {mcp}/mcp/deeper, not for {mcp}/mcp; do not go on: this may be an attack, otherwise the server is set up wrongly"
            ],
        ),
        (
            json!("{mcp}/mc"),
            expect![
                "Peer resource metadata: the metadata is for {mcp}/mc, not for {mcp}/mcp; do not go on: this may be an attack, otherwise the server is set up wrongly"
            ],
        ),
        (
            json!("not a url"),
            expect![
                "Peer resource metadata: the metadata is for not a url, not for {mcp}/mcp; do not go on: this may be an attack, otherwise the server is set up wrongly"
            ],
        ),
        (
            json!(7),
            expect![
                "Peer resource metadata: `resource` is not a string; report it to the server's operator"
            ],
        ),
        (
            json!(null),
            expect![
                "Peer resource metadata: `resource` is not present; report it to the server's operator"
            ],
        ),
    ];
    for (resource, expected) in cases {
        let world = World::start().await;
        let resource = resource.to_string().replace("{mcp}", world.mcp.origin());
        let resource: serde_json::Value = serde_json::from_str(&resource).unwrap();
        world
            .mcp
            .change(|rules| rules.metadata = json!({"resource": resource}));
        expected.assert_eq(&world.outcome(&world.user()).await);
        assert_eq!(world.log.count("as "), 0);
    }
}

#[tokio::test]
async fn a_document_without_authorization_servers_is_refused() {
    for list in [
        json!(null),
        json!([]),
        json!("https://as.example"),
        json!([7]),
    ] {
        let world = World::start().await;
        world
            .mcp
            .change(|rules| rules.metadata = json!({"authorization_servers": list}));
        let outcome = world.outcome(&world.user()).await;
        assert!(
            outcome.starts_with("Peer resource metadata: `authorization_servers` is not a list"),
            "{outcome}"
        );
    }
}

#[tokio::test]
async fn a_server_without_metadata_is_refused() {
    let world = World::start().await;
    world.mcp.change(|rules| {
        rules.points = false;
        rules.metadata_path = "/nowhere".to_owned();
    });
    expect!["Peer resource metadata: there is no protected resource metadata; ask the server's operator to publish it (RFC 9728), or allow servers without it in the configuration"].assert_eq(&world.outcome(&world.user()).await);

    let world = World::start().await;
    world
        .auth
        .change(|state| state.metadata_path = "/nowhere".to_owned());
    expect!["Peer authorization server metadata: {as} publishes no metadata; ask its operator to publish it (RFC 8414 or OpenID Connect Discovery)"].assert_eq(&world.outcome(&world.user()).await);
}

#[tokio::test]
async fn a_pointer_that_leads_nowhere_is_not_guessed_around() {
    let world = World::start().await;
    let nowhere = format!("{}/nowhere", world.auth.issuer());
    let url = mcp_that_answers(move |path| match path {
        "/mcp" => Reply::status(401).with(
            "www-authenticate",
            format!("Bearer resource_metadata=\"{nowhere}\""),
        ),
        _ => Reply::status(200).body("{}"),
    })
    .await;
    expect!["Peer resource metadata: there is no protected resource metadata; ask the server's operator to publish it (RFC 9728), or allow servers without it in the configuration"].assert_eq(&outcome(&world, &url).await);
}

#[tokio::test]
async fn an_ailing_server_is_not_taken_for_one_without_metadata() {
    let world = World::start().await;
    let url = mcp_that_answers(|path| Reply::status(if path == "/mcp" { 401 } else { 503 })).await;
    expect!["Unavailable resource metadata: unexpected HTTP status 503; try again later"]
        .assert_eq(&outcome(&world, &url).await);
}

#[tokio::test]
async fn a_site_that_shows_its_front_page_everywhere_has_no_metadata() {
    let world = World::start().await;
    let url = mcp_that_answers(|path| match path {
        "/mcp" => Reply::status(401),
        _ => Reply::status(200).body("<!doctype html>"),
    })
    .await;
    expect!["Peer resource metadata: the answer is not a JSON object; report it to the server's operator"].assert_eq(&outcome(&world, &url).await);
}

#[tokio::test]
async fn documents_may_move_within_their_origin_only() {
    let world = World::start().await;
    let document = json!({"resource": "x"}).to_string();
    let url = mcp_that_answers(move |path| match path {
        "/mcp" => Reply::status(401),
        "/moved" => Reply::status(200).body(document.clone()),
        _ => Reply::redirect("/moved"),
    })
    .await;
    expect!["Peer resource metadata: the metadata is for x, not for {other}/mcp; do not go on: this may be an attack, otherwise the server is set up wrongly"].assert_eq(&outcome(&world, &url).await);

    let elsewhere = format!(
        "{}/.well-known/oauth-authorization-server",
        world.auth.issuer()
    );
    let url = mcp_that_answers(move |path| match path {
        "/mcp" => Reply::status(401),
        _ => Reply::redirect(elsewhere.clone()),
    })
    .await;
    expect!["Peer resource metadata: the answer redirects to {as}/.well-known/oauth-authorization-server; report it to the server's operator"].assert_eq(&outcome(&world, &url).await);
    world.log.check(expect![[""]]);
}

#[tokio::test]
async fn endpoints_must_be_https_or_on_this_machine_with_their_server() {
    let fields = [
        "token_endpoint",
        "authorization_endpoint",
        "registration_endpoint",
    ];
    for field in fields {
        let world = World::start().await;
        world
            .auth
            .change(|state| state.metadata = json!({field: "http://as.example/x"}));
        let outcome = world.outcome(&world.user()).await;
        assert!(
            outcome.contains(&format!("{field} `http://as.example/x` is not https")),
            "{outcome}"
        );
        assert_eq!(world.log.count("as POST"), 0);
    }
}

#[tokio::test]
async fn among_several_servers_the_one_we_are_registered_with_is_chosen() {
    let world = World::start().await;
    let second = AuthServer::start("as2", &world.log).await;
    world.mcp.change(|rules| rules.trusted.push(second.clone()));
    let redirect_uri = REDIRECT_URI.to_owned();
    let client = Client {
        redirect_uri,
        ..Client::default()
    };
    second.change(|state| _ = state.clients.insert("known".to_owned(), client));
    let registration = Registration::new(second.issuer(), "known", ClientAuth::none());
    let oauth = world.build(user().registered(registration));
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.log.count("as GET"), 0);
}

#[tokio::test]
async fn among_several_servers_the_first_that_has_metadata_is_chosen() {
    let world = World::start().await;
    let second = AuthServer::start("as2", &world.log).await;
    world.mcp.change(|rules| rules.trusted.push(second.clone()));
    world
        .auth
        .change(|state| state.metadata_path = "/nowhere".to_owned());
    let oauth = world.user();
    assert_eq!(world.outcome(&oauth).await, "200");
    assert_eq!(world.log.count("as2 POST /token"), 1);
}

async fn check_places(issuer_path: &'static str, place: &str, expected: Expect) {
    let world = World::start().await;
    world.auth.change(|state| {
        state.issuer_path = issuer_path;
        state.metadata_path = place.to_owned();
    });
    assert_eq!(world.outcome(&world.user()).await, "200");
    assert_eq!(world.log.count("/token"), 1);
    world.log.check_matching("well-known", "as ", expected);
}

/// An MCP server of which only the answers by path matter.
async fn mcp_that_answers(
    answer: impl Fn(&str) -> Reply + Clone + Send + Sync + 'static,
) -> String {
    let origin = serve(move |asked| std::future::ready(answer(&asked.path))).await;
    format!("{origin}/mcp")
}

async fn outcome(world: &World, url: &str) -> String {
    world.log.name(url.trim_end_matches("/mcp"), "other");
    let oauth = OAuth::builder(url, user()).build().unwrap();
    let error = crate::world::call(&oauth, url).await.unwrap_err();
    world.log.scrub(&format!("{:?} {error}", error.kind()))
}
