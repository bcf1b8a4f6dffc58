"""The plain form of tool programs, fed by programs that really run."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from envelope.strategies import steady
from hypothesis import given
from hypothesis import strategies as st
from support import make_call, make_pipeline, make_tool, settle

from holdfast.contract.builders import failure, success
from holdfast.contract.envelope import Envelope, envelope_of
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonValue
from holdfast.contract.program_exit import short_error, shown_error
from holdfast.contract.runtime import Runtime
from holdfast.contract.truncate import cut_utf8
from holdfast.envelope.dialects import program
from holdfast.envelope.dialects.program import (
    ProgramExit,
    content_from,
    envelope_from,
    error_content,
    one_line,
)
from holdfast.execution.sidecars import SidecarFiles
from holdfast.runtime.abort import Abort

pytestmark = pytest.mark.anyio


def _ran(script: str, *, seconds: float | None = None) -> ProgramExit:
    """Run a script as a program and hand over what it left behind."""
    command = [sys.executable, "-I", "-S", "-c", f"import sys, time\n{script}"]
    try:
        done = subprocess.run(command, capture_output=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired as stopped:
        return ProgramExit(
            stdout=(stopped.stdout or b"").decode(),
            stderr=(stopped.stderr or b"").decode(),
            exit_code=-9,
            timed_out=True,
        )
    return ProgramExit(
        stdout=done.stdout.decode(), stderr=done.stderr.decode(), exit_code=done.returncode
    )


def _failure(envelope: Envelope) -> Failure:
    assert envelope.failure is not None
    return envelope.failure


@pytest.mark.req("CLI-RUN-05", "OSA-KND-06")
def test_a_failed_program_becomes_an_execution_error_and_compact_error_content() -> None:
    left = _ran("print('half'); sys.stderr.write('boom'); sys.exit(3)")
    failed = _failure(envelope_from(left, tool="t"))
    assert failed.kind is FailureKind.EXECUTION_ERROR
    assert failed.message == "boom"
    assert failed.retryable is True
    assert failed.extras == {"exit_code": 3, "stdout": "half\n", "stderr": "boom"}
    assert content_from(left) == '{"error":"boom"}'
    assert program.render(envelope_from(left)) == '{"error":"boom"}'


@pytest.mark.req("CLI-RUN-06")
@pytest.mark.parametrize(
    ("script", "text"),
    [
        ("sys.stderr.write('no such row\\n'); sys.exit(1)", "no such row"),
        ("sys.exit(7)", "exit status 7"),
        ("sys.stderr.write(' \\n\\t'); sys.exit(7)", "exit status 7"),
        ("print('only stdout'); sys.exit(9)", "exit status 9"),
    ],
)
def test_the_error_text_is_standard_error_or_the_exit_status(script: str, text: str) -> None:
    left = _ran(script)
    assert _failure(envelope_from(left)).message == text
    assert json.loads(content_from(left)) == {"error": text}


@pytest.mark.req("CLI-RUN-07")
def test_a_programs_own_error_object_is_not_wrapped_again() -> None:
    own = '{"error": "no such city", "hint": "use a code", "codes": [1, 2]}'
    left = _ran(f"sys.stderr.write('''{own}'''); sys.exit(4)")
    failed = _failure(envelope_from(left))
    assert failed.message == "no such city"
    assert (failed.extras["hint"], failed.extras["codes"]) == ("use a code", [1, 2])
    assert failed.extras["exit_code"] == 4
    assert content_from(left) == '{"error":"no such city"}'


@pytest.mark.parametrize(
    "said", ['["error"]', '{"error": 5}', '{"message": "m"}', '"error"', "[" * 3_000]
)
def test_any_other_json_on_standard_error_is_the_error_text_itself(said: str) -> None:
    left = ProgramExit(stdout="", stderr=said, exit_code=1)
    assert _failure(envelope_from(left)).message.startswith(said[:1_000])
    assert content_from(left) == error_content(said[:1_000])


@pytest.mark.req("CLI-RUN-08")
@given(st.text() | st.text("aä\U0001f600", min_size=900).map(lambda one: one * 3))
def test_an_error_is_shown_with_its_end_and_cut_for_a_transcript_as_ever(said: str) -> None:
    content = said.encode("utf-8", "replace")
    shown = shown_error(said)
    assert short_error(shown) == cut_utf8(content, 1_000).decode()
    assert shown.encode().endswith(content[-3:].decode("utf-8", "ignore").encode())
    assert len(shown.encode()) <= min(len(content), 2_500) + 50


@pytest.mark.req("CLI-RUN-08")
async def test_the_content_is_cut_and_the_envelope_keeps_both_streams_bounded(
    tmp_path: Path,
) -> None:
    script = "print('o' * 200_000); sys.stderr.write('é' * 150_000); sys.exit(1)"
    left = _ran(script)
    content = json.loads(content_from(left))
    assert content == {"error": "é" * 500}
    assert len(content["error"].encode()) == 1_000

    def body(_values: Mapping[str, object], _runtime: Runtime) -> object:
        return envelope_from(left)

    tool = make_tool(body, style="thread")
    answer = await settle(tool, sidecars=SidecarFiles(tmp_path))
    failed = _failure(answer)
    assert failed.kind is FailureKind.EXECUTION_ERROR
    for stream, letter in (("stdout", "o"), ("stderr", "é")):
        kept = failed.extras[stream]
        assert isinstance(kept, str)
        assert kept.startswith(letter)
        assert len(kept) < 2_200
        assert "TRUNCATED" in kept
    assert answer.metadata.output_path is not None
    whole = json.loads(Path(answer.metadata.output_path).read_text("utf-8"))
    assert whole["extras"]["stdout"] == left.stdout
    assert whole["extras"]["stderr"] == left.stderr
    assert json.loads(program.render(answer)).keys() == {"error"}


@pytest.mark.req("CLI-RUN-08")
@pytest.mark.parametrize("size", [999, 1_000, 1_001])
def test_an_error_text_of_a_thousand_bytes_is_whole_and_a_longer_one_is_cut(size: int) -> None:
    left = _ran(f"print('out'); sys.stderr.write('e' * {size}); sys.exit(1)")
    assert json.loads(content_from(left)) == {"error": "e" * min(size, 1_000)}


def test_short_streams_are_kept_whole() -> None:
    left = _ran("print('o' * 1_500); sys.stderr.write('e'); sys.exit(1)")
    assert _failure(envelope_from(left)).extras["stdout"] == "o" * 1_500 + "\n"


@pytest.mark.req("CLI-RUN-09")
@pytest.mark.parametrize(
    ("script", "result", "content"),
    [
        ("print('{\"a\": [1, 2]}')", {"a": [1, 2]}, '{"a": [1, 2]}'),
        ("print('  \\n[1]\\n\\n')", [1], "[1]"),
        ("print('hello')", {"text": "hello"}, "hello"),
        ("print('12')", 12, "12"),
        ("pass", {}, "{}"),
        ("print('   \\n\\t ')", {}, "{}"),
        ("sys.stderr.write('a warning'); print('{}')", {}, "{}"),
        ('sys.stderr.write(\'{"error": "no"}\'); print("fine")', {"text": "fine"}, "fine"),
    ],
)
def test_a_program_that_exits_zero_succeeds_with_its_trimmed_output(
    script: str, result: JsonValue, content: str
) -> None:
    left = _ran(script)
    envelope = envelope_from(left, tool="t")
    assert envelope == success(result, tool="t")
    assert content_from(left) == content


@pytest.mark.req("CLI-RUN-10")
@pytest.mark.parametrize(
    ("script", "content"),
    [
        ("print('one\\ntwo\\t\\tthree   four')", "one two three four"),
        ('print(\'{\\n  "a":\\t1,\\r\\n  "b":   2\\n}\')', '{ "a": 1, "b": 2 }'),
        ('print(\'{"t":  "a  b\\\\t c"}\')', '{"t": "a  b\\t c"}'),
        ('print(\'[ "x   y",\\n "q\\\\" r   s" ]\')', '[ "x   y", "q\\" r   s" ]'),
        ("print('\"a  b\"')", '"a  b"'),
        ("print('{not  json \"kept  so\"\\n}')", '{not json "kept  so" }'),
        ("print('{\"torn\\n string\"}')", '{"torn string"}'),
    ],
)
def test_content_is_one_line_and_text_inside_strings_is_untouched(
    script: str, content: str
) -> None:
    left = _ran(script)
    assert content_from(left) == content
    assert "\n" not in program.render(envelope_from(left))


@pytest.mark.req("CLI-RUN-10")
@steady
@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner, max_size=3)))
def test_collapsing_blanks_never_changes_what_json_says(value: JsonValue) -> None:
    pretty = json.dumps({"k": value}, indent=4, ensure_ascii=False)
    collapsed = one_line(pretty)
    assert "\n" not in collapsed
    assert json.loads(collapsed) == {"k": value}


@steady
@given(st.text(alphabet=' \n\r\t"\\{}[]ab,:'))
def test_one_line_is_one_line_whatever_is_in_the_text(text: str) -> None:
    collapsed = one_line(text)
    assert "\n" not in collapsed
    assert "\r" not in collapsed
    assert collapsed == collapsed.strip()


@pytest.mark.req("CLI-RUN-11")
@pytest.mark.parametrize("said", ["sunny, 21 degrees", "{'a': 1}", '{"a": 1', "NaN", "<b>x</b>"])
def test_output_that_is_not_json_is_passed_on_as_text(said: str) -> None:
    left = _ran(f"print({said!r})")
    envelope = envelope_from(left)
    assert envelope == success({"text": said})
    assert content_from(left) == said
    assert program.render(envelope) == said


@pytest.mark.req("CLI-RUN-15")
def test_a_program_past_its_limit_timed_out_whatever_it_had_printed() -> None:
    script = "print('{\"a\": 1}', flush=True); print('x', file=sys.stderr); time.sleep(30)"
    left = _ran(script, seconds=0.5)
    failed = _failure(envelope_from(left))
    assert (failed.kind, failed.retryable) == (FailureKind.TIMEOUT, True)
    assert failed.message == "tool timed out"
    assert failed.extras["stdout"] == '{"a": 1}\n'
    assert content_from(left) == '{"error":"tool timed out"}'


@pytest.mark.req("CLI-RUN-15")
def test_a_time_out_of_the_runtime_has_the_same_content() -> None:
    slow = failure("timeout", "Tool 't' exceeded the 3s execution budget.", tool="t")
    assert program.render(slow) == '{"error":"tool timed out"}'


@pytest.mark.req("CLI-RUN-17")
async def test_a_call_to_an_unknown_name_gives_the_unknown_tool_content() -> None:
    answer = await make_pipeline().settle(make_call("nope", "{}"), Abort())
    assert _failure(answer).kind is FailureKind.TOOL_NOT_FOUND
    assert program.render(answer) == '{"error":"unknown tool: nope"}'


@pytest.mark.req("CLI-RUN-20")
def test_content_over_the_cap_is_replaced_unless_debugging_is_on() -> None:
    fits = _ran("sys.stdout.write('x' * 8192)")
    over = _ran("sys.stdout.write('x' * 8193)")
    assert content_from(fits) == "x" * 8_192
    assert content_from(over) == '{"truncated":true,"reason":"large-tool-output"}'
    assert content_from(over, debug=True) == "x" * 8_193
    for left, content in ((fits, "x" * 8_192), (over, program.TOO_LARGE)):
        assert program.render(envelope_from(left)) == content
    assert program.render(envelope_from(over), debug=True) == "x" * 8_193


@pytest.mark.req("CLI-RUN-20")
def test_the_cap_counts_bytes_and_not_characters() -> None:
    assert content_from(_ran("sys.stdout.buffer.write('é'.encode() * 4096)")) == "é" * 4_096
    over = _ran("sys.stdout.buffer.write('é'.encode() * 4097)")
    assert content_from(over) == program.TOO_LARGE


def test_a_result_that_is_more_than_text_is_shown_as_json() -> None:
    assert program.render(envelope_of({"text": "a\nb"})) == "a b"
    assert program.render(envelope_of({"text": 5})) == '{"text":5}'
    assert program.render(envelope_of({"text": "a", "b": 1})) == '{"b":1,"text":"a"}'


def test_the_transcript_form_reads_back() -> None:
    assert program.parse('{"error":"m"}') == failure("execution_error", "m")
    assert program.parse('{"error":5}') == success({"error": 5})
    assert program.parse("plain") == success({"text": "plain"})
    assert program.parse("[1]") == success([1])


def test_output_that_is_not_unicode_cannot_break_the_content() -> None:
    left = ProgramExit(stdout="a\udcff", stderr="", exit_code=0)
    assert envelope_from(left).result == {"text": "a?"}
    assert content_from(left) == "a?"
    failed = ProgramExit(stdout="", stderr="b\udcff", exit_code=1)
    assert content_from(failed) == '{"error":"b?"}'
