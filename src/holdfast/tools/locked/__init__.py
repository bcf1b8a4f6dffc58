"""The locked thirteen: the tools whose names models have learned. Their shapes never widen."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.locked.todo import todo
from holdfast.tools.locked.web_fetch import web_fetch
from holdfast.tools.locked.web_search import web_search

LOCKED: tuple[Builtin, ...] = (todo, web_search, web_fetch)
