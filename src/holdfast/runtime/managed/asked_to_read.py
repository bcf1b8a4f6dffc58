"""The call that reads what a person's words ask for: found by the words alone, or not at all.

It is a hint for a model, and permits nothing. Whether the file is there is not known here.
"""

import posixpath
import re

from holdfast.contract.steps import Step
from holdfast.policy.read_only import alternatives

MOST_LOOKED_AT = 4_000
"""Characters of a message: its beginning."""
_READS = re.compile(
    r"\b(?:read|open|show|print|display|check|see|review|inspect|summari[sz]e|look (?:at|into)|"
    r"what(?:'s| is| does| stands) (?:in|on)?)\b",
    re.IGNORECASE,
)
_LAST_OUTPUT = re.compile(
    r"\b(?:last|latest|previous) (?:output|command)\b|\bwhat (?:did|has) (?:it|that) print",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"`([^`\n]{1,400})`")
_COMMAND = re.compile(r"\b(?i:run|execute)\s+((?:cat|head|tail|ls|find|grep|rg|wc|sed)\b[^\n,;]*)")
_AROUND = "\"'`()[]{}<>,;!?"
_FILE = re.compile(r"(?:[\w.@+-]+/)*[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,9}")
"""A path whose last part has an ending, such as `src/main.py`."""
_RATIONALE = "The words ask for what this call shows; it changes nothing."


def asked_to_read(message: str, cwd: str) -> Step | None:
    """The call to begin with; None: the words name none. ``cwd``: where paths begin."""
    said = message[:MOST_LOOKED_AT]
    if _LAST_OUTPUT.search(said):
        return Step(tool="shell_read_last_output", rationale=_RATIONALE)
    return _instead_of_a_command(said, cwd) or _file(said, cwd)


def _instead_of_a_command(said: str, cwd: str) -> Step | None:
    for found in (*_QUOTED.findall(said), *_COMMAND.findall(said)):
        instead = alternatives(found.strip().rstrip(".?!"), cwd).preferred
        if instead is not None:
            return Step(tool=instead.tool, args=instead.args, rationale=_RATIONALE)
    return None


def _file(said: str, cwd: str) -> Step | None:
    """The first file that stands behind a word that asks to read."""
    verb = _READS.search(said)
    if verb is None:
        return None
    for word in said[verb.end() :].split():
        name = word.strip(_AROUND).rstrip(".:")
        if _FILE.fullmatch(name.lstrip("/")) and ".." not in name.split("/"):
            path = name if name.startswith("/") else posixpath.join(cwd, name)
            return Step(tool="read", args={"path": path}, rationale=_RATIONALE)
    return None
