"""A tool that reads its arguments by hand and words its own answers.

For authors who want to say more than a return value does: a failure with a field and an example, a
result with a warning. Run it: python examples/envelope_by_hand.py
"""

from collections.abc import Mapping

import anyio

from holdfast import (
    Envelope,
    FailureKind,
    Holdfast,
    Runtime,
    ToolEnvelope,
    render,
    require_int,
    require_string,
)

SHELF = {"dune": "Frank Herbert", "emma": "Jane Austen"}


class FindBook:
    """Anything with these five fields is a tool."""

    id = "find_book"
    description = "Look up who wrote a book."
    parameters: Mapping[str, object] = {
        "type": "object",
        "properties": {"title": {"type": "string"}, "copies": {"type": "integer"}},
        "additionalProperties": True,
    }
    requires: Mapping[str, object] = {}

    def execute(self, args: dict[str, object], _runtime: Runtime, /) -> Envelope:
        title = require_string(args, "title", expected="a book's title, e.g. `Dune`", tool=self.id)
        if isinstance(title, Envelope):
            return title
        copies = 1
        if "copies" in args:
            wanted = require_int(args, "copies", expected="how many, e.g. 2", tool=self.id)
            if isinstance(wanted, Envelope):
                return wanted
            copies = wanted
        author = SHELF.get(title.casefold())
        if author is None:
            return ToolEnvelope.failure(
                FailureKind.NOT_FOUND,
                f"There is no book named {title!r} on the shelf.",
                field="title",
                tool=self.id,
                extras={"shelf": sorted(SHELF)},
            )
        warnings = ["there is only one copy of each"] if copies > 1 else []
        return ToolEnvelope.success({"title": title, "author": author}, warnings=warnings)


find_book = FindBook()


async def main() -> None:
    async with Holdfast(tools=[find_book]) as hf:
        for arguments in ('{"title": "Dune", "copies": 2}', '{"title": "Ulysses"}', "{}"):
            envelope = await hf.settle("find_book", arguments)
            text = render(envelope)
            print(envelope.ok, ToolEnvelope.is_error(text), text)


if __name__ == "__main__":
    anyio.run(main)
