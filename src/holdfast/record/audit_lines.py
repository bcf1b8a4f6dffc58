"""The lines of the audit log: one JSON object each, in the words other programs read.

Text only. Where the lines are kept is not known here.
"""

import re
from datetime import UTC, datetime, timedelta

import msgspec

from holdfast.contract.audit import ProgramRun
from holdfast.contract.json_value import clean_text
from holdfast.contract.late_pattern import late_pattern

_SECOND = 1_000_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOMENT = late_pattern(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?Z", re.ASCII)


class UnreadableLine(ValueError):
    """A line that is no record of a program."""


class _Line(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A record as it is written. Further fields are somebody else's and passed over."""

    ts: str
    tool: str
    argv: tuple[str, ...]
    cwd: str
    exit: int
    ms: int
    stdout_bytes: int
    stderr_bytes: int
    truncated: bool
    env_keys: tuple[str, ...] = ()
    session: str = ""
    call: str = ""


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Line).decode


def written(run: ProgramRun) -> bytes:
    """A record as one line, without the line feed."""
    return _encode(
        _Line(
            ts=moment_of(run.at_ns),
            tool=clean_text(run.tool),
            argv=tuple(map(clean_text, run.argv)),
            cwd=clean_text(run.cwd),
            exit=run.exit,
            ms=run.ms,
            stdout_bytes=run.stdout_bytes,
            stderr_bytes=run.stderr_bytes,
            truncated=run.truncated,
            env_keys=tuple(map(clean_text, run.env_keys)),
            session=clean_text(run.session),
            call=clean_text(run.call),
        )
    )


def read(line: bytes) -> ProgramRun:
    """The record of a line; raises UnreadableLine."""
    try:
        found = _decode(line)
        at_ns = unix_ns_of(found.ts)
    except ValueError as problem:
        raise UnreadableLine(str(problem)) from None
    return ProgramRun(
        at_ns=at_ns,
        tool=found.tool,
        argv=found.argv,
        cwd=found.cwd,
        exit=found.exit,
        ms=found.ms,
        stdout_bytes=found.stdout_bytes,
        stderr_bytes=found.stderr_bytes,
        truncated=found.truncated,
        env_keys=found.env_keys,
        session=found.session,
        call=found.call,
    )


def moment_of(unix_ns: int) -> str:
    """A moment as RFC 3339 writes it, in UTC, with nanoseconds."""
    seconds, rest = divmod(unix_ns, _SECOND)
    return f"{_second(seconds).isoformat()[:19]}.{rest:09}Z"


def unix_ns_of(moment: str) -> int:
    """The nanoseconds since 1970 of such a moment; ValueError for any other text."""
    found = _MOMENT.fullmatch(moment)
    if found is None:
        raise ValueError(f"{moment!r} is no moment in UTC")
    second = datetime.fromisoformat(found.group(1)).replace(tzinfo=UTC)
    seconds = (second - _EPOCH) // timedelta(seconds=1)
    return seconds * _SECOND + int((found.group(2) or "").ljust(9, "0"))


def day_of(unix_ns: int) -> str:
    """The UTC day of a moment: YYYYMMDD."""
    return _second(unix_ns // _SECOND).isoformat()[:10].replace("-", "")


def _second(seconds: int) -> datetime:
    return _EPOCH + timedelta(seconds=seconds)
