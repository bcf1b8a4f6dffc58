"""One small glob language, for paths, for command lines and for hosts.

    *       any characters; in a path they stay in one segment
    **      as a whole segment of a path: any number of segments, none included
    ?       one character; in a path not a separator
    {a,b}   either; a group without a comma is plain text
    \\x      the character x itself
    docs/   at the end of a path pattern: that place and everything under it

Brackets are plain text. It knows neither files nor variables, and it normalises nothing: what is
written is what is compared, case included.

A hostile pattern cannot make matching slow. Alternatives are written out beforehand, a bounded
number of them; what then lies between two stars has a fixed length, so its leftmost place is as
good as any other and nothing is ever tried twice (hence the atomic groups).
"""

import re
from collections.abc import Callable, Iterator
from enum import Enum
from functools import lru_cache
from itertools import groupby
from typing import Literal, TypeAlias

from holdfast.contract.late_pattern import late_pattern

Flavour: TypeAlias = Literal["path", "text"]
Matches: TypeAlias = Callable[[str], bool]

LONGEST_PATTERN = 4096
MOST_ALTERNATIVES = 256
LONGEST_WRITTEN_OUT = 16_384
DEEPEST_NESTING = 8

_SPECIAL = late_pattern(r"[\\*?{},]")


class GlobProblem(ValueError):
    """A pattern that is too large to be one."""


class _Sign(Enum):
    """What a character means where it is not plain text; its value is the plain text."""

    ONE = "?"
    STAR = "*"
    STARS = "**"
    OPEN = "{"
    COMMA = ","
    CLOSE = "}"
    SEPARATOR = "/"


_PIECE = late_pattern(r"\*+|\\?.", re.DOTALL)
_SIGNS = {sign.value: sign for sign in _Sign}

_Token: TypeAlias = str | _Sign
_Tokens: TypeAlias = tuple[_Token, ...]
_WILD = (_Sign.ONE, _Sign.STAR, _Sign.STARS)


@lru_cache(maxsize=1024)
def compile_glob(pattern: str, flavour: Flavour) -> Matches:
    """What tells whether a text fits the whole pattern."""
    alternatives = _alternatives(pattern)
    if flavour == "path":
        alternatives = tuple(map(_with_subtree, alternatives))
    if not any(sign in tokens for tokens in alternatives for sign in _WILD):
        return frozenset(map(_plain, alternatives)).__contains__
    if flavour == "path":
        if len(alternatives) == 1 and (subtree := _plain_subtree(alternatives[0])) is not None:
            below = subtree + "/"
            return lambda text: text.startswith(below) or text == subtree
        fits = re.compile("|".join(map(_path_expression, alternatives)), re.DOTALL).fullmatch
        # Every segment ends with a separator, the last one too: no ending is a special case.
        return lambda text: fits(text + "/") is not None
    fits = re.compile("|".join(map(_text_expression, alternatives)), re.DOTALL).fullmatch
    return lambda text: fits(text) is not None


def specificity(pattern: str) -> tuple[int, int, int]:
    """Greater is more specific: no wildcard, then more plain characters, then fewer wildcards.

    A run of stars is one wildcard, and so is the separator at the end that means a subtree.
    Alternatives are as specific as the least specific of them.
    """
    return min(_weight(tokens) for tokens in _alternatives(pattern))


def is_open(pattern: str) -> bool:
    """Whether it has a wildcard: more texts may fit it than its author saw."""
    return specificity(pattern)[0] == 0


def escaped(text: str) -> str:
    """The pattern that fits exactly this text, in both flavours."""
    pattern = _SPECIAL.sub(r"\\\g<0>", text)
    return pattern[:-1] + "\\/" if pattern.endswith("/") else pattern


def written_out(pattern: str) -> list[str]:
    """The patterns without alternation that together say the same."""
    return ["".join(map(_spelled, tokens)) for tokens in _alternatives(pattern)]


def path_segments(pattern: str) -> list[tuple[str, ...]]:
    """The same for a path, segment by segment; a subtree ends with ``**``."""
    return [
        tuple("".join(map(_spelled, segment)) for segment in _segments(_with_subtree(tokens)))
        for tokens in _alternatives(pattern)
    ]


def plain_text(pattern: str) -> str | None:
    """The only text the pattern fits, escapes taken away; None when there may be others."""
    first, *others = _alternatives(pattern)
    return None if others or any(sign in first for sign in _WILD) else _plain(first)


def _weight(tokens: _Tokens) -> tuple[int, int, int]:
    subtree = int(bool(tokens) and tokens[-1] is _Sign.SEPARATOR)
    wildcards = subtree + sum(token in _WILD for token in tokens)
    plain = sum(token not in _WILD for token in tokens)
    return (int(not wildcards), plain, -wildcards)


@lru_cache(maxsize=1024)
def _alternatives(pattern: str) -> tuple[_Tokens, ...]:
    if len(pattern) > LONGEST_PATTERN:
        raise GlobProblem(
            f"a pattern has at most {LONGEST_PATTERN} characters; this one has {len(pattern)}:"
            f" {pattern[:60]!r}..."
        )
    tokens = tuple(_tokens(pattern))
    return tuple(_written_out(tokens, _groups(tokens, pattern), pattern))


def _tokens(pattern: str) -> Iterator[_Token]:
    for piece in _PIECE.finditer(pattern):
        found = piece.group()
        if found.startswith("*"):
            yield _Sign.STAR if len(found) == 1 else _Sign.STARS
        elif len(found) > 1:
            yield found[1]
        else:
            yield _SIGNS.get(found, found)


def _groups(tokens: _Tokens, pattern: str) -> dict[int, list[int]]:
    """Where each alternation begins, its commas, and its end."""
    groups: dict[int, list[int]] = {}
    begun: list[list[int]] = []
    for place, token in enumerate(tokens):
        if token is _Sign.OPEN:
            begun.append([place])
        elif token is _Sign.COMMA and begun:
            begun[-1].append(place)
        elif token is _Sign.CLOSE and begun:
            start, *commas = begun.pop()
            if commas:
                groups[start] = [*commas, place]
                if len(begun) >= DEEPEST_NESTING:
                    raise GlobProblem(
                        f"braces nest at most {DEEPEST_NESTING} deep: {pattern[:60]!r}"
                    )
    return groups


def _written_out(tokens: _Tokens, groups: dict[int, list[int]], pattern: str) -> list[_Tokens]:
    def between(place: int, end: int) -> list[_Tokens]:
        found: list[_Tokens] = [()]
        while place < end:
            marks = groups.get(place)
            if marks is None:
                stop = next((at for at in range(place, end) if at in groups), end)
                choices, place = [tokens[place:stop]], stop
            else:
                pairs = zip([place, *marks], marks, strict=False)
                choices = [choice for first, last in pairs for choice in between(first + 1, last)]
                place = marks[-1] + 1
            check(found, choices)
            found = [before + choice for before in found for choice in choices]
        return found

    def check(found: list[_Tokens], choices: list[_Tokens]) -> None:
        many = len(found) * len(choices)
        long = len(choices) * sum(map(len, found)) + len(found) * sum(map(len, choices))
        if many > MOST_ALTERNATIVES or (many > 1 and long > LONGEST_WRITTEN_OUT):
            raise GlobProblem(
                f"a pattern stands for at most {MOST_ALTERNATIVES} alternatives of"
                f" {LONGEST_WRITTEN_OUT} characters together: {pattern[:60]!r}"
            )

    return between(0, len(tokens))


def _with_subtree(tokens: _Tokens) -> _Tokens:
    return (*tokens, _Sign.STARS) if tokens and tokens[-1] is _Sign.SEPARATOR else tokens


def _plain_subtree(tokens: _Tokens) -> str | None:
    """The place that is a pattern's only meaning, with everything below it: the usual pattern."""
    *place, separator, last = tokens if len(tokens) > 1 else (*tokens, "", "")
    if last is not _Sign.STARS or separator is not _Sign.SEPARATOR:
        return None
    return None if any(sign in place for sign in _WILD) else _plain(tuple(place))


def _plain(tokens: _Tokens) -> str:
    return "".join(token if isinstance(token, str) else token.value for token in tokens)


def _spelled(token: _Token) -> str:
    if isinstance(token, str):
        # A separator that was escaped is not the one that means a subtree.
        return "\\/" if token == "/" else _SPECIAL.sub(r"\\\g<0>", token)
    return token.value if token in _WILD or token is _Sign.SEPARATOR else f"\\{token.value}"


def _text_expression(tokens: _Tokens) -> str:
    return _starred(tokens, any_one=".")


def _path_expression(tokens: _Tokens) -> str:
    """Blocks of segments with ``**`` between them."""
    blocks: list[list[str]] = [[]]
    for segment in _segments(tokens):
        if segment == (_Sign.STARS,):
            if len(blocks) == 1 or blocks[-1]:
                blocks.append([])
        else:
            blocks[-1].append(f"(?>{_starred(segment, any_one='[^/]')}/)")
    first, *middle = map("".join, blocks)
    if not middle:
        return first
    last = middle.pop()
    found_leftmost = "".join(f"(?>(?:[^/]*+/)*?{block})" for block in middle)
    return first + found_leftmost + (f"(?:[^/]*+/)*{last}" if last else ".*")


def _segments(tokens: _Tokens) -> Iterator[_Tokens]:
    segment: list[_Token] = []
    for token in tokens:
        if token is _Sign.SEPARATOR or token == "/":
            yield tuple(segment)
            segment = []
        else:
            segment.append(token)
    yield tuple(segment)


def _starred(tokens: _Tokens, any_one: str) -> str:
    pieces = [""]
    for is_star, run in groupby(tokens, lambda token: token in _WILD[1:]):
        if is_star:
            pieces.append("")
        else:
            pieces[-1] = "".join(
                any_one if token is _Sign.ONE else re.escape(_plain((token,))) for token in run
            )
    first, *middle = pieces
    if not middle:
        return first
    last = middle.pop()
    return first + "".join(f"(?>{any_one}*?{piece})" for piece in middle) + f"{any_one}*{last}"
