"""Grants that come with a source: recorded, and narrowed by everything that narrows."""

import msgspec
import pytest
from policy.judge_kit import EDITOR, SHELL, WRITER, action, judged
from policy.rules_kit import rule
from support import make_judge

from holdfast.contract.call import Deny, Permit
from holdfast.contract.requirements import NOTHING_REQUIRED
from holdfast.contract.watchdog import Inspection, Opinion
from holdfast.policy.powers import AgentRules
from holdfast.policy.source_grants import (
    DEFAULT_REQUIREMENTS,
    Mount,
    flow_sandbox,
    managed_mounts,
    named_manifest,
    together,
    vaults,
)

GRANTS = {
    "the manifest tools.json was named by the program or the command line": named_manifest(
        ["writer"], "tools.json", "the program or the command line"
    ),
    "the program gave the session the sandbox local": flow_sandbox(["writer"], "local"),
}


def grounds(verdict: object) -> str:
    assert isinstance(verdict, Permit)
    return verdict.grounds


@pytest.mark.parametrize("said", GRANTS)
def test_what_was_set_up_runs_where_nobody_is_and_says_why(said: str) -> None:
    judge = make_judge(standing=GRANTS[said].standing, headless=True)
    permit = judged(judge, WRITER, {"path": "a"})
    assert grounds(permit) == f"no rule speaks against it: {said}"
    other = msgspec.structs.replace(WRITER, name="other")
    assert action(judged(judge, other, {"path": "a"})) == "deny"


@pytest.mark.parametrize("said", GRANTS)
def test_whatever_narrows_narrows_it(said: str) -> None:
    standing = GRANTS[said].standing

    def suspicious(_inspection: Inspection, /) -> Opinion:
        return Opinion("deny", "no")

    for one in (rule("fs.write", "**", "ask"), rule("writer", "a", "deny"), rule("*", "*", "ask")):
        judge = make_judge(one, standing=standing)
        assert action(judged(judge, WRITER, {"path": "a"})) == one.action
    watched = make_judge(standing=standing, hooks=[suspicious])
    assert isinstance(judged(watched, WRITER, {"path": "a"}), Deny)
    child = make_judge(standing=standing, parents=(AgentRules(),))
    assert action(judged(child, WRITER, {"path": "a"})) == "ask"


def test_a_manifest_that_was_merely_found_grants_nothing() -> None:
    assert action(judged(make_judge(), WRITER, {"path": "a"})) == "ask"


MANAGED = managed_mounts([Mount("/workspace", writable=True), Mount("/memory", writable=False)])
GRANTED = MANAGED.granted


@pytest.mark.parametrize(
    ("path", "wanted"),
    [("/workspace/a", "allow"), ("/memory/a", "ask"), ("/workspaces/a", "ask")],
)
def test_the_managed_profile_is_free_in_its_mounts(path: str, wanted: str) -> None:
    assert action(judged(make_judge(granted=GRANTED), WRITER, {"path": path})) == wanted
    for other in ("ask", "deny"):
        narrowed = make_judge(rule("fs.write", "/workspace/a", other), granted=GRANTED)
        assert action(judged(narrowed, WRITER, {"path": "/workspace/a"})) == other


def test_the_managed_profile_looks_with_ten_programs() -> None:
    judge = make_judge(granted=GRANTED)
    bash = msgspec.structs.replace(SHELL, name="bash")
    for text in ("pwd", "ls", "cat a.txt", "head -n 2 a.txt"):
        assert action(judged(judge, bash, {"command": text})) == "allow"
    for text in ("rm a", "cat a; rm a", "find ."):
        assert action(judged(judge, bash, {"command": text})) == "ask"


@pytest.mark.parametrize("pattern", ["**", "**/*.pem", "*"])
def test_no_grant_of_a_mount_outweighs_a_rule_however_wide_that_is(pattern: str) -> None:
    for other in ("ask", "deny"):
        judge = make_judge(rule("*", pattern, other), granted=GRANTED)
        assert action(judged(judge, WRITER, {"path": "/workspace/a.pem"})) == other


def test_what_lies_in_a_vault_is_nobodys() -> None:
    denied = vaults(["/safe/"]).rules
    judge = make_judge(*denied, rule("*", "**", "allow", "session"), granted=GRANTED)
    for path in ("/safe", "/safe/a", "/safe/a/b"):
        assert action(judged(judge, EDITOR, {"path": path})) == "deny"
    assert action(judged(judge, EDITOR, {"path": "/safes"})) == "allow"


def test_several_grants_are_one() -> None:
    both = together([named_manifest(["a"], "x.json", "the configuration"), *GRANTS.values()])
    assert set(both.standing) == {"a", "writer"}
    assert both.standing["writer"] == next(iter(GRANTS))
    assert together([MANAGED]).granted == GRANTED


def test_who_says_nothing_of_his_needs_gets_little() -> None:
    assert {name for name, one in DEFAULT_REQUIREMENTS.items() if one != NOTHING_REQUIRED} == {
        "manifest"
    }
    assert DEFAULT_REQUIREMENTS["manifest"].fs.read == ("{workspace}/**",)
