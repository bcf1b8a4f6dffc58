"""Sessions of other projects: what runs in them, and is replayed, is judged by their own rules."""

from pathlib import Path
from typing import Any

import pytest
from agent_scripts import asks, says, script
from http_process import Serving, serving

DENIES = """
[[rule]]
permission = "bash"
pattern = "*"
action = "deny"
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir(mode=0o700)
    return folder


def a_project(folder: Path) -> Path:
    (folder / ".git").mkdir(parents=True)
    return folder


def settled(server: Serving, model: str, place: Path) -> tuple[str, Any]:
    """A session of a project, and the answer to its one call."""
    body = {"message": "Go.", "model": model, "workspace": str(place)}
    session = server.post("/sessions", 201, **body)["id"]
    server.until(f"/sessions/{session}", lambda row: row["turns"] and row["runner"] == "nobody")
    (call,) = server.get(f"/sessions/{session}/calls")["calls"]
    return session, call["envelope"]


def test_a_session_runs_and_is_replayed_under_the_rules_of_its_own_project(
    home: Path, tmp_path: Path
) -> None:
    own, other = a_project(tmp_path / "own"), a_project(tmp_path / "other")
    (other / ".holdfast").mkdir()
    (other / ".holdfast" / "policy.toml").write_text(DENIES, "utf-8")
    model = script(tmp_path, asks("bash", command="echo hello"), says("Done."))
    with serving(home, own, "--profile", "code") as server:
        here, said = settled(server, model, own)
        assert said["result"]["stdout"] == "hello\n"
        there, refused = settled(server, model, other)
        assert refused["ok"] is False
        assert refused["kind"] == "rejected"
        for session in (here, there):
            told = server.post(f"/sessions/{session}/replay", 200, what="calls")
            assert told["same"], told
