import asyncio

from fastmcp import FastMCP
from fastmcp_tasks import TasksExtension

mcp = FastMCP("printer", version="1.0.0")
mcp.add_extension(TasksExtension())


@mcp.tool("print", task=True, output_schema=None)
async def print_article(title: str) -> str:
    """Prints an article, which takes a while"""
    await asyncio.sleep(1)
    return f"{title} is printed"


mcp.run(show_banner=False)
