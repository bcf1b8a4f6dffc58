"""`holdfast sessions export` and `import`: whole sessions as files, and back."""

import json
import sqlite3
import stat
import subprocess
from pathlib import Path

import pytest
from cli.stored_sessions import TALK, appended, in_store, made
from command import HOLDFAST, Cli, start

from holdfast.contract import events
from holdfast.record.export import event_line
from holdfast.record.store import Store


def exported(cli: Cli, *words: str) -> str:
    answered = cli("sessions", "export", "last", *words)
    assert (answered.status, answered.err) == (0, "")
    return answered.out


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_events_go_to_the_answer_or_to_a_new_file_of_ones_own(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    kept = made(home, "ses_1")
    text = exported(cli)
    head, *lines = text.splitlines()
    assert json.loads(head)["type"] == "holdfast.session"
    assert json.loads(head)["data"]["id"] == "ses_1"
    assert lines == [event_line(one).decode() for one in kept]
    path = tmp_path / "run.jsonl"
    assert exported(cli, "--to", str(path)) == f"ses_1 is in {path} now (5 events).\n"
    assert path.read_text("utf-8") == text
    assert mode(path) == 0o600


def test_a_session_of_one_event_has_one(cli: Cli, home: Path, tmp_path: Path) -> None:
    made(home, "ses_1", [events.SessionCreated()])
    path = tmp_path / "run.jsonl"
    assert exported(cli, "--to", str(path)) == f"ses_1 is in {path} now (1 event).\n"
    imported = cli("sessions", "import", str(path), "--as-new")
    assert imported.out.endswith(" is here now (1 event).\n")


def test_a_conversation_can_be_had(cli: Cli, home: Path, tmp_path: Path) -> None:
    made(home, "ses_1")
    text = exported(cli, "--form", "chat")
    kinds = [json.loads(line)["type"] for line in text.splitlines()]
    assert kinds == ["session", "message", "part", "message", "part", "part"]
    path = tmp_path / "chat.jsonl"
    assert json.loads(exported(cli, "--form", "chat", "--to", str(path), "--json")) == {
        "session": "ses_1",
        "form": "chat",
        "path": str(path),
        "events": 5,
    }
    assert path.read_text("utf-8") == text
    refused = cli("sessions", "import", str(path))
    assert refused.status == 1
    assert "this is a conversation, which is only for reading" in refused.err


@pytest.mark.req("BOA-SES-03")
def test_a_folder_holds_all_of_it_and_comes_back(cli: Cli, home: Path, tmp_path: Path) -> None:
    made(home, "ses_1")
    first = made(home, "ses_2", TALK[:2])
    appended(home, "ses_2", events.EventsProcessed(event_ids=(first[1].id,)))
    folder, again = tmp_path / "out", tmp_path / "again"
    exported(cli, "--form", "folder", "--to", str(folder))
    assert {one.name: mode(one) for one in folder.iterdir()} == {
        "session.json": 0o600,
        "events.jsonl": 0o600,
        "wake-queue.jsonl": 0o600,
    }
    assert mode(folder) == 0o700
    assert (folder / "wake-queue.jsonl").read_bytes() == b""
    document = json.loads((folder / "session.json").read_bytes())
    assert (document["id"], document["status"]) == ("ses_2", "rescheduling")
    lines = (folder / "events.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line)["sequence"] for line in lines] == [1, 2, 3]
    assert cli("sessions", "delete", "ses_2", "--yes").status == 0
    assert cli("sessions", "import", str(folder)).out == "ses_2 is here now (3 events).\n"
    exported(cli, "--form", "folder", "--to", str(again))
    for one in folder.iterdir():
        assert (again / one.name).read_bytes() == one.read_bytes()


@pytest.mark.parametrize("form", ["events", "chat", "folder"])
@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_nothing_is_written_over_or_through_a_link(
    cli: Cli, home: Path, tmp_path: Path, form: str, kind: str
) -> None:
    made(home, "ses_1")
    place, behind = tmp_path / "place", tmp_path / "behind"
    match kind:
        case "file":
            place.write_text("mine", "utf-8")
        case "folder":
            place.mkdir()
        case _:
            place.symlink_to(behind)
    answered = cli("sessions", "export", "last", "--form", form, "--to", str(place))
    assert answered.status == 2
    assert f"--to {place}: there is something already" in answered.err
    assert not behind.exists()
    assert kind != "file" or place.read_text("utf-8") == "mine"
    assert kind != "folder" or list(place.iterdir()) == []


def test_a_place_that_cannot_be_written_is_told(cli: Cli, home: Path, tmp_path: Path) -> None:
    made(home, "ses_1")
    for form in ("events", "folder"):
        answered = cli("sessions", "export", "last", "--form", form, "--to", f"{tmp_path}/no/x")
        assert answered.status == 1
        assert "no/x cannot be written (No such file or directory)" in answered.err
    answered = cli("sessions", "export", "last", "--form", "folder")
    assert answered.status == 2
    assert "--form folder --to FOLDER" in answered.err


@pytest.mark.parametrize("form", ["events", "folder"])
def test_a_full_disk_leaves_no_half_an_export(home: Path, tmp_path: Path, form: str) -> None:
    made(home, "ses_1", [*TALK, events.UserMessage(message="x" * 100_000)])
    path = tmp_path / "run.jsonl"
    script = f"ulimit -f 50; exec {HOLDFAST} sessions export last --to {path} --form {form}"
    done = subprocess.run(
        ["bash", "-c", script],
        env={"HOLDFAST_HOME": str(home), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=15,
    )
    assert done.returncode == 1
    assert f"{path} cannot be written (File too large)" in done.stderr
    assert not path.exists()


def test_what_was_exported_is_imported_where_it_is_not(
    cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(home, "ses_1")
    path = tmp_path / "run.jsonl"
    exported(cli, "--to", str(path))
    answered = cli("sessions", "import", str(path))
    assert (answered.status, answered.out) == (1, "")
    assert "there is a session ses_1 already; give --as-new to have it under a" in answered.err
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    monkeypatch.setenv("HOLDFAST_HOME", str(elsewhere))
    told = json.loads(cli("sessions", "import", str(path), "--json").out)
    assert told == {"session": "ses_1", "events": 5}
    parked(exported(cli), path.read_text("utf-8"))
    assert start("sessions", "rebuild", "last", home=elsewhere).status == 0


def parked(again: str, text: str) -> None:
    """It is the same, but for its head and that it is not run before somebody speaks."""
    *same, last = again.splitlines()[1:]
    assert same == text.splitlines()[1:]
    told = json.loads(last)
    assert (told["type"], told["reason"]) == ("wake.deferred", "imported")


def test_one_can_be_had_twice_under_a_new_id(cli: Cli, home: Path, tmp_path: Path) -> None:
    made(home, "ses_1")
    path = tmp_path / "run.jsonl"
    exported(cli, "--to", str(path))
    new = json.loads(cli("sessions", "import", str(path), "--as-new", "--json").out)["session"]
    assert new.startswith("ses_")
    assert new != "ses_1"
    shown = [cli("sessions", "show", name, "--json").out for name in ("ses_1", new)]
    one, other = ([len(m["parts"]) for m in json.loads(told)["messages"]] for told in shown)
    assert one == other == [1, 2]
    assert cli("sessions", "rebuild", new).status == 0


def test_a_session_comes_through_a_pipe(home: Path, tmp_path: Path) -> None:
    made(home, "ses_1")
    text = start("sessions", "export", "ses_1", home=home).out
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir(mode=0o700)
    answered = start("sessions", "import", "-", home=elsewhere, stdin=text.encode())
    assert answered == (0, "ses_1 is here now (5 events).\n", "")
    parked(start("sessions", "export", "last", home=elsewhere).out, text)


def test_a_broken_last_line_is_left_out_with_a_remark(cli: Cli, home: Path, tmp_path: Path) -> None:
    made(home, "ses_1")
    path, folder = tmp_path / "run.jsonl", tmp_path / "folder"
    exported(cli, "--to", str(path))
    exported(cli, "--to", str(folder), "--form", "folder")
    for cut, place in ((path, path), (folder / "events.jsonl", folder)):
        cut.write_bytes(cut.read_bytes()[:-20])
        cli("sessions", "delete", "ses_1", "--yes")
        answered = cli("sessions", "import", str(place))
        assert (answered.status, answered.out) == (0, "ses_1 is here now (4 events).\n")
        assert "the last one, is broken and was left out" in answered.err


def test_what_cannot_be_read_is_told_and_nothing_is_made(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    broken, empty, linked = tmp_path / "broken", tmp_path / "empty", tmp_path / "linked"
    broken.write_text("{}\n", "utf-8")
    empty.mkdir()
    linked.mkdir()
    (linked / "session.json").write_text('{"version": 1, "id": "ses_1"}', "utf-8")
    (linked / "events.jsonl").symlink_to("/etc/passwd")
    loops = tmp_path / "loops"
    loops.symlink_to(loops)
    for path, status, said in (
        (tmp_path / "nowhere", 2, "nowhere: there is no such file; check the path"),
        (empty, 2, "session.json: there is no such file; check the path"),
        (broken, 1, "broken: line 1: it is no session"),
        (linked, 1, "linked cannot be read (Too many levels of symbolic links)"),
        (loops, 1, "loops cannot be read (Too many levels of symbolic links)"),
    ):
        answered = cli("sessions", "import", str(path))
        assert (answered.status, answered.out) == (status, ""), path
        assert said in answered.err
    (linked / "events.jsonl").unlink()
    (linked / "events.jsonl").write_text("{\n{}\n", "utf-8")
    answered = cli("sessions", "import", str(linked))
    assert "linked: events.jsonl, line 1: it is broken" in answered.err
    assert "nothing was imported" in answered.err
    assert list(home.iterdir()) == []


def test_wakes_that_wait_are_left_out_with_a_remark(cli: Cli, home: Path, tmp_path: Path) -> None:
    made(home, "ses_1")
    folder = tmp_path / "folder"
    exported(cli, "--to", str(folder), "--form", "folder")
    for waiting in ("{}", '{"type":"wake.run","data":{"wake_id":"wak_9"}}', "{"):
        (folder / "wake-queue.jsonl").write_text(f"{waiting}\n", "utf-8")
        answered = cli("sessions", "import", str(folder), "--as-new")
        assert answered.status == 0
        assert "wake-queue.jsonl holds wakes that no event tells of" in answered.err


def test_wakes_that_were_run_are_in_the_folder(cli: Cli, home: Path, tmp_path: Path) -> None:
    def span(kind: str, span_kind: str = "wake", **more: object) -> events.Payload:
        said = {"span_id": "wak_1", "span_kind": span_kind, "name": "session_run", **more}
        made = {"started": events.SpanStarted, "completed": events.SpanCompleted}[kind]
        return made(**said)  # type: ignore[arg-type] - the fields of a span

    running = events.StatusChanged(from_status="idle", to_status="running", reason="a message")
    said = events.AgentMessage(message="Done.", summary="did it")
    of_tool = span("completed", "tool", result="error")
    first = [span("started"), running, said, span("completed", result="success"), of_tool]

    async def work(store: Store) -> None:
        await store.journal.create("ses_1", [events.SessionCreated()])
        for payload in first:
            await store.journal.append("ses_1", [payload], wake_id="wak_1")
        await store.journal.append("ses_1", [running], wake_id="wak_2")

    in_store(home, work)
    folder, again = tmp_path / "folder", tmp_path / "again"
    exported(cli, "--to", str(folder), "--form", "folder")
    text = (folder / "wake-queue.jsonl").read_text("utf-8")
    done, open_ended = (json.loads(line) for line in text.splitlines())
    assert done["type"] == "wake.run"
    told = done["data"]
    assert told["started_at"] < told["completed_at"] < told["updated_at"]
    assert {name: told[name] for name in told if not name.endswith("_at")} == {
        "wake_id": "wak_1",
        "session_id": "ses_1",
        "result": "success",
        "reason": "a message",
        "event_count": 5,
        "event_types": [one.__struct_config__.tag for one in first[:4]],
        "latest_summary": "did it",
    }
    data = open_ended["data"]
    assert (data["wake_id"], data["completed_at"], data["result"]) == ("wak_2", None, None)
    assert cli("sessions", "delete", "ses_1", "--yes").status == 0
    answered = cli("sessions", "import", str(folder))
    assert (answered.status, answered.err) == (0, "")
    exported(cli, "--form", "folder", "--to", str(again))
    assert (again / "wake-queue.jsonl").read_text("utf-8") == text
    waiting = text.replace("wake.run", "wake.enqueued")
    (folder / "wake-queue.jsonl").write_text(waiting, "utf-8")
    answered = cli("sessions", "import", str(folder), "--as-new")
    assert "holds wakes that no event tells of; they were left out" in answered.err


def _forged(path: Path, *changes: tuple[int, str, object]) -> None:
    """The text with other values in some of its lines."""
    lines = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for number, field, value in changes:
        (lines[0]["data"] if number == 1 else lines[number - 1])[field] = value
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")


def test_events_that_share_an_id_are_named_with_their_lines(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    kept = made(home, "ses_1")
    path = tmp_path / "run.jsonl"
    exported(cli, "--to", str(path))
    cli("sessions", "delete", "ses_1", "--yes")
    _forged(path, (6, "id", kept[1].id))
    for words in ([], ["--as-new"]):
        answered = cli("sessions", "import", str(path), *words)
        assert (answered.status, answered.out) == (1, "")
        assert f"{path}: line 6: the event {kept[1].id} stands in line 3 already" in answered.err
        assert "nothing was imported" in answered.err
    assert cli("sessions").out == "No session fits.\n"


def test_ids_that_would_name_the_same_message_are_named_with_their_lines(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    kept = made(home, "ses_1")
    path, folder = tmp_path / "run.jsonl", tmp_path / "folder"
    exported(cli, "--to", str(path))
    exported(cli, "--to", str(folder), "--form", "folder")
    cli("sessions", "delete", "ses_1", "--yes")
    twin = f"x{kept[1].id}"
    _forged(path, (6, "id", twin))
    answered = cli("sessions", "import", str(path))
    assert (answered.status, answered.out) == (1, "")
    assert f"line 6: the event {twin} has the same name as {kept[1].id} in line 3" in answered.err
    assert "give --as-new" in answered.err
    events_file = folder / "events.jsonl"
    lines = events_file.read_text("utf-8").splitlines()
    lines[4] = lines[4].replace(kept[4].id, twin)
    events_file.write_text("\n".join(lines), "utf-8")
    answered = cli("sessions", "import", str(folder))
    assert f"events.jsonl, line 5: the event {twin} has the same name as" in answered.err
    assert "in events.jsonl, line 2" in answered.err
    assert cli("sessions").out == "No session fits.\n"
    new = json.loads(cli("sessions", "import", str(path), "--as-new", "--json").out)
    assert new["events"] == 5


def test_events_of_another_session_are_named_with_their_line(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    kept = made(home, "ses_1", [*TALK, *[events.StatusIdle(reason="r", summary="s")] * 600])
    path = tmp_path / "run.jsonl"
    exported(cli, "--to", str(path))
    before = exported(cli)
    _forged(path, (1, "id", "ses_2"))
    answered = cli("sessions", "import", str(path))
    assert (answered.status, answered.out) == (1, "")
    said = f"{path}: line 3: the event {kept[1].id} is in session ses_1 already"
    assert f"{said}; nothing was imported: give --as-new" in answered.err
    assert "UNIQUE" not in answered.err
    assert exported(cli) == before
    assert cli("sessions", "import", str(path), "--as-new").status == 0


def test_an_answer_that_is_none_is_named_with_its_line(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    made(home, "ses_1")
    path = tmp_path / "run.jsonl"
    exported(cli, "--to", str(path))
    _forged(path, (5, "envelope", ["no", "envelope"]))
    answered = cli("sessions", "import", str(path), "--as-new")
    assert (answered.status, answered.out) == (1, "")
    assert "line 5: it is no 'call.settled' (Expected `object`, got `array`)" in answered.err


def test_where_nothing_is_kept_nothing_is_imported(
    cli: Cli, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made(home, "ses_1")
    path = tmp_path / "run.jsonl"
    exported(cli, "--to", str(path))
    monkeypatch.setenv("HOLDFAST_STORE__KIND", "none")
    answered = cli("sessions", "import", str(path), "--as-new")
    assert answered.status == 2
    assert "store.kind is none: no sessions are kept" in answered.err
    assert "store.kind is none" in cli("sessions").err


def test_an_event_of_a_newer_holdfast_is_told(cli: Cli, home: Path) -> None:
    made(home, "ses_1")
    with sqlite3.connect(home / "data" / "holdfast.db") as connection:
        connection.execute("UPDATE events SET version = 9 WHERE place % 4294967296 = 2")
    connection.close()
    answered = cli("sessions", "export", "last")
    assert answered.status == 1
    assert "update holdfast to read this session" in answered.err
