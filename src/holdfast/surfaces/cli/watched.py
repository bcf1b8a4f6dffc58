"""A session shown as it happens: words as they come, a line for each step of a call, questions.

It is told events and what happens live, and knows what each of them means to a person. Where they
come from is not known here.
"""

import msgspec

from holdfast.agent.place import Sign
from holdfast.agent.replies import read_reply
from holdfast.app.control.following import Followed, Lost, Missed
from holdfast.contract import events as kinds
from holdfast.contract.events import Event, Payload
from holdfast.contract.json_value import decode_json
from holdfast.contract.model import TextDelta
from holdfast.contract.wake_events import ModelFailed
from holdfast.surfaces.cli.amounts import counted
from holdfast.surfaces.cli.call_cards import how_ended, result_text
from holdfast.surfaces.cli.managed_results import shown_result
from holdfast.surfaces.cli.paint import Paint
from holdfast.surfaces.cli.progress import worded
from holdfast.surfaces.cli.screen import Screen, one_line
from holdfast.surfaces.cli.session_list import cut

_CHARACTERS = 100


class Watched:
    """Shows what happens in one session."""

    def __init__(self, session_id: str, screen: Screen, *, full: bool) -> None:
        """``full``: lines are not cut."""
        self._session_id = session_id
        self._screen = screen
        self._paint = Paint(screen.stage) if screen.is_terminal else None
        """Breaks lines between words, where there is an edge to break them at."""
        self._full = full
        self._streamed = ""
        """What was shown of the reply that comes."""
        self._said = ""
        """The last reply, whole."""
        self._is_open = False
        """A line is not ended yet."""
        self._sign: tuple[str, str] | None = None
        self._tools: dict[str, str] = {}

    def show(self, one: Followed) -> None:
        """One more."""
        match one:
            case TextDelta(text):
                self._piece(text)
            case Event():
                self._event(one.payload)
            case Sign():
                self._progress(one)
            case Missed(count):
                self._end_line()
                self._screen.remark(f"{counted(count, 'piece')} came too fast to be shown live")
            case Lost(why):
                self._end_line()
                told = "it is not told live any more what happens; the journal is read instead"
                self._screen.remark(f"{told} ({why})")
            case _:
                pass  # thoughts, and pieces of calls, which are shown when they are whole
        self._screen.show_now()

    def _event(self, said: Payload) -> None:
        match said:
            case kinds.ModelReplied():
                self._reply(said)
            case ModelFailed():
                again = said.retry_in_seconds
                then = "" if again is None else f"; again in {again:g} s"
                self._line("!", f"the model gave no reply: {said.message}{then}")
                self._streamed = ""
            case kinds.UserMessage(message=message):
                self._line(">", message)
            case kinds.UserInterrupt(note=note):
                self._line("x", "a person interrupted" + (f": {note}" if note else ""))
            case kinds.AgentMessage(message=message):
                if message.strip() != self._said.strip():
                    self._whole(message)
            case kinds.StatusIdle():
                told = "" if said.reason == "idle" else f": {said.summary}"
                self._line("-", f"{said.reason}{told}")
            case _:
                self._call(said)

    def _call(self, said: Payload) -> None:
        match said:
            case kinds.CallAsked():
                self._tools[said.call_id] = said.tool
                self._line("*", f"{said.tool} {said.arguments}")
            case kinds.CallSettled():
                self._tools.pop(said.call_id, None)
                self._line(*_settled(said, full=self._full))
            case kinds.ApprovalAsked():
                self._ask(f"may {said.tool} run? {said.reason}")
                self._ask(f"see it whole: holdfast sessions questions {self._session_id}")
                self._answer_by(said.approval_id, "--allow | --deny")
            case kinds.ApprovalAnswered():
                verdict = "allowed" if said.allowed else "denied"
                self._line("?", f"{verdict} by {said.by or 'nobody'}: {said.note or said.call_id}")
            case kinds.InquiryAsked():
                for question in said.questions:
                    self._ask(question.question)
                self._answer_by(said.call_id, " ".join(["--reply TEXT"] * len(said.questions)))
            case kinds.InquiryAnswered():
                self._line("?", f"{'skipped' if said.skipped else 'answered'} by {said.by}")
            case _:
                pass

    def _reply(self, said: kinds.ModelReplied) -> None:
        try:
            text = read_reply(said.reply).text or ""
        except msgspec.ValidationError:
            text = ""  # of another program than ours
        if text.startswith(self._streamed):
            self._piece(text.removeprefix(self._streamed))
        else:
            self._end_line()
            self._piece(text)
        self._end_line()
        self._said, self._streamed = text, ""

    def _whole(self, text: str) -> None:
        self._end_line()
        self._piece(text)
        self._end_line()
        self._streamed = ""

    def _progress(self, sign: Sign) -> None:
        told = (sign.call_id, worded(sign.progress))
        if told[1] and told != self._sign:
            self._sign = told
            self._line(".", f"{self._tools.get(sign.call_id, sign.call_id)}: {told[1]}")

    def _answer_by(self, name: str, how: str) -> None:
        self._ask(f"holdfast sessions answer {self._session_id} {name} {how}")

    def _ask(self, text: str) -> None:
        """Whole: somebody has to decide by it."""
        self._write(f"? {one_line(text)}")

    def _line(self, sign: str, text: str) -> None:
        told = one_line(text)
        self._write(f"{sign} {told if self._full else cut(told, _CHARACTERS)}")

    def _write(self, line: str) -> None:
        self._end_line()
        if self._paint is None:
            self._screen.raw(line)
        else:
            self._paint.line(line)

    def _piece(self, text: str) -> None:
        if not text:
            return
        if self._paint is None:
            self._screen.piece(text)
        else:
            self._paint.piece(text)
        self._streamed += text
        self._is_open = not text.endswith("\n")

    def _end_line(self) -> None:
        if self._paint is not None:
            self._paint.end_line()
        elif self._is_open:
            self._screen.raw("")
        self._is_open = False


def _settled(said: kinds.CallSettled, *, full: bool) -> tuple[str, str]:
    """How a call ended, and what it brought. ``full``: all of it, as it is."""
    told = decode_json(bytes(said.envelope))
    answer = told if isinstance(told, dict) else {}
    if "result" in answer:
        result = answer["result"]
        ended, tone = how_ended(result)
        told = result if full else shown_result(result)
        if isinstance(told, dict) and [*told] == ["text"]:
            told = told["text"]
        printed = not full and isinstance(told, dict) and told.keys() >= {"stdout", "stderr"}
        if printed:
            told = " ".join(result_text(told).split())
        text = told if isinstance(told, str) else msgspec.json.encode(told).decode()
        if tone == "bad":
            return "!", f"{said.tool}: {ended}: {text}" if text else f"{said.tool}: {ended}"
        return "+", f"{said.tool}: {text or ended}"
    return "!", f"{said.tool}: {answer.get('kind')}: {answer.get('message')}"
