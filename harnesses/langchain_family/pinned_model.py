"""Constraint Pinning at the boundary of a LangChain chat model: all its requests have the pins.

>>> from langchain_core.language_models import FakeListChatModel
>>> from constraintrot.defenses.rampart import Principal, Registry
>>> operator = Principal("operator")
>>> rules = Registry(operator)
>>> block = rules.pin("Send email only to addresses at example.org.", by=operator)
>>> model = pinned_model(
...     FakeListChatModel(responses=["Done."]), rules, report=lambda receipt: print(receipt.state)
... )
>>> answer = model.invoke("Hello")
injected

Everything between an agent and its model, such as a prompt made at run time, runs before
this. Use another model to write summaries.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from typing import Any, TypeVar, cast

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.runnables import RunnableBinding
from pydantic import PrivateAttr

from constraintrot.defenses.pinning.block_removal import Removed
from constraintrot.defenses.pinning.message_list import refuse_replacing
from constraintrot.defenses.pinning.pinned_block import (
    HEADING,
    PinnedBlock,
    Rendering,
    Report,
    State,
    log_receipt,
)
from constraintrot.defenses.rampart import Registry
from constraintrot.errors import ParameterError
from constraintrot.harnesses.langchain_family.message_pins import MESSAGES

M = TypeVar("M")

# LangChain's calls of a provider; the first argument is the messages.
_BOUNDARY = (
    "_generate",
    "_agenerate",
    "_stream",
    "_astream",
    "_stream_chat_model_events",
    "_astream_chat_model_events",
)
_GUARDS = "_constraintrot_guards"


class Guard:
    """Ensures the pins in a model's calls, and reports them.

    Args:
        before: the earlier change to the request, which is reported if it still holds;
            None without one.
        removed: the blocks that were removed from the request then.

    Attributes:
        calls: number of model calls that it saw.
    """

    def __init__(
        self,
        pinned_block: PinnedBlock,
        before: State | None = None,
        removed: tuple[Removed, ...] = (),
    ) -> None:
        self.pinned_block = pinned_block
        self.calls = 0
        self._before = before
        self._removed = removed

    def __deepcopy__(self, memo: dict[int, Any]) -> Guard:
        return self

    def sent(
        self, model: BaseChatModel, messages: list[BaseMessage], given: dict[str, Any]
    ) -> tuple[list[BaseMessage], dict[str, Any]]:
        """Return the messages and keyword arguments of a call, with the pins in them once."""
        self.calls += 1
        now = self.pinned_block.rendering()
        # Anthropic's ``system`` would take the messages' place; these two stand beside them.
        arguments = {**_own(model), **given}
        for name in ("instructions", "prompt"):
            arguments.pop(name, None)
        refuse_replacing(self.pinned_block, getattr(model, "extra_body", None), arguments)
        if _kept_by_server(model, given):
            return self._instructed(model, messages, given, now)
        kept, changed, removed = MESSAGES.placed(messages, self.pinned_block, now)
        state: State = self._before or "verified"
        if changed:
            state = "repaired" if self._before else "injected"
        self.pinned_block.receipt(state, at=0, removed=(*self._removed, *removed), now=now)
        return kept, given

    def _instructed(
        self,
        model: BaseChatModel,
        messages: list[BaseMessage],
        given: dict[str, Any],
        now: Rendering,
    ) -> tuple[list[BaseMessage], dict[str, Any]]:
        """Put the pins into the request's instructions, for a server that keeps the history.

        Such a server gets only new messages and keeps them, but does not keep instructions.
        """
        kept, removed = MESSAGES.without_blocks(messages, self.pinned_block)
        said = given.get("instructions") or _own(model).get("instructions")
        instructions, gone = self.pinned_block.placed(said or "", now)
        in_place = instructions == (said or "")
        state: State = "verified" if in_place and self._before is None else "injected"
        self.pinned_block.receipt(state, at=-1, removed=(*removed, *gone), now=now)
        return kept, given if in_place else {**given, "instructions": instructions or None}


def _own(model: BaseChatModel) -> Mapping[str, Any]:
    """Return the arguments that a model gives its provider with each call."""
    return getattr(model, "model_kwargs", None) or {}


def _kept_by_server(model: BaseChatModel, given: Mapping[str, Any]) -> bool:
    """Return whether the provider keeps the history that a request continues, or shortens it."""
    asked = {**_own(model), **given}
    kept = any(asked.get(key) for key in ("previous_response_id", "conversation"))
    # Only OpenAI's has it; others know the words below, and no instructions.
    continues: bool | None = getattr(model, "use_previous_response_id", None)
    if continues is None:
        return kept
    shortens = ("truncation", "context_management")
    return kept or continues or any(asked.get(key, getattr(model, key, None)) for key in shortens)


class _Sent(list[BaseMessage]):
    """Messages, and the guards that they went through.

    A model's method may call another of its own, or that of an inner pinned model.
    """

    def __init__(self, messages: list[BaseMessage], guards: frozenset[Guard]) -> None:
        super().__init__(messages)
        self.guards = guards


def pinned_model(
    model: M,
    pins: Registry | PinnedBlock,
    *,
    heading: str = HEADING,
    report: Report = log_receipt,
) -> M:
    """Return a copy of a chat model that sends no request without the pins.

    It is of the same kind, accepts tools, and streams as the model does; models that its
    class makes anew, as ``configurable_fields`` does, are pinned too. The pins are at the
    end of the leading system message, or of ``instructions`` if a ``ChatOpenAI`` continues
    a history that the server keeps. They are added after LangChain's callbacks get the
    request; a cache keeps answers with and without pins separate.

    A model may have bound arguments. A PinnedBlock has a heading and a report of its own; by
    default receipts go to the logger ``constraintrot.pins``.

    Raises:
        ParameterError: the model is not a LangChain chat model.
    """
    pinned_block = PinnedBlock.of(pins, heading=heading, report=report)
    return guarded(model, Guard(pinned_block), lasting=True)


def guarded(model: M, guard: Guard, *, lasting: bool = False) -> M:
    """Return a copy of a model whose calls go through a guard; the model itself if they do already.

    The copy is for one request and shares the model's attributes, so that a model which counts
    its calls goes on counting. Models that its class makes anew refuse to be called. If
    ``lasting``, which needs a class per guard, they go through the guard too, and the copy has
    attributes of its own.
    """
    if isinstance(model, RunnableBinding):
        binding = cast("RunnableBinding[Any, Any]", model)
        bound = guarded(binding.bound, guard, lasting=lasting)
        return cast("M", binding.model_copy(update={"bound": bound}))
    if not isinstance(model, BaseChatModel):
        raise ParameterError(
            f"a {type(model).__name__} is no chat model that can be verified; give the chat model"
            " that it stands for"
        )
    held: tuple[Guard, ...] = getattr(model, _GUARDS, ())
    if guard in held:
        return cast("M", model)
    guards = (*held, guard)
    # LangChain caches this: computed here, the copies have it too.
    _ = model._serialized
    copy = model.model_copy()
    # A subclass of the model's own class, so that class checks give the same result.
    kind = type(model).__bases__[0] if held else type(model)
    object.__setattr__(copy, "__class__", _guarded_type(kind, guards if lasting else ()))
    if not lasting:
        for name in ("__dict__", "__pydantic_fields_set__", "__pydantic_extra__"):
            object.__setattr__(copy, name, getattr(model, name))
    private = (copy if lasting else model).__pydantic_private__
    own = {_GUARDS: guards}
    object.__setattr__(
        copy, "__pydantic_private__", _Private(own, {} if private is None else private)
    )
    return cast("M", copy)


class _Private(ChainMap[str, Any]):
    """A copy's guards in front of its model's private attributes, which alone are changed."""

    def __setitem__(self, name: str, value: Any) -> None:
        self.maps[1][name] = value

    def __delitem__(self, name: str) -> None:
        del self.maps[1][name]


@lru_cache(maxsize=256)
def _guarded_type(kind: type[BaseChatModel], guards: tuple[Guard, ...]) -> type[BaseChatModel]:
    """Return a subclass whose provider calls go through a model's guards, or through ``guards``."""
    space: dict[str, Any] = {
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
        "__annotations__": {_GUARDS: tuple[Guard, ...]},
        _GUARDS: PrivateAttr(default=guards),
        "_get_llm_string": _keyed_by_pins(kind._get_llm_string),
        # What is written names the plain class, and would be read back without the pins.
        "to_json": kind.to_json_not_implemented,
        "_serialized": cached_property(lambda self: _as_plain(self, kind)._serialized),
    }
    for name in _BOUNDARY:
        # Only the overridden ones: LangChain checks which of these a class overrides.
        given = getattr(kind, name, None)
        if given is not None and given is not getattr(BaseChatModel, name, None):
            space[name] = _through_guards(given)
    metaclass: Any = type(kind)
    made: type[BaseChatModel] = metaclass(kind.__name__, (kind,), space)
    return made


def _as_plain(model: BaseChatModel, kind: type[BaseChatModel]) -> BaseChatModel:
    """A copy of a model without its guards, for what LangChain says of it in traces and caches."""
    copy = model.model_copy()
    object.__setattr__(copy, "__class__", kind)
    return copy


def _guards(model: BaseChatModel) -> tuple[Guard, ...]:
    found: tuple[Guard, ...] = getattr(model, _GUARDS)
    if not found:
        raise ParameterError(
            f"this {type(model).__name__} was made anew by its class and has lost its pins; give"
            " the agent pinned_model(...) of the model, whose copies keep them"
        )
    return found


def _keyed_by_pins(call: Callable[..., str]) -> Callable[..., str]:
    """Return a method for the cache key that includes the pins, which its messages lack."""

    def keyed(self: BaseChatModel, stop: list[str] | None = None, **given: Any) -> str:
        blocks = [guard.pinned_block for guard in _guards(self)]
        pins = [(block.heading, block.rendering().manifest) for block in blocks]
        return f"{call(self, stop=stop, **given)}---{pins}"

    return keyed


def _through_guards(call: Callable[..., Any]) -> Callable[..., Any]:
    def through(self: BaseChatModel, messages: list[BaseMessage], *rest: Any, **given: Any) -> Any:
        seen = messages.guards if isinstance(messages, _Sent) else frozenset[Guard]()
        own = _guards(self)
        if not seen.issuperset(own):
            for guard in own:
                if guard not in seen:
                    messages, given = guard.sent(self, messages, given)
            messages = _Sent(messages, seen.union(own))
        return call(self, messages, *rest, **given)

    return through
