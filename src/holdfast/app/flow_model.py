"""The model of a loop: handed in, or named and then made for this one loop and closed with it."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import TypeAlias

from anyio import CancelScope

from holdfast.app.flow_options import LoopOptions, SettlingOptions, settings_of, surroundings_of
from holdfast.app.models import model_named
from holdfast.contract.model import ChatModel

Provider: TypeAlias = ChatModel | str | None
"""A model, the name of a configured one, or None: the only one that is configured."""


def chosen_model(provider: Provider, options: SettlingOptions | LoopOptions) -> ChatModel:
    """The model that is meant; ConfigurationError."""
    if provider is None or isinstance(provider, str):
        return model_named(settings_of(options), surroundings_of(options), provider)
    return provider


@asynccontextmanager
async def used(model: ChatModel, provider: Provider) -> AsyncGenerator[ChatModel]:
    """The model while it is needed; one that was handed in belongs to whoever did."""
    try:
        yield model
    finally:
        if model is not provider:
            with CancelScope(shield=True):
                await model.close()
