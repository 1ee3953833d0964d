//! Lists of several servers as one.

use sterna_client::Era;
use sterna_gateway::{Gateway, GatewayConfig, Survival, survey};
use sterna_protocol::completion::{CompletionArgument, CompletionReference, PromptReference};

use crate::upstream::{at, http, process};
use crate::{BOTH, Running, names, text};

const ALL: &str = "echo greet fails pid die count wait";

#[tokio::test]
async fn one_server_keeps_its_names() {
    for upstream in BOTH {
        let server = http("only", upstream);
        let gateway = Running::of([server.config.clone()]).await;
        for era in BOTH {
            let client = gateway.plain(era).await;
            assert_eq!(names(&client).await, ALL, "{upstream:?} behind {era:?}");
            let result = client.call("echo").arg("word", "tern").await.unwrap();
            assert_eq!(text(&result), "tern");
        }
    }
}

#[tokio::test]
async fn servers_are_listed_in_the_order_of_the_file_under_their_prefixes() {
    let (old, new) = (http("old", Era::Legacy), http("new", Era::Modern));
    let (mut one, mut two) = (old.config.clone(), new.config.clone());
    one.prefix = "old_".to_owned();
    two.prefix = "new_".to_owned();
    one.tools.allow = vec!["e*".to_owned(), "pid".to_owned()];
    two.tools.deny = vec!["*e*".to_owned(), "wait".to_owned(), "fails".to_owned()];
    let gateway = Running::of([one, two]).await;
    for era in BOTH {
        let client = gateway.plain(era).await;
        assert_eq!(names(&client).await, "old_echo old_pid new_pid new_count");
        let result = client.call("old_echo").arg("word", "tern").await.unwrap();
        assert_eq!(text(&result), "tern");
        // What is denied is as unknown as what is not there.
        let refused = client
            .call("new_echo")
            .arg("word", "tern")
            .await
            .unwrap_err();
        let refused = refused.rpc().unwrap().message.clone();
        assert!(refused.contains("Unknown tool `new_echo`"), "{refused}");
        assert_eq!(client.prompts().all().await.unwrap().len(), 2);
        let said = client.prompt("new_say").arg("word", "tern").await.unwrap();
        let said = serde_json::to_string(&said).unwrap();
        assert!(said.contains("Say tern"), "{said}");
    }
}

#[tokio::test]
async fn resources_keep_their_addresses_and_arguments_are_completed() {
    for upstream in BOTH {
        let server = http("only", upstream);
        let gateway = Running::of([server.config.clone()]).await;
        for era in BOTH {
            let client = gateway.plain(era).await;
            assert_eq!(client.resources().all().await.unwrap()[0].uri, "note://one");
            for (uri, expected) in [("note://one", "text of note://one"), ("page://7", "page 7")] {
                let read = client.read(uri).await.unwrap();
                let read = serde_json::to_string(&read).unwrap();
                assert!(read.contains(expected), "{read}");
            }
            let missing = client.read("note://none").await.unwrap_err();
            assert!(missing.is_resource_not_found(), "{missing}");
            let reference = CompletionReference::Prompt(PromptReference::new("say"));
            let argument = CompletionArgument::new("word", "t");
            let completed = client.complete(reference, argument, None).await.unwrap();
            assert_eq!(completed.values, ["tern"]);
        }
    }
}

#[tokio::test]
async fn two_servers_with_one_name_keep_the_gateway_from_starting() {
    let (one, two) = (http("one", Era::Modern), http("two", Era::Modern));
    let mut second = two.config.clone();
    second.prompts.deny = vec!["*".to_owned()];
    second.tools.allow = vec!["echo".to_owned()];
    let config = GatewayConfig::new(vec![one.config.clone(), second]);
    let error = Gateway::start(config.clone())
        .await
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "MR0904: the servers `one` and `two` both offer the tool `echo`; give one of them a \
         `prefix`, or deny it in one of them"
    );
    let found = survey(&config).await.unwrap();
    assert_eq!(found[0].problems, Vec::<String>::new());
    assert_eq!(found[1].problems.len(), 1, "{found:?}");
}

#[tokio::test]
async fn a_survey_tells_what_to_expect_of_each_server() {
    let (new, old) = (http("new", Era::Any), http("old", Era::Legacy));
    let mut old = old;
    old.config.prefix = "old_".to_owned();
    let mut child = process("child", Era::Any);
    child.prefix = "child_".to_owned();
    let dead = at("dead", "http://127.0.0.1:9/mcp", Era::Any);
    let servers = vec![new.config.clone(), old.config.clone(), child, dead];
    let found = survey(&GatewayConfig::new(servers)).await.unwrap();
    let shown: Vec<_> = found
        .iter()
        .map(|one| {
            (
                one.server.as_str(),
                one.transport,
                one.era,
                one.tools,
                one.survival,
            )
        })
        .collect();
    let forwarded = Some(Survival::Forwarded);
    let expected = [
        ("new", "http", Some("modern"), 7, forwarded),
        ("old", "http", Some("legacy"), 7, Some(Survival::Held)),
        ("child", "stdio", Some("modern"), 7, forwarded),
        ("dead", "http", None, 0, None),
    ];
    assert_eq!(shown, expected);
    assert_eq!(found[3].problems, ["upstream_unreachable"]);
}
