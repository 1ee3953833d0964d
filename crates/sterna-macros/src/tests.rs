//! Mistakes of an author, and where the compiler points for them.
//!
//! That the written code does what it should is shown in the tests of `sterna`.

use expect_test::{Expect, expect};
use proc_macro2::TokenStream;
use syn::Result;

use crate::expand;

/// Expands `function` with `options`, and shows the error with the source that
/// it points at.
#[track_caller]
fn check(
    expand: fn(TokenStream, TokenStream) -> Result<TokenStream>,
    options: &str,
    function: &str,
    expected: Expect,
) {
    let tokens = |text: &str| text.parse::<TokenStream>().unwrap();
    let error = expand(tokens(options), tokens(function)).unwrap_err();
    let at = error.span().source_text().unwrap_or_default();
    expected.assert_eq(&format!("`{at}`: {error}"));
}

#[test]
fn a_tool_without_description_is_refused_at_its_name() {
    check(
        expand::tool,
        "",
        "async fn add(a: i64) -> String { todo() }",
        expect![
            "`add`: a model chooses by the description: write a doc comment, or `description = \"…\"`"
        ],
    );
}

#[test]
fn a_borrowed_argument_is_refused_at_its_type() {
    check(
        expand::tool,
        "",
        "/// Says hello\nfn hello(name: &str) -> String { todo() }",
        expect![
            "`&str`: an argument owns its value: take a `String` instead of a `&str`, a `Vec<T>` instead of a `&[T]`"
        ],
    );
}

#[test]
fn an_argument_without_a_name_is_refused_at_its_pattern() {
    check(
        expand::tool,
        "",
        "/// Adds\nfn add((a, b): (i64, i64)) -> String { todo() }",
        expect!["`(a, b)`: an argument needs a name: clients send it by that"],
    );
}

#[test]
fn an_unknown_option_of_an_argument_is_refused_with_those_there_are() {
    check(
        expand::tool,
        "",
        "/// Adds\nfn add(#[arg(min = 1)] a: i64) -> String { todo() }",
        expect![
            "`min`: unknown option of an argument; there are `default`, `range`, `length`, `pattern` and `name`"
        ],
    );
}

#[test]
fn an_unknown_option_of_a_tool_is_refused_with_those_there_are() {
    check(
        expand::tool,
        "readonly",
        "/// Adds\nfn add(a: i64) -> String { todo() }",
        expect![
            "`readonly`: unknown option of a tool; there are `name`, `title`, `description`, `read_only`, `destructive`, `idempotent`, `closed_world`, `task`, `task_on_demand`, `requires_store`, `single_use`"
        ],
    );
}

#[test]
fn a_mode_of_tasks_that_there_is_not_is_refused() {
    check(
        expand::tool,
        "task = sometimes",
        "/// Adds\nfn add(a: i64) -> String { todo() }",
        expect!["`sometimes`: a tool runs as a task `optional`, `always` or `never`"],
    );
}

#[test]
fn context_and_state_stand_before_the_arguments() {
    check(
        expand::tool,
        "",
        "/// Adds\nasync fn add(a: i64, cx: Cx<'_>) -> String { todo() }",
        expect!["`cx: Cx<'_>`: the context is the first parameter"],
    );
    check(
        expand::tool,
        "",
        "/// Adds\nasync fn add(a: i64, shop: State<Shop>) -> String { todo() }",
        expect!["`shop: State<Shop>`: state stands before the arguments"],
    );
    check(
        expand::tool,
        "",
        "/// Adds\nasync fn add(a: State<A>, b: State<B>, c: State<C>) -> String { todo() }",
        expect![
            "`c: State<C>`: a function takes at most two values of state: put them into one struct"
        ],
    );
}

#[test]
fn methods_and_generic_functions_are_refused() {
    check(
        expand::tool,
        "",
        "/// Adds\nasync fn add(&self, a: i64) -> String { todo() }",
        expect![
            "`&self`: a method has a receiver that no call brings along: use a free function, and a parameter `State<T>` for what it shares"
        ],
    );
    check(
        expand::tool,
        "",
        "/// Adds\nfn add<T: Add>(a: T) -> String { todo() }",
        expect!["`T: Add`: a generic function has no single schema: write one for each type"],
    );
}

#[test]
fn a_length_without_its_largest_value_is_refused() {
    check(
        expand::tool,
        "",
        "/// Says hello\nfn hello(#[arg(length = 1..80)] name: String) -> String { todo() }",
        expect!["`80`: a length is limited by `a..=b`, with the largest length itself"],
    );
}

#[test]
fn a_resource_needs_an_address_and_variables_for_its_parameters() {
    check(
        expand::resource,
        "title = \"Walls\"",
        "/// A wall\nfn wall() -> String { todo() }",
        expect!["``: a resource needs its address: `#[resource(uri = \"scheme://path\")]`"],
    );
    check(
        expand::resource,
        "uri = \"paint://walls\"",
        "/// A wall\nfn wall(number: u32) -> String { todo() }",
        expect![
            "`number`: the address has no variables, so there is nothing to fill this from: name it in the address, as in `paint://walls/{number}`"
        ],
    );
}
