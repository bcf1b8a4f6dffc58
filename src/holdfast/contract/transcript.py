"""A flow session as a value: what can be kept of it, without its sandbox."""

from typing import Protocol

import msgspec

from holdfast.contract.chunks import ChunkTable, Lineage


class TokenUsage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What models charged for, in tokens. The total is theirs: it may hold more than the two."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0

    def __add__(self, other: "TokenUsage") -> "TokenUsage":
        return TokenUsage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.total_tokens + other.total_tokens,
        )


class Descendant(Protocol):
    """Whatever knows which sessions it came from."""

    @property
    def id(self) -> str:
        """Its own id."""
        ...

    @property
    def lineage(self) -> Lineage:
        """Where it came from."""
        ...


class Transcript(msgspec.Struct, frozen=True):
    """All that was said in a session, what it cost and where it came from."""

    id: str
    chunk_table: ChunkTable = ChunkTable()
    lineage: Lineage = Lineage()
    cumulative_usage: TokenUsage = TokenUsage()
