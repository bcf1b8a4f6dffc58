"""Links at a policy's paths: what they lead to is never shown, nor a weaker sandbox made."""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from execution.processes.ground import TIERS, each, measurable, opened, policy_of

from holdfast.contract.sandbox import SandboxPolicy
from holdfast.execution.processes import sandbox, tiers
from holdfast.execution.processes.confinement import Scratch
from holdfast.execution.processes.held_paths import held
from holdfast.execution.processes.spawners import SandboxRefused
from holdfast.execution.processes.tiers import start_in
from holdfast.execution.processes.wardens import Warden, start_warden
from holdfast.execution.spool import Spool

CONFINED = ("namespaces", "bubblewrap", "landlock")


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """Somebody's home, with a workspace in it."""
    home = tmp_path.resolve() / "person"
    for folder in (home / "workspace" / "src", home / ".ssh", home / "root", home / "temporary"):
        folder.mkdir(parents=True)
    (home / ".ssh" / "key").write_text("private", "utf-8")
    return home


def scratch_of(place: Path) -> Scratch:
    return Scratch(str(place / "root"), str(place / "temporary"), str(place))


def policy(place: Path, **parts: tuple[str, ...]) -> SandboxPolicy:
    root = str(place / "workspace")
    given = {name: tuple(f"{root}/{path}" for path in paths) for name, paths in parts.items()}
    return measurable(
        msgspec.structs.replace(SandboxPolicy(readable=(root,), writable=(root,)), **given)
    )


@each(*CONFINED)
@pytest.mark.parametrize("target", ["..", "../.ssh", "/", "nowhere", "src"])
@pytest.mark.parametrize(
    "parts",
    [
        {"protected": (".claude",)},
        {"protected": (".claude/settings",)},
        {"protected": (".claude/deep/settings",)},
        {"readable": (".claude",)},
        {"writable": (".claude",)},
        {"writable": (".claude/below",)},
    ],
)
async def test_a_policy_that_a_link_would_widen_is_refused(
    place: Path, kind: str, target: str, parts: dict[str, tuple[str, ...]]
) -> None:
    link = place / "workspace" / ".claude"
    link.symlink_to(target)
    with pytest.raises(SandboxRefused, match=f"through the link {str(link)!r}"):
        await start_in(TIERS[kind], policy(place, **parts), scratch_of(place))


def planted(monkeypatch: pytest.MonkeyPatch, plant: Callable[[], None]) -> None:
    """Something happens between the look at the paths and the sandbox made of them."""

    async def late(*given: object) -> Warden:
        plant()
        return await start_warden(*given)  # pyright: ignore[reportArgumentType] - as it was called

    monkeypatch.setattr(tiers, "start_warden", late)


@each(*CONFINED)
@pytest.mark.parametrize("target", ["..", "/", "src"])
async def test_a_link_that_is_planted_in_between_shows_nothing_either(
    place: Path, kind: str, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = place / "workspace" / "extra"
    folder.mkdir()

    def swap() -> None:
        folder.rename(place / "workspace" / "old")
        folder.symlink_to(target)

    planted(monkeypatch, swap)
    wanted = policy(place, readable=("extra",))
    with pytest.raises(SandboxRefused, match="cannot be made"):
        await start_in(TIERS[kind], wanted, scratch_of(place))


@each("namespaces", "bubblewrap")
async def test_what_is_missing_and_becomes_a_link_in_between_is_not_shown(
    place: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = place / "workspace" / ".claude"
    planted(monkeypatch, lambda: link.symlink_to(".."))
    wanted = policy(place, protected=(".claude",))
    try:
        warden = await start_in(TIERS[kind], wanted, scratch_of(place))
    except SandboxRefused:
        assert kind == "namespaces"
    else:
        # It was not there to be shown: the link is one in the view, and leads to an empty home.
        await warden.close()
        assert kind == "bubblewrap"


@pytest.mark.measured
@each("namespaces", "bubblewrap")
async def test_another_folder_in_the_same_place_is_not_shown(
    place: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = place / "workspace" / ".git"
    folder.mkdir()

    def swap() -> None:
        folder.rename(place / "workspace" / "old")
        folder.mkdir()

    planted(monkeypatch, swap)
    wanted = policy(place, protected=(".git",))
    if kind == "bubblewrap":
        with pytest.raises(SandboxRefused, match="something else is shown"):
            await start_in(TIERS[kind], wanted, scratch_of(place))
    else:
        # Opened and shown by one handle: it is what the path names at that moment.
        await (await start_in(TIERS[kind], wanted, scratch_of(place))).close()


def no_spool(_name: str) -> Spool:
    return Spool(lambda: None, 0)


async def test_no_weaker_sandbox_is_made_instead(place: Path) -> None:
    (place / "workspace" / ".claude").symlink_to("..")
    parts = sandbox.SandboxParts(
        policy(place, protected=(".claude/x",)),
        scratch_of(place),
        str(place),
        {},
        no_spool,
    )
    with pytest.raises(SandboxRefused) as refused:
        await sandbox.open_strongest(parts, tiers.STRONGEST_FIRST)
    assert "namespaces" not in str(refused.value)


@each(*CONFINED)
async def test_links_inside_the_workspace_lead_nowhere(tmp_path: Path, kind: str) -> None:
    root = tmp_path.resolve()
    async with opened(tmp_path, kind, policy_of(root / "workspace")) as ground:
        (ground.outside / "secret").write_text("secret", "utf-8")
        (ground.workspace / "src").symlink_to("../outside")
        report = await ground.run("cat src/secret; echo x > src/new; ls src/")
        assert report.captured.stdout.head == b""
        assert [path.name for path in ground.outside.iterdir()] == ["secret"]


def test_what_is_missing_is_left_out_and_what_is_there_is_known(place: Path) -> None:
    known, missing = place / ".ssh" / "key", place / ".ssh" / "key" / "below"
    with held([str(known), str(missing), str(place / "none")], [str(missing)]) as found:
        seen = known.stat()
        assert found == {str(known): (seen.st_dev, seen.st_ino)}


@pytest.mark.parametrize("strictly", [True, False])
def test_what_is_hidden_cannot_be_protected(
    place: Path, strictly: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(place / ".ssh" / "key")

    def hidden(*_: object) -> int:
        raise PermissionError(13, os.strerror(13))

    monkeypatch.setattr("holdfast.execution.processes.held_paths.open_physical", hidden)
    if strictly:
        with pytest.raises(SandboxRefused, match="cannot be protected"), held([path], [path]):
            pass
    else:
        with held([path], []) as found:
            assert found == {}
