"""The sandbox of a loop: shared, the program's grant for what runs inside, and nobody else's."""

import json
from pathlib import Path

import pytest
from app.recorded import around, events_of
from execution.backends.fake_backend import FakeBackend
from flow_kit import Does, Scripted, agent, asks, results, says, user

from holdfast.app.configuration import Configuration
from holdfast.app.flow_options import LoopOptions
from holdfast.app.policy_files import FoundRules
from holdfast.app.requirement_settings import RequirementSettings
from holdfast.app.settings import PolicySettings, Settings, StoreSettings
from holdfast.contract.call import Ask
from holdfast.contract.events import ApprovalAsked, CallIntended
from holdfast.contract.json_value import JsonObject
from holdfast.contract.ports import Answer
from holdfast.contract.rules import Rule
from holdfast.contract.watchdog import Inspection, Opinion
from holdfast.flow import (
    BackendSandbox,
    BackendTool,
    BackendToolFilesExists,
    Session,
    open_sandbox,
    run_session_loop,
    run_session_loop_async,
)

QUIET = Settings(store=StoreSettings(kind="none"))


def _ran(session: Session, *calls: tuple[str, JsonObject], **options: object) -> list[JsonObject]:
    """What came of calls, in a loop that nobody attends."""
    model = Scripted(asks(*((name, json.dumps(given)) for name, given in calls)), says("done"))
    chosen = options if "configuration" in options else {"settings": QUIET, **options}
    out = run_session_loop(session, agent(), model, **chosen)  # type: ignore[arg-type] - options of the tests
    try:
        return [json.loads(text) for text in results(out)]
    finally:
        out.close()


def _command(text: str) -> tuple[str, JsonObject]:
    return ("run_shell_command", {"cmd": text})


@pytest.mark.req("RATH-LOP-05")
def test_the_users_sandbox_is_shared_for_the_whole_loop_and_stays_theirs(tmp_path: Path) -> None:
    handle = open_sandbox("local", str(tmp_path))
    first = user().bind_sandbox(handle)
    held: list[tuple[BackendSandbox | None, int]] = []

    def look(session: object, _arguments: object) -> object:
        assert isinstance(session, Session)
        held.append((session.sandbox, handle.references))
        return None

    model = Scripted(asks(("look", "{}")), asks(("look", "{}")), says("done"))
    out = run_session_loop(first, agent(), model, [Does("look", look)], settings=QUIET)
    assert out.sandbox is handle
    out.wait()
    assert held == [(handle, 2), (handle, 2)]
    assert first.sandbox is handle
    first.close()
    assert not handle.closed
    out.close()
    assert handle.closed


@pytest.mark.req("RATH-LOP-06")
def test_a_target_alone_is_passed_on_and_opens_on_the_output() -> None:
    first = user().to("local")
    model = Scripted(asks(("workspace_path_exists", '{"path": "."}')), says("done"))
    out = run_session_loop(first, agent(), model, settings=QUIET)
    assert (out.target, out.sandbox) == (first.target, None)
    assert results(out) == ['{"ok": true}']
    assert out.sandbox is not None
    assert not out.sandbox.closed
    assert first.sandbox is None
    out.close()


@pytest.mark.req("RATH-LOP-07")
def test_a_tool_may_return_what_its_sandbox_gave() -> None:
    def exists(session: object, _arguments: object) -> object:
        assert isinstance(session, Session)
        return session.require_sandbox().dispatch(BackendToolFilesExists("nope"))

    model = Scripted(asks(("exists", "{}")), says("done"))
    out = run_session_loop(
        user().to("local"), agent(), model, [Does("exists", exists)], settings=QUIET
    )
    assert results(out) == ['{"ok": false}']
    out.close()


@pytest.mark.req("RATH-STM-01", "RATH-STM-02")
def test_a_loop_dispatches_one_by_one_and_never_through_a_stream(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def no_stream(*_given: object) -> None:
        raise AssertionError("a stream was opened")

    monkeypatch.setattr(BackendSandbox, "stream", no_stream)
    given: list[str] = []

    def note(payload: BackendTool) -> bool:
        assert isinstance(payload, BackendToolFilesExists)
        given.append(payload.path)
        return True

    first = user().bind_sandbox(BackendSandbox(FakeBackend(note)))
    calls: list[tuple[str, JsonObject]] = [
        ("workspace_path_exists", {"path": str(number)}) for number in range(4)
    ]
    _ran(first, *calls)
    assert given == ["0", "1", "2", "3"]
    first.close()


EVERYTHING: list[tuple[str, JsonObject]] = [
    _command("echo $((6 * 7)) > out.txt && cat out.txt; eval 'echo on'"),
    ("write_workspace_file", {"path": "notes/a.md", "content": "one"}),
    ("read_workspace_file", {"path": "notes/a.md"}),
    ("list_workspace_files", {"path": "notes"}),
    ("workspace_path_exists", {"path": "notes/a.md"}),
    ("run_code", {"code": "print(open('notes/a.md').read())"}),
]


@pytest.mark.req("RATH-DSP-05")
@pytest.mark.parametrize("given", ["target", "handle", "folder"])
def test_built_in_tools_run_unattended_in_a_sandbox_that_the_program_gave(
    given: str, tmp_path: Path
) -> None:
    first = user()
    match given:
        case "target":
            first.to("local")
        case "handle":
            first.bind_sandbox(open_sandbox("local"))
        case _:
            first.to("local", str(tmp_path))
    told = _ran(first, *EVERYTHING)
    first.close()
    assert (told[0]["stdout"], told[0]["exit_code"]) == ("42\non\n", 0)
    assert told[1:] == [
        {"bytes_written": 3},
        {"data": "one"},
        {"entries": [{"name": "a.md", "path": told[3]["entries"][0]["path"], "is_dir": False}]},  # type: ignore[index] - looked at here
        {"ok": True},
        {"text": None, "stdout": "one\n", "stderr": "", "error": None},
    ]


@pytest.mark.req("RATH-EDG-10")
def test_a_command_has_2048_characters_at_most() -> None:
    told = _ran(user().to("local"), _command("true #".ljust(2_048, "x")), _command("x" * 2_049))
    assert told[0]["exit_code"] == 0
    assert told[1]["message"] == "ValueError: command too long"


@pytest.mark.req("RATH-DSP-05")
async def test_the_grant_is_recorded_and_nobody_is_asked(tmp_path: Path) -> None:
    asked: list[Ask] = []

    async def approver(ask: Ask) -> Answer | None:
        asked.append(ask)
        return None

    model = Scripted(asks(("run_shell_command", '{"cmd": "echo $(date)"}')), says("done"))
    out = await run_session_loop_async(
        user().to("local"),
        agent(),
        model,
        settings=Settings(),
        surroundings=around(tmp_path),
        approver=approver,
    )
    out.close()
    events = [one.payload for one in await events_of(tmp_path, out.id)]
    (intended,) = [one for one in events if isinstance(one, CallIntended)]
    assert "the program gave this flow session" in intended.grounds
    assert (asked, [one for one in events if isinstance(one, ApprovalAsked)]) == ([], [])


def _deny(permission: str, pattern: str) -> Rule:
    return Rule(permission=permission, pattern=pattern, action="deny", scope="project", source="t")


@pytest.mark.req("RATH-DSP-05")
@pytest.mark.parametrize(
    ("rule", "call"),
    [
        (_deny("shell.run", "curl *"), _command("curl example.com")),
        (_deny("shell.run", "curl *"), _command("true && curl -s example.com")),
        (_deny("run_shell_command", "*"), _command("true")),
        (_deny("fs.write", "secret/**"), _command("echo x > secret/a")),
        (
            _deny("fs.write", "secret/**"),
            ("write_workspace_file", {"path": "b/../secret/a", "content": "x"}),
        ),
        (_deny("fs.read", ".env"), ("read_workspace_file", {"path": "./.env"})),
        (_deny("fs.read", ".env"), ("workspace_path_exists", {"path": ".env"})),
        (_deny("list_workspace_files", "*"), ("list_workspace_files", {"path": "."})),
        (_deny("shell.run", "python*"), ("run_code", {"code": "print(1)"})),
        (_deny("run_code", "*"), ("run_code", {"code": "print(1)"})),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_rules_that_deny_still_hold(
    rule: Rule, call: tuple[str, JsonObject], named: bool, tmp_path: Path
) -> None:
    first = user().to("local", str(tmp_path) if named else None)
    (told,) = _ran(first, call, rules=[rule])
    assert (told["ok"], told["error_kind"]) == (False, "rejected")


@pytest.mark.req("RATH-DSP-05")
def test_a_link_does_not_lead_around_a_rule(tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "way").symlink_to("secret")
    first = user().to("local", str(tmp_path))
    call: tuple[str, JsonObject] = ("write_workspace_file", {"path": "way/a", "content": "x"})
    (told,) = _ran(first, call, rules=[_deny("fs.write", "secret/**")])
    assert told["error_kind"] == "rejected"


@pytest.mark.req("RATH-DSP-05")
def test_the_watchdog_still_looks_and_may_refuse() -> None:
    def wary(inspection: Inspection) -> Opinion:
        return Opinion("ask" if inspection.tool == "run_code" else "allow", "is it?")

    first = user().to("local")
    told = _ran(
        first, ("run_code", {"code": "1"}), _command("rm -rf /"), _command("true"), hooks=[wary]
    )
    assert [one.get("error_kind") for one in told] == ["rejected", "rejected", None]


@pytest.mark.req("RATH-DSP-05")
def test_the_backend_still_confines(tmp_path: Path) -> None:
    place, outside = tmp_path / "in", tmp_path / "outside.txt"
    place.mkdir()
    outside.write_text("mine", "utf-8")
    first = user().to("local", str(place))
    told = _ran(
        first,
        _command(f"cat {outside}"),
        _command(f"echo x > {outside}"),
        ("read_workspace_file", {"path": "../outside.txt"}),
    )
    assert "mine" not in str(told[:2])
    assert told[2]["error_kind"] == "os_error"
    assert outside.read_text("utf-8") == "mine"


@pytest.mark.req("RATH-DSP-05")
def test_the_grant_reaches_the_output_and_its_forks_and_no_other_session() -> None:
    first, other = user().to("local"), user()
    model = Scripted(asks(("run_code", '{"code": "print(1)"}')), says("done"))
    out = run_session_loop(first, agent(), model, settings=QUIET)
    fork = out.fork()
    assert '"stdout": "1\\n"' in results(out)[0]
    assert _ran(fork, _command("echo $(echo 2)"))[-1]["stdout"] == "2\n"
    # Made by the same program, in the same moment, and given nothing: nothing runs for it.
    assert _ran(other, _command("echo 3"))[0]["detail"] == "RuntimeError"
    assert (other.target, other.sandbox) == (None, None)
    for one in (out, fork, first):
        one.close()


def test_a_sandbox_that_a_tool_gives_counts_from_then_on() -> None:
    def give(session: object, _arguments: object) -> object:
        assert isinstance(session, Session)
        session.to("local")
        return None

    model = Scripted(
        asks(("run_code", '{"code": "1"}'), ("give", "{}"), ("run_code", '{"code": "print(1)"}')),
        says("done"),
    )
    out = run_session_loop(user(), agent(), model, [Does("give", give)], settings=QUIET)
    before, _, after = (json.loads(text) for text in results(out))
    assert before["error_kind"] == "tool_execution_exception"
    assert after["stdout"] == "1\n"
    out.close()


def test_a_handle_that_is_closed_is_none() -> None:
    handle = open_sandbox("local")
    first = user().bind_sandbox(handle)

    def close(session: object, _arguments: object) -> object:
        handle.release()
        handle.release()
        return None

    model = Scripted(asks(("close", "{}"), ("run_code", '{"code": "1"}')), says("done"))
    out = run_session_loop(first, agent(), model, [Does("close", close)], settings=QUIET)
    assert json.loads(results(out)[1])["message"] == "RuntimeError: session sandbox is closed"


def test_a_ceiling_bounds_what_runs_in_a_sandbox_too() -> None:
    def bounded(**bound: object) -> Settings:
        ceiling = RequirementSettings(**bound)  # type: ignore[arg-type] - of the tests
        store = StoreSettings(kind="none")
        return Settings(store=store, policy=PolicySettings(ceiling=ceiling))

    look: tuple[str, JsonObject] = ("workspace_path_exists", {"path": "."})
    told = _ran(user().to("local"), _command("true"), look, settings=bounded(read=("/srv/**",)))
    assert [one.get("error_kind") for one in told] == ["rejected", None]


def test_rules_of_the_project_count_where_the_sandbox_is_its_folder(tmp_path: Path) -> None:
    found = FoundRules(rules=(_deny("fs.read", "private/**"),))
    options: LoopOptions = {"configuration": Configuration(settings=QUIET, rules=found)}
    (tmp_path / "private").mkdir()
    first = user().to("local", str(tmp_path))
    path = f"{tmp_path}/private/a"
    (told,) = _ran(first, ("workspace_path_exists", {"path": path}), **options)
    assert told["error_kind"] == "rejected"
