"""Keys of a manifest that its writer probably meant as others. Pure.

The format passes over what it does not know, so that other loaders can have keys of their own. What
is near to a key it knows is told of, and the rest is not.
"""

import difflib
from collections.abc import Iterator

import msgspec

from holdfast.contract.json_value import JsonObject, decode_json
from holdfast.sources.manifest.advice import DOTTED, nested, written
from holdfast.sources.manifest.parsing import WrittenEntry
from holdfast.sources.manifest.quoting import quoted

_ROOT = ("tools",)
_ENTRY = tuple(field.encode_name for field in msgspec.structs.fields(WrittenEntry))
_ELSEWHERE = {
    "inputschema": "schema",
    "parameters": "schema",
    "params": "schema",
    "arguments": "schema",
    "timeout": "timeoutSec",
    "timeoutseconds": "timeoutSec",
    "timeoutms": "timeoutSec",
    "cmd": "command",
    "program": "command",
    "exec": "command",
    "args": "command",
    "env": "envPassthrough",
    "environment": "envPassthrough",
    "title": "name",
    "id": "name",
    "permissions": "requires",
}
"""By what it is called elsewhere, in small letters."""
_ALIKE = 0.75


def key_doubts(content: bytes) -> tuple[str, ...]:
    """What to say of keys that are passed over; nothing of a text that is no manifest."""
    try:
        document = decode_json(content)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(document, dict):
        return ()
    return (*_of_root(document), *_of_entries(document))


def _of_root(document: JsonObject) -> Iterator[str]:
    yield from _passed_over(document, _ROOT)
    if "tools" not in document:
        yield 'there is no "tools" in it, so that it declares no tool'


def _of_entries(document: JsonObject) -> Iterator[str]:
    entries = document.get("tools")
    for index, entry in enumerate(entries if isinstance(entries, list) else ()):
        if isinstance(entry, dict):
            name = entry.get("name")
            named = f" {quoted(name)}" if isinstance(name, str) else ""
            doubts = (*_passed_over(entry, _ENTRY), *_dotted(entry))
            yield from (f"tool[{index}]{named}: {said}" for said in doubts)


def _dotted(entry: JsonObject) -> Iterator[str]:
    """Requirements are spoken of as requires.net.hosts, and written in another way."""
    found = {f"requires.{name}": name for name in DOTTED} | {name: name for name in DOTTED}
    keys = [key for key in entry if key in found]
    if keys:
        inside = entry.get("requires")
        lists = {found[key]: entry[key] for key in keys}
        meant = nested(lists, inside if isinstance(inside, dict) else None)
        listed = ", ".join(map(quoted, keys))
        is_one = len(keys) == 1
        said = "is no key of a manifest and is" if is_one else "are no keys of a manifest and are"
        yield f"{listed} {said} passed over; write {written(meant)}"


def _passed_over(found: JsonObject, known: tuple[str, ...]) -> Iterator[str]:
    for key in found:
        meant = None if key in known else meant_key(key, known)
        if meant is not None and meant not in found:
            yield f"{quoted(key)} is no key of a manifest and is passed over; write {quoted(meant)}"


def meant_key(key: str, known: tuple[str, ...]) -> str | None:
    """The known key that a person probably meant; None: nobody knows."""
    plain = key.lower().replace("_", "").replace("-", "")
    elsewhere = _ELSEWHERE.get(plain)
    if elsewhere in known:
        return elsewhere
    by_plain = {one.lower(): one for one in known}
    near = difflib.get_close_matches(plain, by_plain, n=1, cutoff=_ALIKE)
    return by_plain[near[0]] if near else None
