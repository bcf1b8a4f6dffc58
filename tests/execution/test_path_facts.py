"""Where paths lead: the same on the disk and in the fake, whatever links are laid."""

import os
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.contract.ports import PathFacts, PathProblem, PathView
from holdfast.execution import path_facts
from holdfast.execution.kernel.openat2 import opener
from holdfast.execution.path_facts import DiskPaths
from holdfast.testing.fakes import FakePaths
from holdfast.testing.kits import check_path_facts


class Below:
    """Facts about a tree, with ``@`` for its root in questions and answers."""

    def __init__(self, facts: PathFacts, root: str) -> None:
        self._facts = facts
        self._root = root

    def look(self, path: str, base: str | None, /) -> PathView | PathProblem:
        start = base and base.replace("@", self._root)
        seen = self._facts.look(path.replace("@", self._root), start)
        if isinstance(seen, PathProblem):
            return seen
        return PathView(*(part.replace(self._root, "@") for part in (seen.lexical, seen.physical)))


def _build(root: Path, files: Mapping[str, str], links: Mapping[str, str]) -> Below:
    for name, content in files.items():
        path = Path(name.replace("@", str(root)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    for name, target in links.items():
        path = Path(name.replace("@", str(root)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target.replace("@", str(root)))
    return Below(DiskPaths(), str(root))


def _fake(files: Mapping[str, str], links: Mapping[str, str]) -> Below:
    def placed(text: str) -> str:
        return text.replace("@", "/tree")

    laid = {placed(name): placed(target) for name, target in links.items()}
    return Below(FakePaths(map(placed, files), laid), "/tree")


def test_the_disk_passes_the_kit(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    check_path_facts(lambda files, links: _build(root, files, links))


def test_the_disk_passes_the_kit_where_every_path_has_to_be_walked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(path_facts, "_HANDLE_ONLY", None)
    root = tmp_path.resolve()
    check_path_facts(lambda files, links: _build(root, files, links))


def test_the_fake_passes_the_kit() -> None:
    check_path_facts(_fake)


def test_the_kit_notices_facts_that_never_look_at_the_disk() -> None:
    with pytest.raises(AssertionError, match="docs/near"):
        check_path_facts(lambda files, _links: _fake(files, {}))


NAMES = st.sampled_from(["a", "b", "c", "..", ".", ""])
PATHS = st.lists(NAMES, min_size=1, max_size=6).map("/".join)
TARGETS = PATHS | PATHS.map(lambda path: f"@/{path}")


@settings(deadline=None)
@given(
    st.dictionaries(st.sampled_from(["@/a", "@/b", "@/c", "@/d/a", "@/d/b"]), TARGETS, max_size=5),
    st.lists(PATHS, min_size=1, max_size=5),
)
def test_disk_and_fake_follow_every_link_alike(links: dict[str, str], paths: list[str]) -> None:
    links = {name: target for name, target in links.items() if target}
    files = {name: "" for name in ("@/d/c", "@/c") if name not in links}
    with TemporaryDirectory() as folder:
        disk = _build(Path(folder).resolve(), files, links)
        fake = _fake(files, links)
        for path in paths:
            for base in ("@", "@/d"):
                seen, imagined = disk.look(path, base), fake.look(path, base)
                if not _climbed(seen) and not _climbed(imagined):
                    assert seen == imagined or _both_lead_nowhere(seen, imagined)


def _climbed(seen: PathView | PathProblem) -> bool:
    """Above the tree the two stand on different ground."""
    texts = [seen.lexical, getattr(seen, "physical", None)]
    return any(text is not None and "@" not in text for text in texts)


def _both_lead_nowhere(one: PathView | PathProblem, other: PathView | PathProblem) -> bool:
    return isinstance(one, PathProblem) and isinstance(other, PathProblem)


def test_a_file_named_as_if_it_were_deleted_is_found_all_the_same(tmp_path: Path) -> None:
    path = tmp_path.resolve() / "x (deleted)"
    path.write_text("", "utf-8")
    assert DiskPaths().look(str(path), None) == PathView(str(path), str(path))


def test_what_has_no_place_on_the_disk_is_walked_by_name() -> None:
    read, write = os.pipe()
    try:
        seen = DiskPaths().look(f"/proc/self/fd/{read}", None)
    finally:
        os.close(read)
        os.close(write)
    assert isinstance(seen, PathView)
    assert seen.physical.startswith("/proc/")


def test_a_name_that_is_no_utf8_is_followed(tmp_path: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    root = tmp_path.resolve()
    (root / name).write_text("", "utf-8")
    assert DiskPaths().look(name, str(root)) == PathView(f"{root}/{name}", f"{root}/{name}")


def test_a_new_name_behind_a_broken_parent_is_walked(tmp_path: Path) -> None:
    root = tmp_path.resolve()
    (root / "gone").symlink_to(root / "missing")
    seen = DiskPaths().look("gone/x", str(root))
    assert seen == PathView(f"{root}/gone/x", f"{root}/missing/x")


@contextmanager
def _powerless() -> Generator[None]:
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)


def test_a_directory_that_may_not_be_searched_is_said_to_be_forbidden(tmp_path: Path) -> None:
    closed = tmp_path.resolve() / "closed"
    closed.mkdir()
    closed.chmod(0)
    try:
        with _powerless():
            seen = DiskPaths().look("x", str(closed))
    finally:
        closed.chmod(0o700)
    assert seen == PathProblem("forbidden", f"{closed}/x")


def test_looking_opens_nothing_for_reading(tmp_path: Path) -> None:
    # Opening a pipe for reading would wait for a writer, for ever.
    os.mkfifo(tmp_path / "pipe")
    seen = DiskPaths().look("pipe", str(tmp_path.resolve()))
    assert isinstance(seen, PathView)


def test_without_the_system_call_paths_are_found_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with_it = [DiskPaths().look(name, str(tmp_path)) for name in ("real", "link", "new", ".")]
    monkeypatch.setattr(path_facts, "_open_link_free", None)
    without = [DiskPaths().look(name, str(tmp_path)) for name in ("real", "link", "new", ".")]
    assert without == with_it


def test_other_systems_have_no_such_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert opener(os.O_RDONLY) is None
