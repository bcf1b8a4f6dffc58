"""The audit log on disk: real files, several processes, full disks and broken lines."""

import json
import logging
import os
import resource
import stat
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.audit import ProgramRun
from holdfast.record.audit_file import MOST_WORDS, AuditFile
from holdfast.record.audit_lines import UnreadableLine, day_of, moment_of, read, unix_ns_of, written
from holdfast.record.audit_reader import AuditReader, BrokenLine
from holdfast.record.audit_redaction import REDACTED, Redaction

NOON = int(datetime(2026, 8, 1, 12, tzinfo=UTC).timestamp()) * 1_000_000_000
RUN = ProgramRun(
    at_ns=NOON + 5,
    tool="build",
    argv=("make", "all"),
    cwd="/work",
    exit=0,
    ms=7,
    stdout_bytes=3,
    stderr_bytes=4,
    truncated=False,
)
DAY = 86_400 * 1_000_000_000
LAST_MOMENT = int(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()) * 1_000_000_000

WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
RUNS = st.builds(
    ProgramRun,
    at_ns=st.integers(0, LAST_MOMENT),
    tool=WORDS,
    argv=st.lists(WORDS, max_size=3).map(tuple),
    cwd=WORDS,
    exit=st.integers(-1, 255),
    ms=st.integers(0, 1 << 40),
    stdout_bytes=st.integers(0, 1 << 60),
    stderr_bytes=st.integers(0, 1 << 60),
    truncated=st.booleans(),
    env_keys=st.lists(WORDS, max_size=3).map(tuple),
    session=WORDS,
    call=WORDS,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "state" / "audit"


def log(folder: Path, patterns: str = "") -> AuditFile:
    return AuditFile(folder, Redaction(patterns))


def runs(folder: Path) -> list[ProgramRun]:
    found = list(AuditReader(folder).entries())
    assert not [entry for entry in found if isinstance(entry, BrokenLine)]
    return [entry for entry in found if isinstance(entry, ProgramRun)]


@pytest.mark.req("CLI-AUD-02")
def test_a_program_is_one_json_object_in_the_file_of_its_utc_day(folder: Path) -> None:
    kept = log(folder)
    kept.ran(msgspec.structs.replace(RUN, env_keys=("B", "A"), session="ses_1", call="cal_1"))
    kept.ran(msgspec.structs.replace(RUN, at_ns=NOON + DAY, exit=-1))
    assert sorted(path.name for path in folder.iterdir()) == ["20260801.log", "20260802.log"]
    (line,) = (folder / "20260801.log").read_text("utf-8").splitlines()
    assert list(json.loads(line).items()) == [
        ("ts", "2026-08-01T12:00:00.000000005Z"),
        ("tool", "build"),
        ("argv", ["make", "all"]),
        ("cwd", "/work"),
        ("exit", 0),
        ("ms", 7),
        ("stdoutBytes", 3),
        ("stderrBytes", 4),
        ("truncated", False),
        ("envKeys", ["B", "A"]),
        ("session", "ses_1"),
        ("call", "cal_1"),
    ]
    assert (folder / "20260802.log").read_bytes().count(b"\n") == 1


@pytest.mark.req("CLI-AUD-03")
def test_what_there_is_not_is_left_out(folder: Path) -> None:
    log(folder).ran(RUN)
    line = json.loads((folder / "20260801.log").read_bytes())
    assert line.keys().isdisjoint({"envKeys", "session", "call"})


def test_nobody_else_reads_it(folder: Path) -> None:
    before = os.umask(0)
    try:
        log(folder).ran(RUN)
    finally:
        os.umask(before)
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (folder.parent, folder)]
    assert modes == [0o700, 0o700]
    assert stat.S_IMODE((folder / "20260801.log").stat().st_mode) == 0o600


@given(RUNS)
def test_a_record_comes_back_as_it_was(run: ProgramRun) -> None:
    line = written(run)
    assert b"\n" not in line
    assert read(line) == run
    assert unix_ns_of(moment_of(run.at_ns)) == run.at_ns
    moment = datetime.fromisoformat(f"{moment_of(run.at_ns)[:26]}+00:00")
    assert f"{moment:%Y%m%d}".zfill(8) == day_of(run.at_ns)


@given(st.integers(0, LAST_MOMENT), st.integers(0, 9))
def test_a_moment_with_fewer_digits_is_read_too(at_ns: int, digits: int) -> None:
    whole, _, fraction = moment_of(at_ns)[:-1].partition(".")
    cut = f"{whole}.{fraction[:digits]}Z" if digits else f"{whole}Z"
    assert at_ns - 10 ** (9 - digits) < unix_ns_of(cut) <= at_ns


@pytest.mark.parametrize(
    "moment",
    ["", "2026-08-01", "2026-08-01T12:00:00", "2026-08-01T12:00:00+02:00", "2026-13-01T00:00:00Z"],
)
def test_any_other_moment_is_none(moment: str) -> None:
    with pytest.raises(ValueError, match=r"no moment|month must be"):
        unix_ns_of(moment)
    line = written(RUN).replace(b"2026-08-01T12:00:00.000000005Z", moment.encode())
    with pytest.raises(UnreadableLine):
        read(line)


def test_a_field_of_a_later_version_is_passed_over() -> None:
    assert read(written(RUN)[:-1] + b',"policy":"p1"}') == RUN


@pytest.mark.req("CLI-AUD-06")
def test_words_and_directory_are_redacted(folder: Path) -> None:
    secret = msgspec.structs.replace(RUN, argv=("curl", "--key=k-123"), cwd="/home/k-123")
    log(folder, "k-[0-9]+").ran(secret)
    (run,) = runs(folder)
    assert (run.argv, run.cwd) == (("curl", f"--key={REDACTED}"), f"/home/{REDACTED}")
    assert b"k-123" not in (folder / "20260801.log").read_bytes()


def test_very_many_words_are_counted(folder: Path) -> None:
    log(folder).ran(msgspec.structs.replace(RUN, argv=("x",) * (MOST_WORDS + 1_234)))
    (run,) = runs(folder)
    assert run.argv == ("x",) * MOST_WORDS + ("… [1,234 words omitted]",)


@given(st.text(max_size=20), st.binary(max_size=20))
def test_whatever_stands_in_a_word_it_is_one_line(text: str, name: bytes) -> None:
    run = msgspec.structs.replace(RUN, argv=(text, os.fsdecode(name)), cwd=os.fsdecode(name))
    line = written(run)
    assert b"\n" not in line
    assert read(line).at_ns == run.at_ns


APPENDING = """
import sys
from pathlib import Path
from holdfast.contract.audit import ProgramRun
from holdfast.record.audit_file import AuditFile
from holdfast.record.audit_redaction import Redaction
log = AuditFile(Path(sys.argv[1]), Redaction())
for number in range(200):
    log.ran(ProgramRun(at_ns={at}, tool=sys.argv[2], argv=("x" * 3000, str(number)), cwd="/",
        exit=0, ms=0, stdout_bytes=0, stderr_bytes=0, truncated=False))
"""


def test_several_processes_append_without_tearing_a_line(folder: Path) -> None:
    code = APPENDING.replace("{at}", str(NOON))
    names = ["one", "two", "three"]
    started = [subprocess.Popen([sys.executable, "-c", code, str(folder), name]) for name in names]
    assert [one.wait() for one in started] == [0, 0, 0]
    found = runs(folder)
    for name in names:
        numbers = [run.argv[1] for run in found if run.tool == name]
        assert numbers == [str(number) for number in range(200)]


def test_a_line_that_was_cut_does_not_swallow_the_next(folder: Path) -> None:
    log(folder).ran(RUN)
    path = folder / "20260801.log"
    path.write_bytes(path.read_bytes() + written(RUN)[:20])
    log(folder).ran(RUN)
    first, broken, last = AuditReader(folder).entries()
    assert first == last == RUN
    assert isinstance(broken, BrokenLine)
    assert (broken.path, broken.number) == (path, 2)


@pytest.mark.parametrize("ending", [b"", b"\n", b"\n\n"])
def test_a_broken_line_at_the_end_is_ignored_and_any_other_named(
    folder: Path, ending: bytes
) -> None:
    folder.mkdir(parents=True)
    good = written(RUN)
    content = b"\n".join([b"{", good, b"", b"[1]", b"null", good, b"{}"]) + ending
    (folder / "20260801.log").write_bytes(content)
    found = list(AuditReader(folder).entries())
    assert [one.number if isinstance(one, BrokenLine) else "good" for one in found] == [
        1,
        "good",
        4,
        5,
        "good",
    ]


@given(st.lists(st.booleans(), max_size=8), st.data())
def test_who_follows_sees_each_line_once_however_it_comes(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bool], data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("audit")
    texts = [
        written(msgspec.structs.replace(RUN, ms=at)) if good else b"{"
        for at, good in enumerate(lines)
    ]
    whole = b"".join(text + b"\n" for text in texts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    reader, seen = AuditReader(folder), list[ProgramRun | BrokenLine]()
    for cut in (*cuts, len(whole)):
        (folder / "20260801.log").write_bytes(whole[:cut])
        seen += reader.entries()
    assert [run.ms for run in seen if isinstance(run, ProgramRun)] == [
        at for at, good in enumerate(lines) if good
    ]
    named = [one for one in seen if isinstance(one, BrokenLine)]
    assert len(named) == lines[:-1].count(False)


def test_days_come_in_order_and_nothing_else_is_read(folder: Path) -> None:
    assert AuditReader(folder).days() == ()
    for at_ns in (NOON + DAY, NOON - 31 * DAY, NOON):
        log(folder).ran(msgspec.structs.replace(RUN, at_ns=at_ns))
    for name in ("notes.txt", "2026.log", "20260801.log.gz"):
        (folder / name).write_text("{", "utf-8")
    reader = AuditReader(folder)
    assert reader.days() == ("20260701", "20260801", "20260802")
    assert [run.at_ns for run in runs(folder)] == [NOON - 31 * DAY, NOON, NOON + DAY]
    some = AuditReader(folder).entries("20260702", "20260801")
    assert [run.at_ns for run in some if isinstance(run, ProgramRun)] == [NOON]
    assert list(reader.entries("20260803")) == []


def test_what_is_no_file_is_not_read(folder: Path) -> None:
    folder.mkdir(parents=True)
    os.mkfifo(folder / "20260801.log")
    with pytest.raises(OSError, match="it is no file"):
        list(AuditReader(folder).entries())


def _folder_is_a_file(folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    folder.write_text("", "utf-8")


def _folder_is_a_link(folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    (folder.parent / "elsewhere").mkdir()
    folder.symlink_to(folder.parent / "elsewhere")


def _file_is_a_link(folder: Path) -> None:
    folder.mkdir(parents=True)
    (folder.parent / "elsewhere").write_text("", "utf-8")
    (folder / "20260801.log").symlink_to(folder.parent / "elsewhere")


def _file_is_a_pipe(folder: Path) -> None:
    folder.mkdir(parents=True)
    os.mkfifo(folder / "20260801.log")


@pytest.mark.req("CLI-AUD-07")
@pytest.mark.parametrize(
    "spoil", [_folder_is_a_file, _folder_is_a_link, _file_is_a_link, _file_is_a_pipe]
)
def test_a_log_that_cannot_be_written_is_said_once_and_raises_nothing(
    folder: Path, caplog: pytest.LogCaptureFixture, spoil: Callable[[Path], None]
) -> None:
    spoil(folder)
    kept = log(folder)
    with caplog.at_level(logging.WARNING, "holdfast"):
        kept.ran(RUN)
        kept.ran(RUN)
    (said,) = caplog.messages
    assert f"the audit log in {folder} cannot be written" in said
    elsewhere = folder.parent / "elsewhere"
    assert not elsewhere.is_file() or elsewhere.read_bytes() == b""
    assert not elsewhere.is_dir() or list(elsewhere.iterdir()) == []


@pytest.mark.req("CLI-AUD-07")
def test_a_disk_that_is_full_fails_nothing_and_the_log_goes_on_later(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = log(folder)
    kept.ran(RUN)
    size = (folder / "20260801.log").stat().st_size
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 10, before[1]))
    try:
        kept.ran(RUN)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert [message.rpartition(": ")[2] for message in caplog.messages] == ["there is no room"]
    kept.ran(RUN)
    entries = list(AuditReader(folder).entries())
    assert [isinstance(one, ProgramRun) for one in entries] == [True, False, True]
