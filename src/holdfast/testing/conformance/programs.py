"""The suites of manifest programs: what they are told, what they see, what became of them."""

from collections.abc import Iterator

from holdfast.contract import builders
from holdfast.contract.call import Prepared, ToolCall
from holdfast.contract.failure import FailureKind
from holdfast.contract.json_value import decode_json
from holdfast.contract.requirements import NOTHING_REQUIRED
from holdfast.envelope.dialects import program
from holdfast.execution.program_environment import program_environment
from holdfast.preflight.plan import Plan
from holdfast.record.audit_redaction import MODEL_KEYS, Redaction
from holdfast.sources.manifest.entries import Manifest, ManifestEntry
from holdfast.sources.manifest.tools import ManifestDefaults, manifest_tools
from holdfast.sources.manifest.variable_names import variable_names
from holdfast.testing.conformance.case import Case, NotForUs, differs, part, text, texts

_PATTERNS = "GOAGENT_REDACT"
"""What the cases call the setting that is `audit.redact` here."""


def content(case: Case) -> Iterator[str]:
    """What a program is told, or what is told of it."""
    known = {"expect_content", "expect_error_length", "expect_stdin"}
    if known.isdisjoint(case):
        raise NotForUs
    if "expect_stdin" in case:
        yield from differs("stdin", _told(case), case["expect_stdin"])
    if known.isdisjoint(case.keys() - {"expect_stdin"}):
        return
    unknown = case.get("unknown_tool")
    if isinstance(unknown, str):
        missing = builders.failure(FailureKind.TOOL_NOT_FOUND, "unknown", tool=unknown)
        yield from differs("content", program.render(missing), case.get("expect_content"))
        return
    yield from _of_a_run(case)


def _of_a_run(case: Case) -> Iterator[str]:
    exit_code = case.get("exit")
    left = program.ProgramExit(
        stdout=text(case, "stdout"),
        stderr=text(case, "stderr"),
        exit_code=exit_code if isinstance(exit_code, int) else 0,
        timed_out=case.get("timed_out") is True,
    )
    found = program.content_from(left)
    if "expect_content" in case:
        yield from differs("content", found, case["expect_content"])
    if "expect_error_length" in case:
        error = decode_json(found)
        said = error.get("error") if isinstance(error, dict) else None
        size = len(said.encode()) if isinstance(said, str) else None
        yield from differs("error length", size, case["expect_error_length"])


def _told(case: Case) -> str:
    """What a manifest's tool would write to its program's standard input."""
    schema = case.get("schema")
    entry = ManifestEntry(
        name="case", command=("/case",), schema=schema if isinstance(schema, dict) else None
    )
    defaults = ManifestDefaults(requires=NOTHING_REQUIRED)
    (tool,) = manifest_tools(Manifest(folder="/", entries=(entry,)), defaults)
    given = case.get("arguments")
    sent = given if isinstance(given, (str, dict)) else None
    prepared = Plan(tool).prepare(ToolCall(id="case", session_id="", tool="case", arguments=sent))
    if not isinstance(prepared, Prepared):
        return f"(refused: {prepared.failure.message})"
    told = prepared.values["stdin"]
    return told.decode() if isinstance(told, bytes) else repr(told)


def environment(case: Case) -> Iterator[str]:
    """What of the parent's environment a program sees."""
    parent = {name: value for name, value in part(case, "parent").items() if isinstance(value, str)}
    found = program_environment(parent, variable_names(texts(case, "envPassthrough")))
    yield from differs("child", found.variables, case.get("expect_child"))
    yield from differs("envKeys", list(found.passed), case.get("expect_envKeys"))


def redaction(case: Case) -> Iterator[str]:
    """What the audit log shows of a program's words."""
    told = {name: value for name, value in part(case, "env").items() if isinstance(value, str)}
    values = [told.get(name, "") for name in MODEL_KEYS]
    redacted = Redaction(told.get(_PATTERNS, ""), values)
    found = [redacted.text(word) for word in texts(case, "argv")]
    yield from differs("argv", found, case.get("expect_argv"))
