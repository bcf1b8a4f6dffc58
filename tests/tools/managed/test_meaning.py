"""Events that are found by what they mean, through an opened session, by the real library."""

import stat
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from retrieval_kit import begun, journal_of, managed_of, rested, under
from tool_kit import result

from holdfast import Holdfast
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import RetrievalSettings, Settings, Surroundings
from holdfast.contract.events import ChildCreated, OutcomeDefined, UserMessage, WantedOutcome
from holdfast.contract.journal import UnknownSession
from holdfast.contract.vectors import Pointed, Pointer, Question, VectorsUnavailable
from holdfast.contract.wake_events import LearningCaptured
from holdfast.record.vectors import door
from holdfast.runtime.managed.retrieval import meaning as meaning_module
from holdfast.runtime.managed.retrieval import vectors as vector_hits
from holdfast.runtime.managed.retrieval.meaning import Meaning
from holdfast.testing.vectors_kit import FakeEmbedder, FakeVectors, check_vector_backend

pytestmark = pytest.mark.anyio

SYNONYMS = {"till": "register", "wrong": "off", "cash": "register"}


def embedder() -> FakeEmbedder:
    return FakeEmbedder(SYNONYMS)


@asynccontextmanager
async def meaning_under(
    workspace: Path, made: object | None = None, **options: Any
) -> AsyncGenerator[Holdfast]:
    async with under(workspace, embedder=made or embedder(), **options) as hf:
        yield hf


def meaning_of(hf: Holdfast) -> Meaning:
    found = managed_of(hf).meaning
    assert found is not None
    return found


async def found_by(hf: Holdfast, query: str, **more: object) -> tuple[list[str], dict[str, Any]]:
    """The words of the hits, and what is said of the backend."""
    found = await result(hf, "retrieval_search", query=query, backends=["vector"], **more)
    (summary,) = found["backend_summary"]
    return [one["snippet"] for one in found["hits"]], summary


def files(workspace: Path) -> list[Path]:
    folder = workspace.parent / f"{workspace.name}-home" / "data" / "vectors"
    return [*folder.glob("*.sqlite3")]


@pytest.mark.req("BOA-RETR-02")
async def test_what_shares_no_word_with_the_query_is_found(workspace: Path) -> None:
    async with meaning_under(workspace) as hf:
        await begun(hf, "ses_a", UserMessage(message="The register is off."))
        await begun(hf, "ses_b", UserMessage(message="Rain in Oslo today."))
        by_words = await result(hf, "retrieval_search", query="till wrong", backends=["memory"])
        assert by_words["count"] == 0
        found = await result(hf, "retrieval_search", query="till wrong", backends=["vector"])
        (hit,) = found["hits"]
        assert (hit["backend"], hit["session_id"]) == ("vector", "ses_a")
        assert hit["snippet"] == "The register is off."
        (summary,) = found["backend_summary"]
        assert summary == {
            "backend": "vector",
            "available": True,
            "candidates": 1,
            "unindexed": 0,
            "note": None,
        }
        (file,) = files(workspace)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        unnamed = await result(hf, "retrieval_search", query="till wrong")
        assert "vector" in {one["backend"] for one in unnamed["backend_summary"]}


async def test_messages_answers_outcomes_and_lessons_are_found_and_searches_are_not(
    workspace: Path,
) -> None:
    made = embedder()
    async with meaning_under(workspace, made) as hf:
        outcome = WantedOutcome(title="Mend the register", success_criteria=("It adds up",))
        lesson = LearningCaptured(learning_kind="lesson", title="Register", detail="It rounds.")
        said = UserMessage(message="Look at the register.")
        await begun(hf, "ses_a", said, OutcomeDefined(outcome=outcome), lesson)
        await (await journal_of(hf)).append("ses_a", rested("wak_1", "The register rounds."))
        (workspace / "till.txt").write_text("register receipts\n")
        await result(hf, "read", path="till.txt")
        await result(hf, "memory_search", query="begin")
        asked_before = len(made.asked)
        snippets, _ = await found_by(hf, "till", include_current=True, limit=20)
        told = "\n".join(snippets)
        for words in ("Look at", "Mend the", "It rounds", "rounds.", "receipts"):
            assert words in told
        assert asked_before == 0
        assert not any("memory_search" in text or '"query"' in text for text in made.asked)


async def test_other_agents_and_deleted_sessions_are_not_found(workspace: Path) -> None:
    made = embedder()
    async with meaning_under(workspace, made) as hf:
        await begun(hf, "ses_a", UserMessage(message="The register is off."))
        await begun(hf, "ses_other", UserMessage(message="secret register"), agent="other")
        assert (await found_by(hf, "till"))[0] == ["The register is off."]
        assert not any("secret" in text for text in made.asked)
        await (await managed_of(hf).stores()).archive.delete("ses_a")
        assert (await found_by(hf, "till"))[0] == []
    async with meaning_under(workspace) as hf:
        await found_by(hf, "till")
        nearest = await meaning_of(hf).nearest(Question(text="till", agents=("looker",)))
        assert nearest.pointers == ()


async def test_a_session_that_came_back_as_another_one_is_taken_up_anew(workspace: Path) -> None:
    async with meaning_under(workspace) as hf:
        await begun(hf, "ses_a", *[UserMessage(message="The register is off.")] * 3)
        assert len((await found_by(hf, "till"))[0]) == 3
        await (await managed_of(hf).stores()).archive.delete("ses_a")
        await begun(hf, "ses_a", UserMessage(message="The cash is gone."))
        await found_by(hf, "register gone")  # it is seen that it is another one
        assert (await found_by(hf, "register gone"))[0] == ["The cash is gone."]


async def test_a_lineage_bounds_what_is_found(workspace: Path) -> None:
    async with meaning_under(workspace) as hf:
        await result(hf, "memory_search", query="begin")
        await begun(hf, "ses_child", UserMessage(message="register below"), parent=hf.session_id)
        await begun(hf, "ses_stranger", UserMessage(message="register apart"))
        made = ChildCreated(child_session_id="ses_child", message="look")
        await (await journal_of(hf)).append(hf.session_id, [made])
        assert set((await found_by(hf, "till"))[0]) == {"register below", "register apart"}
        assert (await found_by(hf, "till", lineage="children"))[0] == ["register below"]
        assert (await found_by(hf, "till", lineage="parent"))[0] == []


async def test_no_secret_leaves_for_whoever_makes_vectors(workspace: Path) -> None:
    made = embedder()
    home = workspace.parent / "secret-home"
    around = Surroundings(
        data_home=home / "data", state_home=home / "state", secrets=("sk-very-secret-1",)
    )
    async with meaning_under(workspace, made, surroundings=around) as hf:
        await begun(hf, "ses_a", UserMessage(message="The register has sk-very-secret-1 in it"))
        await found_by(hf, "till sk-very-secret-1")
        assert len(made.asked) >= 2
        assert not any("sk-very-secret-1" in text for text in made.asked)


async def test_what_is_behind_is_told_and_taken_up_in_the_background(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meaning_module, "MOST_TEXTS", 4)
    made = embedder()
    async with meaning_under(workspace, made) as hf:
        for number in range(5):
            said = [UserMessage(message=f"register {number} {at}") for at in range(6)]
            await begun(hf, f"ses_{number}", *said)
        _, summary = await found_by(hf, "till")
        assert summary["unindexed"] > 0
        await meaning_of(hf).caught_up()
        snippets, summary = await found_by(hf, "till", limit=50)
        assert (len(snippets), summary["unindexed"]) == (30, 0)
        texts = [text for text in made.asked if text.startswith("register")]
        assert len(texts) == len(set(texts)) == 30
    async with meaning_under(workspace, made) as hf:
        before = len(made.asked)
        assert len((await found_by(hf, "till", limit=50))[0]) == 30
        assert len(made.asked) == before + 1  # the question: nothing is made twice


async def test_what_is_new_is_taken_up_when_a_run_has_come_to_rest(workspace: Path) -> None:
    made = embedder()
    async with meaning_under(workspace, made) as hf:
        await result(hf, "memory_search", query="begin")
        await begun(hf, "ses_a", UserMessage(message="The register is off."))
        assert made.asked.count("The register is off.") == 0
        await managed_of(hf).rested()
        await meaning_of(hf).caught_up()
        assert made.asked.count("The register is off.") == 1
        await meaning_of(hf).close()
        meaning_of(hf).catch_up()
        await meaning_of(hf).caught_up()
        meaning_of(hf).open()
        assert (await found_by(hf, "till"))[0] == ["The register is off."]
        assert made.asked.count("The register is off.") == 1


class Failing:
    """Fails in one way, once it is told to."""

    name = "failing"

    def __init__(self, *, query: object = None, events: object = None) -> None:
        self._how = (query, events)
        self._inner = embedder()

    async def embed(self, texts: Sequence[str], /) -> Sequence[Sequence[float]]:
        how = self._how[0 if texts[0].startswith("till") else 1]
        if isinstance(how, BaseException):
            raise how
        if how == "slow":
            await anyio.sleep_forever()
        if how == "short":
            return []
        return await self._inner.embed(texts)


@pytest.mark.parametrize(
    ("how", "told"),
    [
        (VectorsUnavailable("no such host"), "no such host"),
        (RuntimeError("inner words"), "failing failed with RuntimeError."),
        ("short", "no vector for each text"),
        ("slow", "no vector within 0.05 s"),
    ],
)
async def test_who_fails_to_make_vectors_fails_no_search(
    workspace: Path, how: object, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meaning_module, "QUESTION_SECONDS", 0.05)
    async with meaning_under(workspace, Failing(query=how)) as hf:
        await begun(hf, "ses_a", UserMessage(message="till: the register is off."))
        found = await result(hf, "retrieval_search", query="till")
        assert found["count"] > 0
        summary = found["backend_summary"][-1]
        assert (summary["backend"], summary["available"]) == ("vector", False)
        assert told in summary["note"]
        assert "inner words" not in summary["note"]


@pytest.mark.parametrize(
    ("how", "told"),
    [(VectorsUnavailable("too many"), "too many"), ("slow", "nothing came back within")],
)
async def test_events_that_cannot_be_made_vectors_of_are_told_of(
    workspace: Path, how: object, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if how == "slow":
        monkeypatch.setattr(meaning_module, "BATCH_SECONDS", 0.1)
    async with meaning_under(workspace, Failing(events=how)) as hf:
        await begun(hf, "ses_a", UserMessage(message="The register is off."))
        await found_by(hf, "till")
        await meaning_of(hf).caught_up()
        _, summary = await found_by(hf, "till")
        assert summary["available"]
        assert summary["unindexed"] > 0
        assert told in summary["note"]


async def test_a_question_does_not_wait_for_all_that_is_new(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(meaning_module, "STEP_SECONDS", 0)
    async with meaning_under(workspace) as hf:
        await begun(hf, "ses_a", UserMessage(message="The register is off."))
        _, summary = await found_by(hf, "till")
        assert summary["note"] == "How much is new is not known yet: it is looked for."
        await meaning_of(hf).caught_up()
        assert len((await found_by(hf, "till"))[0]) == 1


async def test_the_index_can_be_thrown_away_at_any_time(workspace: Path) -> None:
    async with meaning_under(workspace) as hf:
        await begun(hf, "ses_a", UserMessage(message="The register is off."))
        assert len((await found_by(hf, "till"))[0]) == 1
        files(workspace)[0].write_bytes(b"damaged" * 1000)
        assert len((await found_by(hf, "till"))[0]) == 1


async def test_the_index_that_ships_is_a_backend(workspace: Path) -> None:
    async with meaning_under(workspace, FakeEmbedder()) as hf:

        async def say(session_id: str, agent: str | None, text: str) -> str:
            journal = await journal_of(hf)
            said = UserMessage(message=text)
            try:
                (event,) = await journal.append(session_id, [said])
            except UnknownSession:
                await begun(hf, session_id, said, agent=agent or "")
                event = (await journal.events(session_id))[-1]
            return event.id

        await check_vector_backend(meaning_of(hf), say, "looker")


async def test_the_fake_is_a_backend() -> None:
    backend, count = FakeVectors(FakeEmbedder()), iter(range(100))

    async def say(session_id: str, agent: str | None, text: str) -> str:
        event_id = f"evt_{next(count)}"
        backend.tell(session_id, agent, event_id, text)
        return event_id

    await check_vector_backend(backend, say)


class Backend:
    """A program's own."""

    def __init__(self, answer: Pointed | Exception | None) -> None:
        self._answer = answer
        self.asked: list[Question] = []

    async def nearest(self, asked: Question, /) -> Pointed:
        self.asked.append(asked)
        if self._answer is None:
            await anyio.sleep_forever()
        if isinstance(self._answer, Exception):
            raise self._answer
        assert self._answer is not None
        return self._answer


@pytest.mark.req("BOA-RETR-02")
async def test_a_program_plugs_in_its_own_backend(workspace: Path) -> None:
    backend = FakeVectors(embedder())
    async with under(workspace, vectors=backend, embedder=embedder()) as hf:
        await begun(hf, "ses_a", UserMessage(message="The register is off."))
        event = (await (await journal_of(hf)).events("ses_a"))[1]
        backend.tell("ses_a", "looker", event.id, "The register is off.")
        backend.tell("ses_a", "looker", "evt_gone", "The register is off.")
        assert (await found_by(hf, "till wrong"))[0] == ["The register is off."]
        assert managed_of(hf).meaning is None
        assert files(workspace) == []


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (VectorsUnavailable("closed"), "closed"),
        (ValueError("inner words"), "It failed with ValueError."),
        (None, "did not answer within"),
    ],
)
async def test_a_backend_that_fails_fails_no_search(
    workspace: Path, answer: Exception | None, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vector_hits, "MOST_SECONDS", 0.05)
    async with under(workspace, vectors=Backend(answer)) as hf:
        await begun(hf, "ses_a", UserMessage(message="the till"))
        found = await result(hf, "retrieval_search", query="till")
        assert found["count"] > 0
        summary = found["backend_summary"][-1]
        assert (summary["available"], summary["candidates"]) == (False, 0)
        assert told in summary["note"]


async def test_what_a_backend_says_is_passed_on(workspace: Path) -> None:
    at = Pointer(session_id="ses_gone", event_id="evt_gone", similarity=1.0)
    backend = Backend(Pointed(pointers=(at,), unindexed=7, note="Slow today."))
    async with under(workspace, vectors=backend) as hf:
        snippets, summary = await found_by(hf, "till")
        assert (snippets, summary["unindexed"], summary["note"]) == ([], 7, "Slow today.")


async def test_without_the_extra_opening_says_which_command_installs_it(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> object:
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(door, "import_module", absent)
    with pytest.raises(ConfigurationError, match=r"pip install 'holdfast\[vectors\]'"):
        async with under(workspace, embedder=embedder()):
            pass
    async with under(workspace):  # nobody asked for it
        pass


async def test_what_is_not_similar_enough_is_not_found(workspace: Path) -> None:
    strict = Settings(retrieval=RetrievalSettings(least_similarity=0.9))
    async with meaning_under(workspace, settings=strict) as hf:
        await begun(hf, "ses_a", UserMessage(message="register and many other words beside it"))
        await begun(hf, "ses_b", UserMessage(message="cash"))
        assert (await found_by(hf, "till"))[0] == ["cash"]
