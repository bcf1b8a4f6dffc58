"""An agent that says what it is to achieve, works, is held at the gate, gets there, and shares it.

It keeps a recipe that all its sessions share. What it makes of that is shared once its outcome is
reached, which is found in what its tools answered, and never in what it says. The model follows a
script, so that it runs anywhere; a person is stood for by `agrees`.

Run it: python examples/managed_agent.py
"""

import tempfile
from pathlib import Path

import anyio

from holdfast import AgentSession, Answer, Ask, Event, Holdfast
from holdfast.contract.events import CallSettled
from holdfast.testing.scripts import ScriptedCall, ScriptedModel, Turn

CRITERION = 'The check says "every line has a number"'
CHECK = "grep -vq '[0-9]' tea.txt || echo every line has a number"


def calls(name: str, **arguments: object) -> Turn:
    return Turn(calls=(ScriptedCall.__struct_config__ and ScriptedCall(name=name, arguments=arguments),))


SHARE = calls("resources_promote_to_substrate", source_path="tea.txt")
