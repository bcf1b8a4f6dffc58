"""Every page of the documentation is in its index, and every link leads somewhere."""

import re
from pathlib import Path

import pytest
from reference_pages.shapes import anchor

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
INDEX = DOCS / "README.md"
PAGES = [
    *(ROOT / name for name in ("README.md", "AGENTS.md", "CONTRIBUTING.md")),
    *sorted(DOCS.rglob("*.md")),
]
CODE = re.compile(r"^```.*?^```|<!--.*?-->|`[^`\n]*`", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def _links(page: Path) -> list[str]:
    """Where its links lead, those in code left out."""
    return LINK.findall(CODE.sub("``", page.read_text("utf-8")))


def _anchors(page: Path) -> set[str]:
    """What its headings can be linked to as; a second one of the same words ends in a number."""
    found: dict[str, int] = {}
    names: set[str] = set()
    for heading in HEADING.findall(BLOCK.sub("", page.read_text("utf-8"))):
        name = anchor(re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", heading).replace("`", ""))
        names.add(f"{name}-{found[name]}" if name in found else name)
        found[name] = found.get(name, 0) + 1
    return names


def _broken(page: Path) -> list[str]:
    broken: list[str] = []
    for link in _links(page):
        if link.startswith(("http:", "https:", "mailto:")):
            continue
        place, _, name = link.partition("#")
        target = (page.parent / place).resolve() if place else page
        if not target.exists() or (name and name not in _anchors(target)):
            broken.append(link)
    return broken


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_of_a_page_leads_somewhere(page: Path) -> None:
    assert _broken(page) == []


def test_the_index_names_every_page() -> None:
    named = {(DOCS / link.partition("#")[0]).resolve() for link in _links(INDEX)}
    pages = {page for page in DOCS.rglob("*.md") if page != INDEX}
    assert {str(page.relative_to(DOCS)) for page in pages - named} == set()


def test_a_link_to_nothing_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# One `word`\n\n[a](gone.md) [b](#one-word) [c](#two) `[d](code)`\n", "utf-8")
    assert _broken(page) == ["gone.md", "#two"]
