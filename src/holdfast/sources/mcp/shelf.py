"""The tools of one server as they are offered, and as they will be once the host takes them.

Values and their order; who lists them is not known here.
"""

import msgspec

from holdfast.contract.json_value import encode_json
from holdfast.sources.mcp.definitions import Definition
from holdfast.sources.mcp.listing import MOST_REMARKS, Listing
from holdfast.sources.mcp.ports import Redaction

LONGEST_REMARK = 1000


_NAMED_AS_A_SECRET = "a tool whose name holds a secret is left out"


class Shelf:
    """What a server lists, and what is said of it."""

    def __init__(self, redaction: Redaction) -> None:
        """``redaction``: what is put here passes it, as it goes on to models, people and pins."""
        self._redaction = redaction
        self.listing = Listing()
        """As it is offered."""
        self._pending: Listing | None = None
        self._remarks: list[str] = []

    @property
    def remarks(self) -> tuple[str, ...]:
        """What there is to say of the server."""
        return (*self.listing.remarks, *self._remarks)

    @property
    def changed(self) -> bool:
        """Whether other tools are listed than those that are offered."""
        return self._pending is not None

    @property
    def latest(self) -> tuple[Definition, ...]:
        """The newest definitions that are known."""
        return (self._pending or self.listing).definitions

    def take(self) -> bool:
        """Offer what is listed now; whether that is something else."""
        if self._pending is None:
            return False
        self.listing, self._pending = self._pending, None
        return True

    def put_aside(self, listing: Listing) -> None:
        """Keep it until it is taken, if it is another one than what is offered."""
        listing = self._cleaned(listing)
        now = self.listing
        same = (listing.definitions, listing.remarks) == (now.definitions, now.remarks)
        self._pending = None if same else listing

    def remark(self, said: str) -> None:
        """Say it once."""
        said = self._redaction.text(said)[:LONGEST_REMARK]
        if said not in self._remarks and len(self._remarks) < MOST_REMARKS:
            self._remarks.append(said)

    def _cleaned(self, listing: Listing) -> Listing:
        clean = self._redaction
        pairs = [
            (one, msgspec.json.decode(clean.json(encode_json(one)), type=Definition))
            for one in listing.definitions
        ]
        # A name without its secret may be that of another.
        kept = tuple(cleaned for one, cleaned in pairs if cleaned.name == one.name)
        told = () if len(kept) == len(pairs) else (_NAMED_AS_A_SECRET,)
        return msgspec.structs.replace(
            listing,
            definitions=kept,
            remarks=(*(clean.text(one) for one in listing.remarks), *told),
        )
