"""Instructions that lie in files: listed, found, read."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.managed.skills.skills_list import skills_list
from holdfast.tools.managed.skills.skills_read import skills_read
from holdfast.tools.managed.skills.skills_search import skills_search

SKILLS: tuple[Builtin, ...] = (skills_list, skills_search, skills_read)
