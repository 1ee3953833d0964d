from fastmcp import Context, FastMCP
from mcp_types import ElicitRequest, ElicitRequestFormParams, InputRequiredResult

mcp = FastMCP("deployer", version="1.0.0")


@mcp.tool(output_schema=None)
async def deploy(service: str, ctx: Context) -> str | InputRequiredResult:
    """Deploys a service after asking why"""
    answers = ctx.input_responses or {}
    if "reason" not in answers:
        form = {"type": "object", "properties": {"reason": {"type": "string"}}, "required": ["reason"]}
        params = ElicitRequestFormParams(message=f"Why deploy {service}?", requested_schema=form)
        return InputRequiredResult(input_requests={"reason": ElicitRequest(params=params)})
    answer = answers["reason"]
    if answer.action != "accept":
        return "the user declined"
    return f"{service} deployed: {answer.content['reason']}"


mcp.run(show_banner=False)
