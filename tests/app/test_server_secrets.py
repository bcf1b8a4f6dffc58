"""What is secret about an MCP server leaves nothing, whatever the server says and wherever."""

import sys
from pathlib import Path

import msgspec
import pytest
from app.telling_server import served
from tool_kit import opened

from holdfast import Holdfast
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.call import Ask
from holdfast.contract.person import Inquiry, Replies
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Rule
from holdfast.contract.runtime import Progress

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

TELLTALE = """
import base64, json, os, sys
everything = json.dumps({"argv": sys.argv, "env": dict(os.environ)})
sys.stderr.write(everything + chr(10)); sys.stderr.flush()
def say(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked or "method" not in asked:
        continue
    if asked["method"] == "initialize":
        told = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                "serverInfo": {"name": everything, "version": everything}}
    elif asked["method"] == "tools/list":
        one = {"inputSchema": {"type": "object", "description": everything}}
        told = {"tools": [{"name": n, "description": everything, **one}
                          for n in ("tell", "fail", "die", "blob", "refuse")]}
    else:
        name = asked["params"]["name"]
        meta = asked["params"].get("_meta", {})
        if "progressToken" in meta:
            say({"method": "notifications/progress", "params": {
                "progressToken": meta["progressToken"], "progress": 1, "message": everything}})
        if name == "die":
            sys.stderr.write(everything + chr(10)); sys.stderr.flush(); os._exit(3)
        if name == "refuse":
            say({"id": asked["id"], "error": {"code": -32000 - 1000, "message": everything}})
            continue
        if name == "blob":
            data = base64.b64encode(everything.encode()).decode()
            parts = [{"type": "image", "data": data, "mimeType": "image/png"},
                     {"type": "text", "text": everything}]
        else:
            parts = [{"type": "text", "text": everything}]
        told = {"content": parts, "isError": name == "fail"}
    say({"id": asked["id"], "result": told})
"""

VARIABLES = {
    "GIVEN_TOKEN": "given-t0ken-of-a-variable",
    "DATABASE": "postgres://me:pa55-in-a-url@db.example/x",
    "PLAIN": "shown-as-it-is",
}
OF_PROGRAM = {
    "written-cookie-value",
    "written-auth-value",
    "key-behind-an-equals-sign",
    "token-behind-an-option",
    *(VARIABLES["GIVEN_TOKEN"], "pa55-in-a-url"),
}
OF_ADDRESS = {
    "token-of-the-file",
    "password-of-the-address",
    "key-of-the-query",
    "header-of-a-variable",
    "header-as-written",
}


async def yes(_ask: Ask) -> Answer:
    return Answer(allowed=True, by="a person")


async def silent(_inquiry: Inquiry) -> Replies | None:
    return None


def settings(**tables: object) -> Settings:
    return msgspec.convert({"mcp": tables}, Settings)


class Overheard:
    """All that is told of a session while it runs."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def progress(self, progress: Progress) -> None:
        self.told.append(repr(progress))

    async def listen(self, hf: Holdfast, tools: list[str]) -> None:
        for tool in tools:
            self.told.append(repr(await hf.settle(tool, {})))
            self.told.append(repr(await hf.explain(tool, {})))
        self.look(hf)

    def look(self, hf: Holdfast) -> None:
        self.told += [repr(hf.servers), repr(hf.remarks), repr(hf.commands.all())]
        self.told += [repr(tool.description) + repr(tool.input_schema) for tool in hf.tools]


def around(home: Path, variables: dict[str, str]) -> Surroundings:
    return Surroundings(
        data_home=home / "data", state_home=home / "state", parent_environment=variables
    )


def nothing_of(secrets: set[str], told: str, home: Path) -> None:
    kept = b"\n".join(one.read_bytes() for one in home.rglob("*") if one.is_file())
    assert kept
    for secret in secrets:
        assert secret not in told
        assert secret.encode() not in kept, secret


async def test_a_program_that_tells_all_it_knows_gives_nothing_away(tmp_path: Path) -> None:
    workspace, home, script = tmp_path / "ws", tmp_path / "home", tmp_path / "telltale.py"
    workspace.mkdir()
    script.write_text(TELLTALE, "utf-8")
    command = [
        *(sys.executable, str(script), "--api-key=key-behind-an-equals-sign"),
        *("--token", "token-behind-an-option", "${DATABASE}", "${PLAIN}"),
    ]
    env = {
        "COOKIE": "written-cookie-value",
        "MY_AUTH": "written-auth-value",
        "NAME": "${GIVEN_TOKEN}",
        "LEVEL": "a-level-that-is-shown",
    }
    wanted = settings(telltale={"command": command, "env": env, "era": "2025-11-25"})
    heard = Overheard()
    session = opened(
        workspace,
        "locked",
        settings=wanted,
        surroundings=around(home, VARIABLES),
        approver=yes,
        person=silent,
        progress=heard.progress,
        keep_outputs=True,
    )
    async with session as hf:
        names = [f"telltale_{one}" for one in ("tell", "fail", "blob", "refuse", "die", "tell")]
        await heard.listen(hf, names)
    told = "\n".join(heard.told)
    assert "a-level-that-is-shown" in told
    assert "shown-as-it-is" in told
    assert "it said last" in told
    nothing_of(OF_PROGRAM, told, home)


async def test_an_address_that_says_what_it_was_sent_gives_nothing_away(tmp_path: Path) -> None:
    workspace, home, token = tmp_path / "ws", tmp_path / "home", tmp_path / "token"
    workspace.mkdir()
    token.write_text("token-of-the-file\n", "utf-8")
    seen: list[str] = []
    heard = Overheard()
    allow = Rule(permission="mcp:*", pattern="*", action="allow", scope="project", source="a test")
    async with served(seen) as port:
        table = {
            "url": f"http://me:password-of-the-address@127.0.0.1:{port}/mcp?api_key=key-of-the-query",
            "headers": {"X-Custom": "${OF_HEADER}", "X-Session": "header-as-written"},
            "token_file": str(token),
            "era": "2025-11-25",
        }
        session = opened(
            workspace,
            "locked",
            settings=settings(web=table),
            surroundings=around(home, {"OF_HEADER": "header-of-a-variable"}),
            rules=[allow],
            keep_outputs=True,
        )
        async with session as hf:
            assert hf.servers[0].status == "connected", hf.servers
            await heard.listen(hf, ["web_tell", "web_refuse"])
    assert "Bearer token-of-the-file" in seen
    told = "\n".join(heard.told)
    assert "x-custom" in told
    nothing_of(OF_ADDRESS, told, home)
