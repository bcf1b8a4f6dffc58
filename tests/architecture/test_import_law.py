"""The import law holds, and the gate that checks it would notice a breach."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINT = Path(sys.executable).with_name("lint-imports")


def _lint(tree: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(LINT), "--no-cache", "--config", str(tree / "pyproject.toml")],
        cwd=tree,
        env={"PYTHONPATH": str(tree / "src"), "PATH": "/usr/bin:/bin", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    tree = tmp_path_factory.mktemp("tree")
    shutil.copytree(ROOT / "src", tree / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tree)
    return tree


def test_every_contract_is_kept(copy: Path) -> None:
    result = _lint(copy)
    assert result.returncode == 0, result.stdout


@pytest.mark.parametrize(
    ("room", "line"),
    [
        ("contract/tool.py", "import holdfast.runtime.catalog"),
        ("preflight/parse.py", "import holdfast.envelope.detect"),
        ("agent/classify.py", "import holdfast.envelope.detect"),
        ("runtime/ids.py", "import holdfast.app.holdfast"),
        ("envelope/wrap.py", "import subprocess"),
        ("contract/failure.py", "import os"),
        ("record/sqlite/schema.py", "import psycopg"),
        ("app/keys.py", "import psycopg_pool"),
        ("engine/cluster/link.py", "import nats"),
        ("agent/models/wire.py", "import aiohttp"),
        ("record/searching.py", "import usearch"),
        ("runtime/managed/retrieval/meaning.py", "import numpy"),
        ("agent/models/exchange.py", "import socket"),
        ("record/postgres/versions.py", "import socket"),
        (
            "preflight/literals.py",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import holdfast.runtime.ids",
        ),
    ],
)
def test_a_breach_is_noticed(copy: Path, room: str, line: str) -> None:
    path = copy / "src" / "holdfast" / room
    before = path.read_text("utf-8")
    path.write_text(f"{before}\n{line}\n", "utf-8")
    try:
        assert _lint(copy).returncode == 1
    finally:
        path.write_text(before, "utf-8")
