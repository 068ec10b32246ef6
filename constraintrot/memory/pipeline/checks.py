"""The checks of a pipeline's arguments, made when they are given and not amid a conversation."""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai.model import ChatMessage, ChatMessageBase

from constraintrot.errors import ParameterError
from constraintrot.memory.pipeline.layer import Layer
from constraintrot.memory.pipeline.limits import Limits


def layer_name(layer: object) -> str:
    """The name of a layer.

    Raises:
        ParameterError: it is none, or has no name.
    """
    name = getattr(layer, "name", None)
    if not isinstance(layer, Layer) or not isinstance(name, str):
        raise ParameterError(
            "layers are objects of Layer with a name, as Masking() or profiles.layers() gives them,"
            f" not {layer!r:.60}"
        )
    return name


def check_order(layers: Sequence[Layer]) -> None:
    """Refuse a layer behind ``limits`` that makes requests longer.

    Raises:
        ParameterError: there is one.
    """
    names = [layer.name for layer in layers]
    if Limits.name not in names:
        return
    for layer in layers[names.index(Limits.name) :]:
        if layer.lengthens:
            raise ParameterError(
                f"{layer.name} makes requests longer, and limits would not count what it adds;"
                f" put {layer.name} before limits"
            )


def check_messages(messages: Sequence[ChatMessage]) -> None:
    """Refuse messages of another library.

    Raises:
        ParameterError: they are.
    """
    # One tells a list of another library's; all would be read with every request.
    first = next(iter(messages), None)
    if first is not None and not isinstance(first, ChatMessageBase):
        raise ParameterError(
            "messages are a list of Inspect's, as ChatMessageUser(content=...), and one is"
            f" {first!r:.60}; in LangChain take PipelineMiddleware"
        )
