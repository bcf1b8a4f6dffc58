"""A watchdog hook that is a program: the call as JSON on its standard input, an opinion out.

It answers ``{"verdict": "allow" | "ask" | "deny", "reason": "..."}`` within its time. Anything
else, a failure included, is raised, and the watchdog takes that for a refusal.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, cast

import msgspec
from anyio import (
    BrokenResourceError,
    CancelScope,
    ClosedResourceError,
    create_task_group,
    current_time,
    fail_after,
    open_process,
)
from anyio.abc import ByteReceiveStream, ByteSendStream

from holdfast.contract.audit import NO_AUDIT, AuditLog
from holdfast.contract.json_value import encode_json
from holdfast.contract.rules import Action
from holdfast.contract.shell import Printed
from holdfast.contract.watchdog import Inspection, Opinion
from holdfast.execution.program_record import Program, Record

DEFAULT_SECONDS = 10.0
_MOST_OUTPUT = 64 * 1024
_MOST_COMPLAINT = 200
_ON_BEHALF_OF = "(watchdog)"


class _Answer(msgspec.Struct, frozen=True):
    """What the program writes: a verdict it has to give, and why."""

    verdict: Action
    reason: str = ""


_decode = msgspec.json.Decoder(_Answer).decode


class HookProgram:
    """Asks a program about each call."""

    def __init__(
        self,
        argv: Sequence[str],
        environment: Mapping[str, str],
        seconds: float = DEFAULT_SECONDS,
        audit: AuditLog = NO_AUDIT,
    ) -> None:
        self._audit = audit
        self._argv = list(argv)
        self._environment = dict(environment)
        self._seconds = seconds
        self.__name__ = self._argv[0]

    async def __call__(self, inspection: Inspection, /) -> Opinion:
        """Run it once."""
        shown = {
            "hook": "tool.before",
            "tool": inspection.tool,
            "arguments": inspection.arguments,
            "manifest": inspection.manifest,
            "session_id": inspection.session_id,
            "uses": inspection.uses,
        }
        try:
            with fail_after(self._seconds):
                ended = await self._run(encode_json(shown), self._record(inspection))
        except TimeoutError:
            given = f"{self._seconds:g} s; watchdog.seconds gives it more"
            raise TimeoutError(f"it took longer than {given}") from None
        if len(ended.printed) > _MOST_OUTPUT:
            raise ValueError("its answer is too long")
        if ended.status != 0:
            said = ended.complained.decode("utf-8", "replace").strip()
            raise RuntimeError(f"it ended with status {ended.status}{said and f': {said}'}")
        try:
            answer = _decode(ended.printed)
        except ValueError as problem:
            raise ValueError(f"its answer is no opinion: {problem}") from None
        return Opinion(answer.verdict, answer.reason)

    def _record(self, inspection: Inspection) -> Record:
        call = inspection.prepared.call
        argv = tuple(self._argv)
        program = Program(
            _ON_BEHALF_OF,
            argv,
            _here(),
            session=call.session_id,
            call=call.id,
            most_shown=_MOST_OUTPUT,
        )
        return Record(program, self._audit)

    async def _run(self, shown: bytes, record: Record) -> "_Ended":
        begun = current_time()
        status: int | None = None
        printed, complained = bytearray(), _End()
        try:
            process = await open_process(self._argv, env=self._environment)
            try:
                async with create_task_group() as tasks:
                    tasks.start_soon(_feed, cast("ByteSendStream", process.stdin), shown)
                    stderr = cast("ByteReceiveStream", process.stderr)
                    tasks.start_soon(_keep_end, stderr, complained)
                    async for piece in cast("ByteReceiveStream", process.stdout):
                        printed += piece
                        if len(printed) > _MOST_OUTPUT:
                            process.kill()  # it may print for ever
                            break
                status = await process.wait()
                return _Ended(bytes(printed), bytes(complained.kept), status)
            finally:
                if process.returncode is None:
                    process.kill()
                with CancelScope(shield=True):
                    await process.aclose()
        finally:
            whole = Printed(bytes(printed), b"", len(printed))
            end = Printed(b"", bytes(complained.kept), complained.total)
            record.over(status, current_time() - begun, whole, end)


class _Ended(NamedTuple):
    printed: bytes
    complained: bytes
    """The end of what it printed on standard error."""
    status: int


class _End:
    """The end of a stream, and how much it was."""

    def __init__(self) -> None:
        self.kept = bytearray()
        self.total = 0


def _here() -> str:
    """Where its programs begin; nowhere, when that was removed."""
    try:
        return str(Path.cwd())
    except OSError:
        return ""


async def _feed(stdin: ByteSendStream, shown: bytes) -> None:
    # A program that has made up its mind need not read on.
    with suppress(BrokenResourceError, ClosedResourceError):
        await stdin.send(shown)
    with suppress(BrokenResourceError):
        await stdin.aclose()


async def _keep_end(stderr: ByteReceiveStream, end: _End) -> None:
    async for piece in stderr:
        end.total += len(piece)
        end.kept += piece
        del end.kept[:-_MOST_COMPLAINT]
