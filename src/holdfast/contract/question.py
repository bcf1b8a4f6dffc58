"""A question that waits for a person, with what they need to decide it. Values only."""

from datetime import datetime

import msgspec

from holdfast.contract.rules import Remember, Use


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """May this call run?"""

    session_id: str
    approval_id: str
    call_id: str
    tool: str
    arguments: str
    """As the model wrote them, without secrets; what runs is repaired and checked."""
    arguments_hash: str
    """The fingerprint of what exactly would run."""
    reason: str
    uses: tuple[Use, ...] = ()
    """What of the call is in question."""
    offers: tuple[Remember, ...] = ("once",)
    """For how long an answer may hold."""
    wider: tuple[str, ...] = ()
    """Patterns that may be remembered, too."""
    asked_at: datetime
