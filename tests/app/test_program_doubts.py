"""Why a server's program may not start: each reason has its own words."""

import os
from pathlib import Path

import pytest

from holdfast.app.program_doubts import missing_scripts, program_doubt


@pytest.fixture
def around(tmp_path: Path) -> dict[str, str]:
    for name, text, mode in (
        ("good", "#!/bin/sh\n", 0o755),
        ("binary", "\x7fELF", 0o755),
        ("plain", "#!/bin/sh\n", 0o644),
        ("lost", "#!/no/such/interpreter\n", 0o755),
        ("with blank", "#!/bin/sh\n", 0o755),
    ):
        (tmp_path / name).write_text(text, "latin-1")
        (tmp_path / name).chmod(mode)
    (tmp_path / "folder").mkdir()
    return {"PATH": f"{os.pathsep}{tmp_path}"}


@pytest.mark.parametrize(
    ("program", "what"),
    [
        ("good", None),
        ("binary", None),
        ("with blank", None),
        ("./good", None),
        ("none", "there is no program 'none'"),
        ("./none", "there is no program './none'"),
        ("folder", "there is no program 'folder'"),
        ("./folder", "is a folder, and no program"),
        ("plain", "/plain' is not executable"),
        ("./plain", "/plain' is not executable"),
        ("lost", "/no/such/interpreter, which is not there"),
        ("good and more", "there are blanks in command 'good and more'"),
        ("x/" + "y" * 5000, "there is no program"),
        ("x/\0", "there is no program"),
    ],
)
def test_each_reason_is_told_apart(
    tmp_path: Path, around: dict[str, str], program: str, what: str | None
) -> None:
    found = program_doubt(program, around, tmp_path)
    if what is None:
        assert found is None
    else:
        assert found is not None
        assert what in found.what
        assert found.step
        assert found.text == f"{found.what}; {found.step}"


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe", 0o755)
    found = program_doubt(str(tmp_path / "pipe"), {})
    assert found is not None
    assert "no ordinary file" in found.what


@pytest.mark.skipif(os.geteuid() == 0, reason="the super-user reads everything")
def test_a_program_that_may_only_be_executed_is_no_doubt(tmp_path: Path) -> None:
    program = tmp_path / "run"
    program.write_text("#!/no/such/interpreter\n", "utf-8")
    program.chmod(0o111)
    assert program_doubt(str(program), {}) is None


def test_scripts_that_lead_nowhere_are_found(tmp_path: Path) -> None:
    (tmp_path / "here.py").touch()
    words = ("python", str(tmp_path / "here.py"), "none.py", "a/b.sh", "-x.py", "a b.py", "u:b.js")
    assert [*missing_scripts(words)] == ["none.py", "a/b.sh"]
    assert [*missing_scripts(("docker", "run", "/app/server.py"))] == []
