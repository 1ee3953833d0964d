"""A FastMCP server of the earlier era whose tool asks in the middle of its call.

With `--events` it keeps an event store, so that its streams can be resumed.
It prints `listening on URL` and serves until it is killed.
"""

import asyncio
import socket
import sys
from dataclasses import dataclass

import uvicorn
from fastmcp import Context, FastMCP
from fastmcp.server.event_store import EventStore

server = FastMCP("fastmcp")
done: list[str] = []


@dataclass
class Reason:
    reason: str


@server.tool
async def deploy(ctx: Context, service: str, seconds: float = 0.0) -> str:
    answer = await ctx.elicit(f"Why is {service} deployed?", response_type=Reason)
    if answer.action != "accept":
        return f"{service} not deployed"
    done.append(service)
    await asyncio.sleep(seconds)
    return f"{service} deployed: {answer.data.reason}"


@server.tool
async def effects() -> str:
    return str(len(done))


async def main() -> None:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    store = EventStore() if "--events" in sys.argv else None
    app = server.http_app(path="/mcp", event_store=store)
    print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
    config = uvicorn.Config(app, log_level="error")
    await uvicorn.Server(config).serve(sockets=[listener])


asyncio.run(main())
