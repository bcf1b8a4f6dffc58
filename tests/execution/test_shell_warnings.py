"""Remarks on outputs that are easily misread."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.execution.shell_warnings import shell_warnings


def kinds(command: str, exit_code: int, stdout: str = "", stderr: str = "") -> list[str]:
    return [one.kind for one in shell_warnings(command, exit_code, stdout, stderr)]


@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("cat f | head", True),
        ("a || b", True),
        ("echo 'a|b' >/dev/null", True),
        ("x 2>/dev/null", True),
        ("x 2> /dev/null", False),
        ("true", False),
    ],
)
def test_silence_that_may_hide_something_is_remarked_on(command: str, told: bool) -> None:
    assert kinds(command, 0) == (["empty_output"] if told else [])


def test_the_remark_says_what_may_have_hidden_it() -> None:
    (warning,) = shell_warnings("cat f 2>/dev/null | head", 0, "", "")
    assert "exited 0 without output" in warning.text
    assert "| and 2>/dev/null" in warning.text
    assert "pipefail is on" in warning.text


@given(st.text(max_size=20), st.integers(0, 255), st.text(max_size=3), st.text(max_size=3))
def test_only_silence_and_success_are_empty(
    command: str, exit_code: int, stdout: str, stderr: str
) -> None:
    hides = "|" in command or "2>/dev/null" in command
    silent = exit_code == 0 and stdout == "" and stderr == "" and hides
    assert ("empty_output" in kinds(command, exit_code, stdout, stderr)) == silent


def test_a_broken_pipe_is_a_mild_remark_and_nothing_else() -> None:
    for command in ("yes | head -0", "./x", "pip install x"):
        (warning,) = shell_warnings(command, 141, "out", "unexpected EOF while looking for `\"'")
        assert warning.kind == "sigpipe"
        assert "stdout is trustworthy" in warning.text
    assert "sigpipe" not in kinds("yes | head", 140)


@pytest.mark.parametrize(
    ("command", "stderr", "kind"),
    [
        ("pip install x", "SyntaxError", "package_install"),
        ("cd a && npm install", "", "package_install"),
        ("sudo apt-get install jq", "", "package_install"),
        ("python3 -c 'x ='", "SyntaxError: invalid syntax", "inline_script"),
        ("node -e 'x ='", "SyntaxError: Unexpected token", "inline_script"),
        ("python3 x.py", "SyntaxError: invalid syntax", None),
        ("python3 -c 'exit(1)'", "boom", None),
        ("cat <<E", "bash: here-document at line 1 delimited by end-of-file", "here_document"),
        ("echo 'a", "bash: -c: line 1: unexpected EOF while looking for matching `''", "quote"),
        ("false", "", None),
        ("pipinstall x", "", None),
    ],
)  # fmt: skip
def test_a_failure_has_at_most_one_hint(command: str, stderr: str, kind: str | None) -> None:
    assert kinds(command, 2, "", stderr) == ([] if kind is None else [kind])
    assert kinds(command, 0, "out", stderr) == []


@pytest.mark.parametrize(("sign", "name"), [('"', "double"), ("'", "single"), ("`", "backtick")])
def test_the_quote_that_is_open_is_named(sign: str, name: str) -> None:
    stderr = f"bash: -c: line 1: unexpected EOF while looking for matching `{sign}'"
    (warning,) = shell_warnings(f"echo {sign}", 2, "", stderr)
    assert warning.text.startswith(f"A {name}")
