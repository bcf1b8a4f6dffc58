"""What stands for all that a model is told, once and for a whole conversation."""

import hashlib

import msgspec

from holdfast.contract.model import ModelRequest

_encode = msgspec.json.Encoder(order="deterministic").encode


def request_hash(request: ModelRequest, model: str) -> str:
    """The fingerprint of all that a model is told: SHA-256 over its JSON with sorted keys."""
    return hashlib.sha256(model.encode() + b"\0" + _encode(request)).hexdigest()
