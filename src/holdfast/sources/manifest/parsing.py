"""The text of a manifest as typed entries. Strict JSON, and nothing is converted.

Keys it does not know are passed over: other loaders have keys of their own. What entries mean is
not known here.
"""

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


class Unparsed(ValueError):
    """The text is no manifest."""


def parsed(content: bytes) -> tuple[WrittenEntry, ...]:
    """All entries, in order; Unparsed says what the text is not."""
    try:
        file = msgspec.convert(msgspec.json.decode(content), _File)
    except RecursionError:
        raise Unparsed("it nests too deeply") from None
    except ValueError as problem:
        raise Unparsed(str(problem)) from None
    return tuple(entry or WrittenEntry() for entry in file.tools or ())
