"""What is loaded at its first use: named in one table, imported in the open, run once."""

import ast
import subprocess
import sys
import threading
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

import holdfast
from holdfast import _later

SOURCE = Path(holdfast.__file__).parent

FIRST_CALL = """
import sys
import anyio
from holdfast import Holdfast, tool

@tool(read_only=True)
async def add(a: int, b: int) -> int:
    'Add.'
    return a + b

async def main():
    async with Holdfast(profile="code", workspace=sys.argv[1], tools=[add]) as hf:
        assert (await hf.settle("add", '{"a": 1, "b": 2}')).result == 3

anyio.run(main)
from holdfast._later import Later
run = [name for name, module in sys.modules.items() if type(module) is not Later]
print(' '.join(run))
"""

NOT_FOR_A_FIRST_CALL = (
    *("tree_sitter", "tree_sitter_bash", "aiohttp", "yarl", "psycopg", "rich", "argparse"),
    *("html", "http", "xml", "urllib.request", "mcp"),
    *("holdfast.execution.processes.", "holdfast.execution.network.", "holdfast.execution.warden"),
    *("holdfast.execution.files.", "holdfast.execution.search.", "holdfast.execution.extraction."),
    *("holdfast.execution.language_servers.", "holdfast.policy.shell.analysis"),
    *("holdfast.policy.shell.statements", "holdfast.tools.host.", "holdfast.tools.search."),
    *("holdfast.record.postgres.", "holdfast.surfaces", "holdfast.testing"),
)

MOST_MODULES = 310
"""Of holdfast, for a first call; there are more than twice as many."""
_TOOLSETS_OF_THE_PROFILE = {"holdfast.tools.code", "holdfast.tools.locked"}


@pytest.fixture(scope="module")
def run_by_a_first_call(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    home, workspace = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("workspace")
    told = subprocess.run(
        [sys.executable, "-c", FIRST_CALL, str(workspace)],
        capture_output=True,
        text=True,
        check=True,
        env={"HOLDFAST_HOME": str(home), "HOME": str(home), "PATH": "/usr/bin:/bin"},
    )
    assert told.stderr == ""
    return told.stdout.split()


def test_a_first_call_of_a_pure_tool_loads_only_what_it_needs(
    run_by_a_first_call: list[str],
) -> None:
    needless = [
        name
        for name in run_by_a_first_call
        if any(
            name.startswith(one) if one.endswith(".") else name == one or name.startswith(f"{one}.")
            for one in NOT_FOR_A_FIRST_CALL
        )
    ]
    assert needless == []
    assert _later.NAMES.intersection(run_by_a_first_call) == _TOOLSETS_OF_THE_PROFILE
    ours = [name for name in run_by_a_first_call if name.startswith("holdfast")]
    assert len(ours) <= MOST_MODULES


@pytest.mark.parametrize("name", sorted(_later.NAMES))
def test_a_module_is_there_and_loads(name: str) -> None:
    module = import_module(name)
    assert module.__spec__ is not None
    assert type(module.__spec__.loader).__name__ == "SourceFileLoader"
    assert [one for one in dir(module) if not one.startswith("__")] or module


def test_somebody_imports_each_as_a_whole_and_in_the_open() -> None:
    """Only so the import law and the type checker see what a name in the table stands for."""
    seen: set[str] = set()
    for file in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                seen.update(f"{node.module}.{one.name}" for one in node.names)
    assert seen >= _later.NAMES


def _named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str) -> str:
    """A module of our own among them; it is loaded by nobody yet."""
    name = f"later_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(source, "utf-8")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(_later, "NAMES", frozenset({name}))
    return name


def test_it_is_run_by_the_first_look_at_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = import_module(_named(tmp_path, monkeypatch, "print('run')\nVALUE = 5\n"))
    assert type(module) is _later.Later
    assert not hasattr(module, "__warningregistry__")
    assert module.__file__ is not None
    assert capsys.readouterr().out == ""
    assert (module.VALUE, module.VALUE) == (5, 5)
    assert capsys.readouterr().out == "run\n"
    assert type(module) is ModuleType
    with pytest.raises(AttributeError, match="NOTHING"):
        _ = module.NOTHING


def test_a_name_that_is_not_there_is_told_as_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = import_module(_named(tmp_path, monkeypatch, "VALUE = 5\n"))
    with pytest.raises(AttributeError, match="NOTHING"):
        _ = module.NOTHING


def test_who_asks_for_its_own_names_too_early_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "import sys\nVALUE = sys.modules[__name__].LATER\nLATER = 5\n"
    module = import_module(_named(tmp_path, monkeypatch, source))
    with pytest.raises(AttributeError, match="LATER"):
        _ = module.LATER


def test_where_it_fails_the_next_look_tries_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "import os\nif 'NOT_YET' in os.environ: raise RuntimeError('not yet')\nVALUE = 5\n"
    module = import_module(_named(tmp_path, monkeypatch, source))
    monkeypatch.setenv("NOT_YET", "1")
    with pytest.raises(RuntimeError, match="not yet"):
        _ = module.VALUE
    monkeypatch.delenv("NOT_YET")
    assert module.VALUE == 5


def test_threads_that_look_at_the_same_time_run_it_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = (
        "import builtins, time\n"
        "builtins.times_run = getattr(builtins, 'times_run', 0) + 1\n"
        "time.sleep(0.05)\n"
        "VALUE = 5\n"
    )
    module = import_module(_named(tmp_path, monkeypatch, source))
    begin, found = threading.Barrier(8), list[int]()

    def look() -> None:
        begin.wait(10)
        found.append(module.VALUE)

    threads = [threading.Thread(target=look) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert found == [5] * 8
    builtins = import_module("builtins")
    assert vars(builtins).pop("times_run") == 1


def test_installing_it_twice_changes_nothing() -> None:
    before = list(sys.meta_path)
    _later.install()
    assert sys.meta_path == before
