from fastmcp import FastMCP

mcp = FastMCP("echo", version="1.0.0")


@mcp.tool(output_schema=None)
def echo(text: str) -> str:
    """Repeats a text"""
    return text


mcp.run(show_banner=False)
