"""MCP servers of the configuration in a session: confined, judged, pinned, and shown."""

import json
from pathlib import Path

import msgspec
import pytest
from app.servers_kit import allowed, configured, raw, server, session, yes
from tool_kit import failure, opened, result

from holdfast import Holdfast, Subagent
from holdfast.app.problems import ConfigurationError
from holdfast.app.requirement_settings import RequirementSettings
from holdfast.app.servers import is_away, servers_with
from holdfast.app.source_settings import McpSettings
from holdfast.contract.call import Ask
from holdfast.contract.failure import FailureKind
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Rule

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

REACHER = """
import json, os, socket, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    name = asked.get("params", {}).get("name")
    if asked["method"] == "initialize":
        told = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "reacher", "version": "1"}}
    elif asked["method"] == "tools/list":
        told = {"tools": [{"name": "reach", "inputSchema": {"type": "object"}}]}
    else:
        done = {}
        path = asked["params"]["arguments"]["path"]
        for what, tried in (("read", lambda: open(path).read()),
                            ("write", lambda: open(path + ".new", "w").write("x")),
                            ("connect", lambda: socket.create_connection(("192.0.2.1", 9), 2))):
            try:
                tried()
                done[what] = "yes"
            except OSError as problem:
                done[what] = type(problem).__name__
        done["variables"] = sorted(os.environ)
        told = {"content": [{"type": "text", "text": json.dumps(done)}], "structuredContent": done}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)
"""


@pytest.mark.req("SPEC-MCP-01", "SPEC-CON-01", "BOA-OWN-03")
async def test_a_tool_of_a_server_is_called_like_any_other(workspace: Path) -> None:
    settings = configured(**{"my raw": raw(workspace)})
    async with session(workspace, settings) as hf:
        assert await result(hf, "my_raw_echo", text="hello") == {"text": "hello"}
        made = {tool.name: tool for tool in hf.tools}["my_raw_echo"]
        assert (made.ownership, made.alias) == ("mcp", "mcp:my raw:echo")
    async with opened(workspace, "bare", settings=settings) as hf:
        assert (await failure(hf, "my_raw_echo")).kind is FailureKind.TOOL_NOT_FOUND
        assert hf.servers == ()


async def test_rules_name_it_by_its_alias(workspace: Path) -> None:
    deny = Rule(
        permission="mcp:raw:echo", pattern="*", action="deny", scope="project", source="a test"
    )
    settings = configured(raw=raw(workspace))
    async with session(workspace, settings, rules=[deny]) as hf:
        assert (await failure(hf, "raw_echo", text="x")).kind is FailureKind.REJECTED
        assert (await result(hf, "raw_slow")) == {"text": "slow"}


async def test_nobody_vouches_for_it(workspace: Path) -> None:
    async with opened(workspace, "locked", settings=configured(raw=raw(workspace))) as hf:
        refused = await failure(hf, "raw_echo", text="x")
    assert refused.kind is FailureKind.REJECTED
    assert "no rule speaks of" in str(refused.extras)


@pytest.mark.req("SPEC-MCP-02")
@pytest.mark.parametrize(
    "table", [{"hosts": ["api.example.com"]}, {"write": ["out/**"]}, {"shell": [{"cmd": "git"}]}]
)
async def test_what_a_server_may_reach_is_asked_about(
    workspace: Path, table: dict[str, object]
) -> None:
    requires = msgspec.convert(table, RequirementSettings)
    settings = configured(raw=raw(workspace, requires=requires))
    async with opened(workspace, "locked", settings=settings) as hf:
        assert (await failure(hf, "raw_echo", text="x")).kind is FailureKind.REJECTED
    async with opened(workspace, "locked", settings=settings, approver=yes) as hf:
        assert await result(hf, "raw_echo", text="x") == {"text": "x"}
    rules = [allowed("mcp:raw:*")]
    async with opened(workspace, "locked", settings=settings, rules=rules) as hf:
        assert await result(hf, "raw_echo", text="x") == {"text": "x"}


async def test_it_reaches_its_own_files_and_nothing_else(workspace: Path) -> None:
    script = workspace.parent / "reacher.py"
    script.write_text(REACHER, "utf-8")
    notes = str(workspace / "notes.txt")
    settings = configured(reacher=server(script, env={"GIVEN": "x"}))
    async with session(workspace, settings) as hf:
        found = await result(hf, "reacher_reach", path=notes)
    assert found["read"] != "yes"
    assert found["write"] != "yes"
    assert found["connect"] != "yes"
    assert set(found["variables"]) - {"LC_CTYPE"} == {"GIVEN"}  # this test's parent has no others
    wider = RequirementSettings(read=("**",), write=("**",))
    settings = configured(reacher=server(script, requires=wider))
    async with opened(workspace, "locked", settings=settings, approver=yes) as hf:
        found = await result(hf, "reacher_reach", path=notes)
    assert (found["read"], found["write"]) == ("yes", "yes")
    assert found["connect"] != "yes"


async def test_only_the_servers_that_are_wanted_are_started(workspace: Path) -> None:
    settings = configured(one=raw(workspace), other=raw(workspace, "dies_early"))
    async with session(workspace, settings, servers=["one"]) as hf:
        assert [state.name for state in hf.servers] == ["one"]
        assert await result(hf, "one_echo", text="x") == {"text": "x"}
    with pytest.raises(ConfigurationError, match="there is no MCP server 'oen'; did you mean"):
        Holdfast(settings=settings, servers=["oen"])


async def test_a_server_that_fails_is_told_and_keeps_nobody_from_working(workspace: Path) -> None:
    settings = configured(dead=raw(workspace, "dies_early"), raw=raw(workspace))
    async with session(workspace, settings) as hf:
        assert await result(hf, "raw_echo", text="x") == {"text": "x"}
        state = {one.name: one for one in hf.servers}["dead"]
        assert state.status == "failed"
        assert any("cannot find my configuration" in remark for remark in hf.remarks)


@pytest.mark.req("SPEC-MCP-04")
async def test_a_tool_of_a_server_that_is_not_there_is_unavailable_and_not_unknown(
    workspace: Path,
) -> None:
    """Whoever asks is told of the server, although nobody has heard of its tools yet."""
    settings = configured(
        dead=raw(workspace, "dies_early"),
        off=raw(workspace, disabled=True),
        lost=raw(workspace, env={"X": "${NOWHERE_TO_BE_FOUND}"}),
        raw=raw(workspace),
    )
    async with session(workspace, settings) as hf:
        dead = await failure(hf, "dead_anything", text="x")
        off = await failure(hf, "off_echo")
        lost = await failure(hf, "lost_echo")
        unknown = await failure(hf, "raw_nothing")
        nobody = await failure(hf, "deadly_echo")
    assert dead.kind is off.kind is lost.kind is FailureKind.UNAVAILABLE
    assert dead.message.startswith("mcp server dead is unavailable: ")
    assert "cannot find my configuration" in dead.message
    assert (dead.retryable, off.retryable, lost.retryable) == (True, False, False)
    assert "it is disabled" in off.message
    assert "NOWHERE_TO_BE_FOUND" in lost.message
    assert "holdfast mcp test lost" in lost.message
    assert unknown.kind is nobody.kind is FailureKind.TOOL_NOT_FOUND


async def test_a_server_that_was_left_out_is_known_to_those_who_ask_for_it(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = workspace.parent / "home"
    home.mkdir(mode=0o700)
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    entry = {"mcpServers": {"old": {"type": "sse", "url": "http://a"}}}
    (home / "mcp.json").write_text(json.dumps(entry), "utf-8")
    async with Holdfast(profile="locked", workspace=workspace) as hf:
        asked = await failure(hf, "old_echo")
        assert (asked.kind, asked.retryable) == (FailureKind.UNAVAILABLE, False)
        assert "has been replaced" in asked.message
        assert [(one.name, one.status) for one in hf.servers] == [("old", "failed")]
        assert any("has been replaced" in remark for remark in hf.remarks)
        assert is_away("old_echo", hf.servers)
        assert not is_away("older_echo", hf.servers)
    async with Holdfast(profile="bare", workspace=workspace) as hf:
        assert (await failure(hf, "old_echo")).kind is FailureKind.TOOL_NOT_FOUND
        assert hf.servers == ()
        assert not any("has been replaced" in remark for remark in hf.remarks)


async def test_what_a_tool_is_called_does_not_depend_on_who_is_there(workspace: Path) -> None:
    one, other = raw(workspace, allow=["echo"]), raw(workspace, "dies_early")
    settings = configured(**{"a.b": one, "a_b": other})
    async with session(workspace, settings) as hf:
        (together,) = [tool.name for tool in hf.tools if tool.ownership == "mcp"]
    async with session(workspace, settings, servers=["a.b"]) as hf:
        (alone,) = [tool.name for tool in hf.tools if tool.ownership == "mcp"]
        assert await result(hf, alone, text="x") == {"text": "x"}
    assert alone == together != "a_b_echo"
    assert servers_with(alone, ["a.b", "a_b", "c"]) == ("a.b", "a_b")


@pytest.mark.req("SPEC-MCP-04")
async def test_one_that_dies_while_it_is_called_is_unavailable(workspace: Path) -> None:
    settings = configured(raw=raw(workspace))
    async with session(workspace, settings) as hf:
        lost = await failure(hf, "raw_die")
        later = await failure(hf, "raw_echo", text="x")
    assert lost.kind is later.kind is FailureKind.UNAVAILABLE
    assert later.message.startswith("mcp server raw is unavailable")
    assert "no more paper" in lost.message


async def test_a_subagent_calls_them_through_its_parents_servers(workspace: Path) -> None:
    async def runs(child: Holdfast, _prompt: str) -> str:
        assert child.servers == ()
        return (await child.settle("raw_echo", {"text": "from below"})).result_json.decode()

    agents = {"a": Subagent(run=runs, description="Runs it.")}
    settings = configured(raw=raw(workspace))
    async with session(workspace, settings, subagents=agents) as hf:
        told = await result(hf, "task", subagent_type="a", prompt="x")
    assert told == {"output": '{"text":"from below"}'}


async def test_nothing_of_it_is_left_when_the_session_ends(workspace: Path) -> None:
    settings = configured(raw=raw(workspace))
    async with session(workspace, settings) as hf:
        told = (await result(hf, "raw_pids"))["text"]
        assert len(told.split()) == 2
        script = str(workspace.parent / "raw_server.py")
        assert _running(script)
    assert not _running(script)


def _running(script: str) -> list[str]:
    """The processes of this machine that have the script on their command line."""
    found: list[str] = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            found += [entry.name] if script.encode() in words else []
    return found


async def test_a_tool_of_another_source_never_stands_for_a_server(
    workspace: Path, tmp_path: Path
) -> None:
    """What a server's program reaches is what its own table says, whoever is called like it."""
    program = tmp_path / "tools" / "bin" / "x"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\necho '{}'\n", "utf-8")
    program.chmod(0o755)
    wide = {"fs": {"read": ["/**"], "write": ["**"]}}
    declared = {"name": "mcp:reacher", "command": ["./tools/bin/x"], "requires": wide}
    (tmp_path / "tools.json").write_text(json.dumps({"tools": [declared]}), "utf-8")
    script = tmp_path / "reacher.py"
    script.write_text(REACHER, "utf-8")
    settings = configured(reacher=server(script))
    manifests = [tmp_path / "tools.json"]
    async with session(workspace, settings, manifests=manifests) as hf:
        found = await result(hf, "reacher_reach", path=str(workspace / "notes.txt"))
    assert found["read"] != "yes"


async def test_a_remembered_answer_is_about_the_servers_own_name(workspace: Path) -> None:
    """Two tools of a server may be called the same here, one after the other."""
    asked: list[Ask] = []

    async def always(ask: Ask) -> Answer:
        asked.append(ask)
        return Answer(allowed=True, by="a person", remember="session")

    settings = configured(raw=raw(workspace))
    async with opened(workspace, "locked", settings=settings, approver=always) as hf:
        for _ in range(2):
            assert await result(hf, "raw_echo", text="x") == {"text": "x"}
        assert len(asked) == 1
        explained = await hf.explain("raw_echo", {"text": "x"})
    assert "mcp:raw:echo" in str(explained)


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (McpSettings(), "mcp.x: .*give either the command that starts it or its url"),
        (McpSettings(command=("a",), url="http://b"), "give either the command"),
    ],
)
def test_a_table_that_makes_no_server_is_named(table: McpSettings, said: str) -> None:
    with pytest.raises(ConfigurationError, match=said):
        Holdfast(profile="locked", settings=configured(x=table))
