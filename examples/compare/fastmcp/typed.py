from typing import Annotated

from fastmcp import FastMCP
from pydantic import BaseModel, Field

mcp = FastMCP("weather", version="1.0.0")


class Forecast(BaseModel):
    celsius: float = Field(description="Temperature at noon")
    rain: bool


@mcp.tool(annotations={"readOnlyHint": True})
def forecast(
    city: Annotated[str, Field(description="Name of the city")],
    days: Annotated[int, Field(description="Days from today", ge=0, le=7)] = 1,
) -> Forecast:
    """Forecasts the weather"""
    return Forecast(celsius=21.5, rain=city == "Bergen" and days > 0)


mcp.run(show_banner=False)
