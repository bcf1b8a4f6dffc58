"""What every path is given and what it must answer: one small call and one nested one.

The nested call has 20 leaf fields: texts, numbers, booleans, two enums, optional fields, nested
objects and arrays of objects and of texts. Each library gets the same fields as its own kind of
record (`records_msgspec`, `records_pydantic`).
"""

import json

ADD_TEXT = '{"a": 2, "b": 40}'
ADD_RESULT = 42
ADD_BAD_TEXT = '{"a": 2, "b": "many"}'

ORDER: dict[str, object] = {
    "order_id": "ord-2207-88",
    "placed_at": "2026-11-02T09:30:00Z",
    "priority": "express",
    "gift": False,
    "discount": 12.5,
    "tags": ["spring", "returning", "b2b"],
    "customer": {
        "name": "Ada Byron",
        "email": "ada@example.org",
        "age": 36,
        "tier": "plus",
    },
    "shipping": {
        "street": "12 St James's Square",
        "city": "London",
        "postcode": "SW1Y 4JH",
        "country": "GB",
        "location": {"latitude": 51.507, "longitude": -0.135},
    },
    "lines": [
        {"sku": "A-100", "quantity": 2, "unit_price": 19.5, "note": "blue"},
        {"sku": "B-220", "quantity": 1, "unit_price": 240.25},
    ],
}
ORDER_TEXT = json.dumps(ORDER)
ORDER_RESULT = {"order_id": "ord-2207-88", "items": 3, "total": 266.75}
ORDER_BAD_TEXT = json.dumps({**ORDER, "priority": "yesterday"})


def unspaced(text: str) -> str:
    """The text with one kind of quote and no spaces: renderings differ in those alone."""
    return text.replace(" ", "").replace("'", '"')
