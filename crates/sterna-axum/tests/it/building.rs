use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use sterna_axum::{BuildError, Cx, Operations, Pausing, Resume, pausing};
use sterna_seal::{Keyring, Principal, SharedKeyring, ThreadEntropy};

use crate::shop::{Fleet, Otp};

fn bare() -> Resume {
    let ring = Keyring::generate(&mut ThreadEntropy).unwrap();
    Resume::new(Arc::new(SharedKeyring::new(ring)), "https://shop.example")
}

fn route() -> Pausing<()> {
    pausing(async |_cx: Cx<'_>| "done")
}

#[test]
fn a_route_that_does_not_know_its_callers_is_not_built() {
    assert_eq!(route().build(&bare()).unwrap_err(), BuildError::NoCaller);
    route().anonymous().build(&bare()).unwrap();
    let find = |_: &http::request::Parts| Some(Principal::named("shop", "ada"));
    route().caller(find).build(&bare()).unwrap();
    route().build(&bare().caller(find)).unwrap();
}

#[test]
fn a_route_that_checks_a_secret_is_not_built_without_a_store() {
    let secret = || route().anonymous().asks_secret::<Otp>("otp");
    let error = secret().build(&bare()).unwrap_err();
    assert!(matches!(error, BuildError::NoStore { .. }), "{error}");
    assert!(error.to_string().contains("MR0401"), "{error}");
    secret().build(&bare().store(Fleet::new().store)).unwrap();
    let keyed = route().anonymous().requires_idempotency_key();
    assert!(matches!(
        keyed.build(&bare()),
        Err(BuildError::NoStore { .. })
    ));
}

#[test]
fn a_question_that_is_no_form_or_is_there_twice_is_found_when_the_route_is_built() {
    #[derive(Deserialize, JsonSchema)]
    struct Review {
        #[expect(dead_code, reason = "a schema is made of it")]
        rows: BTreeMap<String, Vec<u32>>,
    }
    let rows = route().anonymous().asks::<Review>("rows").build(&bare());
    assert!(matches!(rows, Err(BuildError::NotAForm { key, .. }) if key == "rows"));
    route()
        .anonymous()
        .asks_json::<Review>("rows")
        .build(&bare())
        .unwrap();
    let marked = route().anonymous().confirms("a#2").build(&bare());
    assert!(matches!(marked, Err(BuildError::InvalidKey { .. })));
    let twice = route()
        .anonymous()
        .confirms("a")
        .asks::<String>("a")
        .build(&bare());
    assert_eq!(
        twice.unwrap_err(),
        BuildError::Twice {
            key: "a".to_owned()
        }
    );
}

#[test]
fn a_route_whose_requests_become_operations_needs_a_store_and_operations() {
    let long = || route().anonymous().operation("import");
    let store = || Fleet::new().store;
    let without = long().build(&bare().store(store())).unwrap_err();
    assert!(
        matches!(without, BuildError::NoOperations { .. }),
        "{without}"
    );
    let operations = || Operations::at("/operations").unwrap();
    let without = long().build(&bare().operations(&operations()));
    let without = without.unwrap_err();
    assert!(matches!(without, BuildError::NoStore { .. }), "{without}");
    assert!(without.to_string().contains("MR0401"), "{without}");
    let one = operations();
    let resume = bare().store(store()).operations(&one);
    long().build(&resume).unwrap();
    let twice = long().build(&resume).unwrap_err();
    assert!(
        matches!(twice, BuildError::OperationTwice { .. }),
        "{twice}"
    );
    let other = bare().store(store()).operations(&one);
    let other = route().anonymous().operation("other").build(&other);
    assert_eq!(other.unwrap_err(), BuildError::OtherStore);
    for name in ["", "a/b", &"x".repeat(129)] {
        let named = route().anonymous().operation(name).build(&resume);
        let named = named.unwrap_err();
        assert!(
            matches!(named, BuildError::InvalidOperation { .. }),
            "{named}"
        );
    }
}

#[test]
fn operations_are_at_an_absolute_path() {
    Operations::at("/v1/long-work").unwrap();
    for path in [
        "",
        "/",
        "operations",
        "/operations/",
        "/a//b",
        "/{id}",
        "/a?b",
    ] {
        let error = Operations::at(path).unwrap_err();
        assert!(matches!(error, BuildError::InvalidPath { .. }), "{path}");
    }
}

#[test]
fn the_responses_and_the_paths_of_operations_are_described() {
    let operations = Operations::at("/operations").unwrap();
    let resume = bare().store(Fleet::new().store).operations(&operations);
    let long = route().anonymous().operation("import").build(&resume);
    let responses = long.unwrap().openapi_responses();
    let accepted = &responses["202"];
    assert!(accepted["headers"]["Location"].is_object());
    assert!(responses.contains_key("429"));
    let plain = route().anonymous().build(&resume).unwrap();
    assert!(!plain.openapi_responses().contains_key("202"));
    let paths = operations.openapi_paths();
    let (one, answers) = (
        &paths["/operations/{id}"],
        &paths["/operations/{id}/answers"],
    );
    for status in ["200", "304", "401", "404"] {
        assert!(one["get"]["responses"][status].is_object(), "{status}");
    }
    assert!(one["delete"]["responses"]["200"].is_object());
    assert!(answers["post"]["responses"]["422"].is_object());
    let shown = &one["get"]["responses"]["200"]["content"]["application/json"]["schema"];
    assert_eq!(shown, &accepted["content"]["application/json"]["schema"]);
}

#[test]
fn a_reader_of_openapi_loses_nothing_of_the_description() {
    let operations = Operations::at("/operations").unwrap();
    let resume = bare().store(Fleet::new().store).operations(&operations);
    let route = route()
        .anonymous()
        .asks_secret::<Otp>("otp")
        .asks_json::<Value>("anything")
        .confirms("sure")
        .operation("import");
    let described = Value::from(route.build(&resume).unwrap().openapi_responses());
    let read: utoipa::openapi::Responses = serde_json::from_value(described.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), described);
    let described = Value::from(operations.openapi_paths());
    let read: utoipa::openapi::Paths = serde_json::from_value(described.clone()).unwrap();
    assert_eq!(serde_json::to_value(read).unwrap(), described);
}
