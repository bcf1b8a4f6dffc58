"""The measurements as tables, and which targets hold."""

from collections.abc import Iterable

import agent_report
import cluster_report
import file_report
import journal_report
import managed_report
import mcp_report
import process_report
import search_report
import serving_report

HEAD = """# Benchmarks

Written by `make bench`; do not edit. All of it comes from one run on one machine, in which
holdfast and its peers took turns. Compare within a table; times on another machine will differ,
ratios much less.
"""

CALLS = """## One tool call

JSON text in, result text out, microseconds. holdfast does all it does: parsing, preflight, the
permission decision, running, the output bound, metadata, an id for the call, the rendered
envelope; no journal. Each peer is measured at its own in-process path, without tracing or hooks,
and each path is checked to give the right answer and to refuse a bad call before it is timed.
`add` is `add(a: int, b: int)`; `nested` has 20 leaf fields in nested objects and arrays, with
enums and optional fields ({bytes} bytes). Records are the library's own kind unless the row says
otherwise: msgspec structs for holdfast, pydantic models for the peers. {rounds} rounds of
{batches} batches a row, one process per library and round, load average {loads}.
"""

CALL_NOTES = """`ratio` is to the fastest peer of the same table (in bold), of `min`. A *floor* is a
part of a call and not compared: openai-agents' context carries the id and the text of one call, so
its runner makes one per call. *thread* rows hop to a worker thread; what that costs depends on how
fast the machine wakes an idle core. fastmcp and mcp build output-schema results.
"""

DECISIONS = """## One policy decision

Microseconds from a prepared call to its permit, in an opened Holdfast with {rules} rules and the
hooks that ship: what the call uses, where a path leads on the disk, capabilities, rules, watchdog.
No text is judged twice. {batches} batches of {calls} calls, load average {load:.1f}.
"""

STARTS = """## Starting

Milliseconds of wall time around the whole process, {runs} interleaved runs, byte code present, page
cache warm; peak resident memory.
"""

MALFORMED = """## Malformed calls

The {total} preflight cases of `tests/conformance/cases/coercion.jsonl`: {valid} calls that are
right as sent and must arrive unchanged, {repairable} that can be repaired in exactly one way, and
{hopeless} that must be refused. A cell counts the cases handled exactly as demanded. *Ran wrong*
counts calls that would have reached the tool with other arguments than demanded, among them
hopeless calls that were let through.
"""

MALFORMED_NOTES = """These are holdfast's own rules, so its row is what it is built to reach; the
table shows where others decide differently, and some of that is by their design (lax pydantic
takes `on` for true and 1 for a boolean; jsonschema never repairs; a FastMCP function cannot take
arguments it does not name). pydantic validates the JSON text with a model built from the schema
(`create_model`, extra keys forbidden where the schema is closed); FastMCP calls a function with one
parameter per property through `server.call_tool`; jsonschema checks draft 2020-12. Anything raised
counts as a refusal. A few cases are laxer than JSON Schema itself (an unusable `pattern`, an
unknown `type`, a schema for additional properties), which jsonschema rightly refuses.
"""


def written(told: dict) -> str:
    """The whole text of RESULTS.md."""
    parts = [
        HEAD,
        _facts(told["facts"]),
        "## Targets\n",
        _targets(told),
        *_calls(told["calls"]),
        *_decisions(told["decisions"]),
        *_starts(told["starts"]),
        *process_report.tables(told["processes"], table),
        *journal_report.tables(told["journal"], table),
        *search_report.tables(told["search"], table),
        *file_report.tables(told["files"], table),
        *mcp_report.tables(told["mcp"], table),
        *agent_report.tables(told["agents"], table),
        *managed_report.tables(told["managed"], table),
        *serving_report.tables(told["serving"], table),
        *cluster_report.tables(told["cluster"], table),
        *_malformed(told["malformed"]),
    ]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def table(head: Iterable[str], rows: Iterable[Iterable[str]], *, text_columns: int = 1) -> str:
    """A Markdown table: text columns first, numbers right-aligned after them."""
    head = list(head)
    marks = ["---"] * text_columns + ["--:"] * (len(head) - text_columns)
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, marks, *rows]) + "\n"


def _facts(facts: dict) -> str:
    machine = ", ".join(f"{name} {value}" for name, value in facts["machine"].items())
    versions = ", ".join(f"{name} {value}" for name, value in facts["versions"].items())
    return f"**Machine.** {machine}.\n\n**Versions.** {versions}.\n"


def _calls(calls: dict) -> list[str]:
    loads = f"{min(calls['loads']):.1f} to {max(calls['loads']):.1f}"
    return [
        CALLS.format(
            bytes=calls["nested_bytes"],
            rounds=calls["rounds"],
            batches=calls["batches"],
            loads=loads,
        ),
        "### Async tools\n",
        _call_table(calls["rows"], "async"),
        "### Sync tools\n",
        _call_table(calls["rows"], "sync"),
        CALL_NOTES,
    ]


def _call_table(rows: list[dict], kind: str) -> str:
    ours = [row for row in rows if row["kind"] == kind]
    best = {case: fastest(rows, kind, case) for case in ("add", "nested")}
    return table(
        [
            "path",
            "add min",
            "add median",
            "nested min",
            "nested median",
            "ratio add",
            "ratio nested",
        ],
        [_call_row(row, best) for row in ours],
    )


def _call_row(row: dict, best: dict[str, float]) -> list[str]:
    name = f"*floor:* {row['path']}" if row["role"] == "floor" else row["path"]
    cells = [name]
    for case in ("add", "nested"):
        shortest = _microseconds(row[case]["min"])
        cells.append(f"**{shortest}**" if row[case]["min"] == best[case] else shortest)
        cells.append(_microseconds(row[case]["median"]))
    return [*cells, *(f"{row[case]['min'] / best[case]:.2f}" for case in ("add", "nested"))]


def fastest(rows: list[dict], kind: str, case: str) -> float:
    """The best `min` any peer reached."""
    return min(row[case]["min"] for row in rows if row["kind"] == kind and row["role"] == "peer")


def _microseconds(value: float) -> str:
    return f"{value:.2f}" if value < 100 else f"{value:,.0f}"


def _decisions(decisions: dict) -> list[str]:
    said = DECISIONS.format(**decisions)
    rows = [
        [row["decision"], f"{row['min']:.2f}", f"{row['median']:.2f}"] for row in decisions["rows"]
    ]
    return [said, table(["decision about", "min", "median"], rows)]


def _starts(starts: dict) -> list[str]:
    first = starts["rows"][0]["min"]
    rows = [
        [
            f"`{row['name']}`",
            f"{row['min']:.1f}",
            f"{row['median']:.1f}",
            f"{row['min'] / first:.1f}",
            f"{row['rss_mb']:.1f}",
        ]
        for row in starts["rows"]
    ]
    head = ["command", "min ms", "median ms", "x `python -c pass`", "peak MB"]
    return [STARTS.format(runs=starts["runs"]), table(head, rows)]


def _malformed(malformed: dict) -> list[str]:
    counts = malformed["counts"]
    total = sum(counts.values())
    rows = [
        [
            row["name"],
            f"{row['repairable']} of {counts['repairable']}",
            f"{row['hopeless']} of {counts['hopeless']}",
            f"{row['valid']} of {counts['valid']}",
            f"{row['ran_wrong']}",
            f"{total - len(row['wrong'])} of {total}",
        ]
        for row in malformed["rows"]
    ]
    head = [
        "library",
        "repairable calls repaired",
        "hopeless calls refused",
        "valid calls unchanged",
        "ran wrong",
        "handled as demanded",
    ]
    return [
        MALFORMED.format(total=total, **counts),
        table(head, rows),
        MALFORMED_NOTES,
        _missed(malformed["rows"]),
    ]


def _missed(rows: list[dict]) -> str:
    lines = [f"- {row['name']}: {', '.join(row['wrong'])}" for row in rows if row["wrong"]]
    return "Cases not handled as demanded:\n\n" + "\n".join(lines) + "\n"


def _targets(told: dict) -> str:
    judged = [
        *_call_targets(told["calls"]["rows"]),
        *_decision_targets(told["decisions"]["rows"]),
        *_start_targets(told["starts"]["rows"]),
        *process_report.targets(told["processes"]),
        *journal_report.targets(told["journal"]),
        *search_report.targets(told["search"]),
        *file_report.targets(told["files"]),
        *mcp_report.targets(told["mcp"]),
        *agent_report.targets(told["agents"]),
        *managed_report.targets(told["managed"]),
        *serving_report.targets(told["serving"]),
        *cluster_report.targets(told["cluster"]),
    ]
    rows = [
        [name, wanted, "does not run", "**no**"]
        if measured is None
        else [name, wanted, f"{measured:.2f}", "yes" if measured <= limit else "**no**"]
        for name, wanted, limit, measured in judged
    ]
    return table(["target", "wanted", "measured", "holds"], rows)


Judged = tuple[str, str, float, float | None]


def _call_targets(rows: list[dict]) -> list[Judged]:
    by_path = {row["path"]: row for row in rows}
    direct = by_path["holdfast settle + render"]
    inline = by_path["holdfast settle + render (inline)"]
    judged: list[Judged] = []
    for case in ("add", "nested"):
        best = fastest(rows, "async", case)
        ratio = direct[case]["min"] / best
        judged.append((f"async call, {case}, to the fastest peer", "<= 0.60", 0.6, ratio))
        judged.append((f"the same, as aimed at, {case}", "<= 0.40", 0.4, ratio))
    for case in ("add", "nested"):
        ratio = inline[case]["min"] / fastest(rows, "sync", case)
        judged.append((f"inline sync call, {case}, to the fastest peer", "<= 0.10", 0.1, ratio))
    return judged


def _decision_targets(rows: list[dict]) -> list[Judged]:
    shortest = {row["decision"]: row["min"] for row in rows}
    wanted = {"no path, host or command": 1.5, "a path": 10.0, "a one-line command": 60.0}
    return [
        (f"decision about {kind}, microseconds", f"<= {limit:g}", limit, shortest[kind])
        for kind, limit in wanted.items()
    ]


def _start_targets(rows: list[dict]) -> list[Judged]:
    times = {row["name"]: row["min"] for row in rows}
    memory = {row["name"]: row["rss_mb"] for row in rows}
    stdlib = times['python -c "import asyncio, json, subprocess"']
    bare = times['python -c "pass"']
    imported = 'python -c "import holdfast"'
    program = times.get("holdfast --version")
    return [
        (
            "`import holdfast` to `import asyncio, json, subprocess`",
            "<= 1.10",
            1.1,
            times[imported] / stdlib,
        ),
        ("peak memory of `import holdfast`, MB", "< 25", 25, memory[imported]),
        (
            "`holdfast --version` to `python -c pass`",
            "<= 4.00",
            4,
            None if program is None else program / bare,
        ),
    ]
