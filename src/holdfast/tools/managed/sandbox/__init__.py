"""The hand of a session as one tool, and what it is made of."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.managed.sandbox.sandbox_describe import sandbox_describe
from holdfast.tools.managed.sandbox.sandbox_execute import sandbox_execute

SANDBOX: tuple[Builtin, ...] = (sandbox_describe, sandbox_execute)
