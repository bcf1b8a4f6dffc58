"""What an MCP server may reach: asked before it is, bounded by every ceiling, and told when it
fails."""

import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from app.telling_server import served
from tool_kit import UNRECORDED, failure, opened, result

from holdfast import Holdfast
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.call import Ask
from holdfast.contract.failure import FailureKind
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Rule

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

READER = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    if asked["method"] == "initialize":
        told = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": "reader", "version": "1"}}
    elif asked["method"] == "tools/list":
        told = {"tools": [{"name": "read", "inputSchema": {"type": "object"}}]}
    else:
        done = {}
        for path in sys.argv[1:]:
            try:
                done[path] = open(path).read()
            except OSError as problem:
                done[path] = type(problem).__name__
        told = {"content": [], "structuredContent": {"found": done, "cwd": os.getcwd()}}
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": told}), flush=True)
"""


async def yes(_ask: Ask) -> Answer:
    return Answer(allowed=True, by="a person")


def settings(ceiling: dict[str, object] | None = None, **tables: object) -> Settings:
    policy = {} if ceiling is None else {"policy": {"ceiling": ceiling}}
    found = msgspec.convert({"mcp": tables, **policy}, Settings)
    return msgspec.structs.replace(found, store=UNRECORDED.store)


def at(port: int, token: Path) -> dict[str, object]:
    token.write_text("a-token-that-nobody-may-see", "utf-8")
    url = f"http://127.0.0.1:{port}/mcp"
    return {"url": url, "token_file": str(token), "era": "2025-11-25"}


async def test_a_host_that_a_ceiling_forbids_is_not_even_contacted(workspace: Path) -> None:
    seen: list[str] = []
    async with served(seen) as port:
        web = at(port, workspace.parent / "token")
        bound = settings({"hosts": ["example.com"]}, web=web)
        async with opened(workspace, "locked", settings=bound, approver=yes) as hf:
            (state,) = hf.servers
            assert (state.status, state.lasting) == ("failed", True)
            assert "its host may not be reached: No granted host pattern" in str(state.problem)
            refused = await failure(hf, "web_tell")
            assert (refused.kind, refused.retryable) == (FailureKind.UNAVAILABLE, False)
        assert seen == []
        admitted = settings({"hosts": ["127.0.0.1"]}, web=web)
        async with opened(workspace, "locked", settings=admitted, approver=yes) as hf:
            assert hf.servers[0].status == "connected"
        assert seen


async def test_a_host_that_a_rule_denies_is_not_contacted_either(workspace: Path) -> None:
    seen: list[str] = []
    deny = Rule(
        permission="net.fetch", pattern="127.0.0.1", action="deny", scope="project", source="a test"
    )
    async with served(seen) as port:
        bound = settings(web=at(port, workspace.parent / "token"))
        async with opened(workspace, "locked", settings=bound, rules=[deny]) as hf:
            assert "its host may not be reached" in str(hf.servers[0].problem)
    assert seen == []


async def test_the_host_of_a_variable_is_what_its_tools_require(workspace: Path) -> None:
    around = Surroundings(
        data_home=workspace.parent / "data", parent_environment={"WHERE": "127.0.0.1"}
    )
    async with served([]) as port:
        web = {**at(port, workspace.parent / "token"), "url": f"http://${{WHERE}}:{port}/mcp"}
        async with opened(
            workspace, "locked", settings=settings(web=web), surroundings=around
        ) as hf:
            (tell, _refuse) = [tool for tool in hf.tools if tool.ownership == "mcp"]
            assert tell.requires.net.hosts == ("127.0.0.1",)


def reader(workspace: Path, *words: str, **more: object) -> dict[str, object]:
    script = workspace.parent / "reader.py"
    script.write_text(READER, "utf-8")
    return {"command": [sys.executable, *words], "era": "2025-11-25", **more}


def place(workspace: Path, **variables: str) -> Surroundings:
    home = workspace.parent / "home"
    return Surroundings(
        data_home=home / "data", state_home=home / "state", parent_environment=variables
    )


async def found(hf: Holdfast) -> dict[str, Any]:
    assert hf.servers[0].status == "connected", hf.servers[0].problem
    return await result(hf, "reader_read")


async def test_what_a_command_line_names_by_a_variable_is_read(workspace: Path) -> None:
    other = workspace.parent / "other.txt"
    other.write_text("read", "utf-8")
    table = reader(workspace, "${PLACE}/reader.py", "${PLACE}/other.txt")
    around = place(workspace, PLACE=str(workspace.parent))
    session = opened(
        workspace, "locked", settings=settings(reader=table), surroundings=around, approver=yes
    )
    async with session as hf:
        assert (await found(hf))["found"] == {str(other): "read"}


async def test_what_a_ceiling_lets_nobody_read_is_not_read_and_that_is_said(
    workspace: Path,
) -> None:
    """The program starts all the same: a ceiling speaks of what is reached with it."""
    inside, outside = workspace / "in[1].txt", workspace.parent / "outside.txt"
    for one in (inside, outside):
        one.write_text(one.name, "utf-8")
    table = reader(workspace, str(workspace.parent / "reader.py"), str(inside), str(outside))
    bound = settings({"read": ["{workspace}/**"]}, reader=table)
    async with opened(workspace, "locked", settings=bound, approver=yes) as hf:
        told = (await found(hf))["found"]
        assert told[str(inside)] == "in[1].txt"
        assert told[str(outside)] != "outside.txt"
        assert any(f"names {outside}, which it may not read" in one for one in hf.remarks)
        assert not any(str(inside) in one for one in hf.remarks)
    async with opened(workspace, "locked", settings=settings(reader=table), approver=yes) as hf:
        assert (await found(hf))["found"][str(outside)] == "outside.txt"


async def test_what_a_rule_forbids_to_read_is_said_at_the_start(workspace: Path) -> None:
    secret = workspace / "secret"
    secret.mkdir()
    deny = Rule(
        permission="fs.read", pattern="secret/**", action="deny", scope="project", source="a test"
    )
    (secret / "x.txt").write_text("x", "utf-8")
    table = reader(workspace, str(workspace.parent / "reader.py"), str(secret / "x.txt"))
    async with opened(
        workspace, "locked", settings=settings(reader=table), approver=yes, rules=[deny]
    ) as hf:
        assert any("which it may not read" in one for one in hf.remarks), hf.remarks
        assert (await found(hf))["found"] != {str(secret / "x.txt"): "x"}


async def test_an_installed_module_is_none_of_the_workspace(workspace: Path) -> None:
    """A stranger's file must not run in a server that may read the workspace it lies in."""
    installed = workspace.parent / "installed"
    installed.mkdir()
    (installed / "reader_module.py").write_text(READER, "utf-8")
    for name in ("reader_module.py", "json.py"):
        (workspace / name).write_text("raise SystemExit('code of a stranger')", "utf-8")
    table = {
        "command": [sys.executable, "-m", "reader_module"],
        "env": {"PYTHONPATH": str(installed)},
        "requires": {"read": ["**", f"{installed}/**"]},
        "era": "2025-11-25",
    }
    async with opened(workspace, "locked", settings=settings(reader=table), approver=yes) as hf:
        assert (await found(hf))["cwd"] == str(workspace)


async def test_a_folder_to_begin_in_that_is_not_there_or_out_of_reach_is_named(
    workspace: Path,
) -> None:
    script = str(workspace.parent / "reader.py")
    tables = {
        "gone": reader(workspace, script, cwd=str(workspace / "gone")),
        "closed": reader(workspace, script, cwd=str(workspace)),
        "reader": reader(workspace, script, cwd=str(workspace), requires={"read": ["**"]}),
    }
    async with opened(workspace, "locked", settings=settings(**tables), approver=yes) as hf:
        problems = {one.name: str(one.problem) for one in hf.servers}
        assert (await result(hf, "reader_read"))["cwd"] == str(workspace)
    assert f"its cwd '{workspace}/gone' is no folder" in problems["gone"]
    assert "is nothing that it may read" in problems["closed"]
    assert "requires = { read = [" in problems["closed"]


@pytest.mark.parametrize(
    ("does", "said", "setting"),
    [
        (
            "import socket; socket.create_connection(('192.0.2.1', 9), 2)",
            "OSError: [Errno 101] Network is unreachable",
            'requires = { hosts = ["HOST"] } in [mcp."my server"]',
        ),
        (
            "open('/somewhere/of/mine')",
            "FileNotFoundError",
            'requires = { read = ["PATH"], write = ["PATH"] } in [mcp."my server"]',
        ),
        ("raise SystemExit(7)", "exit status 7", 'hosts = ["HOST"] } in [mcp."my server"]'),
    ],
)
async def test_a_server_that_its_sandbox_stops_says_its_last_words_and_what_it_may(
    workspace: Path, does: str, said: str, setting: str
) -> None:
    script = workspace.parent / "server.py"
    script.write_text(f"def main():\n    {does}\nmain()\n", "utf-8")
    table: object = {"command": [sys.executable, str(script)], "era": "2025-11-25"}
    async with opened(workspace, "locked", settings=settings(None, **{"my server": table})) as hf:
        problem = str(hf.servers[0].problem)
        called = await failure(hf, "my_server_anything")
    assert said in problem
    assert "It may read nothing but its own program, write nothing and reach no host" in problem
    assert setting in problem
    assert called.kind is FailureKind.UNAVAILABLE
    assert said in called.message
