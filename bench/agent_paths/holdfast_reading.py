"""holdfast: a wake whose tool says that it only reads, one append less."""

from agent_paths import holdfast

opened = holdfast.opened_reading
