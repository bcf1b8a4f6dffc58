"""`[retrieval]`: whose vectors, who may say so, and what a session with it does."""

from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from loopback_site import serving
from places import Places
from tool_kit import opened, result

from holdfast import Agent, ScriptedModel
from holdfast.app.model_settings import ModelSettings
from holdfast.app.models import chosen_model, embedder_named
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import RetrievalSettings, Settings, Surroundings
from holdfast.contract.events import SessionCreated, UserMessage
from holdfast.testing.vectors_kit import FakeEmbedder

pytestmark = pytest.mark.anyio

AROUND = Surroundings(
    data_home=Path("/nowhere"), parent_environment={"OPENAI_API_KEY": "sk-openai-0123456789"}
)
CHAT = ModelSettings(kind="anthropic", model="claude-sonnet-4-5")
SMALL = ModelSettings(kind="openai", model="text-embedding-3-small")
TABLE = '[retrieval]\nvectors = "small"\nleast_similarity = 0.5\n'
MODEL = '[model.small]\nkind = "openai"\nmodel = "text-embedding-3-small"\n'


def _settings(name: str, **models: ModelSettings) -> Settings:
    return Settings(model=models, retrieval=RetrievalSettings(vectors=name))


def test_the_table_is_read(places: Places) -> None:
    loaded = places.load(user=TABLE + MODEL)
    assert loaded.settings.retrieval == RetrievalSettings(vectors="small", least_similarity=0.5)
    assert Settings().retrieval.vectors is None


def test_a_project_that_is_not_trusted_may_not_say_who_is_sent_what_is_written_down(
    places: Places,
) -> None:
    loaded = places.load(user=MODEL, project='[retrieval]\nvectors = "small"\n')
    assert loaded.settings.retrieval == RetrievalSettings()
    (notice,) = loaded.notices
    assert notice.startswith(f"{places.project_file}: retrieval.vectors: not taken from a project")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[retrieval]\nvector = "small"\n', "did you mean 'vectors'"),
        ("[retrieval]\nvectors = 3\n", "expected text"),
        ("[retrieval]\nleast_similarity = 2.0\n", "least_similarity"),
    ],
)
def test_a_table_that_does_not_fit_is_an_error(places: Places, text: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        places.load(user=text)


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("smal", "there is no model 'smal'; did you mean 'small'"),
        ("chat", "is of kind 'anthropic', and vectors are made by one of kind \"openai\""),
        ("anthropic:x", "is of kind 'anthropic'"),
        ("openay:x", "no kind of model 'openay'"),
    ],
)
def test_a_name_that_makes_no_vectors_is_an_error(name: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        embedder_named(_settings(name, chat=CHAT, small=SMALL), AROUND, name)


def test_without_any_model_it_says_what_to_write() -> None:
    with pytest.raises(ConfigurationError, match=r"write a \[model.NAME\] table"):
        embedder_named(_settings("small"), AROUND, "small")


def test_a_name_or_a_short_form_makes_vectors() -> None:
    for name in ("small", "openai:text-embedding-3-small"):
        made = embedder_named(_settings(name, small=SMALL), AROUND, name)
        assert made.name == "text-embedding-3-small at api.openai.com"


def test_what_makes_vectors_is_not_the_model_that_answers() -> None:
    settings = _settings("small", chat=CHAT, small=SMALL)
    assert chosen_model(settings, None) == ("chat", CHAT)
    with pytest.raises(ConfigurationError, match="no model is configured"):
        chosen_model(_settings("small", small=SMALL), None)


async def test_a_configured_session_asks_the_server_and_finds_by_meaning(workspace: Path) -> None:
    words = FakeEmbedder({"till": "register"})
    asked: list[Any] = []

    async def answer(request: web.Request) -> web.Response:
        said = await request.json()
        asked.append(said)
        vectors = [
            {"index": at, "embedding": words.vector(text)} for at, text in enumerate(said["input"])
        ]
        return web.json_response({"data": vectors})

    app = web.Application()
    app.router.add_post("/v1/embeddings", answer)
    async with serving(app) as site:
        small = ModelSettings(kind="openai", model="m", base_url=f"{site}/v1")
        async with opened(
            workspace,
            "managed",
            settings=_settings("small", small=small),
            agent=Agent(id="looker", description="Looks.", instructions="Look."),
            model=ScriptedModel([]),
        ) as hf:
            assert hf.parts.log is not None
            created = SessionCreated(agent_id="looker")
            said = UserMessage(message="The register is off.")
            await (await hf.parts.log.journal()).create("ses_past", [created, said])
            found = await result(hf, "retrieval_search", query="till", backends=["vector"])
    assert [one["snippet"] for one in found["hits"]] == ["The register is off."]
    assert {one["model"] for one in asked} == {"m"}


async def test_a_session_with_a_name_that_is_none_does_not_open(workspace: Path) -> None:
    with pytest.raises(ConfigurationError, match="there is no model 'smal'"):
        async with opened(workspace, "managed", settings=_settings("smal", small=SMALL)):
            pass
    async with opened(workspace, "code", settings=_settings("smal", small=SMALL)):
        pass  # nothing is searched there
