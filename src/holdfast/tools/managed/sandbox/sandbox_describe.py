"""`sandbox_describe`: what the hand of a session is made of, and what it can do."""

from holdfast.contract.builtin import builtin
from holdfast.contract.managed.sandbox import SandboxDescribed, SandboxDesk
from holdfast.tools.managed.sandbox.describing import described


@builtin(effects=("session_read",), acp_kind="read", parallel_safe=True)
async def sandbox_describe(desk: SandboxDesk) -> SandboxDescribed:
    """Show what is mounted where, what sandbox_execute can do and takes, and its limits."""
    return await described(desk, desk.resources)
