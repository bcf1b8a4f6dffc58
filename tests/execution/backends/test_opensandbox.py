"""The OpenSandbox backend, through the official client, against a server of ours.

The real server needs Docker; what it does with a container is not proved here.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from execution.backends.opensandbox_server import Containers, opensandbox_server

from holdfast.contract.backend import (
    BackendSandboxSpec,
    BackendTool,
    BackendToolCodeRun,
    BackendToolCommandRun,
    BackendToolFilesExists,
    BackendToolFilesList,
    BackendToolFilesRead,
    BackendToolFilesWrite,
    CodeResult,
    CommandResult,
    PathFailure,
    ToolExecutionFailure,
)
from holdfast.execution.backends import time_limit
from holdfast.execution.backends.handle import BackendSandbox
from holdfast.execution.backends.opensandbox import OpenSandboxBackend
from holdfast.execution.backends.shown_output import HEAD_BYTES, TAIL_BYTES
from holdfast.testing.backend_kit import check_backend


@pytest.fixture
def server(tmp_path: Path) -> Iterator[tuple[OpenSandboxBackend, Containers]]:
    with opensandbox_server(tmp_path / "containers") as (domain, containers):
        environment = {"OPEN_SANDBOX_DOMAIN": domain, "OPEN_SANDBOX_API_KEY": "key"}
        yield OpenSandboxBackend(environment), containers


Server = tuple[OpenSandboxBackend, Containers]


def test_it_passes_the_kit_of_all_backends(server: Server) -> None:
    backend, containers = server
    check_backend(backend)
    assert containers.removed == ["box0"]
    assert containers.keys == {"key"}


@pytest.mark.req("RATH-BKD-01")
def test_it_counts_as_available_only_with_client_and_server_named() -> None:
    named = {"OPEN_SANDBOX_DOMAIN": "localhost:1"}
    assert OpenSandboxBackend(named).why_unavailable() is None
    unnamed = OpenSandboxBackend({})
    assert "set OPEN_SANDBOX_DOMAIN" in (unnamed.why_unavailable() or "")
    without = OpenSandboxBackend(named, ("no_such_client",))
    assert "holdfast[opensandbox]" in (without.why_unavailable() or "")
    failure = without.open(BackendSandboxSpec())
    assert isinstance(failure, ToolExecutionFailure)
    assert failure.kind == "sdk_missing"
    failure = unnamed.open(BackendSandboxSpec())
    assert isinstance(failure, ToolExecutionFailure)
    assert failure.kind == "sandbox_sdk_error"


def test_a_spec_becomes_the_container_it_describes(server: Server, tmp_path: Path) -> None:
    backend, containers = server
    spec = BackendSandboxSpec(
        image="own:1", entrypoint=("sleep", "9"), env={"A": "b"}, timeout=90, working_dir="/w/x"
    )
    with BackendSandbox(backend, spec):
        pass
    with BackendSandbox(backend):
        pass
    own, plain = containers.created
    assert own["image"]["uri"] == "own:1"
    assert own["entrypoint"] == ["sleep", "9"]
    assert own["env"] == {"A": "b"}
    assert own["timeout"] == 90
    (volume,) = own["volumes"]
    assert (volume["host"]["path"], volume["mountPath"]) == ("/w/x", "/workspace")
    assert plain["image"]["uri"] == "opensandbox/code-interpreter:v1.0.2"
    assert plain["timeout"] == 600
    assert "volumes" not in plain


PAYLOADS = [
    (BackendToolCommandRun("true"), "command"),
    (BackendToolCodeRun("1"), "code"),
    (BackendToolFilesRead("a"), "files/download"),
    (BackendToolFilesWrite("a", "b"), "files/upload"),
    (BackendToolFilesWrite("a", "b"), "directories"),
    (BackendToolFilesList("."), "directories/list"),
]


@pytest.mark.req("RATH-BKD-14")
@pytest.mark.parametrize(("payload", "path"), PAYLOADS)
def test_what_the_client_raises_is_a_failure_value(
    server: Server, payload: BackendTool, path: str
) -> None:
    backend, containers = server
    with BackendSandbox(backend) as sandbox:
        containers.trouble[path] = (400, "not today")
        failure = sandbox.dispatch(payload)
    assert isinstance(failure, ToolExecutionFailure)
    assert failure.kind == "sandbox_sdk_error"
    assert failure.detail == "SandboxApiException"


def test_existence_is_false_when_the_server_fails(server: Server) -> None:
    backend, containers = server
    with BackendSandbox(backend) as sandbox:
        assert sandbox.dispatch(BackendToolFilesExists(".")) is True
        containers.trouble["files/info"] = (400, "not today")
        assert sandbox.dispatch(BackendToolFilesExists(".")) is False


def test_a_container_that_cannot_be_had_is_a_failure_of_every_operation(server: Server) -> None:
    backend, containers = server
    containers.trouble["create"] = (400, "no room")
    with BackendSandbox(backend) as sandbox:
        failure = sandbox.dispatch(BackendToolCommandRun("true"))
        assert isinstance(failure, ToolExecutionFailure)
        assert failure.kind == "sandbox_sdk_error"
        assert "no room" in failure.message
        del containers.trouble["create"]
        assert isinstance(sandbox.dispatch(BackendToolCommandRun("true")), CommandResult)
    assert containers.removed == ["box0"]


def test_a_container_without_a_workspace_is_ended_again(server: Server) -> None:
    backend, containers = server
    containers.trouble["directories"] = (400, "read-only")
    failure = backend.open(BackendSandboxSpec())
    assert isinstance(failure, ToolExecutionFailure)
    assert failure.kind == "sandbox_sdk_error"
    assert containers.removed == ["box0"]


def test_a_server_that_is_not_there_is_a_failure_value() -> None:
    backend = OpenSandboxBackend({"OPEN_SANDBOX_DOMAIN": "127.0.0.1:9"})
    with BackendSandbox(backend) as sandbox:
        failure = sandbox.dispatch(BackendToolFilesExists("."))
    assert isinstance(failure, ToolExecutionFailure)
    assert failure.kind == "sandbox_sdk_error"


@pytest.mark.req("RATH-BKD-14")
def test_it_works_in_the_containers_workspace_and_takes_no_stdin(server: Server) -> None:
    backend, containers = server
    with BackendSandbox(backend) as sandbox:
        sandbox.dispatch(BackendToolFilesWrite("a/b", "x"))
        assert (containers.root("box0") / "workspace/a/b").read_text() == "x"
        sandbox.dispatch(BackendToolFilesWrite("/etc/own", "y"))
        assert (containers.root("box0") / "etc/own").read_text() == "y"
        ran = sandbox.dispatch(BackendToolCommandRun("cat a/b"))
        assert isinstance(ran, CommandResult)
        assert ran.stdout == b"x"
        fed = sandbox.dispatch(BackendToolCommandRun("cat", stdin=b""))
        assert isinstance(fed, ToolExecutionFailure)
        assert (fed.kind, fed.detail) == ("unsupported_tool", "stdin")
        assert containers.removed == []
    assert containers.removed == ["box0"]
    assert not containers.root("box0").exists()


def test_a_missing_directory_is_told_as_one(server: Server) -> None:
    backend, _ = server
    with BackendSandbox(backend) as sandbox:
        failure = sandbox.dispatch(BackendToolFilesList("no/where"))
    assert isinstance(failure, PathFailure)
    assert (failure.kind, failure.missing, failure.detail) == (
        "os_error",
        True,
        "/workspace/no/where",
    )


def test_lines_of_an_old_server_keep_their_ends(server: Server) -> None:
    backend, containers = server
    containers.in_lines = True
    with BackendSandbox(backend) as sandbox:
        ran = sandbox.dispatch(BackendToolCommandRun("printf 'a\\nb\\n'; echo c >&2"))
    assert isinstance(ran, CommandResult)
    assert (ran.stdout, ran.stderr) == (b"a\nb", b"c")


def test_pieces_of_one_line_are_put_together(server: Server) -> None:
    backend, _ = server
    with BackendSandbox(backend) as sandbox:
        ran = sandbox.dispatch(BackendToolCommandRun("echo a; printf %2500s x; echo"))
    assert isinstance(ran, CommandResult)
    assert ran.stdout == b"a\n" + b" " * 2499 + b"x\n"


def test_what_a_command_prints_is_kept_within_bounds(server: Server) -> None:
    backend, _ = server
    with BackendSandbox(backend) as sandbox:
        ran = sandbox.dispatch(BackendToolCommandRun("yes | head -c 500000; echo END"))
    assert isinstance(ran, CommandResult)
    missing = 500_004 - HEAD_BYTES - TAIL_BYTES
    assert f"\n... [{missing:,} bytes omitted] ...\n".encode() in ran.stdout
    assert ran.stdout.endswith(b"END\n")


def test_a_run_whose_end_is_not_told_is_a_failure(server: Server) -> None:
    backend, containers = server
    with BackendSandbox(backend) as sandbox:
        containers.silent_end = True
        failure = sandbox.dispatch(BackendToolCommandRun("true"))
        assert isinstance(failure, ToolExecutionFailure)
        assert failure.kind == "sandbox_sdk_error"
        containers.silent_end = False
        failure = sandbox.dispatch(BackendToolCommandRun(["no-such-program"]))
        assert isinstance(failure, ToolExecutionFailure)
        assert failure.kind == "os_error"


def test_a_server_that_cannot_be_interrupted_is_given_up(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time_limit, "GRACE_SECONDS", 0.1)
    backend, containers = server
    containers.deaf = True
    with BackendSandbox(backend) as sandbox:
        failure = sandbox.dispatch(BackendToolCommandRun("sleep 30", timeout=0.2))
        assert isinstance(failure, ToolExecutionFailure)
        assert failure.kind == "timeout"
        for leader in containers.running.values():
            leader.kill()
            leader.wait()


def test_a_limit_that_is_not_reached_changes_nothing(server: Server) -> None:
    backend, _ = server
    with BackendSandbox(backend) as sandbox:
        ran = sandbox.dispatch(BackendToolCommandRun("echo x", timeout=15))
        assert isinstance(ran, CommandResult)
        assert ran.stdout == b"x\n"
        bad = sandbox.dispatch(BackendToolCommandRun("", timeout=15))
        assert isinstance(bad, ToolExecutionFailure)
        assert bad.kind == "sandbox_sdk_error"


def test_code_gives_its_value_its_output_and_its_error(server: Server) -> None:
    backend, containers = server
    with BackendSandbox(backend) as sandbox:
        ran = sandbox.dispatch(BackendToolCodeRun("echo hi", "bash"))
        assert ran == CodeResult("done", "hi\n", "", None)
        wrong = sandbox.dispatch(BackendToolCodeRun("raise SystemExit(3)"))
        assert isinstance(wrong, CodeResult)
        assert (wrong.text, wrong.error) == (None, "Error: 3")
        containers.silent_end = True
        assert sandbox.dispatch(BackendToolCodeRun("print(1)")) == CodeResult(None, "1\n", "", None)


def test_what_is_no_payload_of_this_backend_is_a_failure_value(server: Server) -> None:
    backend, _ = server
    opened = backend.open(BackendSandboxSpec())
    assert not isinstance(opened, ToolExecutionFailure)
    failure = opened.dispatch(BackendTool())
    opened.close()
    assert isinstance(failure, ToolExecutionFailure)
    assert (failure.kind, failure.detail) == ("sandbox_sdk_error", "TypeError")
