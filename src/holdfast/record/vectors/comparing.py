"""Comparing a vector with many: the one module that knows who does it.

Vectors come as the bytes of numbers of two bytes each. Where they are kept is not known here.
"""

from collections.abc import Sequence

import numpy as np
from usearch.compiled import MetricKind
from usearch.index import search


def closest(vector: bytes, among: Sequence[bytes], limit: int) -> list[tuple[float, int]]:
    """How similar the closest of them are, from 0 to 1, and which of them; the closest first."""
    if not among or limit < 1:
        return []
    rows = np.frombuffer(b"".join(among), dtype=np.float16).reshape(len(among), -1)
    asked = np.frombuffer(vector, dtype=np.float16)
    found = search(rows, asked, min(limit, len(among)), MetricKind.Cos, exact=True)
    pairs = zip(found.distances.ravel().tolist(), found.keys.ravel().tolist(), strict=True)
    return [(min(1.0, max(0.0, 1.0 - distance)), int(key)) for distance, key in pairs]
