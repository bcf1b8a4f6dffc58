"""What a call does, from what its tool declares and what was sent."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from policy.rules_kit import rule
from support import make_call, make_judge, make_tool

from holdfast import ToolDefinitionError, tool
from holdfast.contract.call import Prepared
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.requirements import requirement_set
from holdfast.contract.rules import Use
from holdfast.contract.tool import ArgumentUse, Tool
from holdfast.policy.paths import normal_text
from holdfast.policy.rules import RuleBook, ToolNames
from holdfast.policy.uses import NO_CAPABILITY, uses_of_command


def using(**capabilities: str) -> Tool:
    uses = tuple(ArgumentUse(argument=name, capability=one) for name, one in capabilities.items())
    return msgspec.structs.replace(make_tool(), uses=uses)


def uses_of_call(tool: Tool, arguments: JsonObject) -> list[Use]:
    """As the judge finds them."""
    prepared = Prepared(call=make_call(), tool=tool, values=arguments, checked=arguments)
    return list(make_judge().consider(prepared).uses)


def told(found: list[Use]) -> list[tuple[str | None, str, str]]:
    return [(one.capability, one.kind, one.target) for one in found]


def test_a_tool_that_needs_nothing_uses_nothing() -> None:
    assert uses_of_call(make_tool(), {"x": 1}) == [NO_CAPABILITY]


@pytest.mark.parametrize(
    ("capability", "sent", "found"),
    [
        ("fs.read", "a/b", [("fs.read", "path", "a/b")]),
        ("fs.write", ["a", "b"], [("fs.write", "path", "a"), ("fs.write", "path", "b")]),
        ("fs.read", None, [("fs.read", "path", ".")]),
        ("net.fetch", "https://x.example/a", [("net.fetch", "host", "https://x.example/a")]),
        ("task.start", "explore", [("task.start", "name", "explore")]),
        ("shell.run", ["git", "push", "a b;c"], [("shell.run", "command", "git push 'a b;c'")]),
        ("shell.run", [], [("shell.run", "command", "")]),
        ("fs.write", [], [("fs.write", "path", "")]),
        ("net.fetch", None, [("net.fetch", "host", "")]),
        ("shell.run", None, [("shell.run", "command", "")]),
        ("shell.run", "ls | wc", [("shell.run", "command", "ls"), ("shell.run", "command", "wc")]),
    ],
)
def test_an_argument_names_what_is_used(
    capability: str, sent: JsonValue, found: list[tuple[str, str, str]]
) -> None:
    assert told(uses_of_call(using(x=capability), {"x": sent})) == found


@pytest.mark.parametrize("capability", ["fs.read", "fs.write", "net.fetch", "task.start"])
@pytest.mark.parametrize("sent", [{"path": "../x"}, 5, True, [{"path": "../x"}]], ids=str)
def test_an_argument_that_is_no_text_is_a_doubt(capability: str, sent: JsonValue) -> None:
    (use,) = uses_of_call(using(x=capability), {"x": sent})
    assert use.doubt is not None
    assert "'x' is no text" in use.doubt


def test_an_argument_that_was_not_sent_has_its_default() -> None:
    schema: JsonObject = {"type": "object", "properties": {"x": {"default": "out.txt"}}}
    made = msgspec.structs.replace(using(x="fs.write"), input_schema=schema)
    assert told(uses_of_call(made, {})) == [("fs.write", "path", "out.txt")]
    assert told(uses_of_call(made, {"x": "a"})) == [("fs.write", "path", "a")]


def test_what_is_required_and_in_no_argument_is_used_as_declared() -> None:
    requires = requirement_set(
        {
            "fs": {"read": ["docs/**"], "write": ["out/**"]},
            "net": {"hosts": ["API.example"]},
            "shell": [{"cmd": "git"}],
            "capabilities": ["secrets.has"],
        }
    )
    made = msgspec.structs.replace(using(path="fs.write"), requires=requires)
    found = uses_of_call(made, {"path": "out/a"})
    assert told(found) == [
        ("fs.write", "path", "out/a"),
        ("fs.read", "path", "docs/**"),
        ("net.fetch", "host", "api.example"),
        ("shell.run", "command", "git"),
        ("secrets.has", "name", ""),
    ]
    assert [one.declared for one in found] == [False, True, True, True, False]


def test_a_command_text_is_every_command_and_redirection_in_it() -> None:
    found = uses_of_command("git log > out.txt; rm -fr x < in.txt")
    assert told(found) == [
        ("shell.run", "command", "git log"),
        ("shell.run", "command", "rm -fr x"),
        ("fs.write", "path", "out.txt"),
        ("fs.read", "path", "in.txt"),
    ]
    assert all(one.within == "git log > out.txt; rm -fr x < in.txt" for one in found)


@pytest.mark.parametrize(
    ("text", "deny"),
    [
        ("cat /etc//passwd", "cat /etc/passwd"),
        ("cat ./x", "cat x"),
        ("cat a/../x", "cat x"),
        ("rm -rf build/", "rm -rf build"),
        ("dd if=a of=/dev/./sda", "dd if=a of=/dev/sda"),
        ("sort --output=/etc/x/../passwd", "sort --output=/etc/passwd"),
    ],
)
def test_a_deny_counts_for_an_operand_that_winds_its_way(text: str, deny: str) -> None:
    (one,) = uses_of_command(text)
    assert RuleBook([rule("*", deny, "deny")]).weigh(ToolNames("sh"), one).action == "deny"
    allowed = RuleBook([rule("*", deny), rule("*", "*", "ask")]).weigh(ToolNames("sh"), one)
    assert allowed.action == "ask", "an allow is about the command as it was written"


@pytest.mark.parametrize("text", ["curl https://a.example//b", "cat -./x", "git log", "ls /"])
def test_what_is_no_bent_path_has_one_spelling(text: str) -> None:
    (one,) = uses_of_command(text)
    assert len(one.spellings) == 1


bends = st.sampled_from(["", "./", "/", "d/../", "././", "//"])


@given(st.lists(st.tuples(st.sampled_from(["a", "b", "..a"]), bends), min_size=1, max_size=4))
def test_no_bend_hides_a_path(parts: list[tuple[str, str]]) -> None:
    straight = "/" + "/".join(name for name, _ in parts)
    bent = "".join(f"/{bend}{name}" for name, bend in parts)
    assert normal_text(bent) == straight
    assert normal_text(bent[1:].lstrip("/")) == straight[1:]
    (one,) = uses_of_command(f"cat {bent}")
    deny = rule("*", f"cat {straight}", "deny")
    assert RuleBook([deny]).weigh(ToolNames("sh"), one).action == "deny"


@pytest.mark.parametrize("text", ["", "echo $x", "echo 'open", "git log > $out"])
def test_what_cannot_be_taken_apart_is_a_doubt_about_the_whole(text: str) -> None:
    doubtful = [one for one in uses_of_command(text) if one.doubt is not None]
    assert doubtful
    assert any(one.target == text for one in doubtful)


def test_a_function_declares_what_its_arguments_name() -> None:
    @tool(uses={"path": ["fs.read", "fs.write"], "host": "net.fetch"})
    def sync(path: str, host: str) -> None:
        """Bring a file up to date."""

    assert sync.tool.uses == (
        ArgumentUse(argument="path", capability="fs.read"),
        ArgumentUse(argument="path", capability="fs.write"),
        ArgumentUse(argument="host", capability="net.fetch"),
    )


@pytest.mark.parametrize(
    ("uses", "said"),
    [
        ({"nope": "fs.read"}, "no argument"),
        (["path"], "must map"),
        ({"path": 3}, "list of names"),
        ({"path": "fs.writ"}, "did you mean 'fs.write'"),
        ({"path": "net.zzz"}, "net.fetch|known: fs.read"),
    ],
)
def test_a_wrong_declaration_is_refused(uses: object, said: str) -> None:
    def read(path: str) -> None:
        """Read."""

    with pytest.raises(ToolDefinitionError, match=said):
        tool(uses=uses)(read)  # pyright: ignore[reportArgumentType] - the point of the test


BYTES: JsonObject = {"type": "string", "contentEncoding": "base64"}


@pytest.mark.parametrize(
    "declared",
    [
        BYTES,
        {"anyOf": [BYTES, {"type": "null"}]},
        {"type": "array", "items": {"oneOf": [BYTES]}},
        {"$ref": "#/$defs/Blob"},
        {"type": "string", "format": "base64"},
    ],
)
def test_what_is_sent_encoded_cannot_be_what_is_judged(declared: JsonObject) -> None:
    schema: JsonObject = {"type": "object", "properties": {"x": declared}, "$defs": {"Blob": BYTES}}
    with pytest.raises(ToolDefinitionError, match="uses names 'x', which is sent encoded"):
        msgspec.structs.replace(using(x="fs.read"), input_schema=schema)
    msgspec.structs.replace(using(other="fs.read"), input_schema=schema)


@pytest.mark.parametrize(
    "declared",
    [
        {"type": "string"},
        {"$ref": "#"},
        {"$ref": "#/$defs/x/y"},
        {"anyOf": [{"$ref": "#/properties/x"}, {"$ref": "#/properties/x"}]},
        {"$ref": "https://a.example/schema"},
        {"type": "object", "properties": {"contentEncoding": BYTES}},
        True,
    ],
)
def test_what_is_sent_as_it_is_can_be_judged(declared: JsonValue) -> None:
    schema: JsonObject = {"type": "object", "properties": {"x": declared}}
    msgspec.structs.replace(using(x="fs.read"), input_schema=schema)


@pytest.mark.parametrize("annotation", [bytes, bytearray, list[bytes], bytes | None])
@pytest.mark.parametrize(
    "options", [{}, {"input_schema": {"type": "object", "properties": {"path": {}}}}]
)
def test_a_function_that_takes_bytes_names_nothing(annotation: Any, options: Any) -> None:
    def read(path: str) -> None:
        """Read."""

    read.__annotations__["path"] = annotation
    with pytest.raises(ToolDefinitionError, match=r"take it as text \(str\)"):
        tool(uses={"path": "fs.read"}, **options)(read)
    tool(**options)(read)
