"""Path patterns: `*` within one segment, `**` any depth including none, `?` one character.

Everything else stands for itself, brackets and braces too; names that begin with a dot are names
like any other. Pure: no file is looked at.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Protocol

from holdfast.contract.errors import InvalidArguments

DEEP = "**"
_WILD = re.compile(r"[*?]")
_STARS = re.compile(r"\*+")
_SPECIAL = re.compile(r"[\\\[\]{}!#]")
LONGEST = 4096
_ONE = r"(?>[\x00-\x2e\x30-\x7f]|[\xc0-\xff][\x80-\xbf]*|[\x80-\xbf])"
"""One character, however many bytes it takes."""


class Fits(Protocol):
    """Whether a path, from a position on, fits a pattern that begins there."""

    def __call__(self, path: bytes, start: int = 0, /) -> object:
        """None: it does not."""
        ...


def segments_of(pattern: str) -> tuple[tuple[str, ...], bool]:
    """The segments, and whether only directories are meant; InvalidArguments when it is none."""
    if not pattern or "\0" in pattern:
        raise _wrong("A pattern cannot be empty or hold a NUL character.")
    if len(pattern) > LONGEST:
        raise _wrong(f"A pattern has at most {LONGEST} characters.")
    if pattern.startswith("/"):
        raise _wrong("A pattern is relative: give the directory it begins in as `path`.")
    segments = tuple(part for part in pattern.split("/") if part not in ("", "."))
    if ".." in segments:
        raise _wrong("A pattern cannot go up: give the directory it begins in as `path`.")
    if not segments:
        raise _wrong("This pattern names nothing below a directory.")
    return segments, pattern.endswith("/")


def literal_part(segments: Sequence[str]) -> int:
    """How many segments in front name exactly one directory each; never the last one."""
    return next((at for at, one in enumerate(segments[:-1]) if is_wild(one)), len(segments) - 1)


def is_wild(segment: str) -> bool:
    """Whether it may fit more than one name."""
    return bool(_WILD.search(segment))


@lru_cache(maxsize=256)
def compiled(segments: tuple[str, ...]) -> Fits:
    """How whole paths are judged."""
    return re.compile(_source(segments).encode("utf-8", "surrogateescape"), re.DOTALL).fullmatch


def tail_of(segments: Sequence[str]) -> re.Pattern[bytes] | None:
    """What stands at the end of every path that fits, of paths that end with NUL; None: anything.

    More may end so. However many do, nothing is taken back that was looked at.
    """
    *held, ending = [
        re.escape(piece.encode("utf-8", "surrogateescape")) for piece in _WILD.split(segments[-1])
    ]
    longest = max(held, key=len, default=b"")
    if longest:
        return re.compile(longest + rb"[^\0/]*+(?<=" + ending + rb")\0")
    return re.compile(ending + rb"\0") if ending else None


def ripgrep_glob(segment: str) -> str:
    """A segment for ripgrep, whose brackets and braces mean something, and whose types end at a
    colon; what fits this and not the segment is told apart later.
    """
    return _SPECIAL.sub(r"\\\g<0>", _STARS.sub("*", segment).replace(":", "?"))


def _source(segments: Sequence[str]) -> str:
    """An expression that never tries the same thing twice.

    What stands between two wildcards is found at the first place it fits, and that is never taken
    back: the wildcard after it can stand for all that follows.
    """
    runs: list[list[str]] = [[]]
    for segment in segments:
        if segment != DEEP:
            runs[-1].append(_name(segment))
        elif runs[-1] or len(runs) == 1:
            runs.append([])
    first, *between = map("/".join, runs)
    if not between:
        return first
    *between, last = between
    found = [f"{first}/"] if first else []
    found += [f"(?>(?:[^/]+/)*?{run}/)" for run in between]
    found.append(f"(?:[^/]+/)*{last or '[^/]+'}")
    return "".join(found)


def _name(segment: str) -> str:
    first, *between = map(_plain, _STARS.split(segment))
    if not between:
        return first
    *between, last = between
    atoms = (f"(?>[^/]*?{_begun(piece)})" for piece in between)
    return "".join((first, *atoms, f"[^/]*{_begun(last)}"))


def _begun(piece: str) -> str:
    """A piece behind a star, which ends between two characters and not within one."""
    return rf"(?![\x80-\xbf]){piece}" if piece.startswith(_ONE) else piece


def _plain(piece: str) -> str:
    return _ONE.join(map(re.escape, piece.split("?")))


def _wrong(message: str) -> InvalidArguments:
    return InvalidArguments(message, field="pattern", expected="a pattern such as `src/**/*.py`")
