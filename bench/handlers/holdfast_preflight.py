"""holdfast: the preflight that every call goes through."""

import json

from holdfast.contract.call import Prepared, ToolCall
from holdfast.contract.requirements import NOTHING_REQUIRED
from holdfast.contract.tool import Body, Tool
from holdfast.preflight.plan import Plan


def handle(schema: dict, arguments: dict) -> dict | None:
    body = Body(style="inline", invoke=lambda values, _runtime: values)
    tool = Tool(
        name="t", description="t", input_schema=schema, requires=NOTHING_REQUIRED, body=body
    )
    call = ToolCall(id="c", tool="t", arguments=json.dumps(arguments), session_id="s")
    prepared = Plan(tool).prepare(call)
    return prepared.arguments if isinstance(prepared, Prepared) else None
