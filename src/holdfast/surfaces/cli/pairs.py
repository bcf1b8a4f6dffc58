"""`key=value` words into arguments: text as text, `key:=JSON` as what the JSON says.

A text value is sent as text; the repairs make it a number or a list where the tool wants one.
"""

import json
from collections.abc import Iterable
from shlex import quote

import msgspec

from holdfast.surfaces.cli.parsing import UsageError

_SHOWN = 60
"""So much of a word is repeated."""
_BEGINNINGS = ("[", "{", '"')
"""What JSON begins with that is more than one word."""


def arguments_from(pairs: Iterable[str]) -> dict[str, object]:
    """Read the words; raises UsageError."""
    arguments: dict[str, object] = {}
    for pair in pairs:
        key, value = _read(pair)
        if key in arguments:
            raise UsageError(f'{key!r} is given twice; give a list as {key}:=\'["a", "b"]\'')
        arguments[key] = value
    return arguments


def _read(pair: str) -> tuple[str, object]:
    left, equals, text = pair.partition("=")
    is_json = left.endswith(":")
    key = left.removesuffix(":")
    if not equals or not key:
        raise UsageError(f"{pair!r} is not an argument; write key=value, or key:=JSON")
    return key, _json_in(text, pair, key) if is_json else text


def _json_in(text: str, pair: str, key: str) -> object:
    try:
        return msgspec.json.decode(text.encode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError) as problem:
        said = f"{pair[:_SHOWN]!r}: what follows := is not JSON"
        if text.startswith(_BEGINNINGS):
            raise UsageError(f"{said} ({problem}); correct it, or send text with =") from None
        shown = text[:_SHOWN]
        plain, quoted = quote(f"{key}={shown}"), quote(json.dumps(shown, ensure_ascii=False))
        raise UsageError(f"{said}; for a text write {plain} or {key}:={quoted}") from None
