"""Fails when the tests reach too little: everything in contract and the stages, most elsewhere."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
WHOLE = ("contract", "preflight", "policy", "execution", "envelope")
FLOOR = 90.0


def _measured() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "coverage.json"
        command = [sys.executable, "-m", "coverage", "json", "--quiet", "-o", str(report)]
        subprocess.run(command, cwd=ROOT, check=True)
        return json.loads(report.read_text("utf-8"))["files"]


def _missed(files: dict[str, Any]) -> list[str]:
    problems: list[str] = []
    for name, facts in sorted(files.items()):
        room = Path(name).parts[2]
        percent = facts["summary"]["percent_covered"]
        lines = facts["missing_lines"]
        branches = [f"{start}->{end}" for start, end in facts["missing_branches"]]
        if percent < (100.0 if room in WHOLE else FLOOR):
            problems.append(f"{name}: {percent:.1f}% (lines {lines}, branches {branches})")
    return problems


def main() -> int:
    problems = _missed(_measured())
    for problem in problems:
        sys.stderr.write(problem + "\n")
    sys.stdout.write("coverage: " + ("too low\n" if problems else "as it should be\n"))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
