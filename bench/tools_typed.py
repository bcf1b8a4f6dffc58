"""The two tools over TypedDicts: the body gets plain dicts.

On Python 3.11 pydantic wants the TypedDict of typing_extensions, so the kind is handed in.
"""

# ruff: noqa: ARG001, PLR0913, FBT001 - the signature is the payload

from collections.abc import Awaitable, Callable
from typing import Any, Literal, NotRequired

Priority = Literal["normal", "express", "overnight"]
Tier = Literal["basic", "plus", "pro"]


async def add_async(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def order_over(kind: Any) -> Callable[..., Awaitable[object]]:  # noqa: ANN401 - TypedDict is no type
    class Customer(kind):
        name: str
        email: str
        age: int
        tier: Tier

    class Location(kind):
        latitude: float
        longitude: float

    class Address(kind):
        street: str
        city: str
        postcode: str
        country: NotRequired[str | None]
        location: NotRequired[Location | None]

    class Line(kind):
        sku: str
        quantity: int
        unit_price: float
        note: NotRequired[str | None]

    async def order_async(
        order_id: str,
        placed_at: str,
        priority: Priority,
        gift: bool,
        discount: float,
        tags: list[str],
        customer: Customer,
        shipping: Address,
        lines: list[Line],
    ) -> dict[str, str | int | float]:
        """Place an order."""
        total = sum(line["quantity"] * line["unit_price"] for line in lines) - discount
        items = sum(line["quantity"] for line in lines)
        return {"order_id": order_id, "items": items, "total": total}

    return order_async
