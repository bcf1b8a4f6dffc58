"""What goes on from command to command in a managed session: directory, variables, history."""

import os
from pathlib import Path
from typing import Any

import pytest
from tool_kit import UNRECORDED, answer, failure, result
from tools.managed.shell_kit import Yes, managed, session_of

from holdfast import Holdfast
from holdfast.app.settings import Surroundings
from holdfast.contract.failure import FailureKind
from holdfast.contract.managed_events import ShellChanged

pytestmark = pytest.mark.anyio


async def changes_of(hf: Holdfast) -> list[ShellChanged]:
    assert hf.parts.log is not None
    events = await (await hf.parts.log.journal()).events(hf.session_id)
    return [one.payload for one in events if isinstance(one.payload, ShellChanged)]


def commands_in(history: dict[str, Any]) -> list[str]:
    return [one["command"] for one in history["commands"]]


@pytest.mark.req("BOA-SH-26", "BOA-SH-27", "BOA-SH-43")
async def test_the_directory_goes_on_for_later_commands_and_for_whoever_takes_it_up(
    workspace: Path,
) -> None:
    (workspace / "sub").mkdir()
    (workspace / "file").write_text("x", "utf-8")
    async with managed(workspace) as hf:
        session = hf.session_id
        moved = await result(hf, "shell_set_cwd", path=" sub ")
        assert moved["cwd"] == str((workspace / "sub").resolve())
        assert moved["shell_state"]["cwd"] == moved["cwd"]
        assert (await result(hf, "bash", command="pwd"))["stdout"].strip() == moved["cwd"]
        ran = await result(hf, "shell_run", command="pwd")
        assert ran["output"]["stdout"].strip() == moved["cwd"]
        for path, kind in (
            ("nowhere", FailureKind.NOT_FOUND),
            ("file", FailureKind.INVALID_ARGS),
            (" ", FailureKind.INVALID_ARGS),
            ("/", FailureKind.REJECTED),
        ):
            assert (await failure(hf, "shell_set_cwd", path=path)).kind == kind, path
    async with managed(workspace, session=session) as again:
        assert (await result(again, "bash", command="pwd"))["stdout"].strip() == moved["cwd"]


async def test_a_directory_is_taken_for_what_it_is_and_not_for_its_name(workspace: Path) -> None:
    outside = workspace.parent / "outside"
    outside.mkdir()
    (workspace / "out").symlink_to(outside)
    async with managed(workspace) as hf:
        assert (await failure(hf, "shell_set_cwd", path="out")).kind == FailureKind.REJECTED
        assert not await changes_of(hf)
        book = session_of(hf).shells.book
        assert book.placed("out") is None
        assert book.placed(".") == str(workspace.resolve())


@pytest.mark.req("BOA-SH-28", "BOA-SH-29", "BOA-SH-44")
async def test_variables_go_on_and_their_values_are_never_told(workspace: Path) -> None:
    async with managed(workspace) as hf:
        session = hf.session_id
        told = await result(hf, "shell_set_env", key="STAGE", value="blue moon")
        assert (told["key"], told["env"]["keys"], told["env"]["count"]) == ("STAGE", ["STAGE"], 1)
        assert "STAGE=blue moon\n" in (await result(hf, "bash", command="env"))["stdout"]
        ran = await result(hf, "shell_run", command="echo $STAGE >f; cat f")
        assert ran["output"]["stdout"] == "blue moon\n"
        described = await answer(hf, "shell_describe")
        told_of = {**hf_result(described), "last_command_preview": None, "shell_state": None}
        assert "blue moon" not in str(told_of)
        for key in ("1X", "A-B", "A B", "", "é"):
            refused = await failure(hf, "shell_set_env", key=key, value="v")
            assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "key"), key
        refused = await failure(hf, "shell_set_env", key="K", value="  ")
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "value")
    async with managed(workspace, session=session) as again:
        assert "STAGE=blue moon\n" in (await result(again, "bash", command="env"))["stdout"]


def hf_result(envelope: Any) -> dict[str, Any]:
    assert envelope.ok, envelope.failure
    return envelope.result


@pytest.mark.req("BOA-SH-30")
@pytest.mark.parametrize(
    "key",
    [
        *("PATH", "LANG", "TMPDIR", "HOLDFAST_SESSION", "HOLDFAST_X", "LD_PRELOAD", "BASH_ENV"),
        *("_o", "BASHOPTS", "SHELLOPTS", "POSIXLY_CORRECT", "GIT_CONFIG_COUNT", "PYTHONPATH"),
        *("HOME", "https_proxy"),
    ],
)
async def test_what_is_protected_is_not_set(workspace: Path, key: str) -> None:
    async with managed(workspace) as hf:
        refused = await failure(hf, "shell_set_env", key=key, value="v")
        assert (refused.kind, refused.field) == (FailureKind.REJECTED, "key")
        assert (await failure(hf, "shell_unset_env", key=key)).kind == FailureKind.REJECTED
        assert not await changes_of(hf)


@pytest.mark.req("BOA-SH-31", "BOA-SH-32")
async def test_a_variable_is_removed_also_from_the_live_shell(workspace: Path) -> None:
    async with managed(workspace) as hf:
        await result(hf, "shell_set_env", key="STAGE", value="one")
        shown = "echo ${STAGE-none}"
        first = await result(hf, "shell_exec", command=shown)
        assert first["output"]["stdout"] == "one\n"
        await result(hf, "shell_set_env", key="STAGE", value="two's")
        second = await result(hf, "shell_exec", command=shown)
        assert second["output"]["stdout"] == "two's\n"
        told = await result(hf, "shell_unset_env", key="STAGE")
        assert told["env"] == {"count": 0, "keys": [], "to_set_again": []}
        third = await result(hf, "shell_exec", command=shown)
        assert third["output"]["stdout"] == "none\n"
        assert "STAGE" not in (await result(hf, "bash", command="env"))["stdout"]
        for key in ("9", ""):
            refused = await failure(hf, "shell_unset_env", key=key)
            assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "key")


async def test_a_secret_is_written_down_nowhere_and_is_to_be_set_again(workspace: Path) -> None:
    home = workspace.parent / "home"
    around = Surroundings(
        data_home=home / "data",
        state_home=home / "state",
        environment={"PATH": os.defpath},
        secrets=("hunter2hunter2",),
    )
    async with managed(workspace, surroundings=around) as hf:
        session = hf.session_id
        await result(hf, "shell_set_env", key="MINE", value="hunter2hunter2")
        await result(hf, "shell_exec", command="export DEPLOY_TOKEN=abc-def PLAIN=x")
        ran = await result(hf, "shell_run", command='echo "${#MINE} ${#DEPLOY_TOKEN} $PLAIN"')
        assert ran["output"]["stdout"] == "14 7 x\n"
        written = await changes_of(hf)
        assert [one.withheld_env for one in written if one.withheld_env] == [
            ("MINE",),
            ("DEPLOY_TOKEN",),
        ]
        assert [pair for one in written for pair in one.set_env] == [("PLAIN", "x")]
    async with managed(workspace, surroundings=around, session=session) as again:
        state = (await result(again, "shell_describe"))["env"]
        assert state["keys"] == ["DEPLOY_TOKEN", "MINE", "PLAIN"]
        assert state["to_set_again"] == ["DEPLOY_TOKEN", "MINE"]
        said = await answer(again, "shell_run", command='echo "[${MINE-unset}] $PLAIN"')
        assert hf_result(said)["output"]["stdout"] == "[unset] x\n"
        assert any("MINE" in one and "shell_set_env" in one for one in said.warnings)
        await result(again, "shell_set_env", key="MINE", value="hunter2hunter2")
        ran = await result(again, "shell_run", command="echo ${#MINE}")
        assert ran["output"]["stdout"] == "14\n"


@pytest.mark.req("BOA-HAND-23")
async def test_bash_begins_where_the_shell_stands_and_leaves_it_there(workspace: Path) -> None:
    (workspace / "sub").mkdir()
    (workspace / "sub" / "a.txt").write_text("here", "utf-8")
    async with managed(workspace) as hf:
        await result(hf, "shell_set_cwd", path="sub")
        before = await changes_of(hf)
        # Judged and run in the same place: there alone the operand is a file.
        assert (await result(hf, "bash", command="cat a.txt"))["stdout"] == "here"
        listed = await result(hf, "bash", command="ls", workdir=".")
        assert listed["stdout"].split() == ["sub"]
        assert await changes_of(hf) == before
        last = (await result(hf, "shell_read_last_output"))["last_command"]
        assert (last["command"], last["cwd"]) == ("ls", str(workspace.resolve()))
        assert (last["stdout"].split(), last["exit_code"]) == (["sub"], 0)


@pytest.mark.req("BOA-SH-12", "BOA-SH-13", "BOA-SH-19", "BOA-SH-46", "BOA-SH-50")
async def test_the_newest_five_commands_are_reread_also_after_a_restart(workspace: Path) -> None:
    async with managed(workspace) as hf:
        session = hf.session_id
        (workspace / "long").write_text("x" * 3000 + "END", "utf-8")
        await result(hf, "bash", command="cat long")
        for n in range(4):
            await result(hf, "bash", command=f"basename n{n}")
        await result(hf, "shell_run", command="echo out; echo err >&2; exit 3", cwd=".")
        history = await result(hf, "shell_history")
        names = ["echo out; echo err >&2; exit 3", *(f"basename n{n}" for n in (3, 2, 1, 0))]
        assert (history["count"], commands_in(history)) == (5, names)
        newest = history["commands"][0]
        assert (newest["exit_code"], newest["timed_out"]) == (3, False)
        assert (newest["stdout_preview"], newest["stderr_preview"]) == ("out\n", "err\n")
        assert newest["cwd"] == history["cwd"] == str(workspace.resolve())
        assert history["next_step"]["tool"] == "shell_open"
        assert commands_in(await result(hf, "shell_history", limit=2)) == names[:2]
        ids = [one["command_id"] for one in history["commands"]]
        assert all(len(one) == 16 and int(one, 16) >= 0 for one in ids)
        await result(hf, "bash", command="cat long")
        assert len((await result(hf, "shell_history"))["commands"][0]["stdout_preview"]) < 400
        later = [one["command_id"] for one in (await result(hf, "shell_history"))["commands"]]
        assert later[1:] == ids[:4]
        in_process = await result(hf, "shell_history")
    async with managed(workspace, session=session) as again:
        reread = await result(again, "shell_history")
        for one in (*in_process["commands"], *reread["commands"]):
            one.pop("updated_at")  # when it ended, and when that was written down
            one.pop("duration_ms")
        assert reread["commands"] == in_process["commands"]


@pytest.mark.req("BOA-SH-14", "BOA-SH-17", "BOA-SH-18", "BOA-SH-20", "BOA-SH-21", "BOA-SH-11")
async def test_a_command_is_reread_with_what_it_printed(workspace: Path) -> None:
    async with managed(workspace) as hf:
        nothing = await result(hf, "shell_read_last_output")
        assert (nothing["last_command"], nothing["next_step"]["tool"]) == (None, "shell_open")
        await result(hf, "shell_run", command="seq 5000; echo err >&2")
        await result(hf, "bash", command="pwd")
        history = await result(hf, "shell_history")
        wanted = history["commands"][1]["command_id"]
        reread = await result(hf, "shell_read_command", command_id=wanted)
        command = reread["command"]
        assert command["command"] == "seq 5000; echo err >&2"
        assert command["stdout"].startswith("1\n2\n")
        assert command["stdout"].endswith("5000\n")
        assert len(command["stdout"]) < 21_000
        assert (command["stderr"], command["exit_code"]) == ("err\n", 0)
        assert command["summary"].startswith("exit 0 after")
        unknown = await result(hf, "shell_read_command", command_id="0" * 16)
        assert unknown["command"] is None
        refused = await failure(hf, "shell_read_command", command_id=" ")
        assert refused.message == "shell_read_command requires a non-empty command_id"
        last = await result(hf, "shell_read_last_output")
        assert last["last_command"]["command"] == "pwd"
        assert last["live_command"] is None
        described = await result(hf, "shell_describe")
        for told in (described, history, reread, last):
            names = [Path(one).name for one in told["artifact_paths"]]
            assert names == ["shell-last-output.json", "shell-history.json", "shell-state.json"]
            assert all(Path(one).is_file() for one in told["artifact_paths"])
        assert "seq 5000" in Path(history["artifact_paths"][1]).read_text("utf-8")
        assert '"command":"pwd"' in Path(last["artifact_paths"][0]).read_text("utf-8")


@pytest.mark.req("BOA-SH-01", "BOA-SH-02", "BOA-SH-10", "BOA-SH-49")
async def test_describing_shows_where_the_shell_stands(workspace: Path) -> None:
    async with managed(workspace) as hf:
        await result(hf, "shell_set_env", key="STAGE", value="blue")
        await result(hf, "shell_open")
        await result(hf, "bash", command="ls")
        told = await result(hf, "shell_describe")
        assert set(told) == {
            *("cwd", "env", "context_pressure", "persistent_shell", "shell_state"),
            *("artifact_paths", "last_command_preview", "command_policy", "busy_plan"),
            *("recovery_plan", "shell_read_first_alternatives"),
        }
        assert told["env"]["keys"] == ["STAGE"]
        assert told["last_command_preview"]["command"] == "ls"
        policy = told["command_policy"]
        assert (policy["max_timeout_ms"], policy["shell"]) == (60_000, True)
        assert policy["cwd_scope"] == [str(workspace.resolve())]
        assert len(policy["allowlisted_commands"]) == 10
        assert {"PATH", "LANG", "TMPDIR", "STAGE"} <= set(policy["exposed_env_keys"])
        assert (told["busy_plan"], told["recovery_plan"]) == (None, None)
        menu = [one["tool"] for one in told["shell_read_first_alternatives"]]
        assert menu == ["bash", "shell_read_last_output"]
        for one in told["shell_read_first_alternatives"]:
            await result(hf, one["tool"], **one["args"])
        assert told["persistent_shell"]["status"] == "active"
        state = told["shell_state"]
        assert set(state) == {
            *("cwd", "env", "persistent_shell", "last_command", "recent_commands"),
        }
        assert set(state["persistent_shell"]) >= {
            *("shell_id", "shell_path", "started_at", "updated_at", "last_command_at"),
            *("command_count", "status"),
        }
        assert state["last_command"]["command"] == "ls"
        assert state["recent_commands"][0]["command"] == "ls"
        for n in range(6):
            await result(hf, "bash", command=f"basename n{n}")
        newest = (await result(hf, "shell_describe"))["shell_state"]["recent_commands"]
        assert [one["command"] for one in newest] == [f"basename n{n}" for n in (5, 4, 3, 2, 1)]


async def test_the_shell_of_another_session_of_the_agent_is_told_as_it_was_written_down(
    workspace: Path,
) -> None:
    async with managed(workspace) as first:
        await result(first, "shell_set_env", key="STAGE", value="blue")
        await result(first, "shell_open")
        await result(first, "bash", command="pwd")
        async with managed(workspace) as second:
            other = first.session_id
            told = await result(second, "shell_describe", session_id=other)
            assert told["env"]["keys"] == ["STAGE"]
            # Its process lives in another session: here nobody knows of it.
            assert told["persistent_shell"]["status"] == "closed"
            assert told["recovery_plan"] is None
            await result(first, "bash", command="basename again")
            history = await result(second, "shell_history", session_id=other)
            assert commands_in(history) == ["basename again", "pwd"]
            step = history["next_step"]
            reread = await result(second, step["tool"], **step["args"])
            assert reread["command"]["stdout"] == "again\n"
            own = await result(second, "shell_history")
            assert own["commands"] == []
            refused = await failure(second, "shell_describe", session_id="ses_nobody")
            assert "is not available to agent" in refused.message


async def test_without_a_journal_the_shell_goes_on_in_this_process(workspace: Path) -> None:
    (workspace / "sub").mkdir()
    async with managed(workspace, Yes(), settings=UNRECORDED) as hf:
        await result(hf, "shell_set_cwd", path="sub")
        await result(hf, "shell_set_env", key="STAGE", value="blue")
        ran = await result(hf, "shell_exec", command="pwd; echo $STAGE; cd ..")
        place = str((workspace / "sub").resolve())
        assert ran["output"]["stdout"] == f"{place}\nblue\n"
        assert (await result(hf, "bash", command="pwd"))["stdout"].strip() == str(
            workspace.resolve()
        )
        assert commands_in(await result(hf, "shell_history"))[0] == "pwd"


async def test_an_old_command_is_found_before_much_else(workspace: Path) -> None:
    async with managed(workspace) as hf:
        session = hf.session_id
        await result(hf, "bash", command="basename first")
        for _ in range(6):
            for _ in range(40):
                await result(hf, "todo", todos=[])
    async with managed(workspace, session=session) as again:
        assert commands_in(await result(again, "shell_history")) == ["basename first"]
