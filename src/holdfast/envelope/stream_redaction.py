"""Known secrets taken out of a stream that comes in pieces, wherever the pieces were cut.

What may be the beginning of a secret is held back, and nothing else: a stream that pauses is shown
as far as it came.
"""

from collections.abc import Iterator, Sequence


class StreamRedaction:
    """Feed it pieces; what it gives back holds no secret."""

    def __init__(self, forms: Sequence[bytes], mark: bytes) -> None:
        self._forms = forms
        self._mark = mark
        self._longest = max(map(len, forms)) - 1
        self._buffer = b""
        self._done = 0
        """How much of the buffer was given back, or is part of a secret that was taken out."""

    def feed(self, piece: bytes, /) -> bytes:
        """What of the stream can be shown by now."""
        self._buffer += piece
        return self._shown(len(self._buffer) - self._begun())

    def rest(self) -> bytes:
        """What was held back, once nothing more comes."""
        return self._shown(len(self._buffer))

    def _shown(self, safe: int) -> bytes:
        """Give back what lies before ``safe``: no secret can begin there that is not known yet."""
        shown: list[bytes] = []
        for start, end in sorted(self._found()):
            if start >= max(safe, self._done):
                break
            if start >= self._done:
                shown += (self._buffer[self._done : start], self._mark)
            # One that begins inside of the one before it is the same gap.
            self._done = max(self._done, end)
        if safe > self._done:
            shown.append(self._buffer[self._done : safe])
            self._done = safe
        behind = max(0, self._done - self._longest)
        self._buffer = self._buffer[behind:]
        self._done -= behind
        return b"".join(shown)

    def _begun(self) -> int:
        """How many bytes at the end may be the beginning of a secret."""
        end = self._buffer[-self._longest :]
        for length in range(len(end), 0, -1):
            begun = end[-length:]
            if any(len(form) > length and form.startswith(begun) for form in self._forms):
                return length
        return 0

    def _found(self) -> Iterator[tuple[int, int]]:
        for form in self._forms:
            start = self._buffer.find(form)
            while start >= 0:
                yield start, start + len(form)
                start = self._buffer.find(form, start + 1)
