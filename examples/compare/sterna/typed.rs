//! Has arguments with limits and a structured result.

use schemars::JsonSchema;
use serde::Serialize;
use sterna::server::{Json, Server, StartError};

#[derive(Serialize, JsonSchema)]
struct Forecast {
    /// Temperature at noon
    celsius: f64,
    rain: bool,
}

/// Forecasts the weather
#[sterna::tool(read_only)]
fn forecast(
    /// Name of the city
    city: String,
    /// Days from today
    #[arg(default = 1, range = 0..=7)]
    days: u8,
) -> Json<Forecast> {
    let rain = city == "Bergen" && days > 0;
    Json(Forecast {
        celsius: 21.5,
        rain,
    })
}

#[tokio::main]
async fn main() -> Result<(), StartError> {
    Server::new("weather", "1.0.0")
        .offer(forecast::tool())
        .stdio()
        .await
}
