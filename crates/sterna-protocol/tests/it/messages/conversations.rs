//! Conversations against what models demand of them.

use expect_test::{Expect, expect};
use sterna_protocol::sampling::CreateMessageRequestParams;

/// Checks messages written as `role: block block`, where a block is `text`,
/// `use-ID` or `result-ID`.
#[track_caller]
fn check(messages: &[&str], expected: Expect) {
    let block = |block: &str| match block.split_once('-') {
        Some(("use", id)) => {
            format!(r#"{{"type":"tool_use","id":"{id}","name":"t","input":{{}}}}"#)
        }
        Some(("result", id)) => {
            format!(r#"{{"type":"tool_result","toolUseId":"{id}","content":[]}}"#)
        }
        _ => format!(r#"{{"type":"text","text":"{block}"}}"#),
    };
    let message = |message: &&str| {
        let (role, blocks) = message.split_once(": ").unwrap();
        let blocks: Vec<_> = blocks.split(' ').map(block).collect();
        format!(r#"{{"role":"{role}","content":[{}]}}"#, blocks.join(","))
    };
    let messages: Vec<_> = messages.iter().map(message).collect();
    let params = format!(r#"{{"maxTokens":1,"messages":[{}]}}"#, messages.join(","));
    let params: CreateMessageRequestParams = serde_json::from_str(&params).unwrap();
    expected.assert_eq(&match params.check() {
        Ok(()) => "good".to_owned(),
        Err(error) => error.to_string(),
    });
}

#[test]
fn words_go_back_and_forth() {
    check(
        &["user: hello", "assistant: hello again", "user: bye"],
        expect!["good"],
    );
    check(
        &["narrator: once"],
        expect!["message 0: unknown role `narrator`"],
    );
}

#[test]
fn every_use_of_a_tool_is_answered_at_once() {
    check(
        &[
            "assistant: thinking use-a use-b",
            "user: result-b result-a",
            "assistant: done",
        ],
        expect!["good"],
    );
    check(
        &["assistant: use-a use-b", "user: result-a"],
        expect!["message 0: tool use `b` is not answered by the next message"],
    );
    check(
        &["assistant: use-a"],
        expect!["message 0: tool use `a` is not answered by the next message"],
    );
    check(
        &["assistant: use-a", "user: wait", "user: result-a"],
        expect!["message 0: tool use `a` is not answered by the next message"],
    );
}

#[test]
fn results_of_tools_stand_alone() {
    check(
        &["user: here result-a"],
        expect!["message 0: tool results must be the only content of their message"],
    );
    check(
        &["assistant: use-a", "user: result-a here"],
        expect!["message 0: tool use `a` is not answered by the next message"],
    );
}
