"""Looking for what the agent did and knows."""

from holdfast.contract.builtin import Builtin
from holdfast.tools.managed.retrieval.memory_search import memory_search
from holdfast.tools.managed.retrieval.retrieval_search import retrieval_search
from holdfast.tools.managed.retrieval.session_search_context import session_search_context
from holdfast.tools.managed.retrieval.session_search_traces import session_search_traces

RETRIEVAL: tuple[Builtin, ...] = (
    memory_search,
    session_search_context,
    session_search_traces,
    retrieval_search,
)
