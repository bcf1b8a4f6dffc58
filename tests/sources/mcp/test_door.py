"""The door to MCP servers, and sessions that have none."""

import sys
from pathlib import Path

import pytest
from sources.mcp.mcp_kit import ports

from holdfast.app.pins import PinFile
from holdfast.sources.mcp.door import NoClient, mcp_servers
from holdfast.sources.mcp.setup import ServerSetup

pytestmark = pytest.mark.anyio


async def test_servers_are_opened_through_the_door(tmp_path: Path) -> None:
    setup = ServerSetup(name="off", command="x", disabled=True)
    servers = mcp_servers([setup], ports(tmp_path))
    await servers.open()
    assert [one.status for one in servers.states()] == ["disabled"]
    assert (servers.tools(), servers.changed(), servers.take_changes()) == ((), False, False)
    await servers.close()


def test_without_the_sdk_the_door_says_how_it_is_installed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = ports(tmp_path)
    for name in [one for one in sys.modules if one.startswith("holdfast.sources.mcp.")]:
        if name.rpartition(".")[2] in ("servers", "server", "connection", "stdio"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "mcp", None)
    with pytest.raises(NoClient, match=r"pip install 'holdfast\[mcp\]'"):
        mcp_servers([], given)


async def test_pins_that_cannot_be_read_keep_servers_closed(tmp_path: Path) -> None:
    PinFile(tmp_path).path.write_bytes(b"{")
    servers = mcp_servers([ServerSetup(name="a", command="b")], ports(tmp_path))
    with pytest.raises(ValueError, match="mcp-pins"):
        await servers.open()
    assert servers.states()[0].status == "closed"
