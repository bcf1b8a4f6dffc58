"""Old large answers of tools give way to a line: the cheap way to make room in a context.

For the model alone: what a journal keeps is not touched, and the same answer always becomes the
same line.
"""

from collections.abc import Collection, Sequence

import msgspec

from holdfast.agent.classify import entries_in
from holdfast.agent.context.entries import Entry, row_tokens
from holdfast.agent.one_line import one_line
from holdfast.contract.chunks import AssistantChunk, ToolResultChunk
from holdfast.contract.envelope_text import read_envelope_text
from holdfast.contract.json_value import JsonObject
from holdfast.contract.late_pattern import late_pattern

KEPT_TOKENS = 20_000
"""How much of the newest answers is left as it is."""
LARGE_TOKENS = 250
SPARED = frozenset({"todo", "task", "plan", "todo_write", "todo_read"})
"""What these answer is how far the work is."""

_LONGEST_PATH = 300
_LONGEST_LISTED, _LONGEST_STUB = 4_900, 5_000
_MOST_ENTRIES = 10**12
_STUB = late_pattern(r"\[What [^\n]* answered is left out here: |[0-9]+ entries in ")


def stub(row: ToolResultChunk) -> ToolResultChunk:
    """The line that stands for an answer; the row itself where a line would save nothing."""
    if len(row.content) <= _LONGEST_STUB and _STUB.match(row.content):
        return row
    said = _listed(row.content) or _left_out(row)
    shorter = len(said) < len(row.content)
    return msgspec.structs.replace(row, content=said) if shorter else row


def _listed(content: str) -> str | None:
    """For a listing: how many entries it had, and of what."""
    result = _result(content)
    if result is None or result.get("kind") != "listing":
        return None
    count, path = entries_in(result), result.get("path")
    if not isinstance(count, int) or isinstance(count, bool) or not 0 <= count <= _MOST_ENTRIES:
        return None
    if not isinstance(path, str) or len(path) > _LONGEST_LISTED:
        return None
    return f"{count} entries in {path}"


def _result(content: str) -> JsonObject | None:
    """What an answer holds, as an envelope or as it is."""
    reading, top = read_envelope_text(content)
    result = top.get("result") if reading == "success" and top is not None else top
    return result if isinstance(result, dict) else None


def _left_out(row: ToolResultChunk) -> str:
    top = read_envelope_text(row.content).top or {}
    metadata = top.get("metadata")
    kept = metadata.get("output_path") if isinstance(metadata, dict) else None
    where = f" All of it is in {one_line(kept, _LONGEST_PATH)}." if isinstance(kept, str) else ""
    return (
        f"[What {one_line(row.name, _LONGEST_PATH)} answered is left out here: {len(row.content)}"
        f" characters.{where} Call it again if you need it.]"
    )


def to_prune(
    entries: Sequence[Entry],
    *,
    keep_tokens: int = KEPT_TOKENS,
    large_tokens: int = LARGE_TOKENS,
    spared: Collection[str] = SPARED,
) -> tuple[int, ...]:
    """The places of the answers to replace, in their order: listings and what else is large, older
    than the newest ``keep_tokens`` of answers. Never what the model has not seen yet, behind its
    last words."""
    left, places, seen, spared_names = keep_tokens, list[int](), False, frozenset(spared)
    for place in range(len(entries) - 1, -1, -1):
        row = entries[place].row
        if isinstance(row, AssistantChunk):
            seen = True
        if not isinstance(row, ToolResultChunk):
            continue
        tokens = row_tokens(row)
        left -= tokens
        if left >= 0 or not seen or spared_names & {row.name, entries[place].tool}:
            continue
        if (tokens >= large_tokens or _listed(row.content)) and stub(row) is not row:
            places.append(place)
    return tuple(reversed(places))


def pruned(entries: Sequence[Entry], call_ids: Collection[str]) -> tuple[Entry, ...]:
    """The entries, with a line for what each of these calls answered."""
    return tuple(
        msgspec.structs.replace(entry, row=stub(entry.row))
        if isinstance(entry.row, ToolResultChunk) and entry.call_id in call_ids
        else entry
        for entry in entries
    )
