"""`holdfast call`: the envelope a model would get, and an exit status a script can use."""

import json
import os
import pty
import select
import subprocess
from pathlib import Path

import pytest
from command import HOLDFAST, Cli, start

from holdfast import parse
from holdfast.envelope.render import TextDialect


def test_text_values_are_sent_as_text_and_repaired(cli: Cli, tool_file: Path) -> None:
    answer = cli("call", "add", "a=5", "--from", str(tool_file), "b=7")
    envelope = json.loads(answer.out)
    assert (answer.status, answer.err) == (0, "")
    assert envelope["result"] == {"sum": 12}
    assert {one["repair"] for one in envelope["metadata"]["repairs"]} == {"integer_from_text"}


def test_raw_json_values_and_whole_objects_need_no_repair(cli: Cli, tool_file: Path) -> None:
    for words in (["a:=5"], ["--json", '{"a": 5}']):
        envelope = json.loads(cli("call", "add", *words, "--from", str(tool_file)).out)
        assert envelope["result"] == {"sum": 6}
        assert "repairs" not in envelope["metadata"]


def test_arguments_come_from_standard_input_too(home: Path, tool_file: Path) -> None:
    words = ("call", "add", "--json", "-", "--from", str(tool_file))
    answer = start(*words, home=home, stdin=b'{"a": 1, "b": 2}')
    assert (answer.status, json.loads(answer.out)["result"]) == (0, {"sum": 3})


def test_arguments_given_twice_are_a_usage_error(cli: Cli, tool_file: Path) -> None:
    answer = cli("call", "add", "a=1", "--json", "{}", "--from", str(tool_file))
    assert (answer.status, answer.out) == (2, "")
    assert "use either key=value or --json" in answer.err


@pytest.mark.parametrize("words", [["add"], ["add", "a=x"], ["add", "--json", "no"], ["crash"]])
def test_a_failed_call_is_status_1_and_still_an_envelope(
    cli: Cli, tool_file: Path, words: list[str]
) -> None:
    answer = cli("call", *words, "--from", str(tool_file))
    assert answer.status == 1
    assert json.loads(answer.out)["ok"] is False


def test_a_call_nobody_may_approve_is_status_3(home: Path, tool_file: Path) -> None:
    answer = start("call", "wipe", "path=x", "--from", str(tool_file), home=home)
    assert answer.status == 3
    assert json.loads(answer.out)["kind"] == "rejected"
    assert "nobody is there to be asked; holdfast policy explain" in answer.err


def test_a_near_name_is_offered_to_the_person_not_to_the_model(cli: Cli, tool_file: Path) -> None:
    answer = cli("call", "ad", "a=1", "--from", str(tool_file))
    assert answer.status == 1
    assert json.loads(answer.out)["kind"] == "tool_not_found"
    assert "add" not in answer.out
    assert answer.err == "holdfast: there is no tool 'ad'; did you mean 'add'?\n"
    far = cli("call", "zzzzzz", "--from", str(tool_file))
    assert "holdfast tools lists what there is" in far.err


@pytest.mark.parametrize("dialect", ["ok", "typed", "program", "flow"])
def test_every_text_dialect_can_be_asked_for(
    cli: Cli, tool_file: Path, dialect: TextDialect
) -> None:
    words = ("call", "add", "a=5", "--from", str(tool_file), "--dialect", dialect)
    assert parse(cli(*words).out.strip(), dialect).result == {"sum": 6}
    pretty = cli(*words, "--pretty").out
    assert pretty.count("\n") > 1
    assert json.loads(pretty) is not None


def test_pretty_leaves_plain_text_as_it_is(cli: Cli, tool_file: Path) -> None:
    words = ("call", "say", "text=hello", "--from", str(tool_file), "--dialect", "program")
    assert cli(*words, "--pretty").out == "hello\n"


def test_a_whole_output_that_was_kept_can_still_be_read(cli: Cli, tool_file: Path) -> None:
    answer = cli("call", "flood", "lines=100", "--from", str(tool_file))
    kept = Path(json.loads(answer.out)["metadata"]["output_path"])
    assert kept.read_text("utf-8") == "\n".join(["line"] * 100)
    assert answer.err == f"holdfast: the whole output is kept in {kept}; remove it when done\n"


def test_an_output_that_could_not_be_kept_is_warned_about(
    cli: Cli, tool_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "occupied").mkdir()
    (tmp_path / "occupied" / "data").write_text("", "utf-8")
    words = ("call", "flood", "lines=9000", "--from", str(tool_file))
    part = cli(*words, "--set", "limits.sidecar_call_bytes=100")
    metadata = json.loads(part.out)["metadata"]
    assert part.err == (
        f"holdfast: the output is kept in {metadata['output_path']} without its last"
        f" {metadata['dropped_bytes']:,} bytes; a larger limits.sidecar_call_bytes keeps more\n"
    )
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "occupied"))
    nothing = cli(*words, "--set", "store.kind=none")
    lost = json.loads(nothing.out)["metadata"]["dropped_bytes"]
    assert nothing.status == 0
    assert nothing.err.startswith(f"holdfast: {lost:,} bytes of the output are lost: ")
    assert "holdfast doctor" in nothing.err
    assert cli("doctor").status == 1


def test_a_tool_that_the_profile_hides_is_said_to_the_person_not_to_the_model(
    cli: Cli, home: Path, tool_file: Path
) -> None:
    (home / "config.toml").write_text('[profile.quiet.tools]\ndeny = ["add"]\n', "utf-8")
    answer = cli("call", "add", "a=1", "--profile", "quiet", "--from", str(tool_file))
    assert answer.status == 1
    assert "quiet" not in answer.out
    assert answer.err == (
        "holdfast: the profile 'quiet' hides the tool 'add';"
        " choose another with --profile, or change [profile.quiet.tools]\n"
    )


@pytest.mark.parametrize("how", ["def", "async def"])
def test_what_a_tool_may_not_raise_is_an_envelope_or_an_interrupt(
    cli: Cli, tmp_path: Path, how: str
) -> None:
    (tmp_path / "odd.py").write_text(
        "from holdfast import tool\n"
        "class Leave(BaseException): ...\n"
        f"@tool\n{how} leave() -> str:\n    'x'\n    raise Leave('for good')\n"
        f"@tool\n{how} interrupt() -> str:\n    'x'\n    raise KeyboardInterrupt\n",
        "utf-8",
    )
    left = cli("call", "leave", "--from", "odd.py")
    envelope = json.loads(left.out)
    assert (left.status, left.err, envelope["kind"]) == (1, "", "execution_error")
    assert envelope["message"] == "Tool 'leave' raised Leave, which is not an Exception."
    interrupted = cli("call", "interrupt", "--from", "odd.py")
    assert interrupted == (130, "", "holdfast: interrupted\n")


def test_settings_come_from_the_command_line(cli: Cli, tool_file: Path) -> None:
    words = ("call", "flood", "lines=100", "--from", str(tool_file))
    limits = (
        "--set",
        "limits.tool.flood.max_bytes=9000",
        "--set",
        "limits.tool.flood.max_items=999",
    )
    assert "truncated" not in json.loads(cli(*words, *limits).out)["metadata"]


def test_what_a_project_may_not_say_is_noted_beside_the_answer(
    cli: Cli, tool_file: Path, tmp_path: Path
) -> None:
    (tmp_path / ".holdfast").mkdir()
    (tmp_path / ".holdfast" / "config.toml").write_text('[tools]\nfiles = ["x.py"]\n', "utf-8")
    answer = cli("call", "add", "a=1", "--from", str(tool_file))
    assert answer.status == 0
    assert answer.err.startswith("holdfast: note: ")
    assert "tools.files: not taken from a project" in answer.err


def test_words_that_are_no_text_are_refused_not_crashed_on(home: Path, tool_file: Path) -> None:
    result = subprocess.run(
        [str(HOLDFAST), b"call", b"say", b"text=\xff", b"--from", str(tool_file)],
        capture_output=True,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        check=False,
        timeout=15,
    )
    assert result.returncode == 1
    assert json.loads(result.stdout)["kind"] == "invalid_args"


def _at_a_terminal(home: Path, tool_file: Path, typed: bytes) -> tuple[int, str, str]:
    """Call `wipe` with a person at the keyboard; returns status, answer and what was shown."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [str(HOLDFAST), "call", "wipe", "path=x", "--from", str(tool_file)],
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
    ) as process:
        os.close(theirs)
        shown = b""
        while b"[y/N]" not in shown and select.select([ours], [], [], 10)[0]:
            shown += os.read(ours, 4096)
        os.write(ours, typed)
        answer = process.communicate(timeout=10)[0]
    os.close(ours)
    return process.returncode, answer.decode(), shown.decode()


def test_a_person_at_the_terminal_is_asked(home: Path, tool_file: Path) -> None:
    status, answer, shown = _at_a_terminal(home, tool_file, b"yes\n")
    assert (status, json.loads(answer)["result"]) == (0, {"text": "wiped x"})
    assert '"path": "x"' in shown


@pytest.mark.parametrize(
    ("typed", "kind"), [(b"n\n", "user_denied"), (b"\n", "user_denied"), (b"\x04", "rejected")]
)
def test_anything_but_yes_is_a_refusal(
    home: Path, tool_file: Path, typed: bytes, kind: str
) -> None:
    status, answer, _shown = _at_a_terminal(home, tool_file, typed)
    assert (status, json.loads(answer)["kind"]) == (3, kind)


@pytest.mark.measured
def test_an_interrupt_while_asked_ends_the_command(home: Path, tool_file: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [str(HOLDFAST), "call", "wipe", "path=x", "--from", str(tool_file)],
        stdin=theirs,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
    ) as process:
        os.close(theirs)
        shown = b""
        while b"[y/N]" not in shown and select.select([ours], [], [], 10)[0]:
            shown += os.read(ours, 4096)
        process.send_signal(2)
        assert process.wait(timeout=10) == 130
    os.close(ours)


def test_what_a_call_leaves_running_is_said_to_end(cli: Cli, tmp_path: Path) -> None:
    words = ("call", "sandbox_exec", "--profile", "host", "--set", "commands.background=true")
    left = cli(*words, "command=sleep 60", "background:=true", "--workspace", str(tmp_path))
    assert (left.status, json.loads(left.out)["ok"]) == (0, True)
    assert "what the call left running ends with it" in left.err
    ended = cli(*words, "command=true", "--workspace", str(tmp_path))
    assert (ended.status, ended.err) == (0, "")
