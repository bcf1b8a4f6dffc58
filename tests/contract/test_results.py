"""Results the loop routes on, and content that is stored and referred to."""

import msgspec
import pytest

from holdfast.contract import results
from holdfast.contract.results import (
    Binary,
    BinaryPart,
    Entry,
    FileText,
    Image,
    ImagePart,
    Listing,
    SearchResult,
)

ENTRY = Entry("a", "d/a", "file")
FILE = FileText(
    path="d/a",
    text="x",
    start_line=1,
    end_line=1,
    total_line_count=1,
    selected_line_count=1,
    total_lines_exact=True,
    truncated=False,
)

TAGGED: dict[str, msgspec.Struct] = {
    "listing": Listing(path="d", entries=(ENTRY,), entry_count=1, truncated=False),
    "search": SearchResult(query="a", entries=(ENTRY,), match_count=1, truncated=False),
    "file": FILE,
    "image": ImagePart(path="/p.png", media_type="image/png", byte_count=3),
    "binary": BinaryPart(path="/p.bin", media_type="application/pdf", byte_count=3),
}


@pytest.mark.parametrize(("kind", "value"), TAGGED.items())
def test_a_result_carries_its_kind_as_a_field(kind: str, value: msgspec.Struct) -> None:
    encoded = msgspec.json.decode(msgspec.json.encode(value))
    assert encoded["kind"] == kind


@pytest.mark.parametrize("value", TAGGED.values(), ids=TAGGED)
def test_a_result_reads_back_as_itself_and_cannot_be_changed(value: msgspec.Struct) -> None:
    assert msgspec.json.decode(msgspec.json.encode(value), type=type(value)) == value
    with pytest.raises(AttributeError):
        setattr(value, value.__struct_fields__[0], "other")


def test_every_tagged_result_is_in_this_table() -> None:
    tagged = {
        cls
        for cls in vars(results).values()
        if isinstance(cls, type)
        and issubclass(cls, msgspec.Struct)
        and cls.__struct_config__.tag is not None
    }
    assert tagged == {type(value) for value in TAGGED.values()}


def test_byte_counts_of_a_file_are_left_out_when_unknown() -> None:
    assert "bytes_read" not in msgspec.to_builtins(FILE)
    sized = msgspec.structs.replace(FILE, bytes_read=0, raw_bytes_truncated=False)
    assert msgspec.to_builtins(sized)["bytes_read"] == 0
    assert msgspec.to_builtins(sized)["raw_bytes_truncated"] is False


def test_content_has_a_media_type_without_being_asked() -> None:
    assert Image(b"x").media_type == "image/png"
    assert Binary(b"x").media_type == "application/octet-stream"
