"""The `[web]` table: what it takes, what it refuses, whose it is, and that its keys are secrets."""

from pathlib import Path
from typing import Any

import pytest

from holdfast.app.configuration import ConfigurationError, load_configuration
from holdfast.app.settings import SearchSettings, Settings, WebSettings
from holdfast.app.surroundings import surroundings_of_this_process
from holdfast.app.web import with_provider
from holdfast.sources.intake import built_in
from holdfast.tools.locked.todo import todo
from holdfast.tools.locked.web_search import web_search

WHOLE = """
[web]
search_calls = 5
search_seconds = 2.5

[[web.search]]
kind = "searxng"
url = "https://search.example.com"

[[web.search]]
kind = "brave"
key_variable = "MY_SEARCH"

[[web.search]]
kind = "static"
file = "documents.json"
"""


def loaded(tmp_path: Path, text: str, *, project: str = "") -> Any:
    home, work = tmp_path / "home", tmp_path / "work"
    (home / "holdfast").mkdir(parents=True)
    (home / "holdfast" / "config.toml").write_text(text, "utf-8")
    (work / ".holdfast").mkdir(parents=True)
    if project:
        (work / ".holdfast" / "config.toml").write_text(project, "utf-8")
    environment = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(home)}
    return load_configuration(work, environment=environment)


def test_a_whole_table_is_read(tmp_path: Path) -> None:
    web = loaded(tmp_path, WHOLE).settings.web
    assert (web.search_calls, web.search_seconds) == (5, 2.5)
    assert web.search == (
        SearchSettings(kind="searxng", url="https://search.example.com"),
        SearchSettings(kind="brave", key_variable="MY_SEARCH"),
        SearchSettings(kind="static", file=str(tmp_path / "home" / "holdfast" / "documents.json")),
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[[web.search]]\nkind = "searxng"', "needs url"),
        ('[[web.search]]\nkind = "searxng"\nurl = ""', "needs url"),
        ('[[web.search]]\nkind = "brave"', "needs key_variable"),
        ('[[web.search]]\nkind = "static"', "needs file"),
        ('[[web.search]]\nkind = "google"', "one of searxng, brave, static"),
        ('[[web.search]]\nurl = "https://x.example"', "kind is missing"),
        ('[[web.search]]\nkind = "static"\nfile = "a"\nurl = "https://x"', "has no url"),
        ('[[web.search]]\nkind = "brave"\nkey = "secret"', "there is no such key"),
        *(
            (f'[[web.search]]\nkind = "searxng"\nurl = "{url}"', "is no address to ask")
            for url in (
                *("ftp://x.example", "x.example", "https://u:p@x.example", "https://"),
                *("https://*.example", "https://x:99999", "http://[", "https://{workspace}/"),
            )
        ),
        ("[web]\nsearch_calls = 0", "search_calls"),
        ("[web]\nsearch_seconds = inf", "search_seconds"),
        ("[web]\nsearch_minutes = 3", "there is no such key"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ConfigurationError, match=words):
        loaded(tmp_path, text)


def test_a_project_that_is_not_trusted_adds_nothing(tmp_path: Path) -> None:
    configuration = loaded(tmp_path, "", project=WHOLE)
    assert configuration.settings.web == WebSettings()
    assert sum("web." in notice for notice in configuration.notices) == 3


def test_the_keys_of_providers_are_secrets() -> None:
    brave = SearchSettings(kind="brave", key_variable="MY_SEARCH")
    unset = SearchSettings(kind="brave", key_variable="OTHER")
    settings = Settings(web=WebSettings(search=(brave, unset)))
    around = surroundings_of_this_process(settings, environment={"MY_SEARCH": "abc-def-ghi"})
    assert around.search_keys == {"MY_SEARCH": "abc-def-ghi"}
    assert "abc-def-ghi" in around.secrets
    assert "MY_SEARCH" not in around.environment


@pytest.mark.parametrize(
    ("given", "hosts"),
    [
        ({"kind": "searxng", "url": "https://s.example/x"}, ("s.example:443",)),
        ({"kind": "searxng", "url": "http://[::1]:8080"}, ("[::1]:8080",)),
        ({"kind": "brave", "key_variable": "K"}, ("api.search.brave.com:443",)),
        ({"kind": "static", "file": "x"}, ()),
    ],
)
def test_the_tool_requires_the_host_of_its_provider(
    given: dict[str, Any], hosts: tuple[str, ...]
) -> None:
    web = WebSettings(search=(SearchSettings(**given),))
    tool = built_in(web_search)
    assert with_provider(tool, web, "ses_1").requires.net.hosts == hosts
    assert with_provider(tool, WebSettings(), "ses_1") is tool
    assert with_provider(built_in(todo), web, "ses_1") is built_in(todo)
