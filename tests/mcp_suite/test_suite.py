"""The public conformance suite of MCP, against our server over HTTP, in both eras.

What does not apply to a server of holdfast is in a list, each with a reason; whatever else fails
fails here, and so does what is in the list and passes.
"""

import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_process import NODE_BIN, SUITE, script, serving, variables
from mcp_token_proxy import with_token

SINCE = {
    "2025-11-25": ("conformance-2025-11-25", ("--suite", "all")),
    "2026-07-28": ("conformance-2026-07-28", ("--suite", "all", "--spec-version", "2026-07-28")),
}
REASONS: dict[str, dict[str, str]] = tomllib.loads(
    (SUITE / "not_applicable.toml").read_text("utf-8")
)


async def _run(url: str, version: str, home: Path, out: Path) -> dict[str, list[dict[str, Any]]]:
    """By scenario, what was checked."""
    package, words = SINCE[version]
    command = [str(NODE_BIN / "node"), script(package, "dist", "index.js"), "server"]
    await anyio.run_process(
        [*command, "--url", url, "-o", str(out), *words],
        env=variables(home),
        cwd=out,
        check=False,
        stderr=subprocess.STDOUT,
    )
    found: dict[str, list[dict[str, Any]]] = {}
    for path in out.rglob("checks.json"):
        name = re.sub(r"-\d{4}-\d\d-\d\dT.*", "", path.parent.name.removeprefix("server-"))
        found.setdefault(name, []).extend(json.loads(path.read_text("utf-8")))
    return found


def _failed(checks: dict[str, list[dict[str, Any]]]) -> dict[str, str]:
    return {
        f"{scenario}: {check['id']}": str(check.get("errorMessage"))
        for scenario, found in checks.items()
        for check in found
        if check["status"] in ("FAILURE", "WARNING")
    }


def _is_listed(name: str, listed: dict[str, str]) -> bool:
    return name in listed or name.partition(":")[0] in listed


@pytest.mark.measured
@pytest.mark.timeout(300)
@pytest.mark.parametrize("version", SINCE)
async def test_every_scenario_that_applies_passes(tmp_path: Path, version: str) -> None:
    home, work, out = tmp_path / "home", tmp_path / "work", tmp_path / "out"
    home.mkdir(mode=0o700)
    work.mkdir()
    out.mkdir()
    tools = str(SUITE / "suite_tools.py")
    async with (
        serving(home, work, "--from", tools) as server,
        with_token(server.url, server.token) as url,
    ):
        checks = await _run(url, version, home, out)
    listed = REASONS[version]
    failed = _failed(checks)
    assert len(checks) > 25, "the suite did not run"
    assert {name: why for name, why in failed.items() if not _is_listed(name, listed)} == {}
    passing = [one for one in listed if not any(_is_listed(name, {one: ""}) for name in failed)]
    assert passing == [], "these pass: take them off the list"
