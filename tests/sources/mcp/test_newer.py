"""What the newer protocol does within one call, and lists that grow old."""

from pathlib import Path

import pytest
from sources.mcp.mcp_kit import raw, served, settled, until

from holdfast.contract.failure import FailureKind

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]


@pytest.mark.parametrize("era", ["auto", "2026-07-28"])
async def test_a_call_that_has_to_come_again_does(workspace: Path, era: str) -> None:
    async with served(workspace, raw(workspace, "modern", era=era)) as servers:
        (state,) = servers.states()
        assert (state.status, state.protocol_version) == ("connected", "2026-07-28")
        assert (await settled(servers, "raw_waits", {})).result == {"text": "waited"}
        assert (await settled(servers, "raw_mismatch", {})).result == {"text": "listed"}


@pytest.mark.parametrize(
    ("tool", "arguments", "said"),
    [
        ("rounds", {}, "asked for something 10 times in a row"),
        ("samples", {}, "Sampling not supported"),
        ("mismatch", {"text": "always"}, "list the tools first"),
    ],
)
async def test_what_never_comes_to_an_end_is_a_failure(
    workspace: Path, tool: str, arguments: dict[str, str], said: str
) -> None:
    async with served(workspace, raw(workspace, "modern", era="2026-07-28")) as servers:
        answer = await settled(servers, f"raw_{tool}", arguments)
        assert answer.failure is not None
        assert answer.failure.kind == FailureKind.EXECUTION_ERROR
        assert said in answer.failure.message


async def test_a_list_that_has_grown_old_is_asked_for_again(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.sources.mcp.upkeep.SHORTEST_TTL", 0.05)
    async with served(workspace, raw(workspace, "ageing", era="2026-07-28")) as servers:
        (workspace / "changed").touch()
        await until(servers.changed)
        servers.take_changes()
        assert "raw_added" in {one.name for one in servers.tools()}
