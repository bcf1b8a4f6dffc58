"""The hook that holds commands to a profile: every form in which a tool can be given one."""

import pytest
from policy.judge_kit import PURE, SHELL, WRITER, prepared
from policy.test_command_policies import HERE

from holdfast.contract.agents import NO_AGENT
from holdfast.contract.commanding import CommandPolicy
from holdfast.contract.json_value import JsonObject
from holdfast.contract.tool import Tool
from holdfast.contract.watchdog import NOTHING_AGAINST_IT, Inspection, Opinion
from holdfast.policy.hooks.profile_commands import ProfileCommands


def opinion(
    arguments: JsonObject, policy: CommandPolicy = "managed", tool: Tool = SHELL
) -> Opinion:
    inspection = Inspection(prepared=prepared(tool, arguments), manifest=NO_AGENT, uses=())
    given = ProfileCommands(policy, HERE)(inspection)
    assert isinstance(given, Opinion)
    return given


@pytest.mark.parametrize("policy", ["read_only", "managed"])
@pytest.mark.parametrize("command", [{"run": "ls"}, 7, True])
def test_what_cannot_be_read_as_a_command_is_refused(
    policy: CommandPolicy, command: JsonObject | int
) -> None:
    assert opinion({"command": command}, policy).verdict == "deny"
    assert opinion({"command": command}, "any") is NOTHING_AGAINST_IT


def test_without_a_command_there_is_nothing_to_refuse() -> None:
    assert opinion({"command": None}) is NOTHING_AGAINST_IT
    assert opinion({}) is NOTHING_AGAINST_IT
    assert opinion({"command": "rm x"}, tool=PURE) is NOTHING_AGAINST_IT
    assert opinion({"path": "rm x", "command": "rm x"}, tool=WRITER) is NOTHING_AGAINST_IT


def test_words_are_judged_like_the_text_they_stand_for() -> None:
    assert opinion({"command": ["cat", "a b"]}) is NOTHING_AGAINST_IT
    assert opinion({"command": "cat 'a b'"}) is NOTHING_AGAINST_IT
    for refused in ("rm a", "cat /etc/passwd"):
        assert opinion({"command": refused}).verdict == "deny"
        assert opinion({"command": [*refused.split()]}).verdict == "deny"


@pytest.mark.parametrize("name", ["workdir", "cwd"])
def test_where_it_runs_counts(name: str) -> None:
    assert opinion({"command": "cat ../a", name: "sub"}) is NOTHING_AGAINST_IT
    assert opinion({"command": "cat ../a", name: ""}).verdict == "deny"
