"""Names to addresses, by the system's resolver.

It blocks and cannot be interrupted, so it runs in threads of its own that nobody waits for at the
end; their number is limited. Whether a name may be asked for was decided before.
"""

import asyncio
import errno
import socket
import threading
from contextlib import suppress

MOST_AT_ONCE = 8


class SystemResolver:
    """Asks as every program of this machine would: hosts file, then name servers."""

    def __init__(self, most_at_once: int = MOST_AT_ONCE) -> None:
        self._room = asyncio.Semaphore(most_at_once)

    async def __call__(self, name: str, /) -> tuple[str, ...]:
        """The addresses in the order of the system's preference."""
        # The room is given back by the thread: a lookup that nobody waits for still takes a place.
        await self._room.acquire()
        loop = asyncio.get_running_loop()
        found: asyncio.Future[tuple[str, ...]] = loop.create_future()

        def tell(answer: "tuple[str, ...] | OSError") -> None:
            self._room.release()
            if found.done():
                return
            if isinstance(answer, OSError):
                found.set_exception(answer)
            else:
                found.set_result(answer)

        def look() -> None:
            answer = _looked_up(name)
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(tell, answer)

        try:
            threading.Thread(target=look, name="holdfast-resolver", daemon=True).start()
        except RuntimeError:  # no thread, so nobody who would give the place back
            self._room.release()
            raise OSError(errno.EAGAIN, f"{name} cannot be looked up: no thread is left") from None
        return await found


def _looked_up(name: str) -> "tuple[str, ...] | OSError":
    try:
        found = socket.getaddrinfo(name, None, type=socket.SOCK_STREAM)
    except OSError as problem:
        return problem
    except UnicodeError:
        return socket.gaierror(socket.EAI_NONAME, "it is no name")
    addresses = dict.fromkeys(str(place[0]) for *_, place in found)
    # An address that is only valid on one of our own links is no host anybody asked for.
    return tuple(address for address in addresses if "%" not in address)
