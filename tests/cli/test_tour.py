"""`holdfast tour`: what `make run` shows. Every scene comes from the real pipeline."""

import io
import re
from functools import cache
from pathlib import Path

from command import Cli, Terminal, start

from holdfast.surfaces.cli.looks import Scene
from holdfast.surfaces.cli.parsing import Parser
from holdfast.surfaces.cli.screen import Screen
from holdfast.surfaces.cli.tour import STOPS, add_arguments, run, scenes
from holdfast.surfaces.cli.tour_agent import TURNS, run_agent
from holdfast.surfaces.cli.tour_work import FILES, STEPS, work

_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_DURATION = re.compile(r'"duration_ms": \d+')


@cache
def _scenes() -> tuple[Scene, ...]:
    return tuple(scenes())


@cache
def _shown(*words: str, terminal: bool = True) -> str:
    """What the tour shows with these words; it is the same every time, as a test below proves."""
    parser = Parser()
    add_arguments(parser)
    out = Terminal() if terminal else io.StringIO()
    assert run(parser.parse_args(words), Screen(out, out)) == 0
    return _COLOUR.sub("", out.getvalue())


def test_each_stop_shows_what_it_promises() -> None:
    seen = {scene.title.partition(". ")[2]: scene for scene in _scenes()}
    repairs = {
        "A good call": [],
        "A number written as text": ["integer_from_text at days"],
        "Another spelling of a choice": ["enum_case at unit"],
        "Arguments in a wrapper": ["lifted_wrapper at properties"],
        "A list and a truth value written as text": [
            "array_from_text at tags",
            "boolean_from_text at pinned",
        ],
        "An empty filler": ["dropped_empty at unit"],
    }
    for title, expected in repairs.items():
        assert (seen[title].ok, list(seen[title].repairs)) == (True, expected)
    failures = {
        "A missing argument": '"field": "city"',
        "The same mistake again": '"example": {',
        "A stray key": "colour",
        "A tool that does not exist": '"kind": "tool_not_found"',
        "A crash inside the tool": '"kind": "execution_error"',
        "More than the tool requires": "requires.fs.write = ['src/main.py']",
        "One part of a command is denied": "Publishing is for people.",
    }
    for title, expected in failures.items():
        assert not seen[title].ok
        assert expected in seen[title].envelope
    spilled = seen["More than a model should read"]
    assert spilled.ok
    assert '"truncated": true' in spilled.envelope
    assert '"output_path": "…/sessions/ses_…/outputs/weather-cal_…"' in spilled.envelope
    assert len(seen) == len(STOPS) == len(repairs) + len(failures) + 1


def test_the_piece_of_work_comes_out_right() -> None:
    told = list(work())
    assert [step.card.title for step in told] == [step.tool for step in STEPS]
    ends = [step.card.state for step in told]
    assert ends == ["done"] * 6 + ["rejected"] + ["done"] * 2
    shown = [step.card.answer for step in told]
    assert shown[0] == ["expected 9, got -9", "exit code 1"]
    assert shown[1] == ["total.sh:3: while read -r price; do sum=$((sum - price)); done"]
    assert shown[2] == FILES["total.sh"].splitlines()
    assert shown[4] == ["passed", "exit code 0"]
    assert [step.asked is None for step in told].index(False) == 5
    assert "rm -rf build" in str(told[5].asked)
    assert "'/etc/shadow' is outside of what may be read" in shown[6][0]
    assert shown[7] == [
        *("1", "2", "3", "…"),
        "all of it: …/data/sessions/ses_…/outputs/bash-cal_…",
    ]
    assert shown[8] == ["199999", "200000"]


def test_the_agent_mends_what_it_was_told_to() -> None:
    done = run_agent()
    assert done.end is not None
    assert (done.end.ended, done.end.response) == ("final_response", TURNS[-1].text)
    shown = "\n".join(done.lines)
    for part in (
        "  * read greet.sh",
        "a person is asked, and allows it once",
        "    -Hullo\n    +Hello\n",
        "    exit code 0\n    passed\n",
    ):
        assert part in shown


def test_a_denied_part_is_told_beside_the_others() -> None:
    (scene,) = [scene for scene in _scenes() if scene.judged]
    assert scene.judged == [
        "git status: allow",
        "git -C . push -fq origin: deny, by shell 'git push *' (the tour)",
    ]


def test_what_policy_says_is_shown_in_both_looks() -> None:
    for words in ((), ("--plain",)):
        assert "git status: allow" in _shown(*words)


def test_it_is_the_same_every_time_except_for_durations(cli: Cli) -> None:
    first, second = cli("tour"), cli("tour", "--plain")
    assert (first.status, first.err) == (0, "")
    assert _DURATION.sub("", first.out) == _DURATION.sub("", second.out)


def test_nothing_is_wider_than_a_hundred_columns() -> None:
    lines = _shown(terminal=False).splitlines()
    assert [line for line in lines if len(line) > 100 and '"message"' not in line] == []


def test_at_a_terminal_it_draws_panels() -> None:
    assert "╭─ 1. A good call ─" in _shown()
    assert "╭" not in _shown("--plain")


def test_it_needs_no_home_and_leaves_nothing_behind(tmp_path: Path) -> None:
    answer = start("tour", home=tmp_path / "file" / "below", variables={"TMPDIR": str(tmp_path)})
    assert (answer.status, answer.err) == (0, "")
    assert list(tmp_path.iterdir()) == []
