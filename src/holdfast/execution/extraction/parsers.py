"""The runtime's side of parsing: a process for each job, ended with it, and one kept ready.

What the bytes hold is not known here. Whatever a worker does, the worst that comes of it is that it
is killed, and the call is told.
"""

import json
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, cast

import msgspec
from anyio import (
    BrokenResourceError,
    CancelScope,
    CapacityLimiter,
    ClosedResourceError,
    EndOfStream,
    IncompleteRead,
    create_task_group,
    fail_after,
    open_process,
)
from anyio.abc import ByteReceiveStream, ByteSendStream, Process
from anyio.streams.buffered import BufferedByteReceiveStream

from holdfast.contract.errors import Unavailable
from holdfast.contract.extraction import (
    Document,
    DocumentText,
    Picture,
    PictureBounds,
    Unreadable,
)
from holdfast.contract.json_value import JsonObject
from holdfast.execution.extraction.families import Answer, Family
from holdfast.execution.extraction.worker import HEAD, packed

SECONDS = 20.0
"""How long a job may take, its worker's start included."""
_ENOUGH_SECONDS = 12.0
"""After which a worker that can answer with a part does so."""
_AT_ONCE = 4
_MOST_HEAD = 64 * 1024
_MOST_CONTENT = 64 * 1024 * 1024

_ROOT = str(Path(__file__).resolve().parents[3])
_BOOT = (
    "import sys; sys.path.append({root!r});"
    " from holdfast.execution.extraction.worker import main; main({family!r})"
)


class MissingPackages(Unavailable):
    """What reads this is not installed; trying again does not change that."""

    retryable = False


class _Broken(Exception):
    """A worker ended without an answer; the message says how."""


class _Ready(NamedTuple):
    process: Process
    answers: BufferedByteReceiveStream


class Parsers:
    """Reads foreign bytes in processes of their own: an `Extraction`."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._ready: dict[Family, _Ready] = {}
        self._at_once = CapacityLimiter(_AT_ONCE)
        self._closed = True

    async def text(self, document: Document, /) -> DocumentText:
        """The text of a document."""
        if document.kind == "pdf":
            return _of_pages(await self._job("documents", {}, document.content))
        asked: JsonObject = {
            "kind": document.kind,
            "charset": document.charset,
            "url": document.url,
        }
        answer = await self._job("pages", asked, document.content)
        return DocumentText(text=_decoded(answer.content))

    async def picture(self, content: bytes, bounds: PictureBounds, /) -> Picture:
        """What a picture is, and a copy within bounds."""
        answer = await self._job("pictures", msgspec.structs.asdict(bounds), content)
        try:
            return msgspec.convert({**answer.facts, "content": answer.content}, Picture)
        except msgspec.ValidationError:
            raise Unreadable("The parser of pictures broke: its answer is none.") from None

    def open(self) -> None:
        """From now on one may be kept ready."""
        self._closed = False

    async def close(self) -> None:
        """End what is kept ready."""
        self._closed = True
        kept, self._ready = self._ready, {}
        for ready in kept.values():
            await _ended(ready.process)

    async def _job(self, family: Family, asked: JsonObject, content: bytes) -> Answer:
        try:
            with fail_after(self._seconds):
                async with self._at_once:
                    answer = await self._asked(family, asked, content)
        except TimeoutError:
            raise Unreadable(
                f"The parser was ended after {self._seconds:g} s: the content takes too long to"
                " read, by accident or on purpose."
            ) from None
        except _Broken as broken:
            raise Unreadable(f"The parser {broken} over this content.") from None
        return _checked(answer)

    async def _asked(self, family: Family, asked: JsonObject, content: bytes) -> Answer:
        ready = self._ready.pop(family, None)
        if ready is not None:
            with suppress(_Broken):  # it may have been tired of waiting; a fresh one is not
                return await self._exchanged(family, ready, asked, content)
        return await self._exchanged(family, await _started(family), asked, content)

    async def _exchanged(
        self, family: Family, ready: _Ready, asked: JsonObject, content: bytes
    ) -> Answer:
        head = packed({**asked, "seconds": _ENOUGH_SECONDS}, content)
        answer: Answer | None = None
        try:
            async with create_task_group() as tasks:
                stdin = cast("ByteSendStream", ready.process.stdin)
                tasks.start_soon(_feed, stdin, head, content)
                answer = await _received(ready.answers)
                tasks.cancel_scope.cancel()
            if answer is None:
                raise _Broken(_said_of(await ready.process.wait()))
        finally:
            await _ended(ready.process)
        if not self._closed and family not in self._ready:
            self._ready[family] = await _started(family)
        return answer


async def _started(family: Family) -> _Ready:
    boot = _BOOT.format(root=_ROOT, family=family)
    try:
        process = await open_process(
            [sys.executable, "-I", "-B", "-c", boot],
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
            start_new_session=True,
        )
    except OSError as problem:
        raise Unavailable(f"No parser can be started ({problem.strerror}).") from None
    return _Ready(process, BufferedByteReceiveStream(cast("ByteReceiveStream", process.stdout)))


async def _ended(process: Process) -> None:
    with CancelScope(shield=True):
        with suppress(ProcessLookupError):
            process.kill()
        await process.aclose()


async def _feed(stdin: ByteSendStream, head: bytes, content: bytes) -> None:
    # Who has answered or died need not hear it all.
    with suppress(BrokenResourceError, ClosedResourceError):
        await stdin.send(head)
        await stdin.send(content)


async def _received(answers: BufferedByteReceiveStream) -> Answer | None:
    """What a worker answers; None when it ends without."""
    try:
        length, size = HEAD.unpack(await answers.receive_exactly(HEAD.size))
        if length > _MOST_HEAD or size > _MOST_CONTENT:
            return None
        facts = json.loads(await answers.receive_exactly(length))
        return Answer(facts, await answers.receive_exactly(size) if size else b"")
    except (EndOfStream, IncompleteRead, BrokenResourceError, ValueError):
        return None


def _checked(answer: Answer) -> Answer:
    """The answer, if it is one; Unreadable or Unavailable says why it is none."""
    missing, problem = answer.facts.get("missing"), answer.facts.get("unparsable")
    if missing is not None:
        raise MissingPackages(
            f"Reading this takes packages that are not installed here. Tell whoever runs this host:"
            f" pip install 'holdfast[{missing}]'"
        )
    if problem is not None:
        raise Unreadable(f"This cannot be read: {problem}.")
    return answer


def _of_pages(answer: Answer) -> DocumentText:
    total, read, damaged = (answer.facts.get(name) for name in ("pages", "read", "damaged"))
    text = _decoded(answer.content)
    notes: list[str] = []
    if read != total:
        notes.append(f"Only the first {read} of {total} pages were read: the rest takes too long.")
    if damaged:
        notes.append(f"{damaged} of {total} pages are damaged and left out.")
    if not text:
        notes.append("The PDF holds no text; its pages may be pictures.")
    return DocumentText(text=text, note=" ".join(notes) or None)


def _decoded(content: bytes) -> str:
    return content.decode("utf-8", "replace")


def _said_of(status: int) -> str:
    if status < 0:
        with suppress(ValueError):
            return f"was ended by {signal.Signals(-status).name}"
    return "broke"
