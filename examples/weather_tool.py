"""A typed function is a tool: its signature is the schema, its docstring the description.

What an argument may be is said in its annotation, so a senseless call is refused before it runs.

Run it:             python examples/weather_tool.py
Or from a shell:    holdfast call weather city=Oslo days=2 --from examples/weather_tool.py
"""

from dataclasses import dataclass
from typing import Annotated, Literal

import anyio
import msgspec

from holdfast import Holdfast, render, tool

STATIONS = {"Oslo": 4.0, "Rome": 17.5, "Quito": 14.0}


@dataclass
class Report:
    city: str
    unit: str
    degrees: list[float]


@tool
async def weather(
    city: Annotated[str, msgspec.Meta(min_length=1, max_length=100)],
    unit: Literal["c", "f"] = "c",
    days: Annotated[int, msgspec.Meta(ge=1, le=10)] = 1,
) -> Report:
    """The forecast for a city.

    Args:
        city: a town, e.g. 'Oslo'
        unit: degrees Celsius or Fahrenheit
        days: how many, from today on
    """
    celsius = [STATIONS[city] + day for day in range(days)]
    degrees = [value * 9 / 5 + 32 for value in celsius] if unit == "f" else celsius
    return Report(city, unit, degrees)


async def main() -> None:
    async with Holdfast(tools=[weather]) as hf:
        good = await hf.settle("weather", '{"city": "Oslo"}')
        print(render(good))

        # A model's habits: the number as text, the choice in capitals. Both are repaired.
        sloppy = await hf.settle("weather", '{"city": "Rome", "days": "2", "unit": "F"}')
        print(sloppy.result, [repair.repair for repair in sloppy.metadata.repairs])

        # Nothing is guessed: the answer names what is missing, or what does not fit.
        for arguments in ("{}", '{"city": "Oslo", "days": 99999999999}'):
            hopeless = await hf.settle("weather", arguments)
            assert hopeless.failure is not None
            print(hopeless.failure.kind, hopeless.failure.field, hopeless.failure.message)


if __name__ == "__main__":
    anyio.run(main)
