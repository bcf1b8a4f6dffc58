"""What was sent and judged is what the body gets, from text and from an object alike."""

import datetime
from decimal import Decimal
from typing import Annotated, Literal

import msgspec
import pydantic
import pytest
from support import settle

from holdfast.contract.json_value import JsonObject
from holdfast.sources.functions import tool


async def test_an_item_sent_twice_is_in_a_set_once() -> None:
    @tool(inline=True)
    def total(numbers: set[int]) -> int:
        """Add up."""
        return sum(numbers)

    envelope = await settle(total.tool, '{"numbers": [1, 2, 2]}')
    assert envelope.result == 3


async def test_a_date_that_is_none_is_refused_with_what_would_fit() -> None:
    @tool(inline=True)
    def on(day: datetime.date) -> str:
        """Tell."""
        return day.isoformat()

    failure = (await settle(on.tool, '{"day": "soon"}')).failure
    assert failure is not None
    assert failure.field == "day"
    assert failure.expected == "a string (date)"
    assert failure.extras["received"] == '"soon"'


PURGE: JsonObject = {
    "type": "object",
    "properties": {"when": {"type": "string"}, "dry_run": {"type": "boolean"}},
    "required": ["when"],
    "additionalProperties": False,
}


@pytest.mark.parametrize("as_text", [True, False])
async def test_what_a_person_approves_is_what_the_body_gets(as_text: bool) -> None:
    given = {"when": "2024-01-01", "dry_run": True}
    sent = msgspec.json.encode(given) if as_text else given
    got: list[dict[str, object]] = []

    @tool(inline=True, input_schema=PURGE)
    def purge(when: datetime.date, **rest: object) -> None:
        """Remove what is old."""
        got.append({"when": when, **rest})

    assert (await settle(purge.tool, sent)).ok
    assert got == [{"when": datetime.date(2024, 1, 1), "dry_run": True}]


async def test_a_float_is_one_from_text_too() -> None:
    kinds: list[type] = []

    @tool(inline=True)
    def weigh(x: float, y: Decimal) -> None:
        """Weigh."""
        kinds.extend((type(x), type(y)))

    assert (await settle(weigh.tool, '{"x": 1, "y": "2"}')).ok
    assert kinds == [float, Decimal]


@pytest.mark.parametrize("sent", ["5", '["a", 1]'])
async def test_a_union_that_msgspec_cannot_hold_is_decoded_all_the_same(sent: str) -> None:
    @tool(inline=True)
    def at(x: tuple[str, int] | Annotated[int, msgspec.Meta(ge=1)]) -> str:
        """Tell."""
        return repr(x)

    envelope = await settle(at.tool, f'{{"x": {sent}}}')
    assert envelope.result == {"text": "5" if sent == "5" else "('a', 1)"}
    assert not (await settle(at.tool, '{"x": 0}')).ok


@pytest.mark.parametrize("text", [True, False])
async def test_a_large_integer_beside_chosen_ones_is_the_same_from_text(text: bool) -> None:
    @tool(inline=True)
    def pick(x: Literal[0] | float) -> str:
        """Pick."""
        return repr(x)

    sent = {"x": 28046127244237512453673553}
    envelope = await settle(pick.tool, msgspec.json.encode(sent) if text else sent)
    assert not envelope.ok


async def test_a_whole_float_inside_a_pydantic_model_is_a_named_repair() -> None:
    class Counted(pydantic.BaseModel):
        a: int

    @tool(inline=True)
    def count(p: Counted) -> int:
        """Count."""
        return p.a

    envelope = await settle(count.tool, '{"p": {"a": 1.0}}')
    assert envelope.result == 1
    assert [repair.repair for repair in envelope.metadata.repairs] == ["integer_from_float"]
