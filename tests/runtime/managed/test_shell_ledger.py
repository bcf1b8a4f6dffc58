"""What events say of a shell: added up the same way, however much of it was read before."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.commanding import CommandDone
from holdfast.contract.events import CallAsked, CallSettled, Event, Payload
from holdfast.contract.json_value import encode_json
from holdfast.contract.managed_events import ShellChanged
from holdfast.runtime.managed.shell_ledger import (
    MOST_KEPT,
    Kept,
    Ledger,
    command_id,
    durable,
    remembered,
)
from holdfast.runtime.managed.shell_names import is_durable
from holdfast.runtime.managed.shell_plans import posture_of, state_of
from holdfast.runtime.managed.shell_shown import history_page, output_page, shell_files

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def event(sequence: int, payload: Payload) -> Event:
    return Event(
        session_id="ses_1",
        sequence=sequence,
        id=f"evt_{sequence}",
        at=BEGIN + timedelta(seconds=sequence),
        wake_id=None,
        payload=payload,
        previous=b"",
        hash=b"",
    )


def told(*payloads: Payload) -> Ledger:
    ledger = Ledger("/ws")
    for sequence, payload in enumerate(payloads, 1):
        ledger.tell(event(sequence, payload))
    return ledger


def call(number: int, tool: str, arguments: str, envelope: Any) -> tuple[CallAsked, CallSettled]:
    name = f"call_{number}"
    return (
        CallAsked(call_id=name, tool=tool, arguments=arguments),
        CallSettled(call_id=name, tool=tool, envelope=msgspec.Raw(encode_json(envelope))),
    )


def bash(number: int, **result: Any) -> tuple[CallAsked, CallSettled]:
    shown = {"stdout": "o", "stderr": "", "exit_code": 0, "timed_out": False, **result}
    return call(number, "bash", f'{{"command": "echo {number}"}}', {"ok": True, "result": shown})


_NAMES = st.sampled_from(["A", "B", "C"])
_CHANGES = st.builds(
    ShellChanged,
    cwd=st.none() | st.sampled_from(["/ws/a", "/ws/b"]),
    set_env=st.lists(st.tuples(_NAMES, st.text(max_size=3)), max_size=2).map(tuple),
    unset_env=st.lists(_NAMES, max_size=1).map(tuple),
    withheld_env=st.lists(_NAMES, max_size=1).map(tuple),
)


@given(st.lists(_CHANGES, max_size=8))
def test_a_variable_is_what_was_said_of_it_last(changes: list[ShellChanged]) -> None:
    ledger = told(*changes)
    values: dict[str, str | None] = {}
    for one in changes:
        for name in one.unset_env:
            values.pop(name, None)
        values |= dict(one.set_env)
        values |= dict.fromkeys(one.withheld_env)
    assert ledger.keys == tuple(sorted(values))
    assert durable(ledger, {}) == {
        name: value for name, value in values.items() if value is not None
    }
    lost = state_of(ledger, None, frozenset()).env.to_set_again
    assert set(lost) == {name for name, value in values.items() if value is None}
    private = dict.fromkeys(lost, "known")
    assert set(durable(ledger, private)) == set(values)


def test_only_a_command_that_was_started_counts() -> None:
    refused = {"ok": False, "kind": "rejected", "message": "no", "retryable": False}
    ended = {**refused, "stdout": "so far", "stderr": "", "exit_code": 1}
    ledger = told(
        *call(1, "bash", '{"command": "a"}', refused),
        *call(2, "shell_run", '{"command": "b", "cwd": "sub/.."}', ended),
        *call(3, "read", '{"path": "c"}', {"ok": True, "result": {"text": ""}}),
        *call(4, "sandbox_execute", '{"name": "read_text"}', {"ok": True, "result": {"ok": True}}),
        *call(5, "sandbox_execute", "[]", {"ok": True, "result": None}),
        *call(6, "bash", "{not json", {"ok": True, "result": {"stdout": "x", "exit_code": 0}}),
        *call(7, "bash", '{"command": "d"}', "no envelope"),
    )
    found = [(one.text.command, one.text.cwd, one.text.stdout) for one in ledger.commands]
    assert found == [("", "/ws", "x"), ("b", "/ws", "so far")]


def test_five_commands_are_kept_and_what_is_told_twice_counts_once() -> None:
    ledger = told(*(one for number in range(7) for one in bash(number)))
    assert [one.text.command for one in ledger.commands] == [f"echo {n}" for n in (6, 5, 4, 3, 2)]
    done = CommandDone(call_id="call_6", command="echo 6", cwd="/ws", stdout="more")
    ledger.keep(Kept("call_6", remembered(done, "now")))
    assert [one.text.stdout for one in ledger.commands] == ["more", "o", "o", "o", "o"]
    assert ledger.commands[0].text.command_id == command_id("call_6")


@given(st.text(max_size=60), st.integers(0, 3))
def test_what_is_kept_of_an_output_is_bounded(text: str, times: int) -> None:
    long = text * (times * 2_000)
    shown = remembered(CommandDone(call_id="c", command="x", cwd="/", stdout=long), "now")
    assert len(shown.stdout) <= MOST_KEPT + 100
    assert len(shown.stdout_preview) <= 400
    assert (shown.stdout == long) == (len(long) <= MOST_KEPT)


def test_an_answer_that_was_cut_is_kept_as_far_as_it_was_shown() -> None:
    asked, _ = bash(1)
    cut = {
        "ok": True,
        "result": {"head": "begin", "exit_code": 0, "timed_out": False, "truncated": True},
        "metadata": {"truncated": True, "tail": "end", "duration_ms": 7},
    }
    settled = CallSettled(call_id="call_1", tool="bash", envelope=msgspec.Raw(encode_json(cut)))
    (found,) = told(asked, settled).commands
    assert found.text.stdout == "begin\n...\nend"
    assert found.text.duration_ms == 7


def test_a_shell_is_as_it_was_written_down_until_it_is_seen() -> None:
    opened = ShellChanged(shell_id="shl_1", status="active")
    state = state_of(told(opened), None, frozenset())
    assert state.persistent_shell is not None
    assert state.persistent_shell.status == "closed"
    assert posture_of(state, None, own=True).recovery_plan is not None
    assert posture_of(state, None, own=False).recovery_plan is None


@given(st.text(max_size=30), st.text(max_size=30))
def test_the_shown_files_hold_no_value_of_a_variable(command: str, output: str) -> None:
    ledger = told(ShellChanged(set_env=(("STAGE", "§value§"),)))
    done = CommandDone(call_id="c", command=command, cwd="/ws", stdout=output, exit_code=0)
    ledger.keep(Kept("c", remembered(done, "now")))
    state = state_of(ledger, None, frozenset())
    files = shell_files(state, ledger.commands[0].text)
    assert set(files) == {
        *("shell-state.json", "shell-history.json", "shell-history.md"),
        *("shell-last-output.json", "shell-last-output.md"),
    }
    for text in files.values():
        assert "§value§" not in text
        assert text.endswith("\n")
    assert "STAGE" in files["shell-history.md"]
    lines = output_page(ledger.commands[0].text).splitlines()
    assert all(line.startswith(("    ", "#", "exit")) or not line for line in lines)


def test_an_empty_history_says_so() -> None:
    assert "No command has run." in history_page(state_of(told(), None, frozenset()))
    assert "No command has run." in output_page(None)


@given(st.text(max_size=12))
def test_a_durable_name_is_one_that_a_shell_can_export(name: str) -> None:
    if is_durable(name):
        assert name.isidentifier()
        assert name.isascii()
        assert not name.startswith(("HOLDFAST_", "LD_"))


@pytest.mark.parametrize(
    "name",
    [
        *("_", "_o", "_a", "BASHOPTS", "SHELLOPTS", "POSIXLY_CORRECT", "TMOUT", "EUID"),
        *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_KEY_0", "GIT_SSH", "GIT_SSH_COMMAND", "GIT_EXEC_PATH"),
        *("PYTHONPATH", "PYTHONSTARTUP", "PYTHONHOME", "NODE_OPTIONS", "PERL5OPT", "PERL5LIB"),
        *("RUBYOPT", "HOME", "XDG_CONFIG_HOME", "HTTP_PROXY", "https_proxy", "All_Proxy"),
        *("NO_PROXY", "CDPATH"),
    ],
)
def test_what_decides_how_shells_and_programs_work_does_not_go_on(name: str) -> None:
    assert not is_durable(name)


@pytest.mark.parametrize("name", ["STAGE", "PYTHONUNBUFFERED", "MY_HOME", "GITHUB_REF", "PROXY"])
def test_other_names_go_on(name: str) -> None:
    assert is_durable(name)
