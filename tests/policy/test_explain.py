"""The same decision, told step by step."""

import pytest
from policy.judge_kit import ASKS, EDITOR, EVERYTHING, WRITER, prepared
from policy.rules_kit import rule
from policy.rules_kit import use as some_use
from support import make_judge

from holdfast.contract.rules import Action, Use
from holdfast.contract.tool import Tool
from holdfast.contract.watchdog import Inspection, Opinion
from holdfast.policy.explain import Explanation
from holdfast.policy.judge import PolicyJudge
from holdfast.policy.powers import AgentRules, Looked


async def explained(judge: PolicyJudge, tool: Tool = WRITER, path: str = "a") -> Explanation:
    return await judge.explain(prepared(tool, {"path": path} if tool is WRITER else {}))


async def test_the_deciding_rule_is_named_with_its_scope_and_place() -> None:
    allow = rule("writer", "a", source="policy.toml:3", reason="It is ours.")
    deny = rule("*", "*", "deny", "project", source="policy.toml:9")
    found = await explained(make_judge(allow, deny))
    assert (found.tool, found.verdict, found.stage) == ("writer", "allow", "rules")
    (use,) = found.uses
    assert (use.capability, use.target, use.verdict) == ("fs.write", "a", "allow")
    assert use.decided_by is not None
    assert (use.decided_by.scope, use.decided_by.source) == ("session", "policy.toml:3")
    assert use.decided_by.reason == "It is ours."
    assert [other.source for other in use.also_fitting] == ["policy.toml:9"]
    assert use.otherwise == "Without it, * '*' (policy.toml:9) would deny."


async def test_where_no_rule_speaks_the_one_that_would_is_written_out() -> None:
    found = await explained(make_judge(), path="a*b")
    assert (found.verdict, found.stage) == ("ask", "rules")
    (use,) = found.uses
    assert use.decided_by is None
    assert use.otherwise is not None
    assert r"permission = 'writer', pattern = 'a\*b', action = 'allow'" in use.otherwise


async def test_a_deny_of_the_manifest_is_called_final() -> None:
    found = await explained(make_judge(rule("*", "**", "deny", "manifest", source="agent")))
    assert (found.verdict, found.stage) == ("deny", "rules")
    assert found.uses[0].otherwise is not None
    assert "Nothing lifts a deny of the manifest" in found.uses[0].otherwise


async def test_what_is_out_of_reach_is_told_with_its_reason() -> None:
    def nothing(_tool: Tool, use: Use) -> Looked:
        return Looked(use, "It is outside.")

    found = await explained(make_judge(EVERYTHING, look=nothing))
    assert (found.verdict, found.stage) == ("deny", "capabilities")
    (use,) = found.uses
    assert (use.within_reach, use.verdict, use.otherwise) == (False, "deny", "It is outside.")


@pytest.mark.parametrize("verdict", ["ask", "deny"])
async def test_the_watchdog_is_named_when_it_decides(verdict: Action) -> None:
    def hook(_inspection: Inspection, /) -> Opinion:
        return Opinion(verdict, "Look at this.")

    manifest = rule("*", "**", "allow", "manifest")
    found = await explained(make_judge(manifest, hooks=[hook]))
    assert (found.verdict, found.stage) == (verdict, "watchdog")
    assert "Look at this." in found.reason


async def test_a_hook_that_has_to_be_awaited_is_consulted_too() -> None:
    async def hook(_inspection: Inspection, /) -> Opinion:
        return Opinion("deny", "No.")

    assert (await explained(make_judge(EVERYTHING, hooks=[hook]))).verdict == "deny"


async def test_a_tool_that_always_asks_decides_itself() -> None:
    found = await explained(make_judge(), ASKS)
    assert (found.verdict, found.stage) == ("ask", "tool")


async def test_unattended_or_not_the_explanation_is_that_of_a_present_person() -> None:
    attended = await explained(make_judge())
    assert await explained(make_judge(headless=True)) == attended


async def test_a_doubt_is_told_with_what_would_end_it() -> None:
    def doubtful(_tool: Tool, use: Use) -> Looked:
        return Looked(
            Use(capability=use.capability, kind=use.kind, target=use.target, doubt="unknown")
        )

    found = await explained(make_judge(EVERYTHING, look=doubtful))
    assert found.verdict == "ask"
    assert found.uses[0].doubt == "unknown"
    assert found.uses[0].otherwise is not None
    assert "can be taken apart" in found.uses[0].otherwise


async def test_a_watchdog_that_refuses_a_tool_that_always_asks_is_named() -> None:
    def hook(_inspection: Inspection, /) -> Opinion:
        return Opinion("deny", "No.")

    found = await explained(make_judge(hooks=[hook]), ASKS)
    assert (found.verdict, found.stage) == ("deny", "watchdog")


async def test_what_was_not_judged_has_no_verdict() -> None:
    def only_reading(_tool: Tool, use: Use) -> Looked:
        return Looked(use, None if use.capability == "fs.read" else "It is outside.")

    found = await make_judge(look=only_reading).explain(prepared(EDITOR, {"path": "a"}))
    assert [use.verdict for use in found.uses] == [None, "deny"]


PINNED = rule("writer", "*", "ask", "manifest", pinned=True, source="profile code")
THEIRS = rule("writer", "*", "deny", "project", source="theirs.toml:3", reason="Trust me.")


@pytest.mark.parametrize(
    ("judge", "told"),
    [
        (make_judge(PINNED), "only profile code can be changed."),
        (make_judge(EVERYTHING, narrowing=((THEIRS,),)), "only theirs.toml:3 can be changed."),
        (make_judge(EVERYTHING, parents=(AgentRules(),)), "No allow rule of this agent lifts it."),
        (
            make_judge(rule("writer", "a", "deny", remembered=True)),
            "No allow rule lifts it; the answer ends with the session.",
        ),
    ],
)
async def test_no_rule_is_advised_that_would_change_nothing(judge: PolicyJudge, told: str) -> None:
    (one,) = (await explained(judge)).uses
    assert one.otherwise is not None
    assert one.otherwise.endswith(told)
    assert "A rule that fits exactly" not in one.otherwise


async def test_the_rule_that_is_advised_covers_every_form_of_a_path() -> None:
    def linked(_tool: Tool, one: Use) -> Looked:
        return Looked(some_use(one.capability, "link/a", "secret/a"))

    deny = rule("writer", "secret/", "deny", "project")
    found = await explained(make_judge(deny, look=linked))
    assert found.uses[0].otherwise is not None
    assert "pattern = '{link/a,secret/a}'" in found.uses[0].otherwise
    advised = rule("writer", "{link/a,secret/a}", "allow", "project")
    assert (await explained(make_judge(deny, advised, look=linked))).verdict == "allow"


async def test_a_target_too_long_for_a_rule_is_not_given_one() -> None:
    (found,) = (await explained(make_judge(), path="x" * 5_000)).uses
    assert found.otherwise == "No allow rule of this agent lifts it."


async def test_an_explanation_shows_no_control_characters_of_a_rule() -> None:
    odd = rule("{writer,\x1b[2J}", "*", "deny", reason="a\n\x1b]0;b\x07", source="x\ny:1")
    (found,) = (await explained(make_judge(odd))).uses
    assert found.decided_by is not None
    cited = found.decided_by
    assert all(
        text and text.isprintable() for text in (cited.permission, cited.source, cited.reason)
    )
