//! A server that books tables in a small restaurant.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::Deserialize;
use sterna::server::{Server, State};

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

/// Books a table.
#[sterna::tool(idempotent)]
fn book(
    restaurant: State<Restaurant>,
    day: Day,
    /// Name of the booking
    name: String,
    /// Number of people
    #[arg(range = 1..=6)]
    guests: u8,
) -> Result<String, String> {
    restaurant.book(day, &name, guests)?;
    Ok(format!("A table for {guests} on {day:?}, {name}."))
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd)]
#[serde(rename_all = "lowercase")]
enum Day {
    Friday,
    Saturday,
    Sunday,
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

    /// Books a table. A second booking of the same name replaces the first.
    fn book(&self, day: Day, name: &str, guests: u8) -> Result<(), String> {
        let mut bookings = self.bookings.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (day, name.to_owned());
        let taken = bookings.keys().filter(|(booked, _)| *booked == day).count();
        if taken == TABLES && !bookings.contains_key(&key) {
            return Err(format!("no table is free on {day:?}"));
        }
        bookings.insert(key, guests);
        Ok(())
    }
}

const TABLES: usize = 8;
