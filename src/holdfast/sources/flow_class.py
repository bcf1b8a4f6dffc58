"""Tools from flow classes: a schema the model sees, and a callable that gets the session."""

from collections.abc import Mapping

from holdfast.contract.flow import FlowSession, FlowToolCall
from holdfast.contract.requirements import NOTHING_REQUIRED
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Body, Tool
from holdfast.sources.options import schema_object


def tool_from_flow(flow: FlowToolCall, session: FlowSession) -> Tool:
    """Bind a flow tool to the session its calls are to get.

    The schema goes to the model unchanged and a missing description stays missing. A flow class
    has no place to declare what it needs, so its ``requires`` is the empty set: whatever it does
    to the world goes through the session's sandbox, which has requirements of its own.
    """

    def invoke(arguments: Mapping[str, object], _runtime: Runtime) -> object:
        return flow(session, arguments)

    return Tool(
        name=flow.name,
        description=flow.description,
        input_schema=schema_object(flow.parameters, "parameters", f"flow tool {flow.name!r}"),
        requires=NOTHING_REQUIRED,
        body=Body(style="thread", invoke=invoke),
        read_only=False,  # nothing is known of what it does
        parallel_safe=flow.parallel_safe,
        key_of=flow.resource_key,
    )
