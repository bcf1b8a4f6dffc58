"""Agents and workflows: a session flows through, agents are known by name, tools come and go."""

import pytest
from flow_kit import UNKEPT, Scripted, agent, asks, gives, kinds, results, says, user

from holdfast.flow import Agent, AgentParam, Compressor, LoopSession, Session, Workflow


def _agent(*replies: str) -> Agent:
    return Agent("be brief", Scripted(*map(says, replies)), **UNKEPT)


class Pair(Workflow):
    """Two agents, one after the other."""

    def __init__(self) -> None:
        self.writer = _agent("draft")
        self.critic = _agent("better")
        self.rounds = 1

    def forward(self, session: Session) -> Session:
        return self.critic(self.writer(session))


class Whole(Workflow):
    """Workflows in a workflow."""

    def __init__(self) -> None:
        self.pair = Pair()
        self.again = self.pair
        self.compressor = Compressor("be brief", Scripted(says("in short")), **UNKEPT)
        self.param = AgentParam(agent(), Scripted(says("x")))
        self.me = self

    def forward(self, session: Session) -> Session:
        return self.compressor(self.pair(session))


@pytest.mark.req("RATH-WFL-01")
def test_a_workflow_maps_a_session_to_a_session() -> None:
    out = Pair()(user())
    assert isinstance(out, LoopSession)
    assert [getattr(row, "content", None) for row in out.chunk_table] == ["hi", "draft", "better"]


@pytest.mark.req("RATH-WFL-01")
def test_agents_are_known_by_the_names_they_were_given() -> None:
    pair, whole = Pair(), Whole()
    assert pair.named_agents() == [("critic", pair.critic), ("writer", pair.writer)]
    assert [name for name, _ in whole.named_agents()] == [
        "again.critic",
        "again.writer",
        "compressor",
        "pair.critic",
        "pair.writer",
        "param",
    ]
    pair.writer = pair.critic
    del pair.critic
    assert pair.named_agents() == [("writer", pair.writer)]


def test_workflows_are_put_together() -> None:
    made = Whole()(user())
    assert [getattr(row, "content", None) for row in made.chunk_table] == ["in short"]


@pytest.mark.req("RATH-WFL-01", "RATH-TST-05")
def test_a_tool_is_registered_once_by_name_and_taken_away_by_name() -> None:
    model = Scripted(asks(("a", "{}")), says("done"))
    worker = Agent("be brief", model, [gives("a", "first")], **UNKEPT)
    worker.register_tool(gives("a", "second"))
    worker.register_tool(gives("b", "other"))
    assert [tool.name for tool in worker.tools] == ["a", "b"]

    class Only(Workflow):
        def __init__(self) -> None:
            self.worker = worker

        def forward(self, session: Session) -> Session:
            return self.worker(session)

    assert results(Only()(user())) == ['"first"']
    worker.unregister_tool("a")
    worker.unregister_tool("a")
    assert [tool.name for tool in worker.tools] == ["b"]
    without = Agent("be brief", Scripted(asks(("a", "{}")), says("done")), worker.tools, **UNKEPT)
    assert "unknown_tool" in results(without(user()))[0]


def test_an_agent_may_be_told_what_to_be_by_a_session() -> None:
    told = agent()
    assert Agent(told, Scripted(says("x"))).session is told


def test_an_agent_takes_the_options_of_a_loop_and_no_others() -> None:
    limited = Agent("x", Scripted(says("a", "other")), max_tool_rounds=1, **UNKEPT)
    assert len(limited(user()).chunk_table) == 2
    with pytest.raises(TypeError, match=r"Agent\(\) has no option 'rounds'"):
        Agent("x", Scripted(), rounds=1)  # type: ignore[call-arg] - wrong on purpose
    with pytest.raises(TypeError, match=r"Compressor\(\) has no option"):
        Compressor("x", Scripted(), persist=True)  # type: ignore[call-arg] - wrong on purpose


def test_closing_an_agent_closes_its_model() -> None:
    model = Scripted(says("x"))
    with Agent("x", model, **UNKEPT) as one:
        one(user())
    assert model.closed == 1


def test_what_a_model_says_to_being_closed_is_told() -> None:
    class Stuck(Scripted):
        async def close(self) -> None:
            raise OSError("stuck")

    with pytest.raises(OSError, match="stuck"):
        Agent("x", Stuck()).close()


async def test_all_of_it_can_be_awaited() -> None:
    whole, model = Whole(), Scripted(says("x"))
    made = await whole.call_async(user())
    assert len(made.chunk_table) == 1
    one = Agent("x", model, **UNKEPT)
    out = await one.call_async(user())
    assert kinds(out) == ["user", "assistant"]
    again = await one.call_async(out)
    assert kinds(again) == ["user", "assistant", "assistant"]
    short = Compressor("x", Scripted(says("s")), **UNKEPT)
    assert kinds(await short.call_async(again)) == ["user"]
    await one.close_async()
    assert model.closed == 1
    with pytest.raises(RuntimeError, match=r"await close_async\(\)"):
        one.close()


async def test_a_workflow_without_a_face_for_event_loops_runs_in_a_thread() -> None:
    out = await Pair().call_async(user())
    assert isinstance(out, LoopSession)
    assert out.done
