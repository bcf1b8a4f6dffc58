"""Coverage inside wardens: they are processes of their own, and confined ones."""

import os
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[3]
RUNS = "COVERAGE_RUN" in os.environ
"""Whether coverage measures this run."""


def boot(plain: str) -> str:
    """What a warden's interpreter runs first, measured."""
    packages = sysconfig.get_path("purelib")
    return (
        "import os, sys; sys.path.append({packages!r});"
        " os.environ['COVERAGE_PROCESS_START'] = {settings!r};"
        " os.environ['COVERAGE_FILE'] = {data!r};"
        " import coverage; coverage.process_startup(); "
    ).format(
        packages=packages,
        settings=str(ROOT / "pyproject.toml"),
        data=str(ROOT / ".coverage"),
    ).replace("{", "{{").replace("}", "}}") + plain
