"""Runs the cases with the Python SDK's client; one JSON line for each.

    python client.py CASES URL modern|legacy
"""

import asyncio
import json
import sys

from mcp.client.client import Client
from mcp_types import CreateMessageResult, ElicitResult, ListRootsResult, Root, TextContent

file, url, era = sys.argv[1:]
script = json.load(open(file, encoding="utf-8"))
answers = script["answers"]
action = "accept"


async def elicit(_, params) -> ElicitResult:
    if action != "accept" or params.mode == "url":
        return ElicitResult(action=action)
    asked = params.requested_schema["properties"]
    content = {key: value for key, value in answers["fields"].items() if key in asked}
    return ElicitResult(action="accept", content=content)


async def sample(_, params) -> CreateMessageResult:
    content = TextContent(type="text", text=answers["sample"])
    return CreateMessageResult(role="assistant", model="scripted", stop_reason="endTurn", content=content)


async def roots(_) -> ListRootsResult:
    return ListRootsResult(roots=[Root(**root) for root in answers["roots"]])


async def run(client: Client, case: dict) -> str:
    match case:
        case {"list": "tools"}:
            return " ".join(sorted(tool.name for tool in (await client.list_tools()).tools))
        case {"list": "prompts"}:
            return " ".join(prompt.name for prompt in (await client.list_prompts()).prompts)
        case {"list": "templates"}:
            listed = await client.list_resource_templates()
            return " ".join(template.uri_template for template in listed.resource_templates)
        case {"prompt": name}:
            return (await client.get_prompt(name, case["arguments"])).messages[0].content.text
        case {"resource": uri}:
            return (await client.read_resource(uri)).contents[0].text
    result = await client.call_tool(case["tool"], case["arguments"])
    return ("isError: " if result.is_error else "") + result.content[0].text


async def main() -> None:
    global action
    mode = "2026-07-28" if era == "modern" else "legacy"
    async with Client(
        url, mode=mode, elicitation_callback=elicit, sampling_callback=sample, list_roots_callback=roots
    ) as client:
        for case in script["cases"]:
            action = case.get("action", "accept")
            try:
                outcome = {"got": await run(client, case)}
            except Exception as error:
                outcome = {"error": repr(error)}
            print(json.dumps({"id": case["id"], **outcome}), flush=True)


asyncio.run(main())
