//! Attributes that make MCP tools, prompts and resources of functions.
//!
//! Use them through the crate `sterna`, which exports them: the code that they
//! write names its items. All that they write can be written by hand, and the
//! guide shows both.

mod argument;
mod expand;
mod function;
mod options;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Makes a tool of a function.
///
/// The parameters are the arguments of the tool, and doc comments describe it
/// and them to the model. The function stays as it is and can be called. Beside
/// it stands a type of the same name whose function `tool` returns a `Tool` for
/// `Server::offer`.
///
/// ```
/// use sterna::server::Server;
///
/// /// Adds two numbers.
/// #[sterna::tool(read_only, idempotent)]
/// async fn add(
///     /// The first addend
///     a: i64,
///     /// The second addend
///     #[arg(default = 1, range = 0..=100)]
///     b: i64,
/// ) -> String {
///     (a + b).to_string()
/// }
///
/// let server = Server::new("calculator", "1.0.0").offer(add::tool());
/// server.build()?;
/// # Ok::<(), sterna::server::BuildError>(())
/// ```
///
/// # Parameters
///
/// A first parameter `cx: Cx<'_>` is the context: with it the tool can ask the
/// user. Up to two parameters `State<T>` after it are values of the server.
/// All others are arguments, read from JSON: their types implement
/// `serde::Deserialize` and `schemars::JsonSchema` and own their data. An
/// `Option` may be left out. A call with an argument that the function does not
/// have is refused.
///
/// `#[arg(..)]` on an argument takes:
///
/// | option | effect |
/// |---|---|
/// | `default`, `default = value` | the argument may be left out |
/// | `range = 1..=10` | limits a number; an end may be missing, `1..10` excludes the 10 |
/// | `length = 1..=80` | limits the length of a text or a list |
/// | `pattern = "^[a-z]+$"` | a regular expression that a text fits |
/// | `name = "camelCase"` | its name in JSON, instead of the parameter's |
///
/// # Options
///
/// | option | effect |
/// |---|---|
/// | `name = "…"` | name of the tool, instead of the function's |
/// | `title = "…"` | display name |
/// | `description = "…"` | description, instead of the doc comment |
/// | `read_only` | hints that the tool changes nothing |
/// | `destructive`, `destructive = false` | hints that it may delete, or only adds |
/// | `idempotent` | hints that a repeated call has no further effect |
/// | `closed_world` | hints that it reaches nothing beyond the server |
/// | `task = optional`, `task = always` | runs as a task |
/// | `task_on_demand` | becomes a task where the handler says so |
/// | `requires_store` | keeps the server from starting without a store |
/// | `single_use` | takes the answers of a round once |
///
/// # Result
///
/// The return type is that of every handler: text, content, `Json<T>`, whose
/// schema becomes the output schema, or a `Result` of one of them.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Serialize;
/// use sterna::server::{Cx, Json, Server, ToolError};
///
/// #[derive(Serialize, JsonSchema)]
/// struct Deployed {
///     id: u32,
/// }
///
/// /// Deploys a service after asking why.
/// #[sterna::tool(destructive)]
/// async fn deploy(
///     cx: Cx<'_>,
///     /// Name of the service
///     service: String,
/// ) -> Result<Json<Deployed>, ToolError> {
///     let reason: String = cx.ask("reason", format!("Why deploy {service}?")).await?;
///     println!("{service}: {reason}");
///     Ok(Json(Deployed { id: 1 }))
/// }
///
/// Server::new("deployer", "1.0.0").offer(deploy::tool()).build()?;
/// # Ok::<(), sterna::server::BuildError>(())
/// ```
#[proc_macro_attribute]
pub fn tool(options: TokenStream, function: TokenStream) -> TokenStream {
    expand::tool(options.into(), function.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a prompt of a function.
///
/// As for [`tool`](macro@tool), the parameters are the arguments and doc
/// comments describe them. They are text on the wire and are read as their
/// types want it. The function `prompt` of the type beside the function returns
/// the `Prompt`. Options are `name`, `title` and `description`.
///
/// ```
/// use sterna::server::Server;
///
/// /// Asks for a review of code.
/// #[sterna::prompt(title = "Review")]
/// fn review(
///     /// The code to look at
///     code: String,
///     /// Number of remarks
///     #[arg(default = 3)]
///     remarks: u32,
/// ) -> String {
///     format!("Give {remarks} remarks on this code:\n{code}")
/// }
///
/// Server::new("reviewer", "1.0.0").offer(review::prompt()).build()?;
/// # Ok::<(), sterna::server::BuildError>(())
/// ```
#[proc_macro_attribute]
pub fn prompt(options: TokenStream, function: TokenStream) -> TokenStream {
    expand::prompt(options.into(), function.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}

/// Makes a resource, or a template of resources, of a function.
///
/// `uri` is its address. Variables in it, such as `{city}`, make it a template,
/// and the parameters of the function are its variables. The function
/// `resource` of the type beside the function returns the `Resource` or the
/// `ResourceTemplate`. Further options are `name`, `title`, `description` and
/// `mime_type`.
///
/// ```
/// use sterna::server::Server;
///
/// /// The colours of the house.
/// #[sterna::resource(uri = "paint://colours", mime_type = "text/plain")]
/// fn colours() -> &'static str {
///     "red, white, blue"
/// }
///
/// /// One wall.
/// #[sterna::resource(uri = "paint://walls/{number}")]
/// async fn wall(number: u32) -> String {
///     format!("Wall {number} is white.")
/// }
///
/// let server = Server::new("house", "1.0.0").offer(colours::resource());
/// server.offer(wall::resource()).build()?;
/// # Ok::<(), sterna::server::BuildError>(())
/// ```
#[proc_macro_attribute]
pub fn resource(options: TokenStream, function: TokenStream) -> TokenStream {
    expand::resource(options.into(), function.into())
        .unwrap_or_else(syn::Error::into_compile_error)
        .into()
}
