use sterna_protocol::resource::ReadResourceResult;

use super::{Asking, Place, show};
use crate::args::ReadArgs;
use crate::exit::{Exit, Failure};
use crate::rounds;
use crate::screen::Screen;

pub(crate) async fn run(args: ReadArgs, screen: Screen) -> Result<Exit, Failure> {
    let mut place = Place::read(&args.words, &args.asking.connect)?;
    let uri = place.take("resource")?;
    let asking = Asking::connect(place, &args.asking, screen).await?;
    let reached = Box::pin(asking.rounds().call(asking.client.read(uri))).await;
    asking.close().await;
    rounds::finish(reached?, screen, text)
}

pub(super) fn text(result: &ReadResourceResult) -> (String, Exit) {
    (show::resource_result(result), Exit::Done)
}
