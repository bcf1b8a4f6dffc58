"""Docstrings taken apart: what the tool does, and what each parameter is.

Text in, text out; total: no docstring makes it raise. Understood are Google and NumPy sections,
reST fields, lines ``name: text``, and sentences ``name: text`` within a paragraph. A name counts
only if it is a parameter.
"""

import inspect
import re
from collections.abc import Collection

import msgspec

from holdfast.contract.late_pattern import late_pattern

_SECTION = late_pattern(
    r"(args|arguments|parameters|params|attributes|other parameters"
    r"|keyword args|keyword arguments)\s*:",
    re.IGNORECASE,
)
_NUMPY_SECTION = late_pattern(r"(parameters|other parameters|attributes)", re.IGNORECASE)
_UNDERLINE = late_pattern(r"-{3,}|={3,}")
_ENTRY = late_pattern(r"(?:[-*+]\s+)?[`*]*(\w+)`*\s*(?:\([^)]*\))?\s*:(?!:)\s*(.*)")
_NUMPY_ENTRY = late_pattern(r"\*{0,2}(\w+(?:\s*,\s*\*{0,2}\w+)*)\s*(?::.*)?")
_FIELD = late_pattern(
    r":(param|parameter|arg|argument|key|keyword|type)\s+(?:[^:]*\s)?\*{0,2}(\w+)\s*:\s*(.*)"
)
_ANY_FIELD = late_pattern(r":\w+[^:]*:")
_BLANK_RUN = late_pattern(r"\n{3,}")
_PARAGRAPHS = late_pattern(r"(\n\s*\n)")
_OPENING = late_pattern(r"(?:\A|(?<=[.;!?])\s+)`?\b(\w+)`?:\s")
"""A parameter's sentence begins its paragraph or follows the end of another sentence."""


class Docstring(msgspec.Struct, frozen=True):
    """A docstring in its two parts."""

    description: str
    parameters: dict[str, str]


def read_docstring(text: str | None, names: Collection[str]) -> Docstring:
    """Split the docstring; the description no longer holds what is said of parameters."""
    lines = inspect.cleandoc(text or "").split("\n")
    found: dict[str, list[str]] = {}
    lines = _without_sections(lines, found)
    lines = _without_numpy(lines, found)
    known = frozenset(names)
    lines = _without_fields(lines, found)
    lines = _without_entries(lines, known, found)
    description = _without_sentences("\n".join(lines), known, found)
    for name, words in list(found.items()):
        # One line may speak of several parameters.
        found[name] = [_without_sentences("\n".join(words), known - found.keys(), found)]
    return Docstring(
        description=_BLANK_RUN.sub("\n\n", description).strip(),
        parameters={
            name: joined
            for name, words in found.items()
            if name in known and (joined := " ".join(" ".join(words).split()))
        },
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _block_end(lines: list[str], start: int, indent: int) -> int:
    """Where the lines end that are blank or indented more than the given depth."""
    end = start
    for at in range(start, len(lines)):
        if lines[at].strip():
            if _indent(lines[at]) <= indent:
                break
            end = at + 1
    return end


def _note(found: dict[str, list[str]], name: str, text: str) -> list[str]:
    """Begin what is said of a parameter; the first place that speaks of it counts."""
    words = [text]
    if not found.get(name):
        found[name] = words
    return words


def _without_sections(lines: list[str], found: dict[str, list[str]]) -> list[str]:
    kept: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        end = _block_end(lines, at + 1, _indent(line))
        block = [member for member in lines[at + 1 : end] if member.strip()]
        if _SECTION.fullmatch(line.strip()) and block and _ENTRY.match(block[0].strip()):
            _read_entries(block, found)
            at = end
        else:
            kept.append(line)
            at += 1
    return kept


def _read_entries(block: list[str], found: dict[str, list[str]]) -> None:
    depth = min(_indent(line) for line in block)
    words: list[str] = []
    for line in block:
        entry = _ENTRY.fullmatch(line.strip()) if _indent(line) == depth else None
        if entry is not None:
            words = _note(found, entry.group(1), entry.group(2))
        else:
            words.append(line.strip())


def _without_numpy(lines: list[str], found: dict[str, list[str]]) -> list[str]:
    kept: list[str] = []
    at = 0
    while at < len(lines):
        if not (_is_numpy_header(lines, at) and _NUMPY_SECTION.fullmatch(lines[at].strip())):
            kept.append(lines[at])
            at += 1
            continue
        depth = _indent(lines[at])
        at += 2
        targets: list[list[str]] = []
        while at < len(lines) and not _is_numpy_header(lines, at):
            line = lines[at]
            entry = _NUMPY_ENTRY.fullmatch(line.strip()) if _indent(line) <= depth else None
            if entry is not None:
                targets = [
                    _note(found, name.strip().lstrip("*"), "") for name in entry.group(1).split(",")
                ]
            else:
                for words in targets:
                    words.append(line.strip())
            at += 1
    return kept


def _is_numpy_header(lines: list[str], at: int) -> bool:
    return (
        at + 1 < len(lines)
        and bool(lines[at].strip())
        and _UNDERLINE.fullmatch(lines[at + 1].strip()) is not None
    )


def _without_fields(lines: list[str], found: dict[str, list[str]]) -> list[str]:
    kept: list[str] = []
    words: list[str] | None = None
    depth = 0
    for line in lines:
        field = _FIELD.fullmatch(line.strip())
        if field is not None:
            kind, name, text = field.groups()
            words = [] if kind == "type" else _note(found, name, text)
            depth = _indent(line)
        elif words is not None and line.strip() and _indent(line) > depth:
            words.append(line.strip())
        else:
            words = None
            kept.append(line)
    return kept


def _without_entries(
    lines: list[str], names: frozenset[str], found: dict[str, list[str]]
) -> list[str]:
    kept: list[str] = []
    words: list[str] | None = None
    depth = 0
    for at, line in enumerate(lines):
        entry = _ENTRY.fullmatch(line.strip())
        # The first line is the summary; a name there is a sentence, not an entry.
        if entry is not None and entry.group(1) in names and at > 0:
            words = _note(found, entry.group(1), entry.group(2))
            depth = _indent(line)
        elif words is not None and line.strip() and _indent(line) > depth:
            words.append(line.strip())
        else:
            words = None
            kept.append(line)
    return kept


def _without_sentences(text: str, names: frozenset[str], found: dict[str, list[str]]) -> str:
    if not names:
        return text
    kept: list[str] = []
    for paragraph in _PARAGRAPHS.split(text):
        openings = [one for one in _OPENING.finditer(paragraph) if one.group(1) in names]
        kept.append(paragraph[: openings[0].start()] if openings else paragraph)
        ends = [following.start() for following in openings[1:]] + [len(paragraph)]
        for here, end in zip(openings, ends, strict=False):
            _note(found, here.group(1), paragraph[here.end() : end].rstrip(" ;"))
    return "".join(kept)
