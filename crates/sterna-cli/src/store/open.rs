//! Stores as their operator sees them, by their addresses.

use std::sync::Arc;

use sterna_store::{Rings, ShardsSurvey, Survey};
use sterna_store_postgres::PostgresSurvey;
use sterna_store_sqlite::SqliteSurvey;

use crate::exit::Failure;

/// Opens the store to look at, or several as one.
pub(crate) async fn open_survey(
    stores: &[String],
    rings: Option<&Rings>,
    schema: Option<&str>,
) -> Result<Arc<dyn Survey>, Failure> {
    let mut surveys = Vec::new();
    for store in stores {
        surveys.push(open_one(store, schema).await?);
    }
    if let ([survey], None) = (surveys.as_slice(), rings) {
        return Ok(Arc::clone(survey));
    }
    let refused = |error| Failure::from(anyhow::Error::from(error));
    let rings = match rings {
        Some(rings) => rings.clone(),
        None => Rings::new(&[surveys.len()]).map_err(refused)?,
    };
    let survey = ShardsSurvey::new(surveys, rings).map_err(refused)?;
    Ok(Arc::new(survey))
}

/// Opens a file of SQLite, or a database of PostgreSQL.
async fn open_one(store: &str, schema: Option<&str>) -> Result<Arc<dyn Survey>, Failure> {
    let failed = |error| failure("the store cannot be opened", error);
    if store.starts_with("postgres://") || store.starts_with("postgresql://") {
        let mut config = sterna_store_postgres::Config::new(store).map_err(failed)?;
        if let Some(schema) = schema {
            config.schema = sterna_store_postgres::Schema::new(schema).map_err(failed)?;
        }
        let survey = PostgresSurvey::connect(config).await.map_err(failed)?;
        return Ok(Arc::new(survey));
    }
    let path = store.strip_prefix("sqlite:").unwrap_or(store);
    let path = path.strip_prefix("//").unwrap_or(path);
    Ok(Arc::new(SqliteSurvey::open(path).map_err(failed)?))
}

/// The failure of a command about a store, with the page of its code.
pub(super) fn failure(context: &'static str, error: sterna_store::Error) -> Failure {
    let code = error.code();
    let failure = Failure::from(anyhow::Error::from(error).context(context));
    match code {
        Some(code) => failure.hint(format!("see docs/errors/{code}.md")),
        None => failure,
    }
}
