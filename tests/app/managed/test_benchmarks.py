"""The benchmarks of the managed tools still go: they are run over a small store, and reported."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

BENCH = Path(__file__).parents[3] / "bench"


def told(script: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(BENCH / script), "--quick"],
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def report() -> Any:
    spec = importlib.util.spec_from_file_location("managed_report", BENCH / "managed_report.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def table(head: list[str], rows: list[list[str]]) -> str:
    return "\n".join(" ".join(row) for row in [head, *rows])


@pytest.mark.timeout(120)
def test_questions_to_a_small_store_are_measured_and_reported() -> None:
    found = {"search": told("managed_search.py"), "sessions": told("managed_sessions.py")}
    assert (
        sum(row["hits"] > 0 for row in found["search"]["rows"]) > len(found["search"]["rows"]) / 2
    )
    shown = report().tables(found, table)
    assert "retrieval" not in shown[0]
    assert "session_list_children" in shown[1]
    targets = report().targets(found)
    assert [name for name, *_ in targets] == [
        "a search of a million events, the slowest kind, ms",
        "session_list among 10,000 sessions, ms",
        "session_list_children among 10,000 sessions, ms",
    ]
