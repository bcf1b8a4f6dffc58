"""Results whose text a file holds already: cut by the same bound, and nothing is written twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.contract.call import Returned
from holdfast.contract.envelope import Envelope, envelope_of
from holdfast.contract.told import KeptOutput, Told
from holdfast.contract.tool import OutputBound
from holdfast.envelope.bound import TAIL_BYTES, bound_envelope, bound_spooled
from holdfast.envelope.wrap import Spooled, wrap

RESULT = {"stdout": "s", "stderr": "", "exit_code": 1, "truncated": False}


def bounded(output: KeptOutput, most: int, result: object = RESULT) -> Envelope:
    bound = OutputBound(max_bytes=most, fields=("stdout", "stderr"))
    return bound_spooled(envelope_of(result), output, bound)


@given(content=st.binary(max_size=9_000), gap=st.integers(0, 5_000), most=st.integers(1, 6_000))
def test_head_and_tail_are_beginning_and_end(content: bytes, gap: int, most: int) -> None:
    half = len(content) // 2
    output = KeptOutput(
        path="/kept", head=content[:half], tail=content[half:], total=len(content) + gap + 1
    )
    cut = bounded(output, most)
    result = cut.result
    assert isinstance(result, dict)
    assert (result["exit_code"], result["truncated"]) == (1, True)
    assert not {"stdout", "stderr"} & result.keys()
    head = str(result["head"])
    assert len(head.encode()) <= most
    assert content[:half].decode("utf-8", "replace").startswith(head.rstrip("\ufffd"))
    assert cut.metadata.tail is not None
    assert len(cut.metadata.tail) <= TAIL_BYTES
    end = content[half:].decode("utf-8", "replace")
    assert end.endswith(cut.metadata.tail.lstrip("\ufffd"))
    # What continues a character is not shown without its beginning, however much of it there is.
    shown = content[half:][-TAIL_BYTES:].lstrip(bytes(range(0x80, 0xC0)))
    assert len(cut.metadata.tail.encode()) >= len(shown) - 3
    assert (cut.metadata.truncated, cut.metadata.output_path) == (True, "/kept")
    assert (cut.metadata.output_bytes, cut.metadata.dropped_bytes) == (output.total, None)


@given(text=st.text(max_size=3_000), most=st.integers(1, 3_000))
def test_of_text_the_head_begins_the_file_byte_for_byte(text: str, most: int) -> None:
    content = text.encode("utf-8", "replace")
    cut = bounded(KeptOutput(path="/k", head=content, tail=b"", total=len(content) + 1), most)
    assert isinstance(cut.result, dict)
    head = str(cut.result["head"]).encode()
    assert content.startswith(head)
    assert len(content) <= most or most - len(head) < 4


def test_what_fits_is_shown_as_it_is() -> None:
    output = KeptOutput(path="/kept", head=b"s", tail=b"", total=1)
    whole = bounded(output, 100)
    assert whole.result == RESULT
    assert whole.metadata.truncated is False
    assert whole.metadata.output_path is None


def test_what_could_not_be_kept_is_counted_as_lost() -> None:
    lost = bounded(KeptOutput(path=None, head=b"a" * 50, tail=b"b" * 10, total=1_000), 20)
    assert lost.metadata.dropped_bytes == 1_000 - 20 - 10
    assert lost.metadata.output_path is None


def test_a_result_that_tells_whether_it_is_whole_tells_the_truth() -> None:
    bound = OutputBound(max_bytes=10, fields=("text",))
    cut = bound_envelope(
        envelope_of({"text": "x" * 50, "truncated": False}), bound, lambda _content: None
    )
    assert cut.result == {"head": "x" * 10, "truncated": True}
    other = bound_envelope(
        envelope_of({"text": "x" * 50, "truncated": "no"}), bound, lambda _content: None
    )
    assert other.result == {"head": "x" * 10, "truncated": "no"}


@pytest.mark.parametrize("kept", [None, KeptOutput(path="/k", head=b"", tail=b"", total=0)])
def test_what_a_tool_tells_beside_its_result_becomes_warnings(kept: KeptOutput | None) -> None:
    answer = wrap(Returned(Told(result={"a": 1}, warnings=("careful",), output=kept)), "t")
    envelope = answer.envelope if isinstance(answer, Spooled) else answer
    assert isinstance(answer, Spooled) is (kept is not None)
    assert isinstance(envelope, Envelope)
    assert (envelope.result, envelope.warnings) == ({"a": 1}, ("careful",))
