"""The two tools over pydantic models, closed as holdfast's schemas are: the peers' own kind."""

# ruff: noqa: ARG001, PLR0913, FBT001 - the signature is the payload

from typing import Literal

from pydantic import BaseModel, ConfigDict

Priority = Literal["normal", "express", "overnight"]
Tier = Literal["basic", "plus", "pro"]


class _Closed(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Customer(_Closed):
    name: str
    email: str
    age: int
    tier: Tier


class Location(_Closed):
    latitude: float
    longitude: float


class Address(_Closed):
    street: str
    city: str
    postcode: str
    country: str | None = None
    location: Location | None = None


class Line(_Closed):
    sku: str
    quantity: int
    unit_price: float
    note: str | None = None


def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


async def add_async(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


def order(
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
    total = sum(line.quantity * line.unit_price for line in lines) - discount
    return {"order_id": order_id, "items": sum(line.quantity for line in lines), "total": total}


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
    total = sum(line.quantity * line.unit_price for line in lines) - discount
    return {"order_id": order_id, "items": sum(line.quantity for line in lines), "total": total}
