"""What a session is set up as: described, and compared with others."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.managed.setup.agent_compare_setup import agent_compare_setup
from holdfast.tools.managed.setup.agent_describe_setup import agent_describe_setup
from holdfast.tools.managed.setup.environment_describe import environment_describe
from holdfast.tools.managed.setup.vault_list import vault_list

SETUP: tuple[Builtin, ...] = (
    environment_describe,
    agent_describe_setup,
    agent_compare_setup,
    vault_list,
)
