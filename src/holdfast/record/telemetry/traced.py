"""Which session is traced; names of spans, and moments as OpenTelemetry counts them."""

from datetime import UTC, datetime, timedelta

from opentelemetry.util.types import AttributeValue

from holdfast.contract.events import SessionCreated
from holdfast.record.telemetry.attributes import AGENT_NAME, CONVERSATION, known
from holdfast.record.telemetry.content import LONGEST_NAME, bounded

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


class TracedSession:
    """What every span of a session says of it."""

    def __init__(self, session_id: str, created: SessionCreated, *, content: bool) -> None:
        self.id = session_id
        self.content = content
        """Whether what was said and told may be in attributes."""
        self.agent_id = created.agent_id
        named = created.metadata.get("agent")
        name = named if isinstance(named, str) and named else created.agent_id
        self.agent_name = None if name is None else bounded(name, LONGEST_NAME)
        self.provider: str | None = None
        """Whose model it asks, as far as somebody said so."""

    def attributes(self) -> dict[str, AttributeValue]:
        """What is the same for all of its spans."""
        return known({CONVERSATION: self.id, AGENT_NAME: self.agent_name})

    def told(self, text: str | None) -> str | None:
        """A text, where texts may be told."""
        return bounded(text) if self.content and text is not None else None


def nanoseconds(at: datetime) -> int:
    """Since 1970, exactly."""
    return (at - _EPOCH) // _MICROSECOND * 1000


def named(operation: str, name: str | None) -> str:
    """The name of a span, as the conventions have it."""
    return operation if not name else f"{operation} {bounded(name, LONGEST_NAME)}"
