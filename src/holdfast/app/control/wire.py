"""What is said over a control socket: one JSON object a line, told apart by ``kind``.

A client says hello, with the version it speaks, before anything else. Each request has an id, which
its answer repeats. Nothing here is durable: what people decide is written into the journal, and a
request only says that it is there. Who sends and who reads is not known here.
"""

from typing import Annotated, Literal, TypeAlias

import msgspec

from holdfast.contract.events import SessionStatus
from holdfast.contract.shell import LiveCommand

VERSION = 1
"""Grows when one side of before would misread the other; another one is refused."""
MOST_REQUEST_BYTES = 64 * 1024
"""How long a line of a client may be."""
MOST_LINE_BYTES = 8 * 1024 * 1024
"""How long a line of a server may be; an event that is longer is named, to be read elsewhere."""

Problem = Literal[
    "peer",
    "version",
    "malformed",
    "too_long",
    "busy",
    "unknown_session",
    "unknown_command",
    "unavailable",
]
"""Why a request was refused: who asks, how it is written, or what it is about."""

RequestId = Annotated[int, msgspec.Meta(ge=0, lt=2**53)]
Name = Annotated[str, msgspec.Meta(max_length=200)]


class _Request(
    msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", forbid_unknown_fields=True
):
    """What a client says."""

    id: RequestId = 0


class Hello(_Request, frozen=True, kw_only=True, tag="hello"):
    """The first line of a client."""

    version: int


class Sessions(_Request, frozen=True, kw_only=True, tag="sessions"):
    """Which sessions run here?"""


class Watch(_Request, frozen=True, kw_only=True, tag="watch"):
    """Tell what happens, behind an event. One at a time."""

    session: Name
    after: Annotated[int, msgspec.Meta(ge=0, lt=2**53)] = 0


class Look(_Request, frozen=True, kw_only=True, tag="look"):
    """Something was written down for this session: look now."""

    session: Name


class InterruptCall(_Request, frozen=True, kw_only=True, tag="interrupt_call"):
    """Stop the calls that run now, and let the agent go on."""

    session: Name


class Commands(_Request, frozen=True, kw_only=True, tag="commands"):
    """Which commands run now?"""

    session: Name


class Tail(_Request, frozen=True, kw_only=True, tag="tail"):
    """What did a command print last?"""

    session: Name
    command: Name


class Terminate(_Request, frozen=True, kw_only=True, tag="terminate"):
    """End a command, and all it started."""

    session: Name
    command: Name


Request: TypeAlias = Hello | Sessions | Watch | Look | InterruptCall | Commands | Tail | Terminate


class _Reply(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """What a server says."""


class Welcome(_Reply, frozen=True, kw_only=True, tag="welcome"):
    """The answer to hello."""

    id: RequestId = 0
    version: int
    process: str
    """Its name, as leases have it."""


class RunningSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that runs here."""

    session_id: str
    status: SessionStatus


class Running(_Reply, frozen=True, kw_only=True, tag="sessions"):
    """The sessions that run here."""

    id: RequestId
    sessions: tuple[RunningSession, ...]


class Done(_Reply, frozen=True, kw_only=True, tag="done"):
    """It was done; ``did``: there was something to do."""

    id: RequestId
    did: bool = True


class Listed(_Reply, frozen=True, kw_only=True, tag="commands"):
    """The commands, without what they printed."""

    id: RequestId
    commands: tuple[LiveCommand, ...]


class Printed(_Reply, frozen=True, kw_only=True, tag="tail"):
    """One command, with what it printed last."""

    id: RequestId
    command: LiveCommand


class Refused(_Reply, frozen=True, kw_only=True, tag="refused"):
    """It was not done."""

    id: RequestId = 0
    problem: Problem
    message: str


class TellsLine(_Reply, frozen=True, kw_only=True, tag="told"):
    """Of a watch: what `told_json` makes of it."""

    told: msgspec.Raw


class TooLarge(_Reply, frozen=True, kw_only=True, tag="too_large"):
    """Of a watch: an event to be read in the journal."""

    sequence: int


class Missed(_Reply, frozen=True, kw_only=True, tag="missed"):
    """Of a watch: so much that was told live did not fit, and is lost. Events never are."""

    count: int


class Here(_Reply, frozen=True, kw_only=True, tag="here"):
    """Of a watch: nothing happened for a while."""


class Rests(_Reply, frozen=True, kw_only=True, tag="rests"):
    """The end of a watch: the session does not run here any more."""


Reply: TypeAlias = (
    Welcome
    | Running
    | Done
    | Listed
    | Printed
    | Refused
    | TellsLine
    | TooLarge
    | Missed
    | Here
    | Rests
)

_encoder = msgspec.json.Encoder()
_request = msgspec.json.Decoder(Request).decode
_reply = msgspec.json.Decoder(Reply).decode
_BROKEN = (msgspec.DecodeError, UnicodeError, RecursionError)


class Malformed(ValueError):
    """A line that is none of these."""


def line_of(message: Request | Reply) -> bytes:
    """The line, with its end."""
    return _encoder.encode(message) + b"\n"


def read_request(line: bytes) -> Request:
    """What a client says; Malformed."""
    try:
        return _request(line)
    except _BROKEN as problem:
        raise Malformed(str(problem)) from None


def read_reply(line: bytes) -> Reply:
    """What a server says; Malformed."""
    try:
        return _reply(line)
    except _BROKEN as problem:
        raise Malformed(str(problem)) from None
