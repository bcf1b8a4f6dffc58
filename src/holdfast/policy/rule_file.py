"""Rules as a person writes them: TOML, with examples that are checked when the file is loaded.

    [[rule]]
    permission = "bash"
    pattern = "git *"
    action = "allow"
    reason = "Reading and committing is fine."
    match = ["git status"]
    no_match = ["gitk --all"]

Text in, rules or problems out; every problem names its line. It reads no files.
"""

import tomllib
from collections.abc import Iterator
from difflib import get_close_matches
from typing import cast, get_args

import msgspec

from holdfast.contract.late_pattern import late_pattern
from holdfast.contract.rules import ACTIONS, Action, Rule, RuleScope, TargetKind
from holdfast.policy.examples import Example, examples_of
from holdfast.policy.globs import GlobProblem
from holdfast.policy.rules import check_patterns
from holdfast.policy.targets import never_fits, never_used

_TABLE = late_pattern(r"\s*\[\[\s*rule\s*\]\]")
_TOML_LINE = late_pattern(r"\(at line (\d+), column \d+\)")


class WrittenRule(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One ``[[rule]]`` table."""

    permission: str
    pattern: str
    action: str = "ask"
    reason: str | None = None
    pinned: bool = False
    match: tuple[str, ...] = ()
    no_match: tuple[str, ...] = ()
    kind: TargetKind | None = None
    """What the examples are, where the permission does not say: path, command, host or name."""


_KEYS = tuple(WrittenRule.__struct_fields__)
_EXAMPLES = {
    "permission": 'permission = "shell.run"',
    "pattern": 'pattern = "git *"',
    "action": 'action = "deny"',
    "reason": 'reason = "Publishing is for people."',
    "pinned": "pinned = true",
    "match": 'match = ["git status"]',
    "no_match": 'no_match = ["gitk"]',
    "kind": f"kind = {' or '.join(repr(kind) for kind in get_args(TargetKind))}",
}
_AT_KEY = late_pattern(r"at `\$\.(\w+)")


class FileProblem(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong in a rule file, and where."""

    line: int
    message: str


class RuleFile(msgspec.Struct, frozen=True, kw_only=True):
    """What a rule file holds."""

    rules: tuple[Rule, ...] = ()
    examples: tuple[Example, ...] = ()
    problems: tuple[FileProblem, ...] = ()


def read_rule_file(text: str, *, name: str, scope: RuleScope) -> RuleFile:
    """Read the rules of a file; a rule with a problem is left out, and the problem is told."""
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError) as problem:
        return RuleFile(problems=(_not_toml(problem),))
    tables, problems = _tables(document, text)
    reading = _Reading(name, scope)
    for table, line, lines in tables:
        reading.add(table, line, lines)
    return RuleFile(
        rules=tuple(reading.rules),
        examples=tuple(reading.examples),
        problems=(*problems, *reading.problems),
    )


def _not_toml(problem: Exception) -> FileProblem:
    place = _TOML_LINE.search(str(problem))
    message = _TOML_LINE.sub("", str(problem)).strip()
    said = f"not valid TOML ({message}); texts stand in quotes, for example {_EXAMPLES['pattern']}"
    return FileProblem(line=int(place.group(1)) if place else 1, message=said)


class _Reading:
    def __init__(self, name: str, scope: RuleScope) -> None:
        self._name = name
        self._scope: RuleScope = scope
        self.rules: list[Rule] = []
        self.examples: list[Example] = []
        self.problems: list[FileProblem] = []

    def add(self, table: dict[str, object], line: int, lines: dict[str, int]) -> None:
        unknown = [key for key in table if key not in _KEYS]
        for key in unknown:
            near = get_close_matches(key, _KEYS, n=1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(_KEYS)}"
            self._problem(lines.get(key, line), f"there is no key {key!r}{hint}")
        if unknown:
            return
        try:
            written = msgspec.convert(table, WrittenRule)
        except msgspec.ValidationError as problem:
            key, said = _wrong_or_missing(table, str(problem))
            self._problem(lines.get(key, line), said)
            return
        if written.action not in ACTIONS:
            known = f"{', '.join(ACTIONS[:-1])} or {ACTIONS[-1]}"
            self._problem(
                lines.get("action", line), f"action is {written.action!r}; it must be {known}"
            )
            return
        self._take(written, line, lines)

    def _take(self, written: WrittenRule, line: int, lines: dict[str, int]) -> None:
        rule = Rule(
            permission=written.permission,
            pattern=written.pattern,
            action=cast("Action", written.action),
            scope=self._scope,
            source=f"{self._name}:{line}",
            reason=written.reason,
            pinned=written.pinned,
        )
        if written.pinned and (rule.action != "ask" or self._scope != "manifest"):
            self._problem(
                lines.get("pinned", line),
                "only an ask in [[profile.NAME.rules]] of config.toml can be pinned; remove it",
            )
            return
        try:
            check_patterns(rule)
        except GlobProblem as problem:
            self._problem(line, str(problem))
            return
        unused = never_used(rule.permission)
        if unused is not None:
            self._problem(lines.get("permission", line), unused)
            return
        never = never_fits(rule.permission, rule.pattern)
        if never is not None:
            self._problem(lines.get("pattern", line), never)
            return
        examples = examples_of(rule, written.match, written.no_match, written.kind)
        for example in examples:
            if not example.holds:
                self._problem(lines.get(example.key, line), example.complaint)
        self.rules.append(rule)
        self.examples += examples

    def _problem(self, line: int, message: str) -> None:
        self.problems.append(FileProblem(line=line, message=message))


def _wrong_or_missing(table: dict[str, object], said: str) -> tuple[str, str]:
    """The key that is wrong or not there, and what to write."""
    at = _AT_KEY.search(said)
    if at is not None:
        return at[1], f"{at[1]} cannot be that; write for example {_EXAMPLES[at[1]]}"
    missing = next(key for key in ("permission", "pattern") if key not in table)
    return missing, f"the rule has no {missing}; write for example {_EXAMPLES[missing]}"


Located = tuple[dict[str, object], int, dict[str, int]]
"""A table, its line, and the line of each of its keys."""


def _tables(document: dict[str, object], text: str) -> tuple[list[Located], list[FileProblem]]:
    problems = [
        FileProblem(line=_line_of(text, key), message=f"there is no table {key!r}; write [[rule]]")
        for key in document
        if key != "rule"
    ]
    given = document.get("rule", [])
    if not isinstance(given, list) or not all(
        isinstance(one, dict) for one in cast("list[object]", given)
    ):
        at = _line_of(text, "rule")
        return [], [*problems, FileProblem(line=at, message="write each rule as [[rule]]")]
    tables = cast("list[dict[str, object]]", given)
    places = list(_places(text))
    if len(places) != len(tables):  # written inline: only the file is known
        places = [(1, dict[str, int]())] * len(tables)
    return [(table, *place) for table, place in zip(tables, places, strict=True)], problems


def _places(text: str) -> Iterator[tuple[int, dict[str, int]]]:
    """Where each ``[[rule]]`` begins, and each key in it."""
    start, keys = 0, dict[str, int]()
    for number, line in enumerate(text.splitlines(), 1):
        if _TABLE.match(line):
            if start:
                yield start, keys
            start, keys = number, {}
        elif start and "=" in line:
            keys.setdefault(line.partition("=")[0].strip().strip("\"'"), number)
    if start:
        yield start, keys


def _line_of(text: str, word: str) -> int:
    numbered = enumerate(text.splitlines(), 1)
    return next((number for number, line in numbered if word in line), 1)
