"""The core of the tools that run commands: what it makes of every kind of report."""

from pathlib import Path
from typing import Any, Literal, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tool_kit import opened, result

from holdfast import tool
from holdfast.app.settings import Surroundings
from holdfast.contract.errors import Cancelled, PolicyDenied, SandboxNotRunning, ToolError
from holdfast.contract.gates import Refusal
from holdfast.contract.kept_report import kept_output
from holdfast.contract.runtime import Runtime
from holdfast.contract.shell import NO_LIMITS, CommandReport, Printed
from holdfast.tools.commands import Done, Job, run_command, signal_name

Stream = Literal["stdout", "stderr"]


def printed(content: bytes, head: int = 1 << 20, tail: int = 1 << 20) -> Printed:
    rest = content[head:]
    return Printed(content[:head], rest[-tail:] if tail else b"", len(content))


def report(**said: Any) -> CommandReport:
    facts: dict[str, Any] = {
        "exit_code": 0,
        "stdout": printed(b"out"),
        "stderr": printed(b"err"),
        "confinement": "namespaces",
        **said,
    }
    return CommandReport(**facts)


class OneAnswer:
    """A shell that has run the command already."""

    def __init__(self, answer: CommandReport) -> None:
        self.shell = self
        self._answer = answer

    async def run(self, *_words: object, **_options: object) -> CommandReport:
        return self._answer


async def done(answer: CommandReport) -> Done:
    job = Job(command="x", directory=None, field="cwd", limits=NO_LIMITS)
    return await run_command(cast("Runtime", OneAnswer(answer)), job)


@pytest.mark.anyio
@pytest.mark.req("SPEC-BASH-12")
async def test_a_program_that_cannot_be_started_is_no_exception(workspace: Path) -> None:
    nowhere = Surroundings(
        data_home=workspace.parent / "data",
        state_home=workspace.parent / "state",
        environment={"PATH": str(workspace / "nowhere")},
    )
    (workspace / "a.txt").write_text("text", "utf-8")
    async with opened(workspace, "managed", surroundings=nowhere) as hf:
        told = await result(hf, "bash", command="cat a.txt")
    assert (told["exit_code"], told["stdout"], told["timed_out"]) == (-1, "", False)
    assert "could not be started: cat: there is no such program" in told["stderr"]


@pytest.mark.anyio
async def test_what_kept_it_from_being_started_is_told_in_stderr() -> None:
    told = await done(report(exit_code=None, unstarted="No such file or directory"))
    assert told.exit_code == -1
    assert "No such file or directory" in told.stderr


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ({"killed_by": "abort"}, Cancelled),
        ({"killed_by": "lost"}, SandboxNotRunning),
        ({"exit_code": 1, "refusals": (Refusal(reason="no", target="/x"),)}, PolicyDenied),
    ],
)
async def test_what_is_no_result_is_raised_with_what_it_printed(
    said: dict[str, Any], kind: type[ToolError]
) -> None:
    with pytest.raises(kind) as raised:
        await done(report(**said))
    assert (raised.value.extras["stdout"], raised.value.extras["stderr"]) == ("out", "err")


@pytest.mark.anyio
async def test_what_else_there_is_to_say_is_a_warning() -> None:
    refused = tuple(Refusal(reason="no", target=f"/{number}") for number in range(9))
    told = await done(
        report(
            exit_code=None,
            killed_by="timeout",
            waiting_for="Password: ",
            warnings=("first",),
            refusals=refused,
        )
    )
    assert told.warnings[0] == "first"
    assert "Password:" in told.warnings[1]
    assert len(told.warnings) == 2 + 5


def test_signals_are_named() -> None:
    assert (signal_name(9), signal_name(200)) == ("SIGKILL", "signal 200")


PIECES = st.lists(
    st.tuples(st.sampled_from(["stdout", "stderr"]), st.binary(min_size=1, max_size=40)),
    max_size=12,
)


@given(pieces=PIECES, head=st.integers(1, 60), tail=st.integers(0, 30))
def test_the_beginning_is_what_the_file_begins_with(
    pieces: list[tuple[Stream, bytes]], head: int, tail: int
) -> None:
    whole = b"".join(piece for _, piece in pieces)
    streams = {
        name: b"".join(piece for own, piece in pieces if own == name)
        for name in ("stdout", "stderr")
    }
    order: list[tuple[Stream, int]] = []
    for name, piece in pieces:
        if order and order[-1][0] == name:
            order[-1] = (name, order[-1][1] + len(piece))
        else:
            order.append((name, len(piece)))
    kept = kept_output(
        report(
            stdout=printed(streams["stdout"], head, tail),
            stderr=printed(streams["stderr"], head, tail),
            order=tuple(order),
            output_path="/kept",
        )
    )
    assert kept is not None
    assert whole.startswith(kept.head)
    assert whole.endswith(kept.tail)
    assert len(kept.head) + len(kept.tail) <= kept.total == len(whole)
    assert len(kept.head) >= min(len(whole), head)
    if all(len(one) <= head for one in streams.values()):
        assert kept.complete


def test_what_memory_holds_and_no_file_does_needs_none() -> None:
    assert kept_output(report()) is None


@pytest.mark.anyio
async def test_a_job_is_found_whatever_sandbox_it_runs_in(tmp_path: Path) -> None:
    @tool(requires={"shell": [{"cmd": "*"}]}, uses={"command": "shell.run"})
    async def begin(rt: Runtime, command: str) -> str:
        """Start a job."""
        return (await rt.shell.jobs.start(command)).id

    @tool(
        requires={"shell": [{"cmd": "*"}], "net": {"hosts": ["*"]}},
        uses={"url": "net.fetch"},
    )
    async def begin_apart(rt: Runtime, url: str) -> str:
        """Start a job in a sandbox of its own."""
        return (await rt.shell.jobs.start(["sleep", "60"], environment={"URL": url})).id

    @tool
    async def end_all(rt: Runtime) -> list[str]:
        """End every job of the session."""
        jobs = rt.shell.jobs
        ended = [await jobs.kill(one.id, grace=0) for one in jobs.all()]
        return [one.id for one in ended if one.state == "killed" and jobs.poll(one.id) == one]

    workspace = tmp_path / "workspace"
    workspace.mkdir()
    tools = (begin, begin_apart, end_all)
    async with opened(workspace, "bare", tools=tools) as hf:
        first = await result(hf, "begin", command="sleep 60")
        second = await result(hf, "begin_apart", url="http://example.org")
        ended = await result(hf, "end_all")
        assert ended == [first["text"], second["text"]]
