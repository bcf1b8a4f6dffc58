"""The suite of manifests: what a file gives, or the words in which it is refused."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.runtime.definitions import function_definition
from holdfast.sources.manifest.entries import Manifest, ManifestEntry, ManifestProblem
from holdfast.sources.manifest.reading import read_manifest
from holdfast.testing.conformance.case import Case, differs, text

_FOLDER = "<MANIFEST_DIR>"
_FILE = "tools.json"
_CHECKED = frozenset({"name", "command", "env", "timeoutSec", "openai"})


def check(case: Case) -> Iterator[str]:
    """Judge one case, in a folder of its own."""
    with TemporaryDirectory() as folder:
        yield from _judged(case, Path(folder).resolve())


def _judged(case: Case, folder: Path) -> Iterator[str]:
    found = read_manifest(_written(case, folder))
    if "expect_error" not in case:
        raise ValueError("the case does not say which error it expects, or null for none")
    wanted = _placed(case["expect_error"], folder)
    if isinstance(found, ManifestProblem):
        yield from _refused(found, wanted, case.get("match", "exact"))
    elif wanted is not None:
        yield f"error: expected {wanted!r}, got none"
    else:
        yield from _loaded(found, _placed(case.get("expect_tools"), folder))


def _written(case: Case, folder: Path) -> Path:
    """The manifest as a file."""
    if "path" in case:
        return Path(text(case, "path").replace(_FOLDER, str(folder)))
    path = folder / _FILE
    if "raw" in case:
        path.write_bytes(text(case, "raw").encode())
    elif "manifest" in case:
        path.write_bytes(msgspec.json.encode(case["manifest"]))
    else:
        raise ValueError("the case has neither manifest, raw nor path")
    return path


def _placed(value: JsonValue, folder: Path) -> JsonValue:
    """The same with the folder's name wherever the case leaves it open."""
    match value:
        case str():
            return value.replace(_FOLDER, str(folder))
        case list():
            return [_placed(item, folder) for item in value]
        case dict():
            return {key: _placed(item, folder) for key, item in value.items()}
        case _:
            return value


def _refused(found: ManifestProblem, wanted: JsonValue, match: JsonValue) -> Iterator[str]:
    begins = match == "prefix" and isinstance(wanted, str) and found.text.startswith(wanted)
    if not begins:
        yield from differs("error", found.text, wanted)


def _loaded(found: Manifest, wanted: JsonValue) -> Iterator[str]:
    if not isinstance(wanted, list):
        raise ValueError("the case does not say which tools it expects")
    if len(found.entries) != len(wanted):
        yield f"tools: expected {len(wanted)}, got {len(found.entries)}"
        return
    for at, (entry, expected) in enumerate(zip(found.entries, wanted, strict=True)):
        if not isinstance(expected, dict):
            raise ValueError(f"the case expects no object as tool {at}")
        facts = _facts(entry)
        for key, value in expected.items():
            if key not in _CHECKED:
                yield f"the case expects {key!r} of a tool, which this version does not check"
            yield from differs(f"tools[{at}].{key}", facts.get(key), _limit(key, value))


def _facts(entry: ManifestEntry) -> JsonObject:
    exported = function_definition(entry.name, entry.description, entry.schema)
    return {
        "name": entry.name,
        "command": [*entry.command],
        "env": [*entry.passed],
        "timeoutSec": entry.timeout_seconds,
        "openai": msgspec.json.decode(msgspec.json.encode(exported)),
    }


def _limit(key: str, value: JsonValue) -> JsonValue:
    """Nought or less stands for the default, as does nothing at all."""
    if key == "timeoutSec" and isinstance(value, int) and not isinstance(value, bool):
        return value if value > 0 else None
    return value
