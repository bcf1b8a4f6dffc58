"""Who finds events by what they mean, as the configuration or the program says; nobody, as a rule.

The index is a file in the data home, one for each store and whoever makes the vectors.
"""

import hashlib
from typing import cast

from holdfast.app.managed.basis import Basis, ManagedParts
from holdfast.app.models import embedder_named
from holdfast.app.problems import ConfigurationError
from holdfast.contract.vectors import Embedder, VectorsUnavailable
from holdfast.record.vectors.door import check_vectors, open_vectors
from holdfast.runtime.managed.retrieval.meaning import Closing, Meaning, MeaningParts, unclosed

FOLDER = "vectors"


def meaning_of(basis: Basis) -> Meaning | None:
    """The index that ships, where it is wanted; ConfigurationError where it cannot be had."""
    parts = basis.parts
    named = parts.settings.retrieval.vectors
    if parts.vectors is not None or parts.log is None or (parts.embedder is None and named is None):
        return None
    try:
        check_vectors()
        embedder, close = _embedder(parts, named)
        file = open_vectors(
            parts.surroundings.data_home / FOLDER / _name(parts, embedder), embedder.name
        )
    except VectorsUnavailable as problem:
        raise ConfigurationError(f"retrieval.vectors: {problem}") from None
    return Meaning(
        MeaningParts(
            ground=basis.ground,
            file=file,
            embedder=embedder,
            close=close,
            least_similarity=parts.settings.retrieval.least_similarity,
        )
    )


def _embedder(parts: ManagedParts, named: str | None) -> tuple[Embedder, Closing]:
    """Who makes vectors, and how it is closed: the program's own is not, by us."""
    if parts.embedder is not None or named is None:
        return cast("Embedder", parts.embedder), unclosed
    made = embedder_named(parts.settings, parts.surroundings, named)
    return made, made.close


def _name(parts: ManagedParts, embedder: Embedder) -> str:
    """Vectors of another one, and events of another store, are in another file."""
    store = parts.settings.store
    said = "\0".join((store.kind, store.url or "", embedder.name))
    return f"{hashlib.sha256(said.encode()).hexdigest()[:16]}.sqlite3"
