"""What a tool author reaches for: builders and detectors under one name."""

from holdfast.contract import builders
from holdfast.contract.envelope import Envelope
from holdfast.envelope import detect
from holdfast.envelope.from_error import failure_from


class ToolEnvelope:
    """Builds envelopes, and tells successes from failures in text."""

    success = staticmethod(builders.success)
    text = staticmethod(builders.text)
    listing = staticmethod(builders.listing)
    search = staticmethod(builders.search)
    file = staticmethod(builders.file)
    failure = staticmethod(builders.failure)

    is_error = staticmethod(detect.is_error)
    is_success = staticmethod(detect.is_success)
    success_payload = staticmethod(detect.success_payload)
    failure_message = staticmethod(detect.failure_message)

    @staticmethod
    def from_error(error: BaseException, *, tool: str | None = None) -> Envelope:
        """The envelope a raised error becomes."""
        return Envelope(failure=failure_from(error, tool=tool), tool=tool)
