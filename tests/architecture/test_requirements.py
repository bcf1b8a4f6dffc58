"""Requirements are data: every mark names a real one, and every open must is listed.

`tests/requirements/open.txt` names each must that no test proves yet, with the part that brings it.
That list may only shrink. `withdrawn.txt` names those that a test claimed to prove and did not.
"""

import ast
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "requirements"


def _requirements() -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {}
    for path in sorted(FOLDER.glob("*.toml")):
        for entry in tomllib.loads(path.read_text("utf-8"))["requirement"]:
            assert entry["id"] not in found, f"{entry['id']} is there twice"
            found[entry["id"]] = entry
    return found


def _marked() -> dict[str, list[str]]:
    marks: dict[str, list[str]] = {}
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("mark.req"):
                for argument in node.args:
                    assert isinstance(argument, ast.Constant), f"{path.name}: ids are literals"
                    marks.setdefault(str(argument.value), []).append(path.name)
    return marks


def _open(text: str) -> dict[str, str]:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    entries = [line.split(maxsplit=1) for line in lines]
    return {entry[0]: entry[1] if len(entry) > 1 else "" for entry in entries}


REQUIREMENTS = _requirements()
MARKED = _marked()
OPEN = _open((FOLDER / "open.txt").read_text("utf-8"))
WITHDRAWN = _open((FOLDER / "withdrawn.txt").read_text("utf-8"))


def test_every_mark_names_a_requirement() -> None:
    assert sorted(set(MARKED) - set(REQUIREMENTS)) == []


def test_every_must_is_proven_or_listed_as_open() -> None:
    musts = {name for name, entry in REQUIREMENTS.items() if entry["level"] == "must"}
    assert sorted(musts - set(MARKED) - set(OPEN) - set(WITHDRAWN)) == []


def test_nothing_proven_or_unknown_is_listed_as_open() -> None:
    listed = {*OPEN, *WITHDRAWN}
    assert sorted(listed & set(MARKED)) == []
    assert sorted(listed - set(REQUIREMENTS)) == []
    assert sorted(set(OPEN) & set(WITHDRAWN)) == []


def test_every_open_entry_names_the_part_that_brings_it() -> None:
    assert [name for name, part in (OPEN | WITHDRAWN).items() if not part] == []


def test_the_list_of_open_requirements_only_shrinks() -> None:
    log = subprocess.run(
        ["git", "log", "--reverse", "--format=%H", "--", "tests/requirements/open.txt"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if log.returncode != 0:
        pytest.skip("not a git checkout")
    begun = False
    for commit in log.stdout.split():
        before = subprocess.run(
            ["git", "show", f"{commit}:tests/requirements/open.txt"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        begun = begun or bool(_open(before))
        added = set(OPEN) - set(_open(before))
        assert not begun or not added, f"added since {commit[:8]}: {sorted(added)}"
