"""The session of one flow loop: its calls are settled as all others, its rows stand beside them.

Models are not known here.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from holdfast.app.flow_diary import FlowDiary
from holdfast.app.flow_tools import backend_name, grant, is_built_in, loop_tools
from holdfast.app.holdfast import Holdfast
from holdfast.app.options import Flow, Options
from holdfast.contract.call import ToolCall
from holdfast.contract.chunks import AskedCall, Lineage
from holdfast.contract.events import FlowGrown
from holdfast.contract.failure import Failure
from holdfast.contract.flow import FlowToolCall
from holdfast.contract.json_value import JsonObject, encode_json
from holdfast.contract.transcript import TokenUsage, Transcript
from holdfast.execution.backends.local import LocalBackend
from holdfast.runtime.flow_calls import KeptTexts, raised
from holdfast.runtime.flow_refusal import refused
from holdfast.runtime.flow_rows import grown
from holdfast.runtime.flow_session import Session
from holdfast.tools.flow.shell import guarded

_ON_THIS_MACHINE = frozenset({"local", "bubblewrap"})
_decoder = msgspec.json.Decoder(FlowGrown)


class FlowHoldfast(Holdfast):
    """Settles the calls of a loop under its output session's id, and keeps that session's rows."""

    def __init__(self, out: Session, table: Mapping[str, FlowToolCall], options: Options) -> None:
        self._texts = KeptTexts()
        metadata: JsonObject = {"flow": "loop", "sandbox": backend_name(out)}
        flow = Flow(session_id=out.id, metadata=metadata, in_sandbox=grant(out))
        own: Options = {**options, "flow": flow}
        super().__init__(tools=loop_tools(table, out, self._texts), workspace=_folder(out), **own)
        self._out = out
        self._rows = 0
        self._said: tuple[Lineage, TokenUsage] | None = None
        self.diary = FlowDiary(self._log, self._redactor, self._ids)
        """Writes down what the loop's model is asked."""

    async def row_text(self, asked: AskedCall, tool: FlowToolCall, arguments: JsonObject) -> str:
        """The text of the row for one call. What is no `Exception` escapes."""
        refusal = self._refusal(tool, arguments)
        if refusal is not None:
            return await self.refused_text(asked, refusal)
        call = self._call(asked)
        envelope = await self._pipeline.settle(call, self._abort)
        escaped = self._texts.escaped(call.id)
        if escaped is not None:
            raise escaped
        return self._shown(self._texts.taken(call.id, envelope))

    async def refused_text(self, asked: AskedCall, failure: Failure) -> str:
        """The text of the row for a call that does not run; written down as any other."""
        call = self._call(asked)
        envelope = await refused(call, failure, self._log, self._redactor)
        return self._shown(self._texts.taken(call.id, envelope))

    async def grown(self, session: Session, /) -> None:
        """Write down what rows there are by now; JournalError."""
        await self._write(session.transcript())

    async def ended(self, session: Session, /) -> None:
        """The same: what is noted at the end is written down as well."""
        await self._write(session.transcript())

    async def _write(self, now: Transcript) -> None:
        said = (now.lineage, now.cumulative_usage)
        if self._log is None or (len(now.chunk_table) == self._rows and said == self._said):
            return
        event = grown(now, self._rows)
        if self._said is not None and self._said[0] != now.lineage:
            event = msgspec.structs.replace(event, lineage=now.lineage)
        if self._redactor.active:
            event = _decoder.decode(self._redactor.json(encode_json(event)))
        (written,) = await self._log.append([event])
        self.diary.told = written.sequence
        self._rows, self._said = len(now.chunk_table), said

    def _refusal(self, tool: FlowToolCall, arguments: JsonObject) -> Failure | None:
        """What a built-in tool says before it even needs a sandbox, or when there is none."""
        if not is_built_in(tool):
            return None
        try:
            if tool.name == "run_shell_command":
                guarded(str(arguments.get("cmd", "")))
            if backend_name(self._out) is None:
                self._out.require_sandbox()
        except (ValueError, RuntimeError) as error:
            return raised(error)
        return None

    def _call(self, asked: AskedCall) -> ToolCall:
        return ToolCall(
            id=self.diary.call_id(asked),
            tool=asked.name,
            arguments=asked.arguments or None,
            session_id=self._session.id,
            model_call_id=asked.id,
        )

    def _shown(self, text: str) -> str:
        return self._redactor.written(text) if self._redactor.active else text


def _folder(out: Session) -> Path | None:
    """Where on this machine payloads work, if rules of a folder can count for them."""
    handle, target = out.sandbox, out.target
    if handle is not None:
        here = isinstance(handle.backend, LocalBackend)
        named = handle.spec.working_dir if here else None
    else:
        here = target is not None and target.backend in _ON_THIS_MACHINE
        named = target.spec.working_dir if here and target is not None else None
    folder = None if named is None else Path(named)
    return folder if folder is not None and folder.is_dir() else None
