"""Programs for changed files: confined, told as warnings, never a failure of the call."""

from pathlib import Path

import pytest
from tool_kit import UNRECORDED, answer, opened

from holdfast.app.holdfast import Holdfast
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import AfterEditSettings, HookSettings, Settings

pytestmark = pytest.mark.anyio

CALLS = {
    "write": {"path": "a.py", "content": "x=1\n"},
    "edit": {"path": "a.py", "old_string": "x = 0", "new_string": "x=1"},
    "apply_patch": {"patch": "--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-x = 0\n+x=1\n"},
}


def hooked(*command: str, files: str = "**/*.py", seconds: float = 10.0) -> Settings:
    hook = AfterEditSettings(files=files, command=command, seconds=seconds)
    return Settings(hooks=HookSettings(after_edit=(hook,)), store=UNRECORDED.store)


async def warned(hf: Holdfast, tool: str = "write", **arguments: object) -> tuple[str, ...]:
    envelope = await answer(hf, tool, **arguments)
    assert envelope.failure is None
    return envelope.warnings


@pytest.mark.parametrize("tool", CALLS)
async def test_a_formatters_change_is_kept_and_told(workspace: Path, tool: str) -> None:
    (workspace / "a.py").write_text("x = 0\n")
    async with opened(workspace, settings=hooked("sed", "-i", "s/=/ = /", "{path}")) as hf:
        said = await warned(hf, tool, **CALLS[tool])
    assert said == (
        "`sed -i 's/=/ = /' a.py` changed a.py after the edit: read it again before the next one.",
    )
    assert (workspace / "a.py").read_text() == "x = 1\n"


async def test_the_host_profiles_tool_has_them_too(workspace: Path) -> None:
    async with opened(workspace, "host", settings=hooked("false")) as hf:
        said = await warned(hf, "sandbox_write_file", path="a.py", content="")
    assert said == ("`false` ended with exit code 1.",)


async def test_findings_are_told_and_content_is_silence(workspace: Path) -> None:
    check = ("sh", "-c", 'grep -n TODO "$1" && exit 1; echo fine; exit 0', "check", "{path}")
    async with opened(workspace, settings=hooked(*check)) as hf:
        (said,) = await warned(hf, path="d/a.py", content="a\nTODO b\n")
        assert said.endswith("ended with exit code 1:\n2:TODO b")
        assert await warned(hf, path="d/a.py", content="a\n") == ()
        assert await warned(hf, path="d/a.txt", content="TODO\n") == ()
        (said,) = await warned(hf, path=str(workspace / "d/-b.py"), content="TODO\n")
        assert "d/-b.py" in said


@pytest.mark.parametrize(
    ("command", "seconds", "said"),
    [
        (("sleep", "30"), 0.5, "`sleep 30` took longer than 0.5 s and was stopped."),
        (("no-such-program",), 10, "`no-such-program` could not be started"),
        (("rm", "{path}"), 10, "`rm a.py` left a.py so that it cannot be read: There is no a.py."),
    ],
)
async def test_a_program_that_fails_is_a_warning(
    workspace: Path, command: tuple[str, ...], seconds: float, said: str
) -> None:
    async with opened(workspace, settings=hooked(*command, seconds=seconds)) as hf:
        (told,) = await warned(hf, path="a.py", content="x\n")
    assert told.startswith(said)


async def test_they_are_confined_as_commands_are(workspace: Path) -> None:
    outside = workspace.parent / "outside"
    outside.mkdir()
    async with opened(workspace, settings=hooked("touch", str(outside / "x"))) as hf:
        (said,) = await warned(hf, path="a.py", content="x\n")
        assert "exit code 1" in said
        assert "hooks.after_edit" not in {tool.name for tool in hf.tools}
    assert list(outside.iterdir()) == []


async def test_a_pattern_that_is_none_is_told(workspace: Path) -> None:
    settings = hooked("true", files="{a,b}" * 40)
    with pytest.raises(ConfigurationError, match=r"hooks.after_edit #1: files"):
        async with opened(workspace, settings=settings):
            pass
