//! A server that books tables in a small restaurant.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Deserialize;
use sterna::server::{Cx, Server, State, ToolError};

/// The server: its tools, and the state they share.
pub fn server() -> Server {
    Server::new(env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
        .instructions("Books tables in a small restaurant for this weekend.")
        .state(Restaurant::default())
        .offer(free_tables::tool())
        .offer(book::tool())
}

/// Counts the tables that are free on a day.
#[sterna::tool(read_only)]
fn free_tables(restaurant: State<Restaurant>, day: Day) -> String {
    let free = restaurant.free_tables(day);
    format!("{free} of {TABLES} tables are free on {day:?}.")
}

/// Books a table, after asking the guest for the details.
#[sterna::tool]
async fn book(cx: Cx<'_>, restaurant: State<Restaurant>, day: Day) -> Result<String, ToolError> {
    // The call waits here for the answer, and may go on in another process.
    let party: Party = cx
        .ask("party", format!("A table on {day:?}: who comes?"))
        .await?;
    // A step is not run again when the call goes on.
    cx.try_step("book", async || restaurant.book(day, &party))
        .await?;
    Ok(format!(
        "A table for {} on {day:?}, {}.",
        party.guests, party.name
    ))
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "lowercase")]
enum Day {
    Friday,
    Saturday,
    Sunday,
}

/// Form that the guest fills in.
#[derive(Deserialize, JsonSchema)]
struct Party {
    /// Name of the booking
    name: String,
    /// How many people?
    #[schemars(range(min = 1, max = 6))]
    guests: u8,
}

/// The bookings, in the memory of one process. With more than one process they
/// belong into a database.
#[derive(Default)]
struct Restaurant {
    bookings: Mutex<BTreeMap<(Day, String), u8>>,
}

impl Restaurant {
    fn free_tables(&self, day: Day) -> usize {
        let bookings = self.bookings.lock().unwrap_or_else(PoisonError::into_inner);
        TABLES - bookings.keys().filter(|(booked, _)| *booked == day).count()
    }

    /// Books a table. A second booking of the same name replaces the first, so a
    /// call that is sent twice takes one table.
    fn book(&self, day: Day, party: &Party) -> Result<(), String> {
        let mut bookings = self.bookings.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (day, party.name.clone());
        let taken = bookings.keys().filter(|(booked, _)| *booked == day).count();
        if taken == TABLES && !bookings.contains_key(&key) {
            return Err(format!("no table is free on {day:?}"));
        }
        bookings.insert(key, party.guests);
        Ok(())
    }
}

const TABLES: usize = 8;
