"""`key=value` words into arguments: text as text, `key:=JSON` as what the JSON says.

A text value is sent as text; the repairs make it a number or a list where the tool wants one.
"""

from collections.abc import Iterable

import msgspec

from holdfast.surfaces.cli.parsing import UsageError


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
    return key, _json_in(text, pair) if is_json else text


def _json_in(text: str, pair: str) -> object:
    try:
        return msgspec.json.decode(text.encode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError) as problem:
        raise UsageError(f"{pair!r}: what follows := is not JSON ({problem}); quote it") from None
