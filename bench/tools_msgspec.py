"""The two tools over msgspec structs: holdfast's own kind of record."""

# ruff: noqa: ARG001, PLR0913, FBT001 - the signature is the payload

from typing import Literal

import msgspec

Priority = Literal["normal", "express", "overnight"]
Tier = Literal["basic", "plus", "pro"]


class Customer(msgspec.Struct):
    name: str
    email: str
    age: int
    tier: Tier


class Location(msgspec.Struct):
    latitude: float
    longitude: float


class Address(msgspec.Struct):
    street: str
    city: str
    postcode: str
    country: str | None = None
    location: Location | None = None


class Line(msgspec.Struct):
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
