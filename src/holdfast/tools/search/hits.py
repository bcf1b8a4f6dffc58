"""From whatever a provider answers to hits that can be shown. Pure.

An answer is a stranger's: nothing in it is taken to have the shape it should have.
"""

import html
import re
from collections.abc import Iterable, Iterator
from typing import cast

import msgspec

from holdfast.contract.json_value import JsonValue
from holdfast.contract.searching import NotSearched, SearchHit

_LONGEST_TITLE = 300
_LONGEST_SNIPPET = 1_000
_LONGEST_URL = 2_000
_LONGEST_READ = 20_000
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_WEB = re.compile(r"https?://[^\s/?#\\]+[^\s\\]*", re.IGNORECASE)


def answer_in(content: bytes) -> JsonValue:
    """The JSON of an answer; NotSearched when it is none."""
    try:
        return cast("JsonValue", msgspec.json.decode(content))
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError):
        raise NotSearched("its answer is no JSON") from None


def at(value: JsonValue, *path: str) -> JsonValue:
    """What is there below names; None when nothing is."""
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def hits_of(
    listed: JsonValue, count: int, *, url: str, title: str, snippet: str
) -> list[SearchHit]:
    """The first hits of a list of objects, each URL once; what has no URL of the web is none."""
    if not isinstance(listed, list):
        raise NotSearched("its answer holds no list of results")
    found: dict[str, SearchHit] = {}
    for address, one in _with_addresses(listed, url):
        if len(found) >= count:
            break
        hit = SearchHit(
            title=shown(at(one, title), _LONGEST_TITLE) or address,
            url=address,
            snippet=shown(at(one, snippet), _LONGEST_SNIPPET),
        )
        found.setdefault(address, hit)
    return list(found.values())


def shown(value: JsonValue, most: int) -> str:
    """A text on one line, without markup and not too long; empty for what is no text."""
    if not isinstance(value, str):
        return ""
    return on_one_line(html.unescape(_TAG.sub("", value[:_LONGEST_READ])), most)


def on_one_line(value: JsonValue, most: int) -> str:
    """A text on one line, as it is but for blanks, and not too long; empty for what is no text."""
    if not isinstance(value, str):
        return ""
    text = value[:_LONGEST_READ]
    line = " ".join("".join(sign if sign.isprintable() else " " for sign in text).split())
    return line if len(line) <= most else line[: most - 1].rstrip() + "…"


def web_address(value: JsonValue) -> str | None:
    """A URL of the web; None for anything else."""
    if not isinstance(value, str) or len(value) > _LONGEST_URL or not value.isprintable():
        return None
    return value if _WEB.fullmatch(value) else None


def _with_addresses(listed: Iterable[JsonValue], name: str) -> Iterator[tuple[str, JsonValue]]:
    for one in listed:
        address = web_address(at(one, name))
        if address is not None:
            yield address, one
