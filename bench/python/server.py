"""The official Python SDK with its sealed request state, on uvicorn."""

import socket
from typing import Annotated

import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from pydantic import BaseModel


class Person(BaseModel):
    name: str


async def name() -> Elicit[Person]:
    return Elicit("What is your name?", Person)


async def name_for(message: str) -> Elicit[Person]:
    return Elicit(f"What is your name, for {message}?", Person)


server = MCPServer("bench")


@server.tool(description="Says the message again")
async def echo(message: str) -> str:
    return message


@server.tool(description="Asks for a name first")
async def ask(message: str, name: Annotated[Person, Resolve(name)]) -> str:
    return f"{message}, {name.name}"


@server.tool(description="Asks for a name first, with the message in its question")
async def ask_about(message: str, name: Annotated[Person, Resolve(name_for)]) -> str:
    return f"{message}, {name.name}"


app = server.streamable_http_app(json_response=True, stateless_http=True)
listener = socket.create_server(("127.0.0.1", 0))
print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
uvicorn.Server(uvicorn.Config(app, log_level="error", access_log=False)).run(sockets=[listener])
