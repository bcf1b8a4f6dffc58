"""Tools that the application fulfils: the call is written down, stays open, and waits for nobody.

The output comes as an event of the application's, whenever that is; the call is then begun anew
with it. Who runs the session meanwhile, if anybody, is not known here.
"""

from collections.abc import Mapping
from typing import cast

import msgspec

from holdfast.contract.errors import Cancelled, Unavailable
from holdfast.contract.events import CustomToolUse
from holdfast.contract.journal import JournalError
from holdfast.contract.json_value import JsonObject, decode_json, encode_json
from holdfast.contract.person import Application
from holdfast.contract.runtime import Runtime
from holdfast.contract.tool import Body, Limits, Tool
from holdfast.envelope.redact import Redactor
from holdfast.runtime.session_log import SessionLog

_WAITS = "the application has to fulfil this call; it stays open until then"
_NOWHERE = "This call cannot wait for the application: nothing is written down here."


class Applications:
    """The application behind one session. Used on one event loop."""

    def __init__(self, log: SessionLog | None, redactor: Redactor) -> None:
        self._log = log
        self._redactor = redactor
        self._given: dict[str, str] = {}
        self._left_open: set[str] = set()

    def of(self, call: Runtime) -> "CallApplication":
        """The application as one call meets it."""
        return CallApplication(self, call)

    def given(self, call_id: str, output: str) -> None:
        """A call from before is begun anew: this is its output."""
        self._given[call_id] = output
        self._left_open.discard(call_id)

    def stays_open(self, call_id: str) -> bool:
        """Whether the call still waits for the application."""
        return call_id in self._left_open

    async def output_of(self, call: Runtime, arguments: JsonObject) -> str:
        """What was given for it; without that it is left open, and so is the call."""
        output = self._given.pop(call.call_id, None)
        if output is not None:
            return output
        if self._log is None:
            raise Unavailable(_NOWHERE)
        clean = decode_json(self._redactor.json(encode_json(arguments)))
        used = CustomToolUse(request_id=call.call_id, tool_name=call.tool, input=clean)
        try:
            await self._log.append([used])
        except JournalError as problem:
            raise Unavailable(
                f"The application was not asked: it cannot be written down ({problem})."
            ) from None
        self._left_open.add(call.call_id)
        raise Cancelled(_WAITS)


class CallApplication:
    """The application as one call meets it."""

    def __init__(self, applications: Applications, call: Runtime) -> None:
        self._applications = applications
        self._call = call

    async def fulfil(self, arguments: JsonObject, /) -> str:
        """What the application gives as the call's output."""
        return await self._applications.output_of(self._call, arguments)


def fulfilled_outside(tool: Tool) -> Tool:
    """The tool with a body that waits for the application, however long that takes.

    One at a time: a session waits for one request of the application at most.
    """
    limits = Limits(wall_seconds=None, output=tool.limits.output)
    body = Body(style="async", invoke=_fulfil)
    return msgspec.structs.replace(tool, body=body, limits=limits, parallel_safe=False)


async def _fulfil(arguments: Mapping[str, object], runtime: Runtime) -> str:
    return await runtime.port(Application).fulfil(cast("JsonObject", dict(arguments)))
