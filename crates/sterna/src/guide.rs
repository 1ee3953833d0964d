//! Pages of the repository whose Rust blocks are compiled, and run unless they
//! say `no_run`, through this crate alone. `cargo xtask tidy` finds a page that
//! is missing here.

#[doc = include_str!("../../../README.md")]
struct Readme;

#[doc = include_str!("../../../docs/getting-started.md")]
struct GettingStarted;

#[doc = include_str!("../../../docs/http.md")]
struct Http;

#[doc = include_str!("../../../docs/scale.md")]
struct Scale;

#[doc = include_str!("../../../docs/serverless.md")]
struct Serverless;

#[doc = include_str!("../../../docs/serving.md")]
struct Serving;

#[doc = include_str!("../../../docs/tasks.md")]
struct Tasks;

#[doc = include_str!("../../../docs/testing-your-tools.md")]
struct TestingYourTools;

#[doc = include_str!("../../../docs/guide/authentication.md")]
struct Authentication;

#[doc = include_str!("../../../docs/guide/axum.md")]
struct Axum;

#[doc = include_str!("../../../docs/guide/cors.md")]
struct Cors;

#[doc = include_str!("../../../docs/guide/clients.md")]
struct Clients;

#[doc = include_str!("../../../docs/guide/completion.md")]
struct Completion;

#[doc = include_str!("../../../docs/guide/deploying.md")]
struct Deploying;

#[doc = include_str!("../../../docs/guide/elicitation.md")]
struct Elicitation;

#[doc = include_str!("../../../docs/guide/errors.md")]
struct Errors;

#[doc = include_str!("../../../docs/guide/from-fastmcp.md")]
struct FromFastmcp;

#[doc = include_str!("../../../docs/guide/from-typescript.md")]
struct FromTypescript;

#[doc = include_str!("../../../docs/guide/from-rmcp.md")]
struct FromRmcp;

#[doc = include_str!("../../../docs/guide/logging.md")]
struct Logging;

#[doc = include_str!("../../../docs/guide/prompts.md")]
struct Prompts;

#[doc = include_str!("../../../docs/guide/resources.md")]
struct Resources;

#[doc = include_str!("../../../docs/guide/sampling-and-roots.md")]
struct SamplingAndRoots;

#[doc = include_str!("../../../docs/guide/state.md")]
struct State;

#[doc = include_str!("../../../docs/guide/stdio.md")]
struct Stdio;

#[doc = include_str!("../../../docs/guide/structured-output.md")]
struct StructuredOutput;

#[doc = include_str!("../../../docs/guide/subscriptions.md")]
struct Subscriptions;

#[doc = include_str!("../../../docs/guide/tools.md")]
struct Tools;

#[doc = include_str!("../../../docs/guide/upgrading.md")]
struct Upgrading;

#[doc = include_str!("../../../docs/guide/watching.md")]
struct Watching;
