"""Files of servers that other programs keep."""

from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sources.mcp.reading import read_servers
from holdfast.sources.mcp.setup import ServerSetup

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["type", "command", "args", "env", "url", "headers", "disabled", "enabled", "cwd", "other"]
)
SERVERS = st.dictionaries(st.text(max_size=8), VALUES | st.dictionaries(KEYS, VALUES), max_size=4)


@given(VALUES | st.fixed_dictionaries({"mcpServers": SERVERS}))
def test_whatever_is_in_a_file_every_server_is_read_or_named(document: Any) -> None:
    read = read_servers(document)
    known = cast("dict[str, Any]", document) if isinstance(document, dict) else {}
    servers = known.get("mcpServers")
    if isinstance(servers, dict):
        every = cast("dict[str, Any]", servers)
        assert len(read.setups) + len(read.problems) == len(every)
    else:
        assert read.problems or known


def one(**fields: Any) -> ServerSetup:
    read = read_servers({"mcpServers": {"s": fields}})
    assert (read.problems, read.remarks) == ((), ())
    return read.setups[0]


def test_the_common_shapes_are_read() -> None:
    setup = one(
        type="stdio", command="npx", args=["-y", "x"], env={"K": "${V:-1}", "N": 5}, cwd="/"
    )
    assert setup.argv == ("npx", "-y", "x")
    assert dict(setup.env) == {"K": "${V:-1}", "N": "5"}
    assert (setup.cwd, setup.disabled, setup.trust) == ("/", False, False)
    for kind in ("http", "streamable-http", "streamableHttp"):
        web = one(type=kind, url="https://x", headers={"A": "Bearer ${T}"})
        assert (web.url, dict(web.headers)) == ("https://x", {"A": "Bearer ${T}"})
    assert one(url="https://x").url == "https://x"
    assert one(serverUrl="https://x").url == "https://x"
    assert one(command="x", disabled=True).disabled
    assert one(command="x", includeTools=["a"], excludeTools=["b"]).takes("a")


def test_servers_of_vs_code_and_codex_are_read() -> None:
    code = read_servers(
        {"servers": {"s": {"command": "x", "env": {"K": "${env:V}"}}}, "inputs": []}
    )
    assert [setup.name for setup in code.setups] == ["s"]
    codex = read_servers(
        {
            "mcp_servers": {
                "local": {
                    "command": "x",
                    "env_vars": ["HOME"],
                    "env": {"A": "b"},
                    "enabled": False,
                    "enabled_tools": ["a"],
                    "disabled_tools": ["b"],
                    "startup_timeout_sec": 5,
                    "tool_timeout_sec": 60,
                },
                "web": {
                    "url": "https://x",
                    "bearer_token_env_var": "TOKEN",
                    "http_headers": {"A": "b"},
                    "env_http_headers": {"C": "VARIABLE"},
                },
            }
        }
    )
    assert codex.problems == ()
    local, web = codex.setups
    assert dict(local.env) == {"HOME": "${HOME}", "A": "b"}
    assert (local.seconds, local.startup_seconds, local.disabled) == (60.0, 5.0, True)
    assert (local.allow, local.deny) == (("a",), ("b",))
    assert dict(web.headers) == {"A": "b", "C": "${VARIABLE}", "Authorization": "Bearer ${TOKEN}"}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"type": "sse", "url": "https://x"}, "the transport sse has been replaced"),
        ({"type": "pipe", "command": "x"}, "there is no type 'pipe'"),
        ({"type": "stdio", "url": "https://x"}, "its type is stdio and it has a url"),
        ({"type": "http", "command": "x"}, "its type is http and it has a command"),
        ({}, "give either the command"),
        ({"command": "x", "url": "https://x"}, "give either the command"),
        ({"command": 1}, "command must be a text, not a number"),
        ({"command": "x", "args": "y"}, "args must be a list of texts"),
        ({"command": "x", "args": [1]}, "args must be a list of texts"),
        ({"command": "x", "env": []}, "env must be an object, not an array"),
        ({"command": "x", "env": {"A": {}}}, "every value of env must be a text"),
        ({"command": "x", "disabled": "no"}, "disabled must be true or false"),
        ({"command": "x", "tool_timeout_sec": True}, "tool_timeout_sec must be a number"),
        ("x", "it must be an object, not a string"),
    ],
)
def test_a_server_that_cannot_be_used_is_left_out_and_the_others_stay(
    fields: Any, said: str
) -> None:
    read = read_servers({"mcpServers": {"bad": fields, "good": {"command": "x"}}})
    assert [setup.name for setup in read.setups] == ["good"]
    (problem,) = read.problems
    assert problem.startswith("mcp server bad: ")
    assert said in problem


def test_what_is_not_known_is_remarked() -> None:
    fields: Any = {"command": "x", "arg": [], "alwaysAllow": ["a"], "trust": True}
    read = read_servers({"mcpServers": {"s": fields}})
    assert read.problems == ()
    assert not read.setups[0].trust
    near, *unasked = read.remarks
    assert near == "mcp server s: 'arg' is not known and was left out; 'args' is"
    assert all("a rule of yours" in remark for remark in unasked)
    assert len(unasked) == 2


@pytest.mark.parametrize(
    ("key", "said"), [("timeout", "seconds"), ("seconds", "seconds"), ("requires", "requires")]
)
def test_what_a_table_says_is_pointed_there(key: str, said: str) -> None:
    read = read_servers({"mcpServers": {"s": {"command": "x", key: 5}}})
    assert read.remarks == (
        f"mcp server s: {key!r} is not known here and was left out; write {said} in [mcp.s]",
    )


@pytest.mark.parametrize("document", [[], {}, {"mcpServers": []}, None])
def test_a_file_of_another_form_is_a_problem(document: Any) -> None:
    read = read_servers(document)
    assert read.setups == ()
    assert len(read.problems) == 1
