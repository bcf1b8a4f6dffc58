"""`holdfast acp` as a verb: what its words mean, before any editor says anything."""

import io
from argparse import Namespace
from pathlib import Path

import pytest
from command import Cli

from holdfast.app.problems import ConfigurationError
from holdfast.surfaces.acp.listing import sessions_listed
from holdfast.surfaces.cli.acp import prepared
from holdfast.surfaces.cli.catalogue import module_of, parser_of
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.verbs import BY_NAME


@pytest.fixture
def screen() -> Screen:
    return Screen(io.StringIO(), io.StringIO())


def _words(*words: str) -> Namespace:
    verb = BY_NAME["acp"]
    return parser_of(verb, module_of(verb)).parse_intermixed_args(list(words))


def test_its_help_shows_how_it_is_started(cli: Cli) -> None:
    answer = cli("acp", "--help")
    assert answer.status == 0
    assert "holdfast acp --profile readonly" in answer.out
    assert "the folder that the editor names by default" in " ".join(answer.out.split())


def test_a_wrong_setting_is_said_at_once(cli: Cli) -> None:
    answer = cli("acp", "--set", "limits")
    assert (answer.status, answer.out) == (2, "")
    assert "there is no value; write --set limits=VALUE" in answer.err
    without = cli("acp", "--set", "store.kind=none")
    assert without.status == 2
    assert "store.kind" in without.err


def test_what_the_words_name_is_what_sessions_are_opened_with(
    tmp_path: Path, home: Path, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    arguments = _words("--manifest", "tools.json", "--tool-timeout", "3", "--model", "m")
    work, options = prepared(arguments, screen, str(tmp_path), None, "readonly")
    assert (work.profile, work.model, work.workspace) == ("readonly", "m", str(tmp_path))
    assert (work.agent, work.session) == (None, None)
    assert options.get("manifests") == ("tools.json",)
    timeouts = options.get("timeouts")
    assert timeouts is not None
    assert timeouts.tool == 3.0
    with pytest.raises(ConfigurationError, match="there is no such directory"):
        prepared(arguments, screen, str(tmp_path / "none"), None, None)


async def test_where_nothing_is_stored_no_session_is_listed(
    tmp_path: Path, home: Path, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    _, options = prepared(_words(), screen, str(tmp_path), None, None)
    configuration = options.get("configuration")
    assert configuration is not None
    listed = await sessions_listed(configuration.settings, None, "50")
    assert (listed.sessions, listed.next_cursor) == ([], None)
