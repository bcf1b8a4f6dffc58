"""What needs no server: setups, variables, names, definitions, pins, lines, files of servers."""

import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.json_value import JsonObject, encode_json
from holdfast.contract.tool import LOCKED_NAMES
from holdfast.sources.mcp.definitions import (
    Definition,
    changed_fields,
    definition_in,
    difference,
    digest,
    offered,
)
from holdfast.sources.mcp.expansion import expand, expanded
from holdfast.sources.mcp.lines import Lines, TooLong
from holdfast.sources.mcp.naming import alias_of, names_of, owners_of, reduced
from holdfast.sources.mcp.pins import pin_of, quarantine
from holdfast.sources.mcp.setup import (
    BadSetup,
    ServerSetup,
    host_of,
    requirements_of,
)

VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-[^{}]*)?\}")
NOW = datetime(2026, 1, 2, tzinfo=UTC)
TEXTS = st.text(max_size=30)
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXTS, VALUES, max_size=3)
DEFINITIONS = st.builds(
    Definition,
    name=st.sampled_from(["a", "b"]),
    title=st.none() | TEXTS,
    description=st.none() | TEXTS,
    input_schema=OBJECTS,
    output_schema=st.none() | OBJECTS,
    annotations=st.none() | OBJECTS,
)
NAMES = st.text(st.sampled_from("a_."), min_size=1, max_size=4) | st.text(
    st.sampled_from("aB1_- .é/"), min_size=1, max_size=40
)


# --- names


TOOLS = st.lists(st.tuples(NAMES, NAMES), max_size=12)


@pytest.mark.req("SPEC-MCP-01")
@given(TOOLS, st.sets(st.sampled_from(["a_a", "web_search"])))
def test_every_tool_has_one_name_of_letters_digits_and_underscore(
    tools: list[tuple[str, str]], taken: set[str]
) -> None:
    names = names_of(tools, taken)
    assert set(names) == set(tools)
    assert len(set(names.values())) == len(names)
    for (server, _), name in names.items():
        assert re.fullmatch(r"[A-Za-z0-9_]{1,64}", name)
        assert name not in taken
        assert name not in LOCKED_NAMES
        assert server in owners_of(name, [one for one, _ in tools])
    assert names_of(reversed(tools), taken) == names


@given(TOOLS, st.sets(NAMES, max_size=4), st.data())
def test_a_name_does_not_depend_on_which_servers_are_there(
    tools: list[tuple[str, str]], others: set[str], data: st.DataObject
) -> None:
    """Two sessions that saw other servers never mean two tools by one name."""
    configured = {*others, *(server for server, _ in tools)}
    all_there = names_of(tools, (), configured)
    gone = data.draw(st.sets(st.sampled_from(sorted(configured)))) if configured else set[str]()
    some = [one for one in tools if one[0] not in gone]
    assert names_of(some, (), configured) == {one: all_there[one] for one in some}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("a.b", "c"), ("a_b", "c")),
        (("a", "b_c"), ("a_b", "c")),
        (("s", "x-y"), ("s", "x.y")),
        (("s", "x-y"), ("s", "x_y")),
    ],
)
def test_two_tools_that_reduce_to_one_name_have_two_whoever_is_there(
    first: tuple[str, str], second: tuple[str, str]
) -> None:
    configured = {first[0], second[0]}
    whole = names_of([first, second], (), configured)
    assert whole[first] != whole[second]
    if first[0] != second[0]:
        assert names_of([first], (), configured) == {first: whole[first]}
        assert names_of([second], (), configured) == {second: whole[second]}


@given(st.tuples(NAMES, NAMES))
def test_a_tool_alone_is_called_by_its_server_and_itself(named: tuple[str, str]) -> None:
    name = names_of([named])[named]
    plain = reduced(named)
    looks_suffixed = re.search(r"__[0-9a-f]{8,}$", plain) is not None
    if len(plain) <= 64 and plain not in LOCKED_NAMES and not looks_suffixed:
        assert name == plain
    assert alias_of(named) == f"mcp:{named[0]}:{named[1]}"


def test_a_plain_name_is_that_of_the_server_with_the_longest_name() -> None:
    names = names_of([("a_b", "c"), ("a", "b_c"), ("a", "c"), ("web", "search")])
    assert (names["a_b", "c"], names["a", "c"]) == ("a_b_c", "a_c")
    assert names["a", "b_c"].startswith("a_b_c__")
    assert names["web", "search"].startswith("web_search__")
    assert owners_of("a_b_c", ["a", "a_b", "b"]) == ("a_b",)
    assert owners_of(names["a", "b_c"], ["a", "a_b", "b"]) == ("a", "a_b")
    assert owners_of("x_c", ["a"]) == ()


def test_a_plain_name_that_looks_suffixed_gets_a_suffix() -> None:
    (suffixed,) = names_of([("a", "b_c")], (), ["a", "a_b"]).values()
    forged = ("a", suffixed.removeprefix("a_"))
    names = names_of([("a", "b_c"), forged], (), ["a", "a_b"])
    assert names["a", "b_c"] == suffixed
    assert names[forged].startswith(f"{suffixed}__")


def test_suffixes_that_meet_become_longer() -> None:
    (suffixed,) = names_of([("s", "x" * 70)]).values()
    (longer,) = names_of([("s", "x" * 70)], [suffixed]).values()
    assert len(suffixed) == len(longer) == 64
    assert longer.rpartition("__")[2].startswith(suffixed.rpartition("__")[2])


# --- definitions and pins


@given(DEFINITIONS)
def test_a_definition_survives_its_wire_form(definition: Definition) -> None:
    wire = cast("JsonObject", json.loads(encode_json(definition)))
    again = definition_in({**wire, "icons": [], "_meta": {}})
    assert digest(again) == digest(definition)
    assert changed_fields(definition, again) == []


@given(DEFINITIONS, DEFINITIONS)
def test_only_the_same_definition_passes_a_pin(old: Definition, new: Definition) -> None:
    pin = pin_of("s", {"server": "x"}, old, NOW)
    held = quarantine(new, {"server": "x"}, {old.name: pin})
    same = encode_json(old) == encode_json(new)
    assert (held is None) == (same or old.name != new.name)
    if held is not None:
        assert held.summary.startswith("its definition changed: ")
        assert changed_fields(old, new)
        assert held.diff.isascii()
        assert held.diff.startswith("--- ")


def test_true_and_one_are_not_the_same_schema() -> None:
    one, true = (Definition(name="a", input_schema={"const": value}) for value in (1, True))
    assert digest(one) != digest(true)
    assert changed_fields(one, true) == ["inputSchema"]


@given(DEFINITIONS)
def test_another_server_under_the_name_is_another_tool(definition: Definition) -> None:
    same: JsonObject = {"server": ["x", "a b"], "sha256": "1"}
    pin = pin_of("s", same, definition, NOW)
    for identity, said in (
        ({"server": ["y"], "sha256": "2"}, "its server is another one"),
        ({**same, "sha256": "2"}, "is started or reached in another way"),
    ):
        held = quarantine(definition, cast("JsonObject", identity), {definition.name: pin})
        assert held is not None
        assert held.summary.endswith(said)
        new = Definition(name="new")
        assert quarantine(new, cast("JsonObject", identity), {definition.name: pin}) is not None
    assert quarantine(Definition(name="new"), same, {definition.name: pin}) is None
    assert quarantine(definition, {**same, "server": "shown"}, {definition.name: pin}) is None
    assert quarantine(definition, same, {}) is None


def test_nothing_in_a_difference_can_hide() -> None:
    old, new = Definition(name="a"), Definition(name="a", description="x\u202e\u200b\x1b[2J\n+y")
    shown = difference(old, new, "a\u202e\nb")
    assert "\\u202e" in shown
    assert "\x1b" not in shown
    assert shown.splitlines()[0] == "--- a\\u202e\\nb (pinned)"


@given(st.none() | st.text(max_size=400))
def test_a_description_is_offered_cut_and_without_control_characters(text: str | None) -> None:
    shown = offered(text)
    assert (shown is None) == (text is None)
    assert len(shown or "") <= 200
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown or "")


# --- lines


@given(st.lists(st.binary(max_size=20), max_size=8), st.data())
def test_lines_come_out_whole_however_they_were_cut(
    parts: list[bytes], data: st.DataObject
) -> None:
    whole = b"\n".join(parts)
    lines, found = Lines(longest=1000), list[bytes]()
    while whole:
        at = data.draw(st.integers(1, len(whole)))
        found += lines.feed(whole[:at])
        whole = whole[at:]
    found += lines.feed(b"\n")
    expected = [line.strip() for line in b"\n".join(parts).split(b"\n")]
    assert found == [line for line in expected if line]


def test_a_line_without_end_is_refused_and_not_kept() -> None:
    lines = Lines(longest=10)
    assert list(lines.feed(b"x" * 10)) == []
    with pytest.raises(TooLong):
        list(lines.feed(b"y"))
    assert list(lines.feed(b"z\n")) == [b"z"]


# --- setups and variables


@given(st.text(st.sampled_from("ab${}:-_ENV1"), max_size=30))
def test_expansion_replaces_variables_and_nothing_else(text: str) -> None:
    named = VARIABLE.findall(text)
    assert expand(text, dict.fromkeys(named, "x")) == VARIABLE.sub("x", text)


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("${A}", "1"),
        ("${env:A}-${A:-2}", "1-1"),
        ("${NONE:-x y}", "x y"),
        ("${EMPTY:-x}", "x"),
        ("${EMPTY}", ""),
        ("$A ${} ${1}", "$A ${} ${1}"),
        ("${NESTED}", "${A}"),
    ],
)
def test_variables(text: str, result: str) -> None:
    assert expand(text, {"A": "1", "EMPTY": "", "NESTED": "${A}"}) == result


@pytest.mark.parametrize(
    ("text", "said"),
    [("${NONE}", "NONE is not set"), ("${input:key}", "means nothing here")],
)
def test_a_variable_that_is_not_there_is_named_with_its_server(text: str, said: str) -> None:
    with pytest.raises(BadSetup, match=re.escape(said)) as caught:
        expanded(ServerSetup(name="s", command="c", env={"K": text}), {})
    assert str(caught.value).startswith("mcp server s: ")


def test_every_text_of_a_setup_is_expanded() -> None:
    setup = ServerSetup(name="s", command="${A}", args=("${A}",), env={"K": "${A}"}, cwd="${A}")
    now = expanded(setup, {"A": "1"})
    assert (now.argv, dict(now.env), now.cwd) == (("1", "1"), {"K": "1"}, "1")
    web = ServerSetup(name="s", url="https://${A}", headers={"K": "${A}"}, token_file="${A}")
    there = expanded(web, {"A": "1"})
    assert (there.url, dict(there.headers), there.token_file) == ("https://1", {"K": "1"}, "1")


@pytest.mark.parametrize(
    "fields",
    [
        {"name": "", "command": "x"},
        {"name": "a:b", "command": "x"},
        {"name": "a\n", "command": "x"},
        {"name": "a" * 65, "command": "x"},
        {"name": "a"},
        {"name": "a", "command": "x", "url": "https://x"},
        {"name": "a", "command": " "},
        {"name": "a", "command": "x", "seconds": 0},
        {"name": "a", "command": "x", "startup_seconds": float("nan")},
    ],
)
def test_a_setup_that_makes_no_sense_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(BadSetup):
        ServerSetup(**fields)


def test_an_address_brings_its_host() -> None:
    assert host_of("https://Example.com:8080/x", "s") == "example.com"
    for wrong in ("ftp://x", "http://", "nonsense", "http://[::1", "http://x:port"):
        with pytest.raises(BadSetup):
            host_of(wrong, "s")
    web = ServerSetup(name="s", url="https://h/p")
    assert requirements_of(web).net.hosts == ("h",)
    assert requirements_of(ServerSetup(name="s", url="ftp://h")).net.hosts == ()


def test_configuration_is_read_without_the_sdk() -> None:
    modules = "setup expansion naming definitions pins reading lines states elicitation door ports"
    script = (
        "import sys\n"
        + "".join(f"import holdfast.sources.mcp.{name}\n" for name in modules.split())
        + "import holdfast.app.pins\n"
        + "assert not {'mcp', 'mcp_types', 'pydantic', 'httpx2'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
