//! The same tool, prompt and resources in every style answer byte for byte the
//! same.

use expect_test::expect;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sterna::protocol::content::ContentBlock;
use sterna::protocol::result::Outcome;
use sterna::protocol::tool::{CallToolResult, ToolAnnotations};
use sterna::server::{
    Answers, Call, Cx, Json, Prompt, Resource, ResourceTemplate, Server, State, Tool, ToolError,
};

use crate::{answers, request};

/// A sum, with a remark.
#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
    remark: String,
}

struct Remark(&'static str);

mod attribute {
    use super::*;

    /// Adds two numbers.
    ///
    /// The second one may be left out.
    #[sterna::tool(title = "Addition", read_only, idempotent)]
    pub(super) fn add(
        remark: State<Remark>,
        /// The first addend
        a: i64,
        /// The second addend
        #[arg(default = 1, range = 0..=100)]
        b: i64,
    ) -> Json<Sum> {
        Json(Sum {
            sum: a + b,
            remark: remark.0.to_owned(),
        })
    }

    /// Asks for a review.
    #[sterna::prompt(name = "review", title = "Review")]
    pub(super) fn review_prompt(
        /// The code to look at
        code: String,
    ) -> String {
        format!("Review this: {code}")
    }

    /// The colours of the house
    #[sterna::resource(uri = "paint://colours", mime_type = "text/plain")]
    pub(super) fn colours() -> &'static str {
        "red, white"
    }

    /// One wall
    #[sterna::resource(uri = "paint://walls/{number}")]
    pub(super) fn wall(number: u32) -> String {
        format!("Wall {number}")
    }

    pub(super) fn server() -> Server {
        Server::new("styles", "1.0.0")
            .state(Remark("exact"))
            .offer(add::tool())
            .offer(review_prompt::prompt())
            .offer(colours::resource())
            .offer(wall::resource())
    }
}

mod function {
    use super::*;

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    pub(super) struct Add {
        /// The first addend
        pub(super) a: i64,
        /// The second addend
        #[serde(default = "one")]
        #[schemars(range(min = 0, max = 100))]
        pub(super) b: i64,
    }

    fn one() -> i64 {
        1
    }

    #[derive(Deserialize, JsonSchema)]
    struct Review {
        /// The code to look at
        code: String,
    }

    #[derive(Deserialize, JsonSchema)]
    struct Wall {
        number: u32,
    }

    async fn add(_: Cx<'_>, remark: State<Remark>, args: Add) -> Json<Sum> {
        Json(Sum {
            sum: args.a + args.b,
            remark: remark.0.to_owned(),
        })
    }

    async fn review(_: Cx<'_>, args: Review) -> String {
        format!("Review this: {}", args.code)
    }

    async fn colours(_: Cx<'_>) -> &'static str {
        "red, white"
    }

    async fn wall(_: Cx<'_>, args: Wall) -> String {
        format!("Wall {}", args.number)
    }

    pub(super) fn described(tool: Tool) -> Tool {
        tool.title("Addition")
            .annotations(ToolAnnotations::new().read_only().idempotent())
    }

    pub(super) const DESCRIPTION: &str = "Adds two numbers.\n\nThe second one may be left out.";

    pub(super) fn others(server: Server) -> Server {
        let review = Prompt::new("review", "Asks for a review.", review).title("Review");
        let colours = Resource::new("paint://colours", "colours", colours);
        let colours = colours
            .description("The colours of the house")
            .mime_type("text/plain");
        let wall = ResourceTemplate::new("paint://walls/{number}", "wall", wall);
        server
            .offer(review)
            .offer(colours)
            .offer(wall.description("One wall"))
    }

    pub(super) fn server() -> Server {
        let tool = described(Tool::new("add", DESCRIPTION, add));
        let server = Server::new("styles", "1.0.0").state(Remark("exact"));
        others(server.offer(tool))
    }
}

/// The tool with a handler that returns its result itself, beside the prompt
/// and the resources as functions.
fn low_level_server() -> Server {
    async fn add(call: Call, _: Answers) -> Result<Outcome<CallToolResult>, ToolError> {
        let function::Add { a, b } = call.arguments()?;
        let sum = Sum {
            sum: a + b,
            remark: "exact".to_owned(),
        };
        let text =
            serde_json::to_string(&sum).map_err(|error| ToolError::new(error.to_string()))?;
        let result = CallToolResult::new(vec![ContentBlock::text(text)]);
        let json = sterna::protocol::json::RawJson::of(&sum);
        let json = json.map_err(|error| ToolError::new(error.to_string()))?;
        Ok(Outcome::Complete(result.with_structured_content(json)))
    }
    let tool = Tool::low_level("add", function::DESCRIPTION, add)
        .input::<function::Add>()
        .output::<Sum>();
    let server = Server::new("styles", "1.0.0").offer(function::described(tool));
    function::others(server)
}

fn requests() -> Vec<String> {
    let call = |arguments| {
        request(
            "tools/call",
            &format!(r#""name":"add","arguments":{arguments}"#),
        )
    };
    vec![
        request("tools/list", ""),
        request("prompts/list", ""),
        request("resources/list", ""),
        request("resources/templates/list", ""),
        call(r#"{"a":2,"b":3}"#),
        call(r#"{"a":2}"#),
        call(r#"{"a":2,"b":101}"#),
        call(r#"{"a":2,"c":3}"#),
        call(r#"{"b":2}"#),
        call(r#"{"a":"two"}"#),
        request(
            "prompts/get",
            r#""name":"review","arguments":{"code":"fn f() {}"}"#,
        ),
        request("prompts/get", r#""name":"review","arguments":{}"#),
        request("resources/read", r#""uri":"paint://colours""#),
        request("resources/read", r#""uri":"paint://walls/7""#),
        request("resources/read", r#""uri":"paint://walls/seven""#),
    ]
}

#[test]
fn a_tool_answers_the_same_in_all_three_styles() {
    let attribute = answers(attribute::server, &requests());
    assert_eq!(attribute, answers(function::server, &requests()));
    assert_eq!(attribute, answers(low_level_server, &requests()));
    let first_call = attribute.lines().nth(4).unwrap();
    expect![[r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[{"type":"text","text":"{\"sum\":5,\"remark\":\"exact\"}"}],"structuredContent":{"sum":5,"remark":"exact"},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"styles","version":"1.0.0"}}}}"#]].assert_eq(first_call);
}

#[test]
fn the_function_can_still_be_called() {
    assert_eq!(attribute::colours(), "red, white");
    assert_eq!(attribute::review_prompt("x".to_owned()), "Review this: x");
}
