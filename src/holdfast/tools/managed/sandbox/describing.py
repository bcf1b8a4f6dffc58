"""What the hand of a session is made of, with what it can do."""

import msgspec

from holdfast.contract.managed.sandbox import SandboxDescribed, SandboxDesk
from holdfast.contract.mounts import Mount
from holdfast.tools.managed.sandbox.actions import EXAMPLES, VIEWS


async def described(desk: SandboxDesk, resources: tuple[Mount, ...]) -> SandboxDescribed:
    """The hand over these."""
    found = await desk.described(resources)
    return msgspec.structs.replace(found, actions=VIEWS, action_examples=EXAMPLES)
