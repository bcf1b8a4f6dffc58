"""Coverage inside wardens: they are processes of their own, and confined ones."""

import os
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[3]


def runs() -> bool:
    """Whether the processes of the test that runs now are measured."""
    return "COVERAGE_PROCESS_START" in os.environ


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
        data=os.environ.get("COVERAGE_FILE", str(ROOT / ".coverage")),
    ).replace("{", "{{").replace("}", "}}") + plain
