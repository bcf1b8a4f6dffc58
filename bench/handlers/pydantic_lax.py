"""pydantic in its default, lax mode: a model built from the schema validates the JSON text."""

import json

from pydantic import ValidationError
from pydantic_core import SchemaError

from handlers.pydantic_types import dumped, model_of


def handle(schema: dict, arguments: dict) -> dict | None:
    try:
        return dumped(model_of(schema).model_validate_json(json.dumps(arguments)))
    except (ValidationError, SchemaError):
        return None
