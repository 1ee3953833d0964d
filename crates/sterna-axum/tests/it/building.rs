use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use sterna_axum::{BuildError, Cx, Pausing, Resume, pausing};
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
