"""What a script relies on: a status for each way a call ends, and JSON where JSON was asked for."""

import io
import json
import sys
from pathlib import Path

import pytest
from command import Cli, Terminal, start

from holdfast.contract.failure import FailureKind
from holdfast.surfaces.cli import program

ENDINGS = '''
import anyio
from holdfast import Limits, tool
from holdfast.contract import errors

KINDS: dict[str, type[errors.ToolError]] = {
    "invalid_args": errors.InvalidArguments,
    "rejected": errors.PolicyDenied,
    "user_denied": errors.UserDenied,
    "execution_error": errors.OperationFailed,
    "not_found": errors.FileNotFound,
    "unavailable": errors.Unavailable,
}

@tool
def end(kind: str) -> str:
    """End as told."""
    if kind in KINDS:
        raise KINDS[kind]("as told")
    return kind

@tool(limits=Limits(wall_seconds=0.01))
async def sleep() -> None:
    """Sleep for too long."""
    await anyio.sleep(60)
'''

STATUSES = {
    FailureKind.INVALID_ARGS: 1,
    FailureKind.REJECTED: 3,
    FailureKind.USER_DENIED: 3,
    FailureKind.TIMEOUT: 1,
    FailureKind.EXECUTION_ERROR: 1,
    FailureKind.NOT_FOUND: 1,
    FailureKind.UNAVAILABLE: 1,
    FailureKind.TOOL_NOT_FOUND: 1,
}


@pytest.fixture
def endings(tmp_path: Path) -> str:
    path = tmp_path / "endings.py"
    path.write_text(ENDINGS, "utf-8")
    return str(path)


@pytest.mark.parametrize("dialect", ["ok", "flow"])
@pytest.mark.parametrize("kind", list(FailureKind))
def test_every_kind_of_failure_has_its_status(
    cli: Cli, endings: str, kind: FailureKind, dialect: str
) -> None:
    words = {
        FailureKind.TIMEOUT: ["sleep"],
        FailureKind.TOOL_NOT_FOUND: ["nothing_of_the_kind"],
    }.get(kind, ["end", f"kind={kind}"])
    answer = cli("call", *words, "--from", endings, "--dialect", dialect)
    assert answer.status == STATUSES[kind]
    assert kind in answer.out
    if dialect == "ok":
        assert json.loads(answer.out)["kind"] == kind


def test_a_call_that_succeeds_is_status_0(cli: Cli, endings: str) -> None:
    answer = cli("call", "end", "kind=well", "--from", endings)
    assert (answer.status, json.loads(answer.out)["ok"]) == (0, True)


def test_what_rules_refuse_and_what_nobody_can_answer_is_status_3(
    home: Path, endings: str, tool_file: Path
) -> None:
    rule = '[[rule]]\npermission = "end"\npattern = "*"\naction = "deny"\n'
    (home / "policy.toml").write_text(rule, "utf-8")
    denied = start("call", "end", "kind=well", "--from", endings, home=home)
    asked = start("call", "wipe", "path=x", "--from", str(tool_file), home=home)
    for answer in (denied, asked):
        assert (answer.status, json.loads(answer.out)["kind"]) == (3, "rejected")


@pytest.mark.parametrize(
    "words",
    [
        ["policy", "explain", "--json"],
        ["policy", "explain", "nope", "--json"],
        ["policy", "explain", "end", "--json", "--from", "@"],
        ["policy", "explain", "end", "kind=a", "--arguments", "{}", "--json", "--from", "@"],
        ["policy", "check", "--json"],
        ["policy", "check", "gone.toml", "--json"],
        ["policy", "decide", "--json"],
        ["trust", "gone", "--json"],
        ["trust", "--json", "--bogus"],
        ["tools", "--json", "--profile", "nope"],
        ["tools", "--json", "--set", "limits"],
        ["tools", "--json", "--workspace", "gone"],
        ["conformance", "--json"],
        ["conformance", "envelope", "gone.jsonl", "--json"],
        ["doctor", "--json", "--bogus"],
        ["nonsense", "--json"],
    ],
    ids=" ".join,
)
def test_each_wrong_command_line_is_told_as_json_to_who_reads_json(
    cli: Cli, endings: str, words: list[str]
) -> None:
    answer = cli(*(endings if word == "@" else word for word in words))
    assert answer.status == 2
    document = json.loads(answer.out)
    assert list(document) == ["error"]
    assert answer.err == f"holdfast: {document['error']}\n"


@pytest.mark.parametrize(
    ("kind", "said"), [("none", "store.kind is none"), ("postgres", "store.url is missing")]
)
@pytest.mark.parametrize(
    "words", [["replay", "last"], ["prune", "--keep", "1", "--yes"], ["sessions"]], ids=" ".join
)
def test_a_configuration_without_a_store_is_a_wrong_one(
    cli: Cli, words: list[str], kind: str, said: str
) -> None:
    answer = cli(*words, "--set", f"store.kind={kind}")
    assert (answer.status, answer.out) == (2, "")
    assert said in answer.err


def test_a_database_without_an_address_is_a_wrong_configuration(cli: Cli, endings: str) -> None:
    words = ("call", "end", "kind=well", "--from", endings, "--set")
    answer = cli(*words, "store.kind=postgres")
    assert (answer.status, answer.out) == (2, "")
    assert "store.url is missing; set HOLDFAST_STORE__URL" in answer.err
    assert cli(*words, "store.kind=none").status == 0  # a call needs no store


@pytest.mark.parametrize("name", ["config.toml", "policy.toml"])
@pytest.mark.parametrize("verb", ["tools", "policy explain end kind=a"])
def test_a_broken_file_is_told_as_json_too(
    cli: Cli, home: Path, endings: str, name: str, verb: str
) -> None:
    (home / name).write_text("= nothing\n", "utf-8")
    answer = cli(*verb.split(), "--json", "--from", endings)
    assert answer.status == 2
    assert f"{home / name}:1" in json.loads(answer.out)["error"]


def test_a_spoilt_record_of_trust_is_told_as_json_too(cli: Cli, home: Path) -> None:
    (home / "state").mkdir()
    (home / "state" / "trust.json").write_text("{oops", "utf-8")
    answer = cli("trust", "--list", "--json")
    assert answer.status == 2
    assert "remove it to trust no project" in json.loads(answer.out)["error"]


def test_what_nobody_foresaw_is_told_as_json_too(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_words: list[str], _screen: object) -> int:
        raise LookupError("odd\nthing")

    monkeypatch.setattr(program, "_answer", fail)
    answer = cli("tools", "--json")
    assert answer.status == 1
    assert json.loads(answer.out)["error"].startswith("unexpected LookupError: odd thing; ")
    beside = cli("call", "end", "--json", "{}")
    assert (beside.status, beside.out) == (1, "")


def test_an_interrupt_leaves_no_half_answer(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_words: list[str], _screen: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "_answer", interrupt)
    assert cli("tools", "--json") == (130, "", "holdfast: interrupted\n")


BUSY = """
from holdfast import Progress, Runtime, tool

@tool
def busy(runtime: Runtime) -> str:
    'Report on the way.'
    runtime.progress(Progress(message="first step", done=1, total=2))
    return "done"
"""


@pytest.mark.parametrize("terminals", ["neither", "out", "err", "both"])
def test_progress_goes_to_a_person_on_standard_error_and_nowhere_else(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, terminals: str
) -> None:
    (tmp_path / "busy.py").write_text(BUSY, "utf-8")
    out = Terminal() if terminals in {"out", "both"} else io.StringIO()
    err = Terminal() if terminals in {"err", "both"} else io.StringIO()
    monkeypatch.setattr(sys, "stdout", out)
    monkeypatch.setattr(sys, "stderr", err)
    assert cli("call", "busy", "--from", "busy.py").status == 0
    assert json.loads(out.getvalue())["result"] == {"text": "done"}
    assert ("first step 1/2" in err.getvalue()) is (terminals in {"err", "both"})
    if terminals in {"neither", "out"}:
        assert err.getvalue() == ""
