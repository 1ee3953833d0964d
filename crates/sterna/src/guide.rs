//! Pages of the repository whose Rust blocks are compiled, and run unless they
//! say `no_run`, through this crate alone. `cargo xtask tidy` finds a page that
//! is missing here.

#[doc = include_str!("../../../README.md")]
struct Readme;

#[doc = include_str!("../../../docs/getting-started.md")]
struct GettingStarted;

#[doc = include_str!("../../../docs/http.md")]
struct Http;

#[doc = include_str!("../../../docs/migrating.md")]
struct Migrating;

#[doc = include_str!("../../../docs/serverless.md")]
struct Serverless;

#[doc = include_str!("../../../docs/serving.md")]
struct Serving;

#[doc = include_str!("../../../docs/tasks.md")]
struct Tasks;

#[doc = include_str!("../../../docs/testing-your-tools.md")]
struct TestingYourTools;

#[doc = include_str!("../../../docs/tools.md")]
struct Tools;
