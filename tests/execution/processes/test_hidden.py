"""What a policy hides inside of what it shows: there, and not to be opened."""

from pathlib import Path

import msgspec
import pytest
from execution.processes.ground import Ground, each, opened, policy_of

from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes.spawners import SandboxRefused, SandboxUnavailable

pytestmark = pytest.mark.anyio


def hiding(workspace: Path, *names: str, readable: tuple[str, ...] = ()) -> SandboxPolicy:
    policy = policy_of(workspace)
    hidden = tuple(f"{workspace}/{name}" for name in names)
    return msgspec.structs.replace(
        policy,
        hidden=hidden,
        protected=tuple(sorted({*policy.protected, *hidden})),
        readable=(*policy.readable, *(f"{workspace}/{name}" for name in readable)),
    )


async def code(ground: Ground, command: str) -> int:
    ended = (await ground.run(command)).ended
    assert ended is not None
    return ended.exit


def furnished(tmp_path: Path) -> Path:
    """The workspace is made by whoever opens the ground; what is in it is made before."""
    return tmp_path.resolve() / "workspace"


@pytest.mark.measured
@each("namespaces", "bubblewrap")
async def test_a_directory_and_a_file_are_closed_and_what_is_excepted_is_open(
    tmp_path: Path, kind: str
) -> None:
    workspace = furnished(tmp_path)
    workspace.mkdir()
    for name in ("secrets/a", "secrets/public/c", "key", "open"):
        (workspace / name).parent.mkdir(parents=True, exist_ok=True)
        (workspace / name).write_text("needle\n")
    policy = hiding(workspace, "secrets", "key", "gone", readable=("secrets/public",))
    async with opened(tmp_path, kind, policy) as ground:
        for command in ("ls secrets", "cat secrets/a", "cat key", "echo x > key", "rm -r secrets"):
            assert await code(ground, command) != 0, command
        for command in ("chmod 777 secrets", "touch secrets/new", "mv secrets elsewhere"):
            assert await code(ground, command) != 0, command
        assert await code(ground, "cat secrets/public/c open && test ! -e gone") == 0
    assert (workspace / "key").read_text() == "needle\n"
    assert sorted(one.name for one in (workspace / "secrets").iterdir()) == ["a", "public"]
    assert not (workspace / "gone").exists()


@each("landlock")
async def test_without_a_file_system_of_its_own_nothing_can_be_hidden(
    tmp_path: Path, kind: str
) -> None:
    workspace = furnished(tmp_path)
    workspace.mkdir()
    with pytest.raises(SandboxUnavailable, match="can only be hidden in a file system of its own"):
        async with opened(tmp_path, kind, hiding(workspace, "secrets")):
            pass


@each("namespaces", "bubblewrap")
async def test_a_link_is_not_taken_for_what_is_to_be_hidden(tmp_path: Path, kind: str) -> None:
    workspace = furnished(tmp_path)
    workspace.mkdir()
    (workspace / "key").symlink_to("other")
    with pytest.raises(SandboxRefused, match="leads through the link"):
        async with opened(tmp_path, kind, hiding(workspace, "key")):
            pass


@each("unconfined")
async def test_who_runs_unconfined_has_chosen_this_too(tmp_path: Path, kind: str) -> None:
    workspace = furnished(tmp_path)
    workspace.mkdir()
    (workspace / "key").write_text("needle\n")
    async with opened(tmp_path, kind, hiding(workspace, "key")) as ground:
        assert await code(ground, "cat key") == 0
