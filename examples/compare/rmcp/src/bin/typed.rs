use rmcp::handler::server::wrapper::{Json, Parameters};
use rmcp::{ServiceExt, tool, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// Name of the city
    city: String,
    /// Days from today
    #[serde(default = "tomorrow")]
    #[schemars(range(max = 7))]
    days: u8,
}

fn tomorrow() -> u8 {
    1
}

#[derive(Serialize, JsonSchema)]
struct Forecast {
    /// Temperature at noon
    celsius: f64,
    rain: bool,
}

#[derive(Clone)]
struct Server;

#[tool_router(server_handler)]
impl Server {
    /// Forecasts the weather
    #[tool(annotations(read_only_hint = true))]
    fn forecast(&self, Parameters(place): Parameters<Place>) -> Json<Forecast> {
        let rain = place.city == "Bergen" && place.days > 0;
        Json(Forecast {
            celsius: 21.5,
            rain,
        })
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Server
        .serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}
