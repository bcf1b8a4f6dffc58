"""Markdown while it comes: each block is told once, when it is whole, however the pieces fall."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.surfaces.cli.markdown_blocks import Block, Blocks

CODE = "```python\ndef f():\n\n    # Not a heading\n- no item\n```"
ITEM = "- b\n\n  more of b\n\n  ```\n  x\n\n- y\n  ```"


def _blocks(*pieces: str) -> list[Block]:
    blocks = Blocks()
    found = [one for piece in pieces for one in blocks.feed(piece)]
    return [*found, *blocks.rest()]


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("", []),
        ("one\ntwo\n\n\nthree", ["one\ntwo", "three"]),
        ("# A\ntext\n## B\n", ["# A", "text", "## B"]),
        ("A\n===\ntext\n---\nmore", ["A\n===", "text\n---", "more"]),
        ("a\n\n---\n\nb", ["a", "---", "b"]),
        (f"so:\n{CODE}\nthen", ["so:", CODE, "then"]),
        ("~~~\n```\n~~~\nafter", ["~~~\n```\n~~~", "after"]),
        ("````\n```\n````\n", ["````\n```\n````"]),
        ("```\nnever ends\n\nx", ["```\nnever ends\n\nx"]),
        (f"- a\n{ITEM}\n- c\n\nend", ["- a", ITEM, "- c", "end"]),
        ("so:\n- a\n1. one\n2. two\n", ["so:", "- a", "1. one", "2. two"]),
        ("in\n2024. it was", ["in\n2024. it was"]),
        ("| a |\n|---|\n| 1 |\n\n> q\n> r\n", ["| a |\n|---|\n| 1 |", "> q\n> r"]),
        ("- a\nlazy\n", ["- a\nlazy"]),
    ],
)
def test_a_text_is_cut_where_a_block_ends(text: str, blocks: list[str]) -> None:
    assert [one.text for one in _blocks(text)] == blocks
    assert [one.text for one in _blocks(*text)] == blocks


def test_items_tell_which_list_they_are_of() -> None:
    marks = [one.list_mark for one in _blocks("- a\n- b\n\n1. c\n10) d\n\ntext\n* e")]
    assert marks == ["-", "-", "1", "1", "", "-"]


def test_what_is_open_is_what_is_not_told_yet() -> None:
    blocks = Blocks()
    assert list(blocks.feed("# A\nso")) == [Block("# A")]
    assert blocks.open == "so"
    assert list(blocks.feed(" be it\n")) == []
    assert blocks.open == "so be it\n"
    assert list(blocks.rest()) == [Block("so be it")]
    assert blocks.open == ""


@given(st.lists(st.text("ab #-`~>|=1.\n ", max_size=12), max_size=30))
def test_pieces_make_no_difference_and_nothing_is_lost(pieces: list[str]) -> None:
    text = "".join(pieces)
    found = _blocks(*pieces)
    assert found == _blocks(text)
    assert "".join("".join(one.text for one in found).split()) == "".join(text.split())
