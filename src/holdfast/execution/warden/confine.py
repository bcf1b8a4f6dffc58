"""The confinement of a thread, from a message that says what it may reach."""

from typing import cast

from holdfast.execution.kernel import landlock, seccomp
from holdfast.execution.kernel.system_calls import this_machine
from holdfast.execution.warden.wire import Message


def confine(message: Message, abi: int) -> None:
    """Confine the calling thread; raises OSError. Without Landlock the namespaces have to do."""
    paths = cast("list[tuple[str, int]]", message["paths"])
    if abi:
        allowed = [(path, landlock.Right(rights)) for path, rights in paths]
        landlock.confine_thread(allowed, abi, ports=cast("bool", message["ports"]))
    families = cast("list[int]", message["families"])
    seccomp.confine_thread(seccomp.packed(seccomp.program(this_machine(), families)))
