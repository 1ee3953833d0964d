//! Protected servers.

use sterna_client::{Client, ErrorKind};

use crate::world::World;

#[tokio::test]
async fn a_protected_server_is_asked_with_a_token_once_it_wants_one() {
    let world = World::start().await;
    let url = world.mcp.url();
    let error = Client::connect(&url).await.unwrap_err();
    assert_eq!((error.kind(), error.status()), (ErrorKind::Auth, Some(401)));

    // The test's server checks tokens and says nothing else, so getting past
    // the check is all that can be seen.
    let error = Client::builder(&url)
        .auth(world.user())
        .connect()
        .await
        .unwrap_err();
    assert_ne!(error.kind(), ErrorKind::Auth, "{error:?}");
}
