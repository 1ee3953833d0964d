from fastmcp import FastMCP
from fastmcp.exceptions import NotFoundError

mcp = FastMCP("house", version="1.0.0")


@mcp.prompt
def review(code: str) -> str:
    """Asks for a review of code"""
    return f"Review this code:\n{code}"


@mcp.resource("paint://colours", mime_type="text/plain")
def colours() -> str:
    """Colours of the house"""
    return "red, white"


@mcp.resource("paint://walls/{number}", mime_type="text/plain")
def wall(number: int) -> str:
    """One wall of the house"""
    if number not in range(1, 5):
        raise NotFoundError(f"paint://walls/{number}")
    return f"Wall {number} is white."


mcp.run(show_banner=False)
