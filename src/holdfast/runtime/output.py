"""From how a body ended to what a model is shown: wrap, take out secrets, bound, keep the whole."""

from functools import partial

from anyio import to_thread

from holdfast.contract.builders import failure_of
from holdfast.contract.call import Outcome
from holdfast.contract.envelope import Envelope, envelope_of
from holdfast.contract.failure import FailureKind
from holdfast.contract.ports import SidecarStore, StoredOutput
from holdfast.contract.results import Binary, BinaryPart, Image, ImagePart
from holdfast.envelope.bound import Keep, bound_envelope, may_exceed
from holdfast.envelope.redact import Redactor
from holdfast.envelope.wrap import wrap


class Output:
    """The one boundary every tool's answer crosses."""

    def __init__(self, redactor: Redactor, sidecars: SidecarStore) -> None:
        self._redactor = redactor
        self._sidecars = sidecars

    async def envelope(self, outcome: Outcome) -> Envelope:
        """The answer to a call that ran."""
        tool = outcome.permit.prepared.tool
        wrapped = wrap(outcome.ending, tool.name)
        if not isinstance(wrapped, Envelope):
            content = self._redactor.content(wrapped.content)
            stored = await to_thread.run_sync(self._keep(outcome), content)
            return _by_reference(wrapped, stored, len(content), tool.name)
        envelope = self._redactor.envelope(wrapped)
        bound = tool.limits.output
        if may_exceed(envelope, bound):
            # Off the event loop: the whole output goes to a file.
            return await to_thread.run_sync(bound_envelope, envelope, bound, self._keep(outcome))
        return envelope

    def _keep(self, outcome: Outcome) -> Keep:
        prepared = outcome.permit.prepared
        call = prepared.call
        return partial(self._sidecars.keep, call.session_id, f"{prepared.tool.name}-{call.id}")


def _by_reference(
    given: Image | Binary, stored: StoredOutput | None, size: int, tool: str
) -> Envelope:
    if stored is None or stored.stored_bytes < size:
        message = f"The tool answered with {size:,} bytes, more than there is room to store."
        return Envelope(failure=failure_of(FailureKind.UNAVAILABLE, message), tool=tool)
    part = ImagePart if isinstance(given, Image) else BinaryPart
    return envelope_of(
        part(path=stored.path, media_type=given.media_type, byte_count=size), tool=tool
    )
