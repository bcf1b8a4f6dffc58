"""An optional parameter keeps the leniency of the type beside null: sources and preflight agree."""

from typing import Any, Literal

import pytest

from holdfast.contract.call import Prepared, ToolCall
from holdfast.contract.json_value import encode_json
from holdfast.preflight.plan import Plan
from holdfast.sources.functions import tool


@pytest.mark.req("OSA-SCH-18")
@pytest.mark.parametrize(
    ("annotation", "types", "sent", "repaired"),
    [
        (int | None, ["integer", "null"], "15", 15),
        (list[int] | None, ["array", "null"], "[1, 2]", [1, 2]),
        (dict[str, Any] | None, ["object", "null"], '{"a": 1}', {"a": 1}),
        (Literal["celsius"] | None, ["string", "null"], "Celsius", "celsius"),
        (int | None, ["integer", "null"], None, None),
    ],
)
def test_an_optional_type_is_a_list_of_types_and_is_repaired(
    annotation: object, types: list[str], sent: object, repaired: object
) -> None:
    def function(x: object) -> None:
        """Do something."""

    function.__annotations__["x"] = annotation
    made = tool(function).tool
    properties = made.input_schema["properties"]
    assert isinstance(properties, dict)
    assert isinstance(properties["x"], dict)
    assert properties["x"]["type"] == types
    call = ToolCall(
        id="cal_1", tool="function", arguments=encode_json({"x": sent}), session_id="ses_1"
    )
    prepared = Plan(made).prepare(call)
    assert isinstance(prepared, Prepared)
    assert prepared.values["x"] == repaired
