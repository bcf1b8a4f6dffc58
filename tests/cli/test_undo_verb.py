"""`holdfast undo`: found by its beginning, listed, put back, and honest about what was not."""

import json
import os
from pathlib import Path

import pytest
from command import Cli
from execution.files.ground import gate_below

from holdfast.app.undo import changes_of
from holdfast.execution.files.disk_files import DiskFiles
from holdfast.execution.files.locks import PathLocks
from holdfast.execution.files.recorder import Recorder

FIRST, SECOND = "ses_0191", "ses_0192"


class Work:
    """What the calls of some sessions changed."""

    def __init__(self, home: Path, folder: Path) -> None:
        self.home = home
        self.folder = folder.resolve()
        self.file = self.folder / "t"

    def write(self, session: str, call: str, content: str, name: str = "t") -> None:
        changes = changes_of(self.home / "data", session)
        gate = gate_below(str(self.folder))
        recorder = Recorder(changes, call, "scribe")
        DiskFiles(gate, str(self.folder), recorder, PathLocks()).write(name, content)


@pytest.fixture
def work(home: Path, tmp_path: Path) -> Work:
    made = Work(home, tmp_path)
    made.file.write_text("0", "utf-8")
    made.write(FIRST, "cal_1", "1")
    made.write(SECOND, "cal_2", "2")
    made.write(SECOND, "cal_3", "3")
    return made


def test_the_last_call_of_the_last_session_is_put_back(cli: Cli, work: Work) -> None:
    answered = cli("undo", "last")
    assert (answered.status, answered.out, answered.err) == (
        0,
        f"session {SECOND} in {work.folder}\nput back:       {work.file}\n",
        "",
    )
    assert work.file.read_text("utf-8") == "2"
    assert cli("undo", "last").status == 0
    assert work.file.read_text("utf-8") == "1"
    nothing = cli("undo", "last").out
    assert nothing.startswith(f"There is nothing to take back in session {SECOND} in {work.folder}")
    assert "holdfast undo --list shows" in nothing
    assert cli("undo", FIRST).status == 0
    assert work.file.read_text("utf-8") == "0"
    assert cli("undo", FIRST, "--redo").status == 0
    assert work.file.read_text("utf-8") == "1"


def test_several_calls_are_put_back_at_once(cli: Cli, work: Work) -> None:
    answered = cli("undo", "ses_0192", "all", "--json")
    told = json.loads(answered.out)
    assert told["session"] == SECOND
    assert [(one["call"], one["outcome"], one["change"]) for one in told["restored"]] == [
        ("cal_3", "restored", 2),
        ("cal_2", "restored", 1),
    ]
    assert work.file.read_text("utf-8") == "1"
    work.write(SECOND, "cal_4", "4")
    work.write(SECOND, "cal_5", "5")
    assert cli("undo", SECOND, "2").status == 0
    assert work.file.read_text("utf-8") == "1"


def test_what_somebody_else_changed_is_left_and_said(cli: Cli, work: Work) -> None:
    work.file.write_text("theirs", "utf-8")
    answered = cli("undo", "last")
    assert answered.status == 1
    said = f"left as it is:  {work.file}: somebody else changed it since"
    assert answered.out.splitlines()[1:] == [said]
    assert "left alone: 1 of 1 change; give --force" in answered.err
    assert work.file.read_text("utf-8") == "theirs"
    told = json.loads(cli("undo", "last", "--json").out)
    assert told["restored"][0]["reason"] == "somebody else changed it since"
    assert cli("undo", "last", "--force").status == 0
    assert work.file.read_text("utf-8") == "2"


def test_what_is_as_it_was_is_said(cli: Cli, work: Work) -> None:
    work.file.write_text("2", "utf-8")
    assert cli("undo", "last").out.endswith(f"\nas it was:      {work.file}\n")


def test_sessions_and_calls_are_listed(cli: Cli, work: Work) -> None:
    assert cli("undo", "--list").out == f"{SECOND}\n{FIRST}\n"
    assert json.loads(cli("undo", "--list", "--json").out) == {"sessions": [SECOND, FIRST]}
    work.write(SECOND, "cal_4", "x", "made/x")
    cli("undo", "last")
    session, heading, undo, fourth, *_ = cli("undo", "last", "--list").out.splitlines()
    assert session == f"session {SECOND} in {work.folder}"
    assert heading.split() == ["CALL", "TOOL", "WHEN", "STATE", "PATHS"]
    assert "undo" in undo
    assert "in effect" in undo
    assert fourth.split()[:2] == ["cal_4", "scribe"]
    assert f"taken back  {work.folder}/made and 1 more" in fourth
    calls = json.loads(cli("undo", "last", "--list", "--json").out)["calls"]
    assert [(one["tool"], one["state"], one["is_undo"]) for one in calls] == [
        ("", "in effect", True),
        ("scribe", "taken back", False),
        ("scribe", "in effect", False),
        ("scribe", "in effect", False),
    ]
    assert calls[-1]["paths"] == [str(work.file)]
    assert calls[-1]["at"].endswith("+00:00")


def test_without_sessions_there_is_nothing_to_list(cli: Cli, home: Path) -> None:
    assert cli("undo", "--list").out == "No session has changed anything.\n"
    for words in (("undo", "last", "--list"), ("undo", "last")):
        answered = cli(*words)
        assert (answered.status, answered.out) == (2, "")
        assert "last is the last session of this workspace, and none has changed" in answered.err
    (home / "data" / "sessions" / "ses_1" / "changes").mkdir(parents=True, mode=0o700)
    nothing = cli("undo", "ses_1", "--list").out
    assert nothing.startswith("There is nothing to take back in session ses_1. ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "which session? write: holdfast undo last"),
        (("ses_9",), "no session 'ses_9' has changed anything"),
        (("ses_019",), "'ses_019' could be any of 2 sessions"),
        (("",), "''"),
        (("../sessions",), "no session"),
        (("last", "0"), "'0' is no number of calls"),
        (("last", "-1"), "-1"),
        (("last", "²"), "'²' is no number of calls"),
        (("last", "two"), "'two' is no number of calls; give 1 or more, or all"),
        (("last", "--list", "--force"), "--list only shows"),
        (("last", "2", "--list"), "--list only shows"),
    ],
)
def test_what_is_not_understood_changes_nothing(
    cli: Cli, work: Work, words: tuple[str, ...], said: str
) -> None:
    answered = cli("undo", *words)
    assert answered.status == 2
    assert said in answered.err
    assert work.file.read_text("utf-8") == "3"


def test_records_that_cannot_be_read_change_nothing(cli: Cli, work: Work) -> None:
    folder = work.home / "data" / "sessions" / SECOND / "changes"
    (folder / "00000009.json").write_text("{", "utf-8")
    answered = cli("undo", "last", "--json")
    assert answered.status == 1
    assert "cannot be read (00000009.json is no record" in json.loads(answered.out)["error"]
    folder.chmod(0o777)
    answered = cli("undo", "last")
    assert (answered.status, answered.out) == (1, "")
    assert "others can write the records of changes" in answered.err
    assert work.file.read_text("utf-8") == "3"


def test_a_link_among_the_sessions_is_none(cli: Cli, work: Work) -> None:
    sessions = work.home / "data" / "sessions"
    (sessions / "ses_9999").symlink_to(sessions / FIRST)
    assert cli("undo", "--list").out == f"{SECOND}\n{FIRST}\n"


def test_the_help_shows_examples(cli: Cli) -> None:
    shown = cli("undo", "--help").out
    assert "  holdfast undo last 3          its last three calls\n" in shown


def test_a_path_that_could_steer_a_terminal_is_shown_harmless(cli: Cli, work: Work) -> None:
    work.write(SECOND, "cal_5", "x", "a\x1b[2Jb")
    answered = cli("undo", "last")
    assert "\x1b" not in answered.out
    assert not os.path.lexists(work.folder / "a\x1b[2Jb")


def test_a_wrong_session_is_told_as_json_to_who_reads_json(cli: Cli) -> None:
    answered = cli("undo", "nope", "--json")
    assert answered.status == 2
    assert "no session 'nope'" in json.loads(answered.out)["error"]


def test_a_name_that_is_no_text_can_be_shown(cli: Cli, work: Work) -> None:
    name = os.fsdecode(b"caf\xe9")
    work.write(SECOND, "cal_5", "x", name)
    assert cli("undo", "last", "--list").status == 0
    assert json.loads(cli("undo", "last", "--list", "--json").out)["calls"]
    assert "caf" in json.loads(cli("undo", "last", "--json").out)["restored"][0]["path"]
    work.write(SECOND, "cal_6", "x", name)
    assert cli("undo", "last").status == 0
