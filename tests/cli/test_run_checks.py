"""What is wrong with a run before it begins is said before it begins."""

from pathlib import Path

import pytest
from agent_scripts import says, script
from command import Cli

PAID = '[model.loop]\nkind = "openai"\nmodel = "x"\nbase_url = "http://127.0.0.1:9/v1"\n'
PRICED = f"{PAID}prices = {{ input = 0, output = 0 }}\n"
LIMITED = "[agent.default]\nlimits = { cost = 2 }\n"


def _configured(home: Path, text: str) -> None:
    (home / "config.toml").write_text(text, "utf-8")


@pytest.mark.parametrize(
    ("text", "words", "said"),
    [
        (PAID, ("--max-cost", "1"), "--max-cost needs prices = { input = 3, output = 15 } in"),
        (PAID + LIMITED, (), "limits.cost of [agent.default] needs prices = {"),
        (
            PAID,
            ("--max-cost", "1", "--model", "openai:gpt-5"),
            '--max-cost needs a [model.NAME] table with kind = "openai", model = "gpt-5"',
        ),
    ],
)
def test_a_limit_of_cost_without_prices_cannot_begin(
    text: str, words: tuple[str, ...], said: str, cli: Cli, home: Path
) -> None:
    _configured(home, text)
    answer = cli("run", "x", *words)
    assert (answer.status, said in answer.err) == (2, True)
    assert "without them nothing is counted" in answer.err


def test_a_limit_of_cost_holds_where_the_cost_is_known(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    played = script(tmp_path, says("Done."))
    answer = cli("run", "x", "--max-cost", "1", "--model", played)
    assert (answer.status, answer.out) == (0, "Done.\n")
    _configured(home, PRICED)
    free = cli("run", "x", "--max-cost", "1", "--max-seconds", "0.2")
    assert "nothing is counted" not in free.err
    assert free.status == 1  # nobody listens there


def test_a_session_is_not_gone_on_with_under_a_limit_that_counts_nothing(
    cli: Cli, home: Path, tmp_path: Path
) -> None:
    cli("run", "x", "--model", script(tmp_path, says("Done.")))
    _configured(home, PAID)
    answer = cli("resume", "last", "more", "--max-cost", "1", "--model", "loop")
    assert (answer.status, "without them nothing is counted" in answer.err) == (2, True)


def test_an_agent_that_only_agents_start_is_started_by_no_person(cli: Cli, home: Path) -> None:
    _configured(home, '[agent.reviewer]\nmode = "subagent"\ninstructions = "You review."\n')
    answer = cli("run", "x", "--agent", "reviewer", "--model", "local:smollm2")
    assert answer.status == 2
    assert """'reviewer' has mode = "subagent": other agents hand work to it""" in answer.err


def test_of_several_models_it_is_said_how_one_is_named(cli: Cli, home: Path) -> None:
    _configured(home, PAID + PAID.replace("loop", "main"))
    answer = cli("run", "x")
    assert answer.status == 2
    assert 'with --model loop, or model = "loop" in [agent.default]' in answer.err


def test_a_profile_beside_the_agents_own_is_left_out(cli: Cli, home: Path, tmp_path: Path) -> None:
    _configured(home, '[agent.reader]\nprofile = "locked"\ninstructions = "You read."\n')
    model = script(tmp_path, says("Done."))
    answer = cli("run", "x", "--agent", "reader", "--profile", "code", "--model", model)
    assert (answer.status, "leave --profile (in code profile=) out" in answer.err) == (2, True)
