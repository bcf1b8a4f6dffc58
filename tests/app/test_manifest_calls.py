"""Tools of a manifest, called: what their programs are told, and what becomes of their output."""

import sys
from collections.abc import Generator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from manifests import Ground

from holdfast import Holdfast
from holdfast.contract.envelope import Envelope
from holdfast.contract.failure import Failure, FailureKind
from holdfast.contract.json_value import JsonObject, JsonValue
from holdfast.contract.shell import Confinement
from holdfast.contract.tool import ToolDefinitionError
from holdfast.runtime.definitions import openai_definition

GET_TIME: JsonObject = {
    "name": "get_time",
    "description": "Get current time for an IANA timezone",
    "schema": {
        "type": "object",
        "properties": {
            "timezone": {"type": "string", "description": "IANA timezone, e.g. Europe/Helsinki"},
            "tz": {"type": "string", "description": "Alias for timezone (deprecated)"},
        },
        "required": ["timezone"],
        "additionalProperties": False,
    },
    "command": ["./tools/bin/get_time"],
    "timeoutSec": 5,
    "envPassthrough": ["TZ", "OAI_HTTP_TIMEOUT"],
}
TOLD = "cat >told; cat told\n"
"""What a program is told, left in the workspace and printed."""
WRITES: JsonObject = {"fs": {"read": ["{workspace}/**"], "write": ["{workspace}/**"]}}


@pytest.fixture
def ground() -> Generator[Ground]:
    """Outside of the temporary directory that sandboxes have of their own."""
    with TemporaryDirectory(dir="/var/tmp") as folder:
        yield Ground(Path(folder))


def failure(envelope: Envelope) -> Failure:
    assert envelope.failure is not None, envelope.result
    return envelope.failure


@pytest.mark.req("CLI-GEN-01", "CLI-EXM-01", "CLI-EXM-03", "CLI-CMD-11", "CLI-SCM-04")
@pytest.mark.req("CLI-OAI-01", "CLI-OAI-02", "CLI-OAI-03", "CLI-OAI-04", "CLI-OAI-06")
async def test_the_example_of_the_format_is_a_tool_like_any_other(ground: Ground) -> None:
    ground.program("get_time", 'echo "{\\"told\\":$(cat)}"', **GET_TIME)
    ground.program("other", "echo 1", schema={"$defs": {"a": {}}, "x-y": 1})
    tools = ground.source().tools()
    assert [openai_definition(tool) for tool in tools] == [
        {
            "type": "function",
            "function": {key: GET_TIME[key] for key in ("name", "description")}
            | {"parameters": GET_TIME["schema"]},
        },
        {
            "type": "function",
            "function": {"name": "other", "parameters": {"$defs": {"a": {}}, "x-y": 1}},
        },
    ]
    async with ground.opened() as hf:
        told = await hf.settle("get_time", '{"timezone": "Europe/Oslo"}')
        assert told.result == {"told": {"timezone": "Europe/Oslo"}}
        assert (await hf.settle("other", {})).result == 1
        missing = failure(await hf.settle("get_time", "{}"))
        assert (missing.kind, missing.field) == (FailureKind.INVALID_ARGS, "timezone")
        further = failure(await hf.settle("get_time", '{"timezone":"x","zone":"y"}'))
        assert (further.kind, further.field) == (FailureKind.INVALID_ARGS, "zone")
    assert len(ground.records()) == 2, "a call that was refused started a program"


OPEN: JsonObject = {"type": "object", "properties": {"n": {"type": "integer"}}}
CLOSED: JsonObject = {
    "type": "object",
    "properties": {"b": {"type": "integer"}, "a": {"type": "number"}, "s": {"type": "string"}},
    "additionalProperties": False,
}
UNREADABLE: JsonObject = {**CLOSED, "minProperties": 0}
"""Not to be read in one pass, which another one can be."""


@pytest.mark.req("CLI-RUN-01", "CLI-RUN-02", "OSA-EXE-02")
async def test_what_a_model_wrote_reaches_the_program_as_it_is(ground: Ground) -> None:
    schemas: dict[str, JsonValue] = {
        "none": None, "open": OPEN, "closed": CLOSED, "careful": UNREADABLE
    }  # fmt: skip
    for name, schema in schemas.items():
        ground.program(name, TOLD, schema=schema, requires=WRITES)
    async with ground.opened() as hf:

        async def told(name: str, sent: object) -> str:
            envelope = await hf.settle(name, sent)  # pyright: ignore[reportArgumentType] - whatever it is
            assert envelope.ok, envelope.failure
            return (ground.workspace / "told").read_text("utf-8")

        for name in schemas:
            for sent in ('{"b":1,  "a":2}', '{"a" :\n1.50,"b":  2}', '{"s":"a  b\\u0041 \\/ ü"}'):
                assert await told(name, sent) == sent
                assert await told(name, f" \n{sent}\t ") == sent
                assert await told(name, f" {sent}".encode()) == sent
            blank: list[object] = ["", "  \n", None, {}, b"", b" "]
            for nothing in blank:
                assert await told(name, nothing) == "{}"
            assert await told(name, {"b": 1, "a": 2}) == '{"b":1,"a":2}'
            # Of a key that is there twice only the last one was looked at.
            assert await told(name, '{"a": 1, "b": 2, "a": 3}') == '{"a":3,"b":2}'
        # What preflight changes is told as it then is, in the order it was sent.
        assert await told("closed", '{"s":"x",  "b":"5"}') == '{"s":"x","b":5}'
        assert await told("careful", '{"s":"x",  "b":"5"}') == '{"s":"x","b":5}'
        assert await told("open", '{"z":1,  "n":"5"}') == '{"z":1,"n":5}'
        assert await told("none", '"{\\"b\\": 1}"') == '{"b":1}'


@pytest.mark.req("CLI-RUN-03", "CLI-RUN-09", "CLI-RUN-10", "CLI-RUN-11")
@pytest.mark.parametrize(
    ("printed", "result"),
    [
        ('{"a": 1, "t": "x  y"}', {"a": 1, "t": "x  y"}),
        ('{\n  "a": [1,\n 2]\n}\n', {"a": [1, 2]}),
        ("[1, 2]", [1, 2]),
        ('"a  b"', "a  b"),
        ("12", 12),
        ("null", None),
        ("", {}),
        (" \n", {}),
        ("hello\n  world\n", {"text": "hello world"}),
        ('{"a":1}\n{"b":2}\n', {"text": '{"a":1} {"b":2}'}),
        ('{"ok":false,"kind":"rejected","message":"no"}',
         {"ok": False, "kind": "rejected", "message": "no"}),
        ("ünïcode", {"text": "ünïcode"}),
    ],
)  # fmt: skip
async def test_what_a_program_prints_is_its_result(
    ground: Ground, printed: str, result: JsonValue
) -> None:
    (ground.workspace / "printed").write_text(printed, "utf-8")
    ground.program("say", "cat printed; echo a remark >&2")
    async with ground.opened() as hf:
        envelope = await hf.settle("say", {})
    assert envelope.ok, envelope.failure
    assert envelope.result == result


@pytest.mark.req("CLI-RUN-04", "CLI-RUN-05", "CLI-RUN-06", "CLI-RUN-07", "CLI-RUN-08")
@pytest.mark.parametrize(
    ("script", "message", "extras"),
    [
        ('echo \'{"error":"no town","hint":"Oslo"}\' >&2; exit 3', "no town",
         {"hint": "Oslo", "exit_code": 3, "stdout": ""}),
        ("echo partial; echo boom >&2; exit 1", "boom", {"stdout": "partial\n", "exit_code": 1}),
        ("exit 7", "exit status 7", {"exit_code": 7}),
        ("kill -SEGV $$", "ended by SIGSEGV", {"exit_code": 139}),
        ("kill -40 $$", "ended by signal 40", {"exit_code": 168}),
        ("echo '{\"error\":5}' >&2; exit 1", '{"error":5}', {"exit_code": 1}),
        ("head -c 999 /dev/zero | tr '\\0' x >&2; echo é >&2; exit 1", "x" * 999 + "é", {}),
        ("head -c 9000 /dev/zero | tr '\\0' y >&2; echo end >&2; exit 1",
         "y" * 1003 + "\n... [6,503 bytes left out] ...\n" + "y" * 1494 + "end",
         {"stderr": "y" * 9000 + "end\n"}),
    ],
)  # fmt: skip
async def test_a_program_that_fails_is_a_failure_in_its_own_words(
    ground: Ground, script: str, message: str, extras: JsonObject
) -> None:
    ground.program("fail", script)
    async with ground.opened() as hf:
        failed = failure(await hf.settle("fail", {}))
    assert (failed.kind, failed.message) == (FailureKind.EXECUTION_ERROR, message)
    assert failed.retryable
    assert {key: failed.extras[key] for key in extras} == extras
    assert {"exit_code", "stdout", "stderr"} <= failed.extras.keys()


@pytest.mark.req("CLI-CMD-03", "CLI-RUN-13")
async def test_no_shell_sees_a_programs_arguments(ground: Ground) -> None:
    fixed = ["a b", "", "$HOME", "; id", "*", "`id`", "|", ">x", "\\", "'"]
    script = f"#!{sys.executable}\nimport json, sys\nprint(json.dumps(sys.argv[1:]))\n"
    ground.program("words", script, command=["./tools/bin/words", *fixed])
    async with ground.opened() as hf:
        told = await hf.settle("words", {"x": "$(id); `id`"})
    assert told.result == fixed
    assert [*ground.workspace.iterdir()] == []


@pytest.mark.parametrize("confinement", [None, "landlock"])
async def test_a_program_reaches_what_its_entry_requires_and_no_more(
    ground: Ground, confinement: Confinement | None
) -> None:
    (ground.workspace / "seen.txt").write_text("seen", "utf-8")
    elsewhere = ground.manifest / "secret.txt"
    elsewhere.write_text("not yours", "utf-8")
    ground.program("reads", "cat seen.txt")
    ground.program("writes", "echo x > made.txt")
    ground.program("may_write", "echo x > made.txt", requires=WRITES)
    ground.program("peeks", f"cat '{elsewhere}'")
    ground.program("needs_nothing", f"cat '{ground.workspace}/seen.txt'", requires={})
    async with ground.opened(confinement=confinement) as hf:
        assert (await hf.settle("reads", {})).result == {"text": "seen"}
        for name, access, path in (
            ("writes", "write", "**"),  # a file that is not there yet is given with its folder
            ("peeks", "read", str(elsewhere)),
            ("needs_nothing", "read", "seen.txt"),
        ):
            refused = failure(await hf.settle(name, {}))
            assert refused.kind == FailureKind.REJECTED, name
            assert refused.extras["requirements"] == [f"requires.fs.{access} = [{path!r}]"]
            assert f"It would be admitted by requires.fs.{access} = [{path!r}]" in refused.message
        assert not (ground.workspace / "made.txt").exists()
        assert (await hf.settle("may_write", {})).ok
    assert (ground.workspace / "made.txt").read_text("utf-8") == "x\n"


@pytest.mark.req("CLI-RUN-14")
async def test_a_program_begins_in_the_workspace_if_it_may_see_that(ground: Ground) -> None:
    ground.program("here", "pwd")
    ground.program("elsewhere", "pwd", requires={})
    async with ground.opened() as hf:
        assert (await hf.settle("here", {})).result == {"text": str(ground.workspace)}
        away = await hf.settle("elsewhere", {})
    assert away.ok
    assert away.result != {"text": str(ground.workspace)}


@pytest.mark.parametrize("confinement", [None, "landlock"])
async def test_a_program_is_found_behind_links(
    ground: Ground, confinement: Confinement | None
) -> None:
    beside = ground.manifest.parent / "beside"
    beside.mkdir()
    (beside / "real").write_text('#!/bin/bash\necho "\\"$(basename "$0")\\""\n', "utf-8")
    (beside / "real").chmod(0o755)
    (beside / "linked").symlink_to(beside / "real")
    (ground.manifest / "tools" / "bin" / "inner").symlink_to(beside / "real")
    ground.declare(name="absolute", command=[str(beside / "real")])
    ground.declare(name="linked", command=[str(beside / "linked")])
    ground.declare(name="inner", command=["./tools/bin/inner"])
    folder = ground.manifest.parent / "link"
    folder.symlink_to(ground.manifest)
    ground.file = folder / "tools.json"
    async with ground.opened(confinement=confinement) as hf:
        assert (await hf.settle("absolute", {})).result == "real"
        assert (await hf.settle("linked", {})).ok
        assert (await hf.settle("inner", {})).result == "inner"


async def test_a_program_that_is_gone_is_unavailable_and_says_what_to_do(ground: Ground) -> None:
    ground.declare(name="gone", command=["./tools/bin/gone"])
    ground.program("no_interpreter", "#!/no/such/interpreter\n")
    async with ground.opened() as hf:
        for name in ("gone", "no_interpreter"):
            failed = failure(await hf.settle(name, {}))
            assert failed.kind == FailureKind.UNAVAILABLE
            assert f"The program of {name} could not be started" in failed.message
            assert "Check that it is there, that it can be executed" in failed.message
            assert failed.extras["program"] == str(ground.manifest / "tools" / "bin" / name)


@pytest.mark.req("CLI-NAM-04")
def test_a_name_that_another_tool_has_is_refused(ground: Ground) -> None:
    def other() -> str:
        """Another."""
        return "x"

    ground.program("other", "echo 1")
    with pytest.raises(ToolDefinitionError, match="already registered"):
        ground.opened(other)
    with pytest.raises(ToolDefinitionError, match="already registered"):
        Holdfast(tools=[other, *ground.source().tools()])
    ground.program("read", "echo 1")
    with pytest.raises(ToolDefinitionError, match="locked"):
        ground.opened()
