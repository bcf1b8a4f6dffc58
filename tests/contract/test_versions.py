"""What versions are made of: joining, previews, expectations."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.versions import (
    PREVIEW_LENGTH,
    Expected,
    PreconditionFailed,
    appended,
    check,
    content_hash,
    preview,
)

CONTENT = st.binary(max_size=20) | st.text(alphabet="a\n", max_size=6).map(str.encode)


@given(before=CONTENT, content=CONTENT)
def test_appending_keeps_both_and_breaks_the_line_between_them_once(
    before: bytes, content: bytes
) -> None:
    found = appended(before, content)
    assert found.startswith(before)
    assert found.endswith(content)
    between = len(found) - len(before) - len(content)
    wanted = bool(before) and bool(content) and not before.endswith(b"\n")
    assert found[len(before) : len(before) + between] == (b"\n" if wanted else b"")


@given(st.text(alphabet=st.characters(exclude_characters="\0", codec="utf-8"), max_size=400))
def test_a_text_is_shown_by_its_beginning(text: str) -> None:
    assert preview(text.encode()) == text[:PREVIEW_LENGTH]


def test_anything_else_is_shown_by_its_size_and_first_bytes() -> None:
    assert preview(b"\x89PNG") == "binary, 4 bytes: 89 50 4e 47"
    assert preview(b"a\0b") == "binary, 3 bytes: 61 00 62"
    assert preview(b"\xff" * 5000) == f"binary, 5000 bytes: {' '.join(['ff'] * 16)}"


@given(st.binary(max_size=400))
def test_no_preview_is_longer_than_promised_or_holds_a_nul(content: bytes) -> None:
    assert len(preview(content)) <= PREVIEW_LENGTH
    assert "\0" not in preview(content)


def test_a_content_is_known_by_its_sha_256() -> None:
    assert content_hash(b"abc").startswith("ba7816bf8f01cfea414140de5dae2223b00361a3")


def test_what_is_not_expected_is_not_checked_and_none_means_none_yet() -> None:
    check(Expected(), "notes", None)
    check(Expected(version_id=None, content_hash=None), "notes", None)
    with pytest.raises(
        PreconditionFailed,
        match="version precondition failed for notes: expected ver_1 but latest is none",
    ) as raised:
        check(Expected(version_id="ver_1", content_hash="abc"), "notes", None)
    assert (raised.value.target, raised.value.what) == ("notes", "version")
    with pytest.raises(
        PreconditionFailed,
        match="content precondition failed for notes: expected abc but latest is none",
    ):
        check(Expected(content_hash="abc"), "notes", None)
