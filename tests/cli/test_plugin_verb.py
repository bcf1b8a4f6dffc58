"""`holdfast plugin`: what it makes works as it is, and what is wrong is told."""

import json
from pathlib import Path

import pytest
from command import Cli

from holdfast.testing.plugin_kit import check_plugin


def test_what_it_makes_conforms_and_can_be_called(cli: Cli, tmp_path: Path) -> None:
    made = cli("plugin", "init", "my-plugin")
    assert made.status == 0
    checked = cli("plugin", "check", "my-plugin")
    assert (checked.status, checked.out.strip()) == (0, "my-plugin/: nothing is wrong")
    naming = f'plugins.load=["{tmp_path}/my-plugin"]'
    called = cli("call", "greeting", "name=Ada", "--set", naming)
    assert json.loads(called.out)["result"] == {"text": "Hello, Ada!"}
    listed = cli("plugin", "list", "--json", "--set", naming)
    assert json.loads(listed.out) == [
        {"name": f"{tmp_path}/my-plugin", "origin": "a folder", "loaded": "yes", "problem": None}
    ]


def test_its_package_announces_it(cli: Cli, tmp_path: Path) -> None:
    assert cli("plugin", "init", "my-plugin").status == 0
    written = (tmp_path / "my-plugin" / "pyproject.toml").read_text("utf-8")
    assert 'name = "holdfast-my-plugin"' in written
    assert '[project.entry-points."holdfast.tools"]\nmy_plugin = "holdfast_my_plugin"' in written


def test_nothing_is_overwritten(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "plugin.py").write_text("x = 1", "utf-8")
    refused = cli("plugin", "init", "mine")
    assert refused.status == 2
    assert "is there already" in refused.err
    assert sorted(path.name for path in (tmp_path / "mine").iterdir()) == ["plugin.py"]


def test_what_is_wrong_is_listed(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "plugin.py").write_text("x = 1", "utf-8")
    checked = cli("plugin", "check", "./mine", "--json")
    assert checked.status == 1
    (problem,) = json.loads(checked.out)["problems"]
    assert "there are no tools in it" in problem


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "what about plugins?"),
        (("chekc", "x"), "did you mean 'check'?"),
        (("init",), "which plugin?"),
        (("list", "x"), "takes no 'x'"),
        (("init", "9lives"), "is no name of a plugin"),
    ],
)
def test_a_command_line_that_says_too_little_or_too_much(
    cli: Cli, words: tuple[str, ...], said: str
) -> None:
    answered = cli("plugin", *words)
    assert answered.status == 2
    assert said in answered.err


@pytest.mark.anyio
async def test_two_tools_of_one_name_are_found(tmp_path: Path) -> None:
    source = "from holdfast import tool\n"
    for name in ("a", "b"):
        source += f'@tool(name="same")\ndef {name}() -> str:\n    """Same."""\n    return ""\n'
    (tmp_path / "plugin.py").write_text(source, "utf-8")
    problems = await check_plugin(f"{tmp_path}/")
    assert "same: there are two tools of this name" in problems


def test_a_plugin_that_is_broken_is_listed_as_broken(cli: Cli, home: Path, tmp_path: Path) -> None:
    for name, source in (("good", "x"), ("bad", "raise RuntimeError('no luck')\n")):
        assert cli("plugin", "init", name).status == 0
        if name == "bad":
            (tmp_path / name / "plugin.py").write_text(source, "utf-8")
    load = json.dumps([str(tmp_path / "good"), str(tmp_path / "bad")])
    (home / "config.toml").write_text(f"[plugins]\nload = {load}\n", "utf-8")
    listed = cli("plugin", "list")
    assert listed.status == 1
    states = {line.split()[0]: line.split()[-1] for line in listed.out.splitlines()[1:]}
    assert states[str(tmp_path / "good")] == "yes"
    assert states[str(tmp_path / "bad")] == "broken"
    assert f"{tmp_path}/bad/plugin.py:1: " in listed.err
    assert "no luck" in listed.err
    told = {one["name"]: one for one in json.loads(cli("plugin", "list", "--json").out)}
    assert "no luck" in told[str(tmp_path / "bad")]["problem"]
    assert told[str(tmp_path / "good")]["problem"] is None


def test_two_plugins_with_one_tool_name_are_both_named(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    for name in ("one", "two"):
        assert cli("plugin", "init", name).status == 0
    one, two = str(tmp_path / "one"), str(tmp_path / "two")
    (home / "config.toml").write_text(f"[plugins]\nload = {json.dumps([one, two])}\n", "utf-8")
    said = f"the tool 'greeting' is both in {one} and in {two}; rename one of them, or take one"
    refused = cli("tools")
    assert refused.status == 2
    assert said in refused.err
    listed = cli("plugin", "list")
    assert listed.status == 1
    assert [line.split()[-1] for line in listed.out.splitlines()[1:]] == ["broken", "broken"]
    assert listed.err.count(said) == 1
