"""The rules a session begins with, from the person's own file and the project's.

A project that is not trusted can only narrow: its allow rules are left out, and the others are
weighed apart, so that none of them displaces a stricter one of the person's.
"""

from pathlib import Path

import msgspec

from holdfast.app.problems import ConfigurationError
from holdfast.app.toml_text import read_text
from holdfast.contract.rules import Rule
from holdfast.policy.rule_file import RuleFile, read_rule_file

POLICY_NAME = "policy.toml"


class FoundRules(msgspec.Struct, frozen=True, kw_only=True):
    """Rules from files, and what was not taken."""

    rules: tuple[Rule, ...] = ()
    narrowing: tuple[Rule, ...] = ()
    """Of a project that is not trusted."""
    notices: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()


def find_rules(own: Path | None, project: Path | None, kept: Path | None) -> FoundRules:
    """Read both files; ConfigurationError names file and line of every mistake.

    Of a project that is trusted the kept copy is read.
    """
    mine, theirs = _rules(own), _rules(kept or project, project)
    files = tuple(path for path, read in ((own, mine), (project, theirs)) if path and read)
    ours = mine.rules if mine else ()
    if theirs is None:
        return FoundRules(rules=ours, files=files)
    if kept is not None:
        return FoundRules(rules=(*ours, *theirs.rules), files=files)
    narrowing = tuple(rule for rule in theirs.rules if rule.action != "allow")
    left_out = [rule for rule in theirs.rules if rule.action == "allow"]
    return FoundRules(rules=ours, narrowing=narrowing, notices=_notices(left_out), files=files)


def _notices(left_out: list[Rule]) -> tuple[str, ...]:
    """One for all of them: whoever does not trust a project reads it at every call."""
    if not left_out:
        return ()
    more = len(left_out) - 1
    rules, are = (f"this allow rule and {more} more", "are") if more else ("an allow rule", "is")
    step = "run holdfast trust to see its files and let them count"
    source = left_out[0].source
    return (f"{source}: {rules} of a project that is not trusted {are} not taken; {step}",)


def read_policy_file(path: Path, copy_of: Path | None = None) -> RuleFile | None:
    """The rules of one file, problems included; None when there is no such file."""
    text = read_text(path, copy_of)
    named = str(copy_of or path)
    return None if text is None else read_rule_file(text, name=named, scope="project")


def _rules(path: Path | None, copy_of: Path | None = None) -> RuleFile | None:
    found = None if path is None else read_policy_file(path, copy_of)
    if found is not None and found.problems:
        said = "; ".join(f"{copy_of or path}:{one.line}: {one.message}" for one in found.problems)
        raise ConfigurationError(said)
    return found
