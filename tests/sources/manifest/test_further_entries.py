"""What entries of a manifest require, what no machine could call, and whatever else is written."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.requirements import requirement_set
from holdfast.sources.manifest.entries import (
    Manifest,
    ManifestEntry,
    ManifestProblem,
    load_manifest,
)

FOLDER = "/srv/m"


def loaded(*entries: JsonValue) -> tuple[ManifestEntry, ...]:
    found = load_manifest(json.dumps({"tools": [*entries]}).encode(), FOLDER)
    assert isinstance(found, Manifest), found
    return found.entries


def refused(*entries: JsonValue) -> str:
    found = load_manifest(json.dumps({"tools": [*entries]}).encode(), FOLDER)
    assert isinstance(found, ManifestProblem)
    return found.text


def entry(**keys: JsonValue) -> JsonObject:
    return {"name": "t", "command": ["/bin/true"], **keys}


def test_what_an_entry_requires_is_read_as_every_tools_is() -> None:
    declared: JsonObject = {
        "fs": {"read": ["{workspace}/**"], "write": ["out/**"]},
        "net": {"hosts": ["example.com"]},
        "shell": [{"cmd": "git", "args": ["status", {"wildcard": True}]}],
        "capabilities": ["memory.read"],
    }
    (found,) = loaded(entry(requires=declared))
    assert found.requires == requirement_set(declared)
    (nothing,) = loaded(entry(requires={}))
    assert nothing.requires == requirement_set({})


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        (True, "requires must be an object"),
        ({"files": []}, "requires: Object contains unknown field `files`"),
        ({"fs": {"reed": []}}, "requires: Object contains unknown field `reed` - at `$.fs`"),
        ({"fs": {"read": "x"}}, "requires: Expected `array`, got `str` - at `$.fs.read`"),
        ({"fs": {"read": ["{home}/x"]}}, "requires: pattern '{home}/x': unknown variable {home}"),
        ({"shell": [{"cmd": "/bin/x"}]}, "requires: shell.cmd must be the bare name"),
    ],
)
def test_what_is_wrong_with_requires_names_the_entry(declared: JsonValue, said: str) -> None:
    assert refused(entry(name="a"), entry(requires=declared)).startswith(f'tool[1] "t": {said}')


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({"name": "a\tb"}, 'tool[0] "a\\tb": name cannot hold control characters'),
        ({"command": ["/x", "\0"]}, 'tool[0] "t": command[1] cannot hold a NUL character'),
    ],
)
def test_what_no_machine_can_call_is_refused(keys: JsonObject, said: str) -> None:
    assert refused(entry(**keys)) == said


ANYTHING: st.SearchStrategy[JsonValue] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["name", "command", "schema", "timeoutSec", "envPassthrough", "requires", "tools"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(ANYTHING, max_size=3))
def test_whatever_is_written_is_entries_or_a_problem(entries: list[JsonValue]) -> None:
    found = load_manifest(json.dumps({"tools": entries}).encode(), FOLDER)
    if isinstance(found, Manifest):
        assert len(found.entries) == len(entries)
        assert all(one.name.strip() and one.command[0].startswith("/") for one in found.entries)
    else:
        assert found.text.startswith(("parse manifest: ", "tool["))


@given(st.binary(max_size=60))
def test_whatever_bytes_there_are_nothing_is_raised(content: bytes) -> None:
    assert isinstance(load_manifest(content, FOLDER), (Manifest, ManifestProblem))
