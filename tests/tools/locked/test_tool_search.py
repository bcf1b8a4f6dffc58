"""`tool_search`: many tools are found by words, and what was found is offered from then on."""

from collections.abc import Iterable
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support import make_tool
from tool_kit import failure, opened, result

from holdfast import Holdfast, tool
from holdfast.app.problems import ConfigurationError
from holdfast.app.settings import Settings
from holdfast.contract.failure import FailureKind
from holdfast.contract.tool import LOCKED_NAMES, Tool
from holdfast.runtime.tool_index import (
    ACTIVE_ABOVE,
    MOST_MATCHES,
    MOST_WORDS,
    OfferedTools,
    words_of,
)

pytestmark = pytest.mark.anyio


def served(name: str, description: str) -> Tool:
    """A tool of an MCP server."""
    return msgspec.structs.replace(
        make_tool(name=name), description=description, ownership="mcp", read_only=True
    )


@tool
def own(text: str) -> str:
    """The program's own."""
    return text


MANY = [
    served("hub_list_issues", "List the open issues of a repository."),
    served("hub_close_issue", "Close an issue of a repository."),
    served("mail_send", "Send a letter to somebody."),
    *(served(f"other_{number:02}", f"Something with widgets {number}.") for number in range(30)),
]


def names(tools: Iterable[Tool]) -> list[str]:
    return [tool.name for tool in tools]


@pytest.mark.req("SPEC-TSRCH-01", "SPEC-TSRCH-02", "SPEC-TSRCH-04", "SPEC-TSRCH-06")
@pytest.mark.req("SPEC-LOCK-17")
async def test_what_is_found_is_offered_from_then_on(workspace: Path) -> None:
    async with opened(workspace, "locked", tools=[own, *MANY]) as hf:
        search = next(tool for tool in hf.tools if tool.name == "tool_search")
        assert search.requires.empty
        before = names(hf.offered)
        assert set(before) == {*names(hf.tools)} - {*names(MANY)}
        assert {"own", *(LOCKED_NAMES & {*names(hf.tools)})} <= {*before}
        told = await result(hf, "tool_search", query="issues repository")
        assert told == {
            "matches": [
                {"id": "hub_list_issues", "description": "List the open issues of a repository."},
                {"id": "hub_close_issue", "description": "Close an issue of a repository."},
            ]
        }
        found = ["hub_list_issues", "hub_close_issue"]
        assert names(hf.offered) == [*before, *found]
        assert await result(hf, "tool_search", query="unheard of") == {"matches": []}
        assert await result(hf, "tool_search", query="") == {"matches": []}
        assert len((await result(hf, "tool_search", query="widgets"))["matches"]) == MOST_MATCHES
        assert names(hf.offered)[: len(before) + 2] == [*before, *found]
        assert len(hf.offered) == len(before) + 2 + MOST_MATCHES


async def test_a_query_is_a_few_words(workspace: Path) -> None:
    """It is looked for on the event loop, so it has to be short."""
    async with opened(workspace, "locked", tools=MANY) as hf:
        long = "issues ".ljust(1_000, "x")
        assert len((await result(hf, "tool_search", query=long))["matches"]) == 2
        refused = await failure(hf, "tool_search", query=f"{long}x")
        assert (refused.kind, refused.field) == (FailureKind.INVALID_ARGS, "query")


def test_of_many_words_the_first_are_looked_for() -> None:
    index = OfferedTools(MANY)
    others = [f"w{number}" for number in range(MOST_WORDS - 1)]
    assert [one.id for one in index.search(" ".join([*others, *others, "letter"]))] == ["mail_send"]
    assert index.search(" ".join([*others, "more", "letter"])) == ()


@pytest.mark.req("SPEC-TSRCH-03")
def test_up_to_twenty_tools_are_all_offered() -> None:
    few = OfferedTools(MANY[:ACTIVE_ABOVE])
    assert ACTIVE_ABOVE == 20
    assert few.offered() == tuple(MANY[:ACTIVE_ABOVE])
    assert [one.id for one in few.search("letter")] == ["mail_send"]
    assert few.offered() == tuple(MANY[:ACTIVE_ABOVE])
    assert OfferedTools(MANY[: ACTIVE_ABOVE + 1]).offered() == ()


async def test_a_tool_that_was_not_found_can_still_be_called(workspace: Path) -> None:
    @tool
    def hidden() -> str:
        """Be found."""
        return "here"

    async with opened(workspace, "locked", tools=[hidden, *MANY], on_demand=["hidden"]) as hf:
        assert "hidden" not in names(hf.offered)
        assert (await hf.settle("hidden", {})).result_json == b'{"text":"here"}'
        await result(hf, "tool_search", query="found")
        assert names(hf.offered)[-1] == "hidden"


def test_a_name_on_demand_that_is_no_tool_is_an_error(workspace: Path) -> None:
    with pytest.raises(ConfigurationError, match="did you mean 'own'"):
        Holdfast(tools=[own], workspace=workspace, on_demand=["onw"])


@pytest.mark.req("SPEC-TSRCH-05")
def test_ranking_is_by_the_words_of_names_and_descriptions_and_ties_go_by_name() -> None:
    tools = [
        served("b_same", "Counts sheep."),
        served("a_same", "Counts sheep."),
        served("sheep", "Counts."),
        served("c_long", "Counts sheep and many other things that are on a long list of words."),
        served("d_none", "Nothing of it."),
    ]
    found = [one.id for one in OfferedTools(tools).search("SHEEP")]
    assert found == ["sheep", "a_same", "b_same", "c_long"]
    assert words_of("listOpenIssues of_the v2") == ["list", "open", "issues", "v2"]


def test_other_forms_of_a_word_are_found_and_the_same_form_comes_first() -> None:
    tools = [
        served("a_share", "Shares a file."),
        served("b_sharing", "Sharing of files."),
        served("c_process", "Ends a process."),
        served("d_use", "Use of a bus."),
    ]
    found = [one.id for one in OfferedTools(tools).search("what is shared with the sharing files")]
    assert found == ["b_sharing", "a_share"]
    assert [one.id for one in OfferedTools(tools).search("my processes")] == ["c_process"]
    assert OfferedTools(tools).search("What did I do, and is it so?") == ()
    assert OfferedTools(tools).search("used buses") == ()


WORDS = st.sampled_from(["list", "open", "mail", "Issue", "ß", "2"])
TEXTS = st.lists(WORDS, max_size=6).map(" ".join)


@given(st.lists(TEXTS, max_size=14), TEXTS)
def test_whatever_is_searched_only_what_shares_a_word_is_found(
    descriptions: list[str], query: str
) -> None:
    tools = [served(f"t{number:02}", text) for number, text in enumerate(descriptions)]
    index = OfferedTools(tools)
    found = [one.id for one in index.search(query)]
    wanted = {*words_of(query)}
    sharing = [one.name for one in tools if wanted & {*words_of(f"{one.name} {one.description}")}]
    assert {*found} <= {*sharing}
    assert len(found) == min(len(sharing), MOST_MATCHES)
    assert found == [one.id for one in OfferedTools(tools[::-1]).search(query)]


async def test_a_session_that_is_taken_up_again_is_offered_what_it_found(workspace: Path) -> None:
    made = opened(workspace, "locked", tools=MANY, settings=Settings())
    async with made as hf:
        for query in ("letter", "close issue", "unheard", "letter"):
            await result(hf, "tool_search", query=query)
        before = names(hf.offered)
        assert "mail_send" in before
    session = hf.session_id
    async with opened(
        workspace, "locked", tools=MANY, settings=Settings(), session=session
    ) as again:
        assert names(again.offered) == before
