"""Every page of the reference, as it has to be."""

from pathlib import Path

from reference_pages import commands, configuration, events, http, tools

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
_HINT = "<!-- Written by `make docs` from the code; change the code, not this page. -->\n"
_PAGES = {
    "commands.md": commands.page,
    "configuration.md": configuration.page,
    "events.md": events.page,
    "http.md": http.page,
    "tools.md": tools.page,
}


def pages() -> dict[str, str]:
    """By the name of the file."""
    return {name: f"{_HINT}{page().rstrip()}\n" for name, page in _PAGES.items()}
