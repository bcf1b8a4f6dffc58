"""Replies that are not whole: cut at the limit of tokens, withheld, or empty; and what follows.

A model whose reply was cut is told so and goes on; one that said nothing is asked once more. How
often, and what comes then, is decided here; who asks is not known.
"""

from holdfast.agent.endings import Ended
from holdfast.agent.replies import KeptReply

MOST_EMPTY = 2
"""How often in a row a model that said nothing is asked once more, without counting it."""
MOST_CUT = 3
"""How often in a row a reply may be cut."""
NUDGE = "Your last reply was empty. Answer the person, or call a tool."
_CUT = "Your last reply was cut off at the limit of tokens for one reply."
_GO_ON = "Go on exactly where it stopped, or write less at a time."
_CALLS = "The call of {0} in it was not whole, and was not made: write it in smaller pieces."
NOTHING_SAID = "(The model gave no answer.)"
TOO_LONG = (
    "the model's replies are cut off at its limit of {0:,} tokens, {1} times in a row; raise"
    " max_output_tokens of the model, or ask for less at a time"
)
WITHHELD = "the provider withheld the model's reply (its content filter)"


def is_loops_own(notice: str) -> bool:
    """Whether a notice follows from the reply before it, and is nobody's advice."""
    return notice == NUDGE or notice.startswith(_CUT)


class CutReplies:
    """What the replies of one step leave to be said, until one is whole."""

    def __init__(self, max_output_tokens: int) -> None:
        self._most_tokens = max_output_tokens
        self.said = ""
        """What was said in the last replies, of which all but the last one were cut."""
        self._cut = self._empty = 0
        self.notices: tuple[str, ...] = ()
        """What the next request has to say of the last reply."""

    @property
    def is_free(self) -> bool:
        """Whether the next reply is no round of its own: the last one said nothing."""
        return self._empty > 0

    def note(self, reply: KeptReply) -> Ended | None:
        """A reply came; how the run ends for it, if it does."""
        self.said = (self.said if self._cut else "") + (reply.text or "")
        if reply.finish == "content_filter":
            return Ended(ending="failed", message=self.said, problem=WITHHELD)
        if reply.finish == "length":
            return self._was_cut(reply)
        self._cut = 0
        self.notices = ()
        if reply.text or reply.calls:
            self._empty = 0
            return None
        self._empty += 1
        self.notices = (NUDGE,)
        if self._empty > MOST_EMPTY:
            return Ended(ending="final_response", message=NOTHING_SAID)
        return None

    def _was_cut(self, reply: KeptReply) -> Ended | None:
        self._cut += 1
        if self._cut > MOST_CUT:
            problem = TOO_LONG.format(self._most_tokens, self._cut)
            return Ended(ending="over_budget", message=self.said, problem=problem)
        calls = (_CALLS.format(name or "a tool") for name in reply.cut_calls)
        self.notices = (" ".join((_CUT, *calls, _GO_ON)),)
        return None
