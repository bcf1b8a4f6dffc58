"""jsonschema: a check without repair. What passes reaches the tool as it was sent."""

import re

from jsonschema import Draft202012Validator
from jsonschema.exceptions import UnknownType


def handle(schema: dict, arguments: dict) -> dict | None:
    try:
        valid = Draft202012Validator(schema).is_valid(arguments)
    except (UnknownType, re.error, RecursionError):
        return None
    return arguments if valid else None
