"""The door: quick answers, grouped help, one-line errors, and no traceback for a closed pipe."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import HOLDFAST, Cli, start

from holdfast import __version__
from holdfast.surfaces.cli import entry, program
from holdfast.surfaces.cli.catalogue import parsers

HEAVY = {"argparse", "msgspec", "anyio", "rich", "asyncio", "jsonschema_rs"}


def test_the_version_is_answered_without_loading_anything() -> None:
    script = (
        "import sys\n"
        "from holdfast.surfaces.cli.entry import main\n"
        "assert main(['--version']) == 0\n"
        "print(' '.join(sys.modules))\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    version, modules = result.stdout.splitlines()
    assert version == f"holdfast {__version__}"
    assert HEAVY.isdisjoint(modules.split())


@pytest.mark.parametrize("words", [[], ["--help"], ["-h"], ["help"]])
def test_help_groups_the_verbs(cli: Cli, words: list[str]) -> None:
    answer = cli(*words)
    assert (answer.status, answer.err) == (0, "")
    for line in ("See and call tools", "  call ", "Check", "  doctor ", "Learn", "  tour "):
        assert f"\n{line}" in answer.out


@pytest.mark.parametrize("verb", ["tools", "call", "doctor", "conformance", "tour", "completion"])
def test_every_verb_explains_itself(cli: Cli, verb: str) -> None:
    asked, helped = cli(verb, "--help"), cli("help", verb)
    assert asked.status == helped.status == 0
    assert f"usage: holdfast {verb}" in asked.out
    assert asked.out == helped.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["toor"], "holdfast: there is no verb 'toor'; did you mean 'tour'?\n"),
        (["xyzzy"], "holdfast: there is no verb 'xyzzy'; known: acp, audit, call, "),
        (["--versoin"], "holdfast: there is no option '--versoin'; did you mean '--version'?\n"),
        (["--pretty", "call", "x"], "holdfast: --pretty goes after the verb; write: holdfast call"),
        (["--nope", "call"], "holdfast: there is no option '--nope'; see holdfast call --help\n"),
        (["call"], "holdfast: the following arguments are required: TOOL; see holdfast call --"),
        (["completion", "tcsh"], "holdfast: argument shell: invalid choice: 'tcsh'"),
        (
            ["tools", "--workspace", "gone"],
            "holdfast: --workspace gone: there is no such directory;",
        ),
        (
            ["tour", "--plian"],
            "holdfast: unrecognized arguments: --plian; did you mean '--plain'?; see holdfast tour",
        ),
        (
            ["policy", "explan"],
            "holdfast: argument what: invalid choice: 'explan' (choose from 'explain', 'check',"
            " 'list', 'grants', 'revoke'); did you mean 'explain'?; see holdfast policy --help",
        ),
        (
            ["tools", "--profile", "cod"],
            "holdfast: there is no profile 'cod'; did you mean 'code'?",
        ),
        (["conformance", "envlope", "x"], "holdfast: there is no suite 'envlope' in this version;"),
        (["tools", "--set", "limits"], "holdfast: --set limits: there is no value; write --set"),
        (["tools", "--profile", "x"], "holdfast: there is no profile 'x'; known: bare, code, host"),
    ],
)
def test_a_wrong_command_line_is_one_line_and_status_2(
    cli: Cli, words: list[str], said: str
) -> None:
    answer = cli(*words)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(said)
    assert answer.err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ["tools", "nope", "--json"],
        ["tools", "--json", "--from", "gone.py"],
        ["tools", "--json", "--bogus"],
        ["doctor", "--json", "--workspace", "gone"],
        ["conformance", "nonsense", "x", "--json"],
        ["--json", "tools"],
    ],
)
def test_a_program_that_asked_for_json_gets_its_error_as_json(cli: Cli, words: list[str]) -> None:
    answer = cli(*words)
    assert answer.status == 2
    assert answer.err == f"holdfast: {json.loads(answer.out)['error']}\n"


def test_a_call_that_cannot_be_prepared_is_answered_in_the_usual_shape(cli: Cli) -> None:
    answer = cli("call", "x", "--json", "{}", "--from", "gone.py")
    assert answer.status == 2
    told = json.loads(answer.out)
    assert (told["ok"], told["kind"], told["retryable"]) == (False, "unavailable", False)
    assert answer.err == f"holdfast: {told['message']}\n"
    dialect = cli("call", "x", "--from", "gone.py", "--dialect", "typed")
    assert "there is no such file" in dialect.out
    assert json.loads(dialect.out) != told


def test_a_command_line_that_is_not_understood_leaves_the_place_of_the_envelope_empty(
    cli: Cli,
) -> None:
    assert cli("call", "x", "--json", "{}", "a=b")[:2] == (2, "")


def test_a_word_that_is_no_text_is_named(cli: Cli, tool_file: Path) -> None:
    assert cli("call", "say", "text=hi", "--from", str(tool_file)).status == 0
    answer = cli("sessions", "show", "\udcff")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith("holdfast: '\\udcff' is no UTF-8 text; use a name that is")


def test_the_nearest_suite_is_named(cli: Cli) -> None:
    assert cli("conformance", "envlope", "x").err.endswith("; did you mean 'envelope'?\n")


def test_the_table_of_verbs_knows_what_json_means_to_each() -> None:
    for verb, parser in parsers():
        takes = [action.nargs for action in parser.declared if "--json" in action.option_strings]
        assert takes == ([None] if verb.json_is_input else [0] if takes else [])


def test_a_broken_configuration_is_one_line_that_names_the_place(cli: Cli, home: Path) -> None:
    (home / "config.toml").write_text("[limits]\nargument_bytes = x\n", "utf-8")
    answer = cli("tools")
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"holdfast: {home / 'config.toml'}:2: not valid TOML")


def test_a_traceback_is_shown_only_when_asked_for(home: Path) -> None:
    plain = start("tools", "--from", "gone.py", home=home)
    debugged = start("tools", "--from", "gone.py", home=home, variables={"HOLDFAST_DEBUG": "1"})
    assert plain.status == debugged.status == 2
    assert "Traceback" not in plain.err
    assert "Traceback" in debugged.err
    assert debugged.err.startswith(plain.err)


def test_what_nobody_foresaw_is_still_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(_words: list[str], _screen: object) -> int:
        raise LookupError("odd\nthing")

    monkeypatch.setattr(program, "_answer", fail)
    answer = cli("tools")
    assert answer.status == 1
    assert answer.err == (
        "holdfast: unexpected LookupError: odd thing;"
        " run it again with HOLDFAST_DEBUG=1 to see where, and report it\n"
    )


def test_an_interrupt_ends_with_130(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_words: list[str], _screen: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(program, "_answer", interrupt)
    assert cli("tools") == (130, "", "holdfast: interrupted\n")


@pytest.mark.parametrize(
    ("when", "status"), [("import_module", -2), ("module_of", -2), ("run", 130)]
)
def test_an_interrupt_at_any_time_leaves_no_traceback(home: Path, when: str, status: int) -> None:
    script = f"""
import os, signal, sys
from holdfast.surfaces.cli import completion, entry, program

place = {{"import_module": entry, "module_of": program, "run": completion}}[{when!r}]
real = getattr(place, {when!r})

def interrupted(*given):
    os.kill(os.getpid(), signal.SIGINT)
    return real(*given)

setattr(place, {when!r}, interrupted)
sys.argv = ["holdfast", "completion", "bash"]
sys.exit(entry.main())
"""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        check=False,
        timeout=15,
    )
    said = b"holdfast: interrupted\n" if status == 130 else b""
    assert (done.returncode, done.stdout, done.stderr) == (status, b"", said)


def test_whoever_ignores_interrupts_goes_on_ignoring_them(home: Path) -> None:
    ignoring = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN);"
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            f"{ignoring} os.execv(sys.argv[1], sys.argv[1:])",
            *(sys.executable, "-c"),
            "import signal, sys; from holdfast.surfaces.cli import entry;"
            "sys.argv = ['holdfast', 'completion', 'bash']; status = entry.main();"
            "sys.exit(status or signal.getsignal(signal.SIGINT) is not signal.SIG_IGN)",
        ],
        capture_output=True,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        check=False,
        timeout=15,
    )
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_missing_part_says_how_to_get_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(name: str) -> object:
        if name.endswith("program"):
            raise ModuleNotFoundError("No module named 'msgspec'")
        return sys.modules[name]

    monkeypatch.setattr(entry, "import_module", fail)
    answer = cli("tools")
    assert answer.status == 1
    assert answer.err == (
        "holdfast: a part is missing (No module named 'msgspec'); run: pip install holdfast\n"
    )
    monkeypatch.setenv("HOLDFAST_DEBUG", "1")
    with pytest.raises(ModuleNotFoundError):
        cli("tools")


@pytest.mark.parametrize(
    "words",
    [["--version"], ["--help"], ["tour"], ["completion", "bash"], ["tools"], ["doctor", "--json"]],
)
def test_a_reader_that_leaves_early_gets_no_traceback(home: Path, words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        result = subprocess.run(
            [str(HOLDFAST), *words],
            stdout=writing,
            stderr=subprocess.PIPE,
            env={**os.environ, "HOLDFAST_HOME": str(home)},
            check=False,
            timeout=15,
        )
    finally:
        os.close(writing)
    assert (result.returncode, result.stderr) == (141, b"")


def test_the_door_itself_survives_a_reader_that_left(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w", encoding="utf-8") as out:
        monkeypatch.setattr(sys, "stdout", out)
        assert entry.main(["--version"]) == 141


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("words", [["--version"], ["completion", "bash"]])
def test_the_door_itself_says_that_the_answer_did_not_get_out(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        assert entry.main(words) == 1
    assert capsys.readouterr().err.startswith("holdfast: cannot write the answer (No space left")


def test_the_door_itself_opens_streams_that_are_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert entry.main(["--version"]) == 0
    assert sys.stdout.name == os.devnull
    sys.stdout.close()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_an_answer_that_cannot_be_written_is_a_failure(home: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        result = subprocess.run(
            [str(HOLDFAST), "completion", "bash"],
            stdout=full,
            stderr=subprocess.PIPE,
            env={**os.environ, "HOLDFAST_HOME": str(home)},
            check=False,
            timeout=15,
        )
    assert result.returncode == 1
    assert result.stderr == (
        b"holdfast: cannot write the answer (No space left on device); make room and try again\n"
    )


def test_closed_standard_streams_are_no_reason_to_crash(home: Path) -> None:
    result = subprocess.run(
        ["/bin/sh", "-c", f"'{HOLDFAST}' --version >&- && '{HOLDFAST}' toor 2>&-"],
        capture_output=True,
        env={**os.environ, "HOLDFAST_HOME": str(home)},
        check=False,
        timeout=15,
    )
    assert (result.returncode, result.stdout, result.stderr) == (2, b"", b"")


def test_any_locale_can_hold_any_answer(home: Path, tool_file: Path) -> None:
    answer = start(
        *("call", "say", "--json", '{"text": "na\\u00efve \\u2603"}', "--from", str(tool_file)),
        home=home,
        variables={"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert (answer.status, answer.err) == (0, "")
    assert json.loads(answer.out)["result"] == {"text": "naïve ☃"}


def test_every_first_word_of_a_verb_has_help_of_its_own(cli: Cli) -> None:
    words = [(verb.name, word) for verb, parser in parsers() for word in parser.after]
    assert {verb for verb, _ in words} == {
        "mcp", "manifest", "plugin", "policy", "sessions", "audit", "cluster"
    }  # fmt: skip
    for verb, word in words:
        shown = cli(verb, word, "--help")
        assert shown.status == 0
        assert shown.out.startswith(f"usage: holdfast {verb} {word} ")
        assert cli("help", verb, word).out == shown.out
        assert cli(verb, "--help").out != shown.out


def test_help_about_a_word_tells_of_what_belongs_to_it_alone(cli: Cli) -> None:
    shown = cli("mcp", "add", "--help").out
    assert "--header" in shown
    assert "--http" not in shown
    assert "holdfast mcp add git -- uvx mcp-server-git" in shown
    assert "holdfast mcp pin" not in shown


def test_help_about_no_word_is_the_verbs(cli: Cli) -> None:
    assert cli("mcp", "nothing", "--help").out == cli("mcp", "--help").out
    assert cli("mcp", "--json", "--help").out == cli("mcp", "--help").out
