"""The rules of a `.gitignore`: which entries of a directory a project does not count as its own.

Pure. The file is a stranger's: one rule takes at most as many steps as pattern times path have
characters, and whoever asks can give up between two rules. Of git's rules all that concern one file
of patterns are here; a person's own excludes and the index are not.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice

import msgspec

MOST_RULES = 1_000
LONGEST_PATTERN = 400
_ANY_PARTS = "**"


class _One(msgspec.Struct, frozen=True):
    """Exactly one character: one of these, or none of these; no characters and negated: any."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool

    def fits(self, character: str) -> bool:
        inside = any(low <= character <= high for low, high in self.ranges)
        return inside is not self.negated


_STAR = None
_ANY = _One((), negated=True)
Token = _One | None
"""None is a star: any number of characters."""


class IgnoreRule(msgspec.Struct, frozen=True):
    """One line."""

    parts: tuple[tuple[Token, ...] | None, ...]
    """By directory; None stands for any number of directories."""
    keeps: bool
    """It takes back what an earlier line ignores."""
    directories_only: bool


def read_rules(text: str) -> tuple[IgnoreRule, ...]:
    """The rules of a file, in its order; lines that are none are passed over."""
    rules = (_rule(line) for line in text.split("\n"))
    return tuple(islice((rule for rule in rules if rule is not None), MOST_RULES))


def _verdict(
    rules: Sequence[IgnoreRule], path: str, *, is_directory: bool, go_on: Callable[[], bool]
) -> bool | None:
    """Whether a path below the rules' directory is ignored; None: no rule speaks of it."""
    names = path.split("/")
    for rule in reversed(rules):
        if not go_on():
            raise GivenUp
        if rule.directories_only and not is_directory:
            continue
        if _parts_fit(rule.parts, names):
            return not rule.keeps
    return None


def _rule(line: str) -> IgnoreRule | None:
    line = _trimmed(line.removesuffix("\r"))
    if not line or line.startswith("#") or len(line) > LONGEST_PATTERN:
        return None
    keeps = line.startswith("!")
    pattern = line[1:] if keeps else line
    directories_only = pattern.endswith("/")
    pattern = pattern.removesuffix("/")
    anchored = "/" in pattern
    names = _names(pattern.removeprefix("/"))
    if not pattern or names == [""]:
        return None
    parts: list[tuple[Token, ...] | None] = [] if anchored else [None]
    for place, name in enumerate(names):
        if name == _ANY_PARTS and anchored:
            parts.append(None)
            if place == len(names) - 1:
                parts.append((_STAR,))  # everything inside, and not the directory itself
            continue
        tokens = _tokens(name)
        if tokens is None:
            return None
        parts.append(tokens)
    return IgnoreRule(tuple(parts), keeps, directories_only)


def _names(pattern: str) -> list[str]:
    """The patterns of its directories. A slash in a class of characters parts nothing."""
    found, begun, place = list[str](), 0, 0
    while place < len(pattern):
        character = pattern[place]
        place += 1
        if character == "/":
            found.append(pattern[begun : place - 1])
            begun = place
        elif character == "\\" and pattern[place : place + 1] != "/":
            place += 1
        elif character == "[":
            ended, place = _class(pattern, place)
            if ended is None:
                break  # it fits nothing, and neither does what it stands in
    return [*found, pattern[begun:]]


def _trimmed(line: str) -> str:
    """Without blanks at its end, but for one behind a backslash."""
    kept = line.rstrip(" ")
    slashes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if slashes % 2 and len(kept) < len(line) else kept


def _tokens(name: str) -> tuple[Token, ...] | None:
    """The tokens of one directory's pattern; None: it fits nothing."""
    found: list[Token] = []
    place = 0
    while place < len(name):
        character = name[place]
        place += 1
        if character == "*":
            if not found or found[-1] is not _STAR:
                found.append(_STAR)
        elif character == "?":
            found.append(_ANY)
        elif character == "[":
            one, place = _class(name, place)
            if one is None:
                return None
            found.append(one)
        elif character == "\\":
            if place == len(name):
                return None
            found.append(_literal(name[place]))
            place += 1
        else:
            found.append(_literal(character))
    return tuple(found)


@lru_cache(maxsize=1024)
def _literal(character: str) -> _One:
    return _One(((character, character),), negated=False)


def _class(name: str, place: int) -> tuple[_One | None, int]:
    """A class of characters from behind its bracket; None: it does not end."""
    negated = name[place : place + 1] in ("!", "^")
    place += negated
    ranges: list[tuple[str, str]] = []
    first = True
    while place < len(name):
        if name[place] == "]" and not first:
            return _One(tuple(ranges), negated=negated), place + 1
        first = False
        low, place = _member(name, place)
        high = low
        if name[place : place + 1] == "-" and name[place + 1 : place + 2] not in ("", "]"):
            high, place = _member(name, place + 1)
        ranges.append((low, high))
    return None, place


def _member(name: str, place: int) -> tuple[str, int]:
    if name[place] == "\\" and place + 1 < len(name):
        place += 1
    return name[place], place + 1


def _parts_fit(parts: Sequence[tuple[Token, ...] | None], names: Sequence[str]) -> bool:
    """Whether all directories of a path fit, each by its pattern, some by any number of them."""
    reached = {0}
    for part in parts:
        if part is None:
            reached = set(range(min(reached), len(names) + 1)) if reached else reached
        else:
            reached = {at + 1 for at in reached if at < len(names) and _fits(part, names[at])}
        if not reached:
            return False
    return len(names) in reached


def _fits(tokens: Sequence[Token], name: str) -> bool:
    """Whether a name fits, going back to the last star alone: earlier ones need no second look."""
    if _STAR not in tokens:
        return len(tokens) == len(name) and _all_fit(tokens, name)
    # What comes behind the last star can stand at the end of the name only.
    size = next(at for at, token in enumerate(reversed(tokens)) if token is _STAR)
    end = len(name) - size
    if end < 0 or not _all_fit(tokens[len(tokens) - size :], name[end:]):
        return False
    return _fits_before(tokens[: len(tokens) - size], name[:end])


def _all_fit(tokens: Sequence[Token], name: str) -> bool:
    pairs = zip(tokens, name, strict=True)
    return all(one is not None and one.fits(character) for one, character in pairs)


def _fits_before(tokens: Sequence[Token], name: str) -> bool:
    """The same for tokens that end with a star."""
    at, token, star, behind = 0, 0, -1, 0
    while at < len(name):
        wanted = tokens[token] if token < len(tokens) else _NOTHING
        if wanted is None:
            star, behind = token, at
            token += 1
            if token == len(tokens):
                return True
        elif wanted.fits(name[at]):
            at, token = at + 1, token + 1
        elif star >= 0:
            behind += 1
            at, token = behind, star + 1
        else:
            return False
    return all(rest is _STAR for rest in tokens[token:])


_NOTHING = _One((), negated=False)


class GivenUp(Exception):
    """Whoever asked wants to know no more."""


def ignored(
    layers: Iterable[tuple[str, Sequence[IgnoreRule]]],
    path: str,
    *,
    is_directory: bool,
    go_on: Callable[[], bool] = lambda: True,
) -> bool:
    """What the rules of all directories above a path say together; the deepest has the word.

    ``layers``: by directory (`""` is the top), its rules; the deepest first. ``go_on`` is asked
    before each rule; GivenUp where it says no.
    """
    for above, rules in layers:
        below = path[len(above) + 1 :] if above else path
        said = _verdict(rules, below, is_directory=is_directory, go_on=go_on)
        if said is not None:
            return said
    return False
