"""What a person sees of agents: what one has, what it may, and which of them cannot be used."""

import json
from pathlib import Path

import pytest
from command import Cli

CODER = """
[agent.coder]
profile = "locked"
roots = ["lib"]

[agent.coder.tools]
deny = ["bash"]

[[agent.coder.rules]]
permission = "fs.write"
pattern = "dist/**"
action = "deny"
reason = "It is made."
"""


@pytest.fixture(autouse=True)
def agents(home: Path, tmp_path: Path) -> None:
    (home / "config.toml").write_text(CODER, "utf-8")
    (tmp_path / "lib").mkdir()


def names(out: str) -> set[str]:
    return {one["name"] for one in json.loads(out)}


def test_tools_shows_what_an_agent_has(cli: Cli) -> None:
    seen = names(cli("tools", "--agent", "coder", "--json").out)
    assert {"read", "write"} < seen
    assert "bash" not in seen
    assert "apply_patch" not in seen, "that is of the profile code"
    assert {"bash", "apply_patch"} < names(cli("tools", "--json").out)


def test_explain_judges_a_call_as_the_agents(cli: Cli, tmp_path: Path) -> None:
    call = ("policy", "explain", "write", "content=x")
    for path in ("dist/a.js", str(tmp_path / "lib" / "dist" / "a.js")):
        told = cli(*call, f"path={path}", "--agent", "coder")
        assert told.status == 3
        assert "It is made." in told.out
    within = cli(*call, f"path={tmp_path}/lib/a.js", "--agent", "coder", "--json")
    assert json.loads(within.out)["verdict"] == "allow"


def test_call_runs_a_call_as_the_agents(cli: Cli, tmp_path: Path) -> None:
    path = tmp_path / "lib" / "a.txt"
    assert cli("call", "write", f"path={path}", "content=x", "--agent", "coder").status == 0
    assert path.read_text("utf-8") == "x"
    refused = cli("call", "write", f"path={tmp_path}/lib/dist/a", "content=x", "--agent", "coder")
    assert refused.status == 3


def test_list_shows_the_rules_of_the_agent(cli: Cli, home: Path) -> None:
    told = json.loads(cli("policy", "list", "--agent", "coder", "--json").out)
    mine = [one for one in told if one["pattern"] == "dist/**"]
    assert [(one["scope"], one["source"]) for one in mine] == [
        ("manifest", f"{home / 'config.toml'}:9")
    ]
    assert "profile locked, as it ships" in [one["source"] for one in told]
    assert "dist/**" not in cli("policy", "list").out


@pytest.mark.parametrize("words", [("tools",), ("policy", "list"), ("policy", "explain", "read")])
def test_an_agent_that_is_not_there_is_named(cli: Cli, words: tuple[str, ...]) -> None:
    told = cli(*words, "--agent", "codr")
    assert told.status == 2
    assert "there is no agent 'codr'; did you mean 'coder'?" in told.err


def test_another_profile_than_the_agents_is_refused(cli: Cli) -> None:
    told = cli("tools", "--agent", "coder", "--profile", "code")
    assert told.status == 2
    assert "the agent has the profile 'locked', and 'code' was asked for" in told.err


def test_doctor_tells_of_agents_that_do_not_compile(cli: Cli, home: Path) -> None:
    well = cli("doctor")
    assert well.status == 0
    assert "OK    agents: coder\n" in well.out
    broken = '\n[agent.broken.requires]\nread = ["docs/**", "{worksapce}/**"]\n'
    (home / "config.toml").write_text(CODER + broken, "utf-8")
    told = cli("doctor")
    assert told.status == 1
    entry = "agent.broken.requires.read[1]: unknown variable {worksapce}"
    assert f"FAIL  agents: {entry}\n      -> did you mean {{workspace}}?\n" in told.out
    assert "OK    agents: coder\n" in told.out, "the others are well"
