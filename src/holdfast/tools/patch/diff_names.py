"""The names in the headers of a unified diff, as git reads them."""

import re
from collections.abc import Iterator

from holdfast.contract.late_pattern import late_pattern
from holdfast.tools.patch.model import bad_patch

NOTHING = "/dev/null"
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "\\": 92}
_QUOTED = late_pattern(r'"((?:[^"\\]|\\.)*)"')
_BLANK = late_pattern(r"[ \t]")
_ESCAPE = late_pattern(rb"\\([0-7]{3}|.)", re.DOTALL)


def header_name(text: str, at: int) -> str:
    """The name behind `--- ` or `+++ `, as it is written there; a tab ends it."""
    quoted = _QUOTED.match(text)
    return _unquoted(quoted[1], at) if quoted else text.partition("\t")[0]


def whole_name(text: str, at: int) -> str:
    """The name behind `rename from ` and its like: all of the line, or what is quoted in front."""
    quoted = _QUOTED.match(text)
    return _unquoted(quoted[1], at) if quoted else text


def stripped(name: str, at: int) -> str:
    """Without its first part, which tells the two sides of a git diff apart."""
    _, slash, rest = name.partition("/")
    if not slash or not rest:
        raise bad_patch(at, f"{name!r} has no part to leave out: write a/{name} and b/{name}.")
    return rest


def stripped_pair(old: str, new: str, at: int) -> tuple[str, str]:
    """Both names of a diff that no git header begins; NOTHING stays as it is.

    Two names that are the same are the file's own, since nothing tells their sides apart.
    """
    named = [name for name in (old, new) if name != NOTHING]
    prefixed = all(name.startswith(("a/", "b/")) for name in named)
    if not prefixed and (len(set(named)) == 1 or not any("/" in name for name in named)):
        return old, new
    first, second = (name if name == NOTHING else stripped(name, at) for name in (old, new))
    return first, second


def git_names(line: str, at: int) -> str | None:
    """The name that both sides of `diff --git` have, where they have the same."""
    rest = line.removeprefix("diff --git ").rstrip("\n")
    quoted = _QUOTED.match(rest)
    if quoted:
        first, second = _unquoted(quoted[1], at), _second(rest[quoted.end() + 1 :], at)
        return _same(first, second)
    for place in _blanks_between(rest):
        name = _same(rest[:place], _second(rest[place + 1 :], at))
        if name is not None:
            return name
    return None


def _second(text: str, at: int) -> str:
    quoted = _QUOTED.fullmatch(text)
    return _unquoted(quoted[1], at) if quoted else text


def _blanks_between(rest: str) -> Iterator[int]:
    """The blanks that may stand between the two names: those behind which a name may be quoted,
    and the one, if any, that leaves as much behind a slash on either side.
    """
    first, second = rest.find("/"), -1
    for place in (found.start() for found in _BLANK.finditer(rest)):
        if rest.startswith('"', place + 1):
            yield place
            continue
        if second <= place:
            second = rest.find("/", place)
            if second < 0:
                second = len(rest)
        if place - first == len(rest) - second:
            yield place


def _same(first: str, second: str) -> str | None:
    names = {name.partition("/")[2] for name in (first, second)}
    return names.pop() or None if len(names) == 1 else None


def checked(name: str, at: int) -> str:
    """A path that git would take: below the folder it is applied in."""
    if name.startswith("/") or {"", ".", ".."} & {*name.split("/")} or "\0" in name:
        raise bad_patch(at, f"{name!r} is no plain path relative to the workspace.")
    return name


def _unquoted(text: str, at: int) -> str:
    def one(found: re.Match[bytes]) -> bytes:
        said = found[1].decode("latin-1")
        if len(said) == 1 and said not in _ESCAPES:
            raise bad_patch(at, f"a quoted name has an unknown escape \\{said}.")
        return bytes([_ESCAPES[said] if said in _ESCAPES else int(said, 8) & 255])

    written = _ESCAPE.sub(one, text.encode("utf-8", "surrogatepass"))
    try:
        return written.decode("utf-8")
    except UnicodeDecodeError:
        raise bad_patch(
            at, f'"{text[:200]}" is no UTF-8, and only such names are patched.'
        ) from None
