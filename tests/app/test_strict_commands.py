"""In strict mode: a tool's commands reach what it requires, in a sandbox of their own."""

import os
from pathlib import Path
from typing import cast

import pytest

from holdfast import Holdfast, Runtime, tool
from holdfast.app.settings import PolicySettings, SandboxSettings, Settings, Surroundings
from holdfast.contract.call import Ask
from holdfast.contract.json_value import decode_json
from holdfast.contract.ports import Answer
from holdfast.contract.shell import Confinement

ANY = [{"cmd": "*"}]
KINDS: tuple[Confinement | None, ...] = (None, "landlock")


def runs(name: str, **files: list[str]) -> object:
    """A tool that runs commands which reach these files."""

    async def body(rt: Runtime, command: str) -> list[object]:
        """Run a command."""
        report = await rt.shell.run(command)
        return [report.exit_code, report.stdout.text()]

    return tool(name=name, requires={"shell": ANY, "fs": files})(body)


BUILD = runs("build", read=["**"], write=["out/**"])
READ = runs("look", read=["src/**"])
ALL = runs("every", read=["**"], write=["**"])
HOOKS = runs("hooks", read=["**"], write=["**", ".git/hooks"])


async def willing(_ask: Ask) -> Answer:
    """Says yes: without a file system of its own a writing command is asked about."""
    return Answer(allowed=True, by="test")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    top = tmp_path / "workspace"
    for name in ("src", "out", ".git/hooks"):
        (top / name).mkdir(parents=True)
    (top / "src/a.txt").write_text("a", "utf-8")
    (top / "b.txt").write_text("b", "utf-8")
    return top


def opened(workspace: Path, *tools: object, confinement: Confinement | None = None) -> Holdfast:
    own = workspace.parent / "own"
    own.mkdir()
    return Holdfast(
        approver=willing,
        tools=tools,
        workspace=workspace,
        settings=Settings(
            policy=PolicySettings(strict=True), sandbox=SandboxSettings(confinement=confinement)
        ),
        surroundings=Surroundings(data_home=own, environment={"PATH": os.defpath}),
    )


async def said(hf: Holdfast, name: str, command: str) -> tuple[int, str]:
    envelope = await hf.settle(name, {"command": command})
    assert envelope.ok, envelope.failure
    code, text = cast(
        "tuple[int, str]", tuple(cast("list[object]", decode_json(envelope.result_json)))
    )
    return code, text


@pytest.mark.parametrize("kind", KINDS)
async def test_a_tools_commands_reach_what_it_requires_and_no_more(
    workspace: Path, kind: Confinement | None
) -> None:
    async with opened(workspace, BUILD, READ, ALL, confinement=kind) as hf:
        assert await said(hf, "look", f"cat {workspace}/src/a.txt") == (0, "a")
        assert await said(hf, "build", "cat b.txt; echo x > out/x; cat out/x") == (0, "bx\n")
        assert await said(hf, "every", "echo y > y; cat y") == (0, "y\n")
        for name, command in (
            ("look", f"cat {workspace}/b.txt"),
            ("look", f"echo x > {workspace}/src/x"),
            ("build", "echo x > src/x"),
            ("build", "cp b.txt c.txt"),
        ):
            code, _ = await said(hf, name, f"{command} 2>/dev/null")
            assert code != 0, (name, command)
    assert sorted(path.name for path in workspace.iterdir()) == [".git", "b.txt", "out", "src", "y"]
    assert [path.name for path in (workspace / "src").iterdir()] == ["a.txt"]


@pytest.mark.parametrize("kind", KINDS)
async def test_each_has_temporary_files_and_a_home_of_its_own(
    workspace: Path, kind: Confinement | None
) -> None:
    async with opened(workspace, BUILD, READ, confinement=kind) as hf:
        code, places = await said(
            hf, "build", "echo secret > $TMPDIR/own && touch ~/x && echo $TMPDIR; mktemp"
        )
        own, made = places.split()
        assert code == 0
        assert made.startswith(f"{own}/")
        code, read = await said(hf, "look", f"cat {own}/own {made} 2>/dev/null")
        assert (code, read) == (1, "")
        assert await said(hf, "look", "ls ~") == (0, "")


async def test_nothing_that_a_kernel_can_keep_apart_is_shared(workspace: Path) -> None:
    async with opened(workspace, BUILD, READ) as hf:
        code, _ = await said(hf, "build", "echo kept > /dev/shm/x; (sleep 60 & echo) >/dev/null")
        assert code == 0
        for command in (
            "cat /dev/shm/x",
            f"chmod 777 {workspace}/b.txt",
            f"touch {workspace}/src/a.txt",
            f"stat {workspace}/b.txt",
            "grep -l sleep /proc/[0-9]*/comm",
        ):
            code, shown = await said(hf, "look", f"{command} 2>/dev/null")
            assert (code != 0, shown) == (True, ""), command
    assert (workspace / "b.txt").stat().st_mode & 0o777 != 0o777


async def test_what_another_tool_may_write_stays_protected_from_this_one(workspace: Path) -> None:
    plant = "echo x > .git/hooks/pre-commit"
    async with opened(workspace, ALL, HOOKS) as hf:
        code, _ = await said(hf, "every", f"{plant} 2>/dev/null")
        assert code != 0
        assert await said(hf, "hooks", plant) == (0, "")
    assert (workspace / ".git/hooks/pre-commit").exists()


async def test_a_protected_place_that_appears_is_kept_from_all(workspace: Path) -> None:
    async with opened(workspace, BUILD, ALL) as hf:
        assert await said(hf, "build", "echo 1") == (0, "1\n")
        (workspace / ".git/config").write_text("[core]\n", "utf-8")
        code, _ = await said(hf, "every", "echo x >> .git/config 2>/dev/null")
        assert code != 0
        assert await said(hf, "build", "echo 2 > out/2; cat .git/config") == (0, "[core]\n")
    assert (workspace / ".git/config").read_text("utf-8") == "[core]\n"
