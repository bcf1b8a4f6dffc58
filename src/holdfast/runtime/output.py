"""From how a body ended to what a model is shown: wrap, take out secrets, bound, keep the whole."""

import logging
import re
from functools import partial
from typing import cast

import msgspec
from anyio import CapacityLimiter, to_thread

from holdfast.contract.builders import failure_of
from holdfast.contract.call import Outcome
from holdfast.contract.envelope import Envelope, envelope_of
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject, decode_json, encode_json
from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.ports import SidecarStore, StoredOutput
from holdfast.contract.results import Binary, BinaryPart, Image, ImagePart
from holdfast.contract.runtime import Progress, ProgressSink
from holdfast.contract.tool import OutputBound
from holdfast.envelope.bound import Keep, bound_envelope, bound_spooled, may_exceed
from holdfast.envelope.redact import Redactor
from holdfast.envelope.wrap import Spooled, Wrapped, wrap

_log = logging.getLogger("holdfast")

_MEDIA_TYPE = late_pattern(r"[\w.+-]{1,60}/[\w.+-]{1,60}", re.ASCII)
_ANY_BYTES = "application/octet-stream"
_WRITERS = 4


class Output:
    """The one boundary every tool's answer crosses."""

    def __init__(self, redactor: Redactor, sidecars: SidecarStore) -> None:
        self._redactor = redactor
        self._sidecars = sidecars
        # Its own threads: tools that block must not keep others from being answered.
        self._writers = CapacityLimiter(_WRITERS)

    def wrapped(self, outcome: Outcome, noticed: tuple[str, ...]) -> Wrapped:
        """How the body ended, with what was noticed meanwhile, without secrets."""
        answer = wrap(outcome.ending, outcome.permit.prepared.call.tool)
        if noticed:
            answer = _saying(answer, noticed)
        return self._without_secrets(answer) if self._redactor.active else answer

    def _without_secrets(self, answer: Wrapped) -> Wrapped:
        """The answer with known secrets taken out, before it is cut or stored."""
        if isinstance(answer, Envelope):
            return self._redactor.envelope(answer)
        if isinstance(answer, Spooled):
            # Its file was written without secrets; beginning and end come from there.
            return Spooled(self._redactor.envelope(answer.envelope), answer.output)
        content = self._redactor.content(answer.content)
        if isinstance(answer, Binary):
            return Binary(content, answer.media_type)
        about = decode_json(self._redactor.json(encode_json(answer.about)))
        return Image(content, answer.media_type, cast("JsonObject", about))

    async def bounded(self, answer: Wrapped, outcome: Outcome) -> Envelope:
        """The answer cut to its bound, the whole of it kept in a file.

        Off the event loop: writing blocks.
        """
        tool = outcome.permit.prepared.tool
        keep = self._keep(outcome)
        if isinstance(answer, Envelope):
            return await to_thread.run_sync(
                bound_envelope, answer, tool.limits.output, keep, limiter=self._writers
            )
        if isinstance(answer, Spooled):
            return bound_spooled(answer.envelope, answer.output, tool.limits.output)
        stored = await to_thread.run_sync(keep, answer.content, limiter=self._writers)
        return _by_reference(answer, stored, tool.name)

    def _keep(self, outcome: Outcome) -> Keep:
        prepared = outcome.permit.prepared
        call = prepared.call
        keep = partial(self._sidecars.keep, call.session_id, f"{prepared.tool.name}-{call.id}")
        # Once more before it is written: joining fields may have put a secret together again.
        return lambda content: keep(self._redactor.content(content))


def _saying(answer: Wrapped, noticed: tuple[str, ...]) -> Wrapped:
    if isinstance(answer, Spooled):
        return Spooled(_with_warnings(answer.envelope, noticed), answer.output)
    return _with_warnings(answer, noticed) if isinstance(answer, Envelope) else answer


def _with_warnings(envelope: Envelope, more: tuple[str, ...]) -> Envelope:
    return msgspec.structs.replace(envelope, warnings=envelope.warnings + more)


def bounded_refusal(refused: Envelope) -> Envelope:
    """A refusal no longer than it may be. What a model sent is not kept for it to read again."""
    bound = OutputBound()
    if not may_exceed(refused, bound):
        return refused
    return bound_envelope(refused, bound, lambda _content: None)


def guarded_progress(sink: ProgressSink, redactor: Redactor) -> ProgressSink:
    """A sink that passes signs of life on without secrets; its own failures stay outside a tool."""

    def pass_on(progress: Progress, /) -> None:
        shown = _without_secrets(progress, redactor) if redactor.active else progress
        try:
            sink(shown)
        except Exception:  # noqa: BLE001 - the host's own code may raise anything at all
            _log.exception("the progress sink failed")

    return pass_on


def _without_secrets(progress: Progress, redactor: Redactor) -> Progress:
    message = progress.message
    return Progress(
        message=None if message is None else redactor.text(message),
        done=progress.done,
        total=progress.total,
        partial=decode_json(redactor.json(encode_json(progress.partial))),
    )


def _by_reference(given: Image | Binary, stored: StoredOutput | None, tool: str) -> Envelope:
    size = len(given.content)
    media_type = given.media_type if _MEDIA_TYPE.fullmatch(given.media_type) else _ANY_BYTES
    if stored is None or stored.stored_bytes < size:
        message = f"The tool answered with {size:,} bytes, more than there is room to store."
        return Envelope(failure=failure_of(FailureKind.UNAVAILABLE, message), tool=tool)
    if isinstance(given, Image):
        part = ImagePart(
            path=stored.path, media_type=media_type, byte_count=size, about=given.about
        )
    else:
        part = BinaryPart(path=stored.path, media_type=media_type, byte_count=size)
    return envelope_of(part, tool=tool)
