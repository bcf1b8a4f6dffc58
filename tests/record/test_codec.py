"""Events as bytes: what was written is read, what was changed is noticed, for every kind."""

import hmac
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from record.samples import SAMPLES

from holdfast.contract.event_kinds import KINDS, MAKES_RUNNABLE
from holdfast.contract.events import Payload, UserMessage
from holdfast.contract.json_value import JsonObject
from holdfast.record import codec
from holdfast.record.codec import (
    GENESIS,
    Chain,
    Stored,
    UnreadableEvent,
    Unwritten,
    event_of,
    is_genuine,
    micros_of,
    stored,
)

CHAIN = Chain(b"k" * 32)
GOLDEN = Path(__file__).parent / "golden" / "version-1.jsonl"
NOW = datetime(2026, 11, 15, 12, 0, 0, 123456, tzinfo=UTC)


def placed(payload: Payload, *, chain: Chain = CHAIN, wake_id: str | None = "wak_1") -> Stored:
    told = Unwritten("evt_1", micros_of(NOW), wake_id, payload)
    return stored(told, "ses_1", 7, GENESIS, chain)


def test_there_is_a_sample_of_every_kind() -> None:
    assert [type(sample) for sample in SAMPLES] == list(KINDS)
    assert set(MAKES_RUNNABLE) <= set(KINDS)
    names = [kind.__struct_config__.tag for kind in KINDS]
    assert len(set(names)) == len(KINDS)


@pytest.mark.parametrize("payload", SAMPLES, ids=lambda one: type(one).__name__)
def test_what_was_written_is_read(payload: Payload) -> None:
    row = placed(payload)
    event = event_of(row)
    assert event.payload == payload
    assert type(event.payload) is type(payload)
    assert (event.session_id, event.sequence, event.id, event.at) == ("ses_1", 7, "evt_1", NOW)
    assert (event.wake_id, event.previous, event.hash) == ("wak_1", GENESIS, row.hash)
    assert is_genuine(row, CHAIN)


@given(st.text(), st.none() | st.text(), st.integers(0, 2**62))
def test_whatever_a_person_says_comes_back(message: str, wake_id: str | None, micros: int) -> None:
    message = message.encode("utf-8", "replace").decode()
    wake_id = None if wake_id is None else wake_id.encode("utf-8", "replace").decode()
    row = stored(
        Unwritten("evt_1", micros, wake_id, UserMessage(message=message)), "s", 1, GENESIS, CHAIN
    )
    assert is_genuine(row, CHAIN)
    assert event_of(row._replace(micros=0)).payload == UserMessage(message=message)
    assert not is_genuine(row._replace(wake_id=(wake_id or "") + "x"), CHAIN)


@pytest.mark.parametrize("field", Stored._fields)
def test_no_part_of_an_event_can_be_changed_unnoticed(field: str) -> None:
    row = placed(SAMPLES[0])
    old = getattr(row, field)
    changes = {
        int: lambda: old + 1,
        str: lambda: old + "x",
        bytes: lambda: bytes([old[0] ^ 1]) + old[1:],
    }
    assert not is_genuine(row._replace(**{field: changes[type(old)]()}), CHAIN)
    assert not is_genuine(row, Chain(b"x" * 32)), "another key"


@pytest.mark.parametrize("field", ["sequence", "micros", "version"])
@pytest.mark.parametrize("more", [0.0, 0.5, math.inf, math.nan])
def test_a_number_that_is_none_is_noticed(field: str, more: float) -> None:
    row = placed(SAMPLES[0])
    assert not is_genuine(row._replace(**{field: getattr(row, field) + more}), CHAIN)


def test_a_missing_wake_is_no_empty_one() -> None:
    without, empty = placed(SAMPLES[0], wake_id=None), placed(SAMPLES[0], wake_id="")
    assert without.hash != empty.hash


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"session_id": "ab", "id": "c"}, {"session_id": "a", "id": "bc"}),
        ({"id": "ab", "wake_id": "c"}, {"id": "a", "wake_id": "bc"}),
        ({"wake_id": "ab", "type": "c"}, {"wake_id": "a", "type": "bc"}),
        ({"type": "ab", "body": b"c"}, {"type": "a", "body": b"bc"}),
        ({"wake_id": "", "type": "ab"}, {"wake_id": "ab", "type": ""}),
    ],
)
def test_what_moves_from_one_field_to_the_next_is_noticed(
    one: dict[str, str | bytes], other: dict[str, str | bytes]
) -> None:
    row = placed(SAMPLES[0])._replace(**one)
    assert not is_genuine(row._replace(hash=_told(row._replace(**other))), CHAIN)
    assert is_genuine(row._replace(hash=_told(row)), CHAIN)


def _told(row: Stored) -> bytes:
    return CHAIN.link(codec.vouched(row[:-1]))


@given(st.binary(max_size=200), st.binary())
def test_the_chain_is_the_hmac_that_everybody_knows(key: bytes, told: bytes) -> None:
    assert Chain(key).link(told) == hmac.digest(key, told, "sha256")


@pytest.mark.parametrize(
    "change", [{"version": 2}, {"type": "user.telepathy"}], ids=["version", "kind"]
)
def test_what_a_newer_one_wrote_is_refused_with_what_to_do(change: dict[str, int | str]) -> None:
    row = placed(SAMPLES[0])._replace(**change)
    with pytest.raises(UnreadableEvent, match=r"event 7 of session ses_1 .* update holdfast"):
        event_of(row)


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{}",
        b'{"type":"user.message"}',
        b"\xff",
        b"[]",
        b'{"type":"user.message","message":"\xff"}',
    ],
)
def test_a_damaged_one_is_told_by_its_place(body: bytes) -> None:
    row = placed(SAMPLES[0])._replace(body=body)
    with pytest.raises(UnreadableEvent, match=r"event 7 of session ses_1 is damaged: "):
        event_of(row)


def test_an_older_version_is_brought_up_to_date(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(UserMessage, "VERSION", 3)

    def first(old: JsonObject) -> JsonObject:
        return {"type": old["type"], "words": old["text"]}

    def second(old: JsonObject) -> JsonObject:
        return {"type": old["type"], "message": f"{old['words']}!"}

    steps = {("user.message", 1): first, ("user.message", 2): second}
    monkeypatch.setattr(codec, "UPCASTS", steps)
    row = placed(SAMPLES[0])._replace(version=1, body=b'{"type":"user.message","text":"hello"}')
    assert event_of(row).payload == UserMessage(message="hello!")


def test_the_golden_journal_of_version_1_stays_readable() -> None:
    lines = GOLDEN.read_bytes().splitlines()
    previous = GENESIS
    for number, (line, sample) in enumerate(zip(lines, SAMPLES, strict=True), 1):
        told = msgspec.json.decode(line, type=dict[str, int | str])
        row = Stored(
            session_id="ses_golden",
            sequence=number,
            id=str(told["id"]),
            micros=int(told["micros"]),
            wake_id=None,
            type=str(told["type"]),
            version=int(told["version"]),
            body=str(told["body"]).encode(),
            previous=previous,
            hash=bytes.fromhex(str(told["hash"])),
        )
        assert is_genuine(row, CHAIN)
        assert event_of(row).payload == sample
        previous = row.hash


def test_a_moment_is_kept_to_the_microsecond() -> None:
    assert micros_of(NOW + timedelta(microseconds=1)) - micros_of(NOW) == 1
