"""The pages of docs/reference are what the code says now."""

import pytest
from reference_pages.configuration import undocumented
from reference_pages.pages import FOLDER, pages

from holdfast.app.profiles import TOOLSETS
from holdfast.contract.event_kinds import KINDS
from holdfast.surfaces.cli.verbs import VERBS
from holdfast.surfaces.http.table import ROUTES

PAGES = pages()


@pytest.mark.parametrize("name", sorted(PAGES))
def test_a_page_of_the_reference_is_up_to_date(name: str) -> None:
    written = (FOLDER / name).read_text("utf-8") if (FOLDER / name).exists() else ""
    assert written == PAGES[name], "run: make docs"


def test_there_is_no_page_that_nothing_writes() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(PAGES)


def test_every_key_of_the_configuration_says_what_it_means() -> None:
    assert undocumented() == []


def test_everything_has_a_heading_of_its_own() -> None:
    def headings(name: str) -> int:
        return PAGES[name].count("\n### ")

    assert PAGES["commands.md"].count("\n## ") == len(VERBS)
    assert headings("events.md") == len(KINDS)
    assert headings("http.md") == len(ROUTES)
    assert headings("tools.md") == sum(len(TOOLSETS[name]) for name in TOOLSETS)
