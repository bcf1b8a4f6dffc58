"""What to write into an entry, from what a refusal names."""

import json

import pytest

from holdfast.contract.json_value import JsonObject
from holdfast.contract.requirements import requirement_set
from holdfast.sources.manifest.advice import wider_entry

WORKSPACE: JsonObject = {"fs": {"read": ["{workspace}/**"]}}
FULL: JsonObject = {
    "fs": {"read": ["a"], "write": ["b"]},
    "shell": [{"cmd": "git", "args": [{"prefix": "x"}]}],
    "capabilities": ["memory.read"],
}


@pytest.mark.parametrize(
    ("wanted", "has", "names_reads", "needs"),
    [
        ("net.hosts = ['h:1']", WORKSPACE, False, {"net": {"hosts": ["h:1"]}}),
        ("fs.read = ['x']", WORKSPACE, False, {"fs": {"read": ["{workspace}/**", "x"]}}),
        ("fs.write = ['out/**']", {}, True, {"fs": {"read": [], "write": ["out/**"]}}),
        ("fs.write = ['b']", FULL, True, FULL),
        ("net.hosts = ['h']", FULL, True, {**FULL, "net": {"hosts": ["h"]}}),
    ],
)
def test_what_an_entry_has_stays_when_it_gets_what_it_wants(
    wanted: str, has: JsonObject, names_reads: bool, needs: JsonObject
) -> None:
    written = wider_entry(f"requires.{wanted}", requirement_set(has), names_reads=names_reads)
    assert written is not None
    assert json.loads(f"{{{written}}}") == {"requires": needs}
    assert requirement_set(needs)


@pytest.mark.parametrize(
    "wanted",
    [
        None,
        "requires.fs.read = ['x'] or requires.fs.write = ['x']",
        "requires.shell = [{'cmd': 'rm'}]",
        "requires.fs.read",
    ],
)
def test_where_it_is_not_clear_what_is_wanted_nothing_is_advised(wanted: str | None) -> None:
    assert wider_entry(wanted, requirement_set({}), names_reads=False) is None
