"""The contract of examples/interop, served by the Python SDK to both eras.

    python server.py      prints "listening on URL"

Where the SDK lets one function serve both eras (resolvers, on tools only) this
does; elsewhere a function asks in the way of the era it is called in.
"""

import json
import socket
from typing import Annotated, Literal

import uvicorn
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.resolve import Elicit, ListRoots, Resolve, Sample
from mcp_types import (
    CreateMessageResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitRequestURLParams,
    InputRequiredResult,
    ListRootsResult,
    SamplingMessage,
    TextContent,
)
from pydantic import BaseModel, Field

mcp = MCPServer("interop-python", log_level="WARNING")


class Name(BaseModel):
    name: str


class First(BaseModel):
    first: str


class Second(BaseModel):
    second: str


class Audience(BaseModel):
    audience: str


class Pin(BaseModel):
    pin: str


class Profile(BaseModel):
    name: str = Field(min_length=1)
    age: int = Field(ge=18, le=99)
    newsletter: bool = False
    color: Literal["red", "green"]


def modern(ctx: Context) -> bool:
    return (ctx.protocol_version or "") >= "2026-07-28"


async def form(ctx: Context, key: str, model: type[BaseModel]) -> str | InputRequiredResult:
    """The one field of a form, for prompts and resources: they have no resolvers."""
    if not modern(ctx):
        outcome = await ctx.elicit(f"{key}?", model)
        return getattr(outcome.data, key)
    given = (ctx.input_responses or {}).get(key)
    if given is not None:
        return given.content[key]
    schema = {"type": "object", "properties": {key: {"type": "string"}}, "required": [key]}
    params = ElicitRequestFormParams(message=f"{key}?", requested_schema=schema)
    return InputRequiredResult(input_requests={key: ElicitRequest(params=params)})


@mcp.tool(structured_output=False)
def echo(text: str) -> str:
    return f"echo: {text}"


async def ask_for_name() -> Elicit[Name]:
    return Elicit("What is your name?", Name)


@mcp.tool(structured_output=False)
async def ask_name(name: Annotated[ElicitationResult[Name], Resolve(ask_for_name)]) -> str:
    if isinstance(name, AcceptedElicitation):
        return f"Hello, {name.data.name}!"
    return f"refused: {name.action}"


async def ask_profile() -> Elicit[Profile]:
    return Elicit("Who are you?", Profile)


async def ask_capital() -> Sample:
    text = TextContent(type="text", text="What is the capital of France?")
    return Sample([SamplingMessage(role="user", content=text)], max_tokens=100)


async def ask_roots() -> ListRoots:
    return ListRoots()


@mcp.tool(structured_output=False)
async def multi(
    profile: Annotated[Profile, Resolve(ask_profile)],
    capital: Annotated[CreateMessageResult, Resolve(ask_capital)],
    roots: Annotated[ListRootsResult, Resolve(ask_roots)],
) -> str:
    given = [root.model_dump(mode="json", by_alias=True, exclude_none=True) for root in roots.roots]
    return json.dumps({"profile": profile.model_dump(), "sample": capital.content.text, "roots": given})


async def ask_first() -> Elicit[First]:
    return Elicit("First?", First)


async def ask_second(first: Annotated[First, Resolve(ask_first)]) -> Elicit[Second]:
    return Elicit(f"After {first.first}?", Second)


@mcp.tool(structured_output=False)
async def two_rounds(
    first: Annotated[First, Resolve(ask_first)],
    second: Annotated[Second, Resolve(ask_second)],
) -> str:
    return f"first={first.first};second={second.second}"


@mcp.tool(structured_output=False)
async def shed(ctx: Context, times: int = 2) -> str | InputRequiredResult:
    # The older era has no way to shed a call, so there it is done at once.
    done = int(ctx.request_state or 0) if modern(ctx) else times
    if done < times:
        return InputRequiredResult(request_state=str(done + 1))
    return f"done after {times} shed rounds"


@mcp.tool(structured_output=False)
async def ask_url(ctx: Context) -> str | InputRequiredResult:
    page = "https://example.com/signin"
    if not modern(ctx):
        return f"url: {(await ctx.elicit_url('Please sign in', page, 'signin')).action}"
    given = (ctx.input_responses or {}).get("signin")
    if given is not None:
        return f"url: {given.action}"
    params = ElicitRequestURLParams(message="Please sign in", url=page)
    return InputRequiredResult(input_requests={"signin": ElicitRequest(params=params)})


@mcp.prompt()
async def brief(topic: str, ctx: Context) -> str | InputRequiredResult:
    audience = await form(ctx, "audience", Audience)
    return f"Brief about {topic} for {audience}" if isinstance(audience, str) else audience


@mcp.resource("note://{id}")
async def note(id: str, ctx: Context) -> str | InputRequiredResult:
    pin = await form(ctx, "pin", Pin)
    return f"note {id} unlocked with {pin}" if isinstance(pin, str) else pin


listener = socket.create_server(("127.0.0.1", 0))
print(f"listening on http://127.0.0.1:{listener.getsockname()[1]}/mcp", flush=True)
config = uvicorn.Config(mcp.streamable_http_app(), log_level="warning")
uvicorn.Server(config).run(sockets=[listener])
