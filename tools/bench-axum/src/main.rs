//! A route that asks above an amount, and the same route of axum alone.
//!
//! The requests of the benchmark stay below the amount, so both do the same: the
//! difference is the price of being able to pause.

use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Result;
use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::header::AUTHORIZATION;
use axum::http::request::Parts;
use axum::routing::post;
use axum::{Json, Router};
use clap::{Parser, ValueEnum};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sterna_axum::{Cx, Problem, Resume, pausing};
use sterna_seal::{Keyring, Principal, SharedKeyring, ThreadEntropy};
use sterna_store::MemoryStore;
use tokio::net::TcpListener;

#[derive(Parser)]
struct Args {
    /// Where to listen; port 0 takes any that is free
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: SocketAddr,
    /// How the route is served
    #[arg(long, value_enum)]
    route: Form,
}

/// Form of the route.
#[derive(Clone, Copy, ValueEnum)]
enum Form {
    /// A handler of axum, which cannot ask
    Bare,
    /// A pausing route
    Pausing,
    /// A pausing route with a store in memory
    Stored,
}

#[derive(Deserialize)]
struct Wish {
    order: String,
    amount: u32,
}

#[derive(Serialize)]
struct Receipt {
    order: String,
    paid: u32,
    by: String,
}

#[derive(Deserialize, JsonSchema)]
struct Otp {
    /// The six digits that we sent you
    code: String,
}

/// User who pays, found as an application without passwords does.
struct User(String);

impl<S: Sync> FromRequestParts<S> for User {
    type Rejection = StatusCode;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, StatusCode> {
        let name = user_in(parts).ok_or(StatusCode::UNAUTHORIZED)?;
        Ok(Self(name.to_owned()))
    }
}

fn user_in(parts: &Parts) -> Option<&str> {
    let header = parts.headers.get(AUTHORIZATION)?.to_str().ok()?;
    header.strip_prefix("Bearer ")
}

async fn bare(user: User, Json(wish): Json<Wish>) -> Result<Json<Receipt>, StatusCode> {
    if wish.amount > SECOND_FACTOR_ABOVE {
        return Err(StatusCode::FORBIDDEN);
    }
    Ok(Json(receipt(user, wish)))
}

async fn checkout(
    cx: Cx<'_>,
    user: User,
    Json(wish): Json<Wish>,
) -> Result<Json<Receipt>, Problem> {
    if wish.amount > SECOND_FACTOR_ABOVE {
        let Otp { code } = cx.ask("otp", "Enter the code that we sent you").await?;
        if code != "246810" {
            return Err(Problem::new(StatusCode::FORBIDDEN, "Wrong code"));
        }
    }
    Ok(Json(receipt(user, wish)))
}

fn receipt(user: User, wish: Wish) -> Receipt {
    Receipt {
        order: wish.order,
        paid: wish.amount,
        by: user.0,
    }
}

fn app(form: Form) -> Result<Router> {
    let keys = SharedKeyring::new(Keyring::generate(&mut ThreadEntropy)?);
    let resume = Resume::new(Arc::new(keys), "https://shop.example")
        .caller(|parts| Some(Principal::named("shop", user_in(parts)?)));
    let resume = match form {
        Form::Bare => return Ok(Router::new().route(PATH, post(bare))),
        Form::Pausing => resume,
        Form::Stored => resume.store(Arc::new(MemoryStore::new())),
    };
    let checkout = pausing(checkout).asks::<Otp>("otp").build(&resume)?;
    Ok(Router::new().route(PATH, post(checkout)))
}

/// One worker, as every server in the comparison has.
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let args = Args::parse();
    let app = app(args.route)?;
    let listener = TcpListener::bind(args.listen).await?;
    let address = listener.local_addr()?;
    writeln!(std::io::stdout(), "listening on http://{address}")?;
    axum::serve(listener, app)
        .with_graceful_shutdown(async {
            // Without signals it is killed, and no profile is written.
            let _ = tokio::signal::ctrl_c().await;
        })
        .await?;
    Ok(())
}

const PATH: &str = "/checkout";
const SECOND_FACTOR_ABOVE: u32 = 500;
