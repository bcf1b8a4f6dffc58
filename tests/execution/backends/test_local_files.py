"""Files of a local sandbox: below one directory, by where a path really leads."""

import stat
from pathlib import Path

import pytest
from execution.backends.local_sandboxes import failure_of, opened, result_of

from holdfast.contract.backend import (
    BackendToolCommandRun,
    BackendToolFilesExists,
    BackendToolFilesList,
    BackendToolFilesRead,
    BackendToolFilesWrite,
    FileContent,
    FileEntries,
    FileWriteResult,
    PathFailure,
)
from holdfast.execution.backends.handle import BackendSandbox
from holdfast.execution.backends.local import LocalSettings


@pytest.mark.req("RATH-BKD-05", "RATH-PAY-04", "RATH-PAY-05", "RATH-PAY-10", "RATH-PAY-11")
def test_files_are_written_and_read_below_the_directory(
    sandbox: BackendSandbox, place: Path
) -> None:
    assert sandbox.dispatch(BackendToolFilesWrite("a/b.txt", "é")) == FileWriteResult(2)
    assert (place / "a/b.txt").read_bytes() == "é".encode()
    assert stat.S_IMODE((place / "a/b.txt").stat().st_mode) == 0o644
    assert sandbox.dispatch(BackendToolFilesWrite("c", b"\xe9", mode=0o750)) == FileWriteResult(1)
    assert stat.S_IMODE((place / "c").stat().st_mode) == 0o750
    assert sandbox.dispatch(BackendToolFilesRead("a/b.txt")) == FileContent("é")
    assert sandbox.dispatch(BackendToolFilesRead("c", None)) == FileContent(b"\xe9")
    assert sandbox.dispatch(BackendToolFilesRead("c", "latin-1")) == FileContent("é")
    assert sandbox.dispatch(BackendToolFilesRead(f"{place}/c", "latin-1")) == FileContent("é")
    assert sandbox.dispatch(BackendToolFilesWrite("c", "shorter")) == FileWriteResult(7)
    assert sandbox.dispatch(BackendToolFilesRead("c")) == FileContent("shorter")


@pytest.mark.req("RATH-BKD-10")
def test_writing_makes_parents_and_counts_bytes(sandbox: BackendSandbox, place: Path) -> None:
    assert sandbox.dispatch(BackendToolFilesWrite("x/y/z", "äöü\r\n")) == FileWriteResult(8)
    assert (place / "x/y/z").read_bytes() == "äöü\r\n".encode()


@pytest.mark.req("RATH-PAY-06", "RATH-PAY-12")
def test_a_directory_is_listed_by_name_and_not_below(sandbox: BackendSandbox, place: Path) -> None:
    result_of(sandbox, "mkdir -p d/sub d/B; touch d/c d/a d/sub/deep; ln -s a d/link")
    listed = sandbox.dispatch(BackendToolFilesList("d"))
    assert isinstance(listed, FileEntries)
    found = [(entry.name, entry.path, entry.is_dir) for entry in listed.entries]
    assert found == [
        (name, f"{place}/d/{name}", name in ("B", "sub")) for name in ("B", "a", "c", "link", "sub")
    ]
    root = sandbox.dispatch(BackendToolFilesList("."))
    assert isinstance(root, FileEntries)
    assert [entry.path for entry in root.entries] == [f"{place}/d"]


@pytest.mark.req("RATH-PAY-07", "RATH-BKD-13")
@pytest.mark.parametrize(
    ("path", "there"),
    [
        (".", True),
        ("there", True),
        ("not", False),
        ("there/below", False),
        ("", False),
        ("\0", False),
        ("\ud800", False),
        ("x" * 300, False),
        ("loop", False),
        ("..", False),
        ("/etc/passwd", False),
    ],
)
def test_existence_is_a_bare_answer(
    sandbox: BackendSandbox, place: Path, path: str, there: bool
) -> None:
    (place / "there").touch()
    (place / "loop").symlink_to("loop")
    assert sandbox.dispatch(BackendToolFilesExists(path)) is there


@pytest.mark.req("RATH-BKD-08")
def test_trouble_is_told_by_its_kind(sandbox: BackendSandbox, place: Path) -> None:
    (place / "file").touch()
    missing = failure_of(sandbox, BackendToolFilesRead("no/../such"))
    assert (missing.kind, missing.detail) == ("file_not_found", f"{place}/such")
    program = failure_of(sandbox, BackendToolCommandRun(["no-such-program"]))
    assert program.kind == "os_error"
    assert "no-such-program" in program.message
    for payload in (
        BackendToolFilesList("no-such"),
        BackendToolFilesList("file"),
        BackendToolFilesRead("."),
        BackendToolFilesWrite(".", ""),
        BackendToolFilesWrite("file/below", ""),
        BackendToolFilesRead("x" * 300),
        BackendToolCommandRun("true", cwd="no-such"),
        BackendToolCommandRun("true", cwd="file"),
        BackendToolCommandRun("true", cwd="x" * 300),
    ):
        assert failure_of(sandbox, payload).kind == "os_error", payload
    assert failure_of(sandbox, BackendToolFilesRead("")).kind == "file_not_found"


def test_a_missing_directory_is_known_as_one(sandbox: BackendSandbox) -> None:
    failure = failure_of(sandbox, BackendToolFilesList("no-such"))
    assert isinstance(failure, PathFailure)
    assert (failure.missing, failure.field) == (True, "path")


@pytest.mark.req("RATH-BKD-09")
def test_what_cannot_be_decoded_is_a_failure_value(sandbox: BackendSandbox) -> None:
    sandbox.dispatch(BackendToolFilesWrite("b", b"ok\xff"))
    failure = failure_of(sandbox, BackendToolFilesRead("b"))
    assert (failure.kind, failure.detail) == ("unexpected", "UnicodeDecodeError")
    assert "at byte 2" in failure.message
    assert failure_of(sandbox, BackendToolFilesRead("b", "no-such")).kind == "unexpected"
    assert failure_of(sandbox, BackendToolFilesWrite("c", "\ud800")).kind == "unexpected"


OUTSIDE = ["/etc/passwd", "../other/secret", "out/secret", "out", "..", "/", "deep/../../other/x"]


@pytest.mark.req("RATH-BKD-06")
@pytest.mark.parametrize("path", OUTSIDE)
def test_a_path_that_leads_out_is_refused_by_where_it_really_leads(
    sandbox: BackendSandbox, place: Path, path: str
) -> None:
    other = place.parent / "other"
    other.mkdir()
    (other / "secret").write_text("secret")
    (place / "out").symlink_to(other)
    (place / "deep").mkdir()
    for payload in (
        BackendToolFilesRead(path),
        BackendToolFilesList(path),
        BackendToolFilesWrite(path, "x"),
        BackendToolCommandRun("true", cwd=path),
    ):
        failure = failure_of(sandbox, payload)
        assert isinstance(failure, PathFailure), payload
        assert (failure.kind, failure.missing, failure.detail) == ("os_error", False, path)
        assert failure.field == ("cwd" if isinstance(payload, BackendToolCommandRun) else "path")
    assert (other / "secret").read_text() == "secret"
    assert sorted(entry.name for entry in other.iterdir()) == ["secret"]


def test_a_link_inside_is_followed(sandbox: BackendSandbox, place: Path) -> None:
    (place / "real").write_text("here")
    (place / "link").symlink_to("real")
    assert sandbox.dispatch(BackendToolFilesRead("link")) == FileContent("here")


def test_a_setting_lets_paths_lead_anywhere(place: Path) -> None:
    (place.parent / "file").write_text("outside")
    with opened(LocalSettings(paths="anywhere", confinement="unconfined"), place) as sandbox:
        assert sandbox.dispatch(BackendToolFilesRead("../file")) == FileContent("outside")
        assert sandbox.dispatch(BackendToolFilesRead(f"{place.parent}/file")) == FileContent(
            "outside"
        )
        sandbox.dispatch(BackendToolFilesWrite("inside", "x"))
        assert (place / "inside").read_text() == "x"
        above = result_of(sandbox, BackendToolCommandRun("pwd", cwd=".."))
        assert above.stdout.decode() == f"{place.parent}\n"
