"""One call as the protocol has it: answered at once, or after what the server asks for."""

import mcp_types as types
from anyio import sleep
from mcp import ClientSession, MCPError
from mcp.client.context import ClientRequestContext
from mcp_types import HEADER_MISMATCH
from pydantic import TypeAdapter

from holdfast.contract.json_value import JsonObject
from holdfast.sources.mcp.calls import OpenCall
from holdfast.sources.mcp.listing import list_tools
from holdfast.sources.mcp.setup import ServerSetup

MOST_ROUNDS = 10
"""How often a server may ask for something before it answers."""

_ROUND_SECONDS = 0.1

_Answer = types.CallToolResult | types.InputRequiredResult
_ANSWER: TypeAdapter[_Answer] = TypeAdapter(_Answer)


async def call_tool(session: ClientSession, call: OpenCall, setup: ServerSetup) -> JsonObject:
    """The answer as it came; raises what the SDK raises."""
    responses: types.InputResponses | None = None
    state: str | None = None
    for _ in range(MOST_ROUNDS):
        answer = await _sent(session, call, setup, (responses, state))
        if isinstance(answer, types.CallToolResult):
            return answer.model_dump(by_alias=True, mode="json", exclude_unset=True)
        state = answer.request_state
        responses = await _responses(session, answer)
        if responses is None:
            await sleep(_ROUND_SECONDS)
    raise MCPError(types.INTERNAL_ERROR, f"it asked for something {MOST_ROUNDS} times in a row")


async def _sent(
    session: ClientSession,
    call: OpenCall,
    setup: ServerSetup,
    going_on: tuple[types.InputResponses | None, str | None],
) -> _Answer:
    request = types.CallToolRequest(
        params=types.CallToolRequestParams(
            name=call.tool,
            arguments=call.arguments,
            input_responses=going_on[0],
            request_state=going_on[1],
        )
    )
    try:
        return await session.send_request(request, _ANSWER, progress_callback=call.tell)
    except MCPError as problem:
        if problem.code != HEADER_MISMATCH:
            raise
        # The protocol's own remedy: the server wants headers that its list of tools tells of.
        await list_tools(session, setup)
        return await session.send_request(request, _ANSWER, progress_callback=call.tell)


async def _responses(
    session: ClientSession, asked: types.InputRequiredResult
) -> types.InputResponses | None:
    """What the client says to each request, one after the other: a person answers them."""
    if not asked.input_requests:
        return None
    responses: types.InputResponses = {}
    for key, request in asked.input_requests.items():
        meta = request.params.meta if request.params else None
        context = ClientRequestContext(session=session, request_id=key, meta=meta)
        response = await session.dispatch_input_request(context, request)
        if isinstance(response, types.ErrorData):
            raise MCPError.from_error_data(response)
        responses[key] = response
    return responses
