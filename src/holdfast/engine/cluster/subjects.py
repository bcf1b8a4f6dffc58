"""Names in NATS: subjects of wakes, and streams and consumers. Pure.

A part of a name is written as one token of a subject, whatever it holds, and read again as it was.
"""

import re
from typing import Final, Literal, NamedTuple

from holdfast.contract.agents import label_in
from holdfast.contract.session_state import SessionState, urgency

Class = Literal["word", "high", "normal", "low"]
"""What goes first: what a person said, or a run that was begun; then queued wakes by priority."""

CLASSES: Final[tuple[Class, ...]] = ("word", "high", "normal", "low")
_BY_NAME: Final[dict[str, Class]] = {one: one for one in CLASSES}
ANY = "any"
"""The label of a session that every worker runs."""
MOST_BYTES = 255
"""Of a part of a name."""

_PLAIN = re.compile(rb"[A-Za-z0-9_-]")
_NAMESPACE = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ESCAPED = re.compile(r"=([0-9A-F]{2})")
_EMPTY = "="


class UnusableName(ValueError):
    """It cannot be part of a subject."""


class WakeSubject(NamedTuple):
    """What the subject of a wake says."""

    tenant: str
    kind: Class
    label: str
    session_id: str


def token(name: str) -> str:
    """A name as one token; UnusableName where it is too long."""
    raw = name.encode("utf-8", "surrogatepass")
    if len(raw) > MOST_BYTES:
        raise UnusableName(f"a name of {len(raw)} bytes is too long; {MOST_BYTES} are the most")
    parts = (bytes([one]) for one in raw)
    written = (part.decode() if _PLAIN.match(part) else f"={part[0]:02X}" for part in parts)
    return "".join(written) or _EMPTY


def name_in(written: str) -> str:
    """What a token stands for."""
    if written == _EMPTY:
        return ""
    raw = bytearray()
    at = 0
    while at < len(written):
        found = _ESCAPED.match(written, at)
        raw += bytes([int(found[1], 16)]) if found else written[at].encode()
        at += 3 if found else 1
    return raw.decode("utf-8", "surrogatepass")


def class_of(state: SessionState, by_micros: int) -> Class:
    """How urgent a session is, of the queued wakes counting those that are due by then."""
    rank, is_wake, _ = urgency(state, by_micros)
    return "word" if not is_wake else CLASSES[min(rank + 1, len(CLASSES) - 1)]


def label_of(state: SessionState) -> str:
    """Which workers may run it: those of its label, or any."""
    return label_in(state.metadata) or ANY


class Names:
    """The names of one namespace."""

    def __init__(self, namespace: str) -> None:
        """UnusableName."""
        if not _NAMESPACE.fullmatch(namespace):
            raise UnusableName(f"{namespace!r} is no namespace; take letters, digits, - and _")
        self._namespace = namespace

    @property
    def wakes(self) -> str:
        """The stream of wakes."""
        return f"{self._namespace}-wakes"

    @property
    def dead(self) -> str:
        """The stream of the dead."""
        return f"{self._namespace}-dead"

    @property
    def of_wakes(self) -> tuple[str, str]:
        """All subjects of that stream."""
        return (f"{self._namespace}.wake.>", f"{self._namespace}.later.>")

    @property
    def of_dead(self) -> str:
        """All subjects of the dead."""
        return f"{self._namespace}.dead.>"

    @property
    def present(self) -> str:
        """Where it is asked who works: beside the subjects at which processes answer."""
        return f"{self._namespace}.process.present"

    def wake(self, to: WakeSubject) -> str:
        """Where a hint goes that a session has to be run now."""
        parts = (token(to.tenant), to.kind, token(to.label), token(to.session_id))
        return f"{self._namespace}.wake.{'.'.join(parts)}"

    def later(self, tenant: str, session_id: str) -> str:
        """Where a hint waits for its time: one a session."""
        return f"{self._namespace}.later.{token(tenant)}.{token(session_id)}"

    def dead_one(self, tenant: str, session_id: str) -> str:
        """Where it stands that a session was run in vain too often."""
        return f"{self._namespace}.dead.{token(tenant)}.{token(session_id)}"

    def dead_of(self, tenant: str) -> str:
        """The dead of one tenant."""
        return f"{self._namespace}.dead.{token(tenant)}.*"

    def any_wake(self, tenant: str, session_id: str) -> str:
        """Every hint that a session has to be run now."""
        return f"{self._namespace}.wake.{token(tenant)}.*.*.{token(session_id)}"

    def lane(self, tenant: str, kind: Class, label: str) -> str:
        """The hints of a lane."""
        return f"{self._namespace}.wake.{token(tenant)}.{kind}.{token(label)}.*"

    def consumer(self, tenant: str, kind: Class, label: str) -> str:
        """Who hands out the hints of a lane."""
        return f"{token(tenant)}+{kind}+{token(label)}"

    def read_wake(self, subject: str) -> WakeSubject | None:
        """What the subject of a hint says; None: it is none."""
        head, _, rest = subject.partition(".wake.")
        parts = rest.split(".")
        if head != self._namespace or len(parts) != len(WakeSubject._fields):
            return None
        kind = _BY_NAME.get(parts[1])
        if kind is None:
            return None
        return WakeSubject(name_in(parts[0]), kind, name_in(parts[2]), name_in(parts[3]))
