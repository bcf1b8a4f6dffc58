"""How a model is reached and what it is told beside a request, as values."""

from urllib.parse import urlsplit

import msgspec

from holdfast.contract.json_value import JsonObject
from holdfast.contract.model import ModelUsage

FIRST_BYTE_SECONDS = 120.0
IDLE_SECONDS = 120.0
REPLY_SECONDS = 900.0
MOST_REPLY_BYTES = 64 * 1024 * 1024
MOST_MICROS = 2**53
USUAL_OUTPUT_TOKENS = 8_192
USUAL_WINDOW = 128_000


class Prices(msgspec.Struct, frozen=True, kw_only=True):
    """What a million tokens cost, in any one currency."""

    input: float = 0.0
    output: float = 0.0
    cached: float | None = None
    """Of those read from the provider's cache; None: as any other."""
    cache_write: float | None = None
    """Of those written into it; None: as any other."""

    def micros(self, usage: ModelUsage) -> int:
        """What a reply cost, in millionths: a token at a price a million is a millionth of it."""
        fresh = max(usage.input_tokens - usage.cached_tokens - usage.cache_write_tokens, 0)
        cached = self.input if self.cached is None else self.cached
        written = self.input if self.cache_write is None else self.cache_write
        cost = (
            fresh * self.input
            + usage.cached_tokens * cached
            + usage.cache_write_tokens * written
            + usage.output_tokens * self.output
        )
        return round(min(cost, MOST_MICROS))


class Patience(msgspec.Struct, frozen=True, kw_only=True):
    """How long a provider may be silent, and how long it may talk."""

    first_byte: float = FIRST_BYTE_SECONDS
    """From the request to the first piece of the reply that says something."""
    idle: float = IDLE_SECONDS
    """Between two of them."""
    whole: float = REPLY_SECONDS
    """From the request to the end of the reply."""


class ModelSetup(msgspec.Struct, frozen=True, kw_only=True):
    """One model of a provider."""

    model: str
    """What its provider calls it."""
    url: str
    """Where the provider's API begins, without a slash at the end."""
    key: str = ""
    """Empty: none is sent."""
    headers: dict[str, str] = {}
    """Further ones; they go before those of the form."""
    stream: bool = True
    window: int = USUAL_WINDOW
    max_output_tokens: int = USUAL_OUTPUT_TOKENS
    output_limit: str = "max_tokens"
    """The name of the field that holds how many tokens a chat completion may have."""
    temperature: float | None = None
    """None: as the provider has it."""
    cache: bool = True
    """Whether a provider that wants to be told what to cache is told."""
    notices_as: str = "system"
    """In whose name a chat completion ends with what is only for one step."""
    prices: Prices = Prices()
    patience: Patience = Patience()
    most_bytes: int = MOST_REPLY_BYTES
    """Of one reply."""
    extra: JsonObject = {}
    """Further fields of every request; they go before ours."""
    proxy: str = ""
    """Through which proxy it is asked; empty: through none."""

    @property
    def origin(self) -> str:
        """Which server it is, without the way to it there."""
        return urlsplit(self.url).netloc

    def __repr__(self) -> str:
        """Without what may be secret."""
        return f"ModelSetup(model={self.model!r}, url={self.url!r})"
