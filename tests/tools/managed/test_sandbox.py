"""`sandbox_describe` and `sandbox_execute`: the hand as one tool, and no way around its rules."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_kit import failure, opened, result
from tools.managed.shell_kit import Yes, managed, session_of

from holdfast import Holdfast
from holdfast.app.settings import Settings
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import JsonObject
from holdfast.contract.managed.sandbox import Sandbox
from holdfast.contract.rules import Rule
from holdfast.runtime.managed.sandbox_desk import ManagedSandbox
from holdfast.tools.managed.sandbox.actions import ACTIONS, asks_for, uses_of
from holdfast.tools.managed.sandbox.hand import MountedHand, Reached

pytestmark = pytest.mark.anyio

CONFIRMED = {"run_shell", "exec_persistent_shell"}


async def done(hf: Holdfast, action: str, /, **given: object) -> dict[str, Any]:
    """What an action gives that has to work."""
    told = await result(hf, "sandbox_execute", name=action, input=given)
    assert told["ok"], told
    assert (told["name"], told["error"]) == (action, None)
    return told["output"]


@pytest.mark.req("BOA-SBX-01", "BOA-SBX-02", "BOA-SBX-03")
async def test_the_hand_says_what_it_is_made_of(workspace: Path) -> None:
    async with managed(workspace) as hf:
        declared = {one.name: one for one in hf.tools}
        assert not declared["sandbox_describe"].input_schema.get("properties")
        assert "sandbox_describe first" in (declared["sandbox_execute"].description or "")
        told = await result(hf, "sandbox_describe")
        mounts = ["session_workspace", "agent_substrate", "learnings", "runtime_memory"]
        assert set(told) == {
            *("kind", "summary", "provisioned_resource_count", "resources", "constraints"),
            *("actions", "command_policy", "action_examples"),
        }
        assert told["provisioned_resource_count"] == len(told["resources"]) == len(mounts)
        assert [one["kind"] for one in told["resources"]] == mounts
        mounted = told["resources"][0]
        assert (mounted["kind"], mounted["access"]) == ("session_workspace", "read_write")
        assert mounted["mount_path"] == str(workspace.resolve())
        assert [one["name"] for one in told["actions"]] == list(ACTIONS)
        access = {one["name"]: one["access"] for one in told["actions"]}
        assert {name for name, of in access.items() if of == "confirmed"} == CONFIRMED
        assert told["command_policy"]["max_timeout_ms"] == 60_000
        assert len(told["command_policy"]["allowlisted_commands"]) == 10
        assert told["constraints"]
        for step in told["action_examples"]:
            assert (await result(hf, step["tool"], **step["args"]))["ok"]


@pytest.mark.req(
    "BOA-SBX-04",
    "BOA-SBX-05",
    "BOA-SBX-06",
    "BOA-SBX-07",
    "BOA-SBX-08",
    "BOA-SBX-09",
    "BOA-SBX-10",
    "BOA-SBX-11",
    "BOA-SBX-12",
    "BOA-SBX-13",
    "BOA-SBX-21",
    "BOA-HAND-01",
)
async def test_files_are_worked_on_with_the_same_hand_as_by_the_tools_of_their_own(
    workspace: Path,
) -> None:
    async with managed(workspace) as hf:
        await done(hf, "write_text", path="a/b.txt", content="one\n")
        await done(hf, "append_text", path="a/b.txt", content="two\n")
        assert (await done(hf, "append_text", path="new.txt", content="n"))["created"]
        await done(hf, "replace_text", path="a/b.txt", old_text="two", new_text="")
        read = await result(hf, "read", path="a/b.txt")
        assert read["text"] == (await done(hf, "read_text", path="a/b.txt"))["text"] == "one\n\n"
        lines = await done(hf, "read_text", path="a/b.txt", start_line=1, line_count=1)
        assert lines["text"] == "one\n"
        await done(hf, "write_text", path="empty", content="")
        assert (workspace / "empty").read_bytes() == b""
        await done(hf, "mkdir", path="x/y/z")
        assert (workspace / "x/y/z").is_dir()
        flat = await result(
            hf, "sandbox_execute", name="mkdir", input={"path": "p/q", "recursive": False}
        )
        assert flat["error"]["code"] == "missing"
        assert (await done(hf, "stat", path="a/b.txt"))["byte_count"] == 5
        listed = await done(hf, "list_dir")
        assert [one["name"] for one in listed["entries"]] == ["a", "empty", "new.txt", "x"]
        found = await done(hf, "find_entries", name="b.t", path="a")
        assert [one["path"] for one in found["entries"]] == ["a/b.txt"]
        globbed = await done(hf, "glob_entries", pattern="**/*.txt", limit=1)
        assert len(globbed["entries"]) == 1
        matches = (await done(hf, "grep_text", pattern="one"))["matches"]
        assert [(one["path"], one["line"]) for one in matches] == [("a/b.txt", 1)]
        assert (await done(hf, "inspect"))["shell_state"]["cwd"] == str(workspace.resolve())
        # A change is one that can be taken back, as if `write` had made it.
        last = await failure(hf, "edit", path="a/b.txt", old_string="zzz", new_string="y")
        same = await result(
            *(hf, "sandbox_execute"),
            name="replace_text",
            input={"path": "a/b.txt", "old_text": "zzz", "new_text": "y"},
        )
        assert same["error"]["message"] == last.message
        assert same["error"]["code"] == "failed"


@pytest.mark.req(
    "BOA-SBX-14",
    "BOA-SBX-15",
    "BOA-SBX-16",
    "BOA-SBX-17",
    "BOA-SBX-18",
    "BOA-SBX-19",
    "BOA-SBX-20",
)
async def test_commands_are_run_and_the_shell_is_looked_after(workspace: Path) -> None:
    async with managed(workspace) as hf:
        assert (await done(hf, "run_command", command="basename a/b"))["stdout"] == "b\n"
        refused = await failure(
            hf, "sandbox_execute", name="run_command", input={"command": "touch x"}
        )
        assert refused.kind == FailureKind.REJECTED
        assert (await done(hf, "run_shell", command="echo x > f; cat f"))["stdout"] == "x\n"
        closed = await done(hf, "close_persistent_shell")
        assert not closed["closed"]
        assert (await done(hf, "inspect_persistent_shell"))["persistent_shell"] is None
        opened_now = await done(hf, "open_persistent_shell")
        shell = opened_now["persistent_shell"]["shell_id"]
        again = await done(hf, "open_persistent_shell")
        assert again["persistent_shell"]["shell_id"] == shell
        await done(hf, "exec_persistent_shell", command="export A=1; mkdir sub; cd sub")
        went_on = await done(hf, "exec_persistent_shell", command="pwd; echo $A")
        assert went_on["stdout"] == f"{workspace.resolve()}/sub\n1\n"
        assert (await done(hf, "wait_persistent_shell"))["status"] == "idle"
        history = await result(hf, "shell_history")
        assert [one["command"] for one in history["commands"]] == [
            *("pwd; echo $A", "export A=1; mkdir sub; cd sub"),
            *("echo x > f; cat f", "basename a/b"),
        ]
        closed = await done(hf, "close_persistent_shell")
        assert (closed["closed"], closed["shell_id"]) == (True, shell)


@pytest.mark.req("BOA-SBX-22")
@pytest.mark.parametrize("action", sorted(CONFIRMED))
async def test_writable_commands_ask_here_as_anywhere(workspace: Path, action: str) -> None:
    person = Yes()
    allow = Rule(
        permission="sandbox_execute", pattern="**", action="allow", scope="project", source="r"
    )
    async with managed(workspace, person, rules=[allow]) as hf:
        for n, name in enumerate((action, f" {action} "), 1):
            ran = await result(
                hf, "sandbox_execute", name=name, input={"command": "echo x >> made"}
            )
            assert ran["ok"]
            assert len(person.asked) == n
            assert person.asked[-1].offers == ("once",)
    async with opened(workspace, "managed", settings=Settings()) as unattended:
        for name in (action, f"{action}\n"):
            refused = await failure(
                unattended, "sandbox_execute", name=name, input={"command": "echo x >> made"}
            )
            assert refused.kind == FailureKind.REJECTED
    assert (workspace / "made").read_text("utf-8") == "x\nx\n"


@pytest.mark.req("BOA-SBX-22")
async def test_every_other_action_asks_nobody(workspace: Path) -> None:
    (workspace / "f").write_text("text", "utf-8")
    given: dict[str, dict[str, object]] = {
        "read_text": {"path": "f"},
        "write_text": {"path": "g", "content": "x"},
        "append_text": {"path": "f", "content": "x"},
        "replace_text": {"path": "f", "old_text": "text", "new_text": "y"},
        "mkdir": {"path": "d"},
        "stat": {"path": "f"},
        "find_entries": {"name": "f"},
        "glob_entries": {"pattern": "*"},
        "grep_text": {"pattern": "t"},
        "run_command": {"command": "ls"},
    }
    async with opened(workspace, "managed", settings=Settings()) as unattended:
        for action in ACTIONS.keys() - CONFIRMED:
            await done(unattended, action, **given.get(action, {}))


@pytest.mark.req("BOA-SBX-23")
async def test_what_rules_say_of_a_file_counts_for_an_action(workspace: Path) -> None:
    (workspace / "kept").write_text("x", "utf-8")
    outside = workspace.parent / "outside"
    outside.write_text("y", "utf-8")
    (workspace / "link").symlink_to(outside)
    deny = Rule(permission="fs.write", pattern="kept", action="deny", scope="project", source="r")
    async with managed(workspace, rules=[deny]) as hf:
        await done(hf, "read_text", path="kept")
        for action, path in (
            ("write_text", "kept"),
            ("append_text", "kept"),
            ("read_text", str(outside)),
            ("read_text", "link"),
            ("write_text", "../outside"),
        ):
            more = {} if action == "read_text" else {"content": "z"}
            refused = await failure(
                hf, "sandbox_execute", name=action, input={"path": path, **more}
            )
            assert refused.kind == FailureKind.REJECTED, (action, path)
    assert (workspace / "kept").read_text("utf-8") == "x"
    assert outside.read_text("utf-8") == "y"


@pytest.mark.req("BOA-SBOX-01", "BOA-SBOX-02")
async def test_a_failure_of_an_action_is_told_by_a_code_of_its_own(workspace: Path) -> None:
    async with managed(workspace) as hf:
        told: dict[str, dict[str, Any]] = {}
        for action, given in (
            ("read_text", {"path": "nowhere"}),
            ("read_text", {"path": "."}),
            ("exec_persistent_shell", {"command": "sleep 60", "timeout_ms": 200}),
            ("run_shell", {"command": "echo x > /usr/made-by-a-test"}),
        ):
            found = await result(hf, "sandbox_execute", name=action, input=given)
            assert set(found) == {
                *("ok", "name", "text", "output", "artifacts", "usage", "error"),
            }
            assert not found["ok"]
            told[found["error"]["code"]] = found["error"]
        assert set(told) == {"missing", "failed", "timeout", "denied"}
        assert told["timeout"]["retryable"]
        assert not told["denied"]["retryable"]


@pytest.mark.req("BOA-SBOX-01")
async def test_a_hand_is_provisioned_describes_itself_and_raises_nothing(workspace: Path) -> None:
    async with managed(workspace) as hf:
        own = session_of(hf).shells
        desk = ManagedSandbox(own.book, own.reader)
        none: Any = None
        hand: Sandbox = MountedHand(Reached(none, none, none, none, none, none, desk))
        assert (await hand.describe()).provisioned_resource_count == 0
        hand.provision(desk.resources)
        assert (await hand.describe()).resources == desk.resources
        wrong: list[tuple[str, JsonObject]] = [
            *(("nothing", {}), ("read_text", {}), ("read_text", {"path": 7}))
        ]
        for name, wanted in wrong:
            found = await hand.execute(name, wanted)
            assert (found.ok, found.name, found.output) == (False, name, None)
            assert found.error is not None
            assert found.error.code == "failed"
            assert found.text == found.error.message


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"name": " "}, "name"),
        ({"name": "nothing"}, "name"),
        ({"name": "read_text"}, "input.path"),
        ({"name": "read_text", "input": {"path": " "}}, "input.path"),
        ({"name": "read_text", "input": {"path": 7}}, "input.path"),
        ({"name": "read_text", "input": {"path": "f", "max_chars": 0}}, "input.max_chars"),
        ({"name": "read_text", "input": {"path": "f", "max_chars": True}}, "input.max_chars"),
        ({"name": "read_text", "input": {"path": "f", "paht": "g"}}, "input.paht"),
        ({"name": "write_text", "input": {"path": "f"}}, "input.content"),
        ({"name": "mkdir", "input": {"path": "f", "recursive": "yes"}}, "input.recursive"),
        ({"name": "run_command", "input": {"command": "ls", "timeout_ms": 60_001}}, None),
    ],
)
async def test_what_is_wrong_with_an_input_is_named(
    workspace: Path, arguments: dict[str, Any], field: str | None
) -> None:
    async with managed(workspace) as hf:
        refused = await failure(hf, "sandbox_execute", **arguments)
        assert refused.kind == FailureKind.INVALID_ARGS
        assert refused.field == (field or "input.timeout_ms")


_VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=5)
_NAMES = st.sampled_from([*ACTIONS, " run_shell", "exec_persistent_shell\t", "RUN_SHELL", ""])


@given(
    name=_NAMES | st.text(max_size=8),
    given_=st.dictionaries(st.sampled_from(["path", "command", "cwd", "content"]), _VALUES),
)
def test_policy_and_body_read_an_action_alike(name: str, given_: dict[str, Any]) -> None:
    arguments: Any = {"name": name, "input": given_}
    assert asks_for(arguments) == (name.strip() in CONFIRMED)
    for use in uses_of(arguments):
        assert use.target
        assert use.capability in ACTIONS[name.strip()].uses
