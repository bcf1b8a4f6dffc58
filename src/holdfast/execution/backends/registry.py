"""Backends by name. Each is made once, when it is first asked for, and then is the same for all.

Which backends there are is not known here.
"""

import threading
from collections.abc import Callable, Iterable, Mapping

from holdfast.contract.backend import Backend, BackendNotFound

DEFAULT = "local"


class Registry:
    """Names and the backends they stand for; safe to use from any thread."""

    def __init__(self, makers: Mapping[str, Callable[[], Backend]] | None = None) -> None:
        self._makers = dict(makers or {})
        self._made: dict[str, Backend] = {}
        self._default = DEFAULT
        self._lock = threading.RLock()

    def register(self, name: str, make: Callable[[], Backend]) -> None:
        """Add a backend; a name that is taken is a ValueError."""
        with self._lock:
            if name in self._makers:
                raise ValueError(f"there is a backend '{name}' already; take another name")
            self._makers[name] = make

    def get(self, name: str) -> Backend:
        """The one backend of that name; BackendNotFound lists those there are."""
        with self._lock:
            made = self._made.get(name)
            if made is None:
                make = self._makers.get(name)
                if make is None:
                    raise BackendNotFound(self._unknown(name))
                made = self._made[name] = make()
            return made

    def names(self) -> tuple[str, ...]:
        """What there is, sorted."""
        with self._lock:
            return tuple(sorted(self._makers))

    def is_available(self, name: str) -> bool:
        """Whether nothing speaks against using it here; False for a name nobody registered."""
        return name in self.names() and self.get(name).why_unavailable() is None

    def preferred(self, names: Iterable[str]) -> Backend:
        """The first of these that is there and available; BackendNotFound says what is wrong."""
        reasons: list[str] = []
        for name in names:
            if name not in self.names():
                reasons.append(self._unknown(name))
                continue
            backend = self.get(name)
            reason = backend.why_unavailable()
            if reason is None:
                return backend
            reasons.append(f"{name}: {reason}")
        raise BackendNotFound("; ".join(reasons) or "no backend was named")

    def set_default(self, name: str) -> None:
        """What is used where nobody names one."""
        self.get(name)
        self._default = name

    def default(self) -> Backend:
        """What is used where nobody names one."""
        return self.get(self._default)

    def _unknown(self, name: str) -> str:
        known = ", ".join(self.names()) or "none"
        return f"there is no backend '{name}'; there are: {known}"
