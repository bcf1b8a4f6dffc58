"""The text of a manifest as typed entries. Strict JSON, and nothing is converted.

Keys it does not know are passed over: other loaders have keys of their own. What entries mean is
not known here.
"""

import re
from typing import Annotated, Any

import msgspec

LARGEST = 2**63 - 1


class WrittenEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """One entry as it is written; None: it is not, or it is null."""

    name: str | None = None
    description: str | None = None
    schema: Any = None
    command: tuple[str, ...] | None = None
    timeout_sec: Annotated[int, msgspec.Meta(ge=-LARGEST - 1, le=LARGEST)] | None = None
    env_passthrough: tuple[str, ...] | None = None
    requires: Any = None


class _File(msgspec.Struct, frozen=True):
    tools: tuple[WrittenEntry | None, ...] | None = None


_AT_BYTE = re.compile(r" \(byte (\d+)\)$")
_TRUNCATED = "Input data was truncated"
_MARK = b"\xef\xbb\xbf"


class Unparsed(ValueError):
    """The text is no manifest."""


def parsed(content: bytes) -> tuple[WrittenEntry, ...]:
    """All entries, in order; Unparsed says what the text is not."""
    try:
        file = msgspec.convert(msgspec.json.decode(content), _File)
    except RecursionError:
        raise Unparsed("it nests too deeply") from None
    except ValueError as problem:
        raise Unparsed(_placed(str(problem), content)) from None
    return tuple(entry or WrittenEntry() for entry in file.tools or ())


def _placed(said: str, content: bytes) -> str:
    """What is wrong, at the place where a person finds it: by line and column."""
    if content.startswith(_MARK):
        return "it begins with a byte-order mark; save it as UTF-8 without one"
    if not content.strip():
        return "the file is empty"
    if said == _TRUNCATED:
        return f"the text ends too early ({_place(content)})"
    at = _AT_BYTE.search(said)
    return said if at is None else f"{said[: at.start()]} ({_place(content[: int(at[1])])})"


def _place(before: bytes) -> str:
    line = before.count(b"\n") + 1
    column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
    return f"line {line}, column {column}"
