"""The request budget that all workers share, and the Inspect hook that waits for it."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any

from inspect_ai.hooks import BeforeModelGenerate, Hooks, hooks

from constraintrot.episode.messages import message_texts
from constraintrot.runs.prices import longest_name
from constraintrot.tokens import count


class RateBudget:
    """A budget of requests and tokens per minute over all workers; the class of a Ray actor.

    Each request reserves its place in line, and learns how long to wait for it.
    """

    def __init__(self, budgets: Mapping[str, Mapping[str, float]]) -> None:
        """Set ``requests_per_minute`` and ``tokens_per_minute``, by prefix of a model's name."""
        self._budgets = {name: dict(one) for name, one in budgets.items()}
        self._next: dict[tuple[str, str], float] = {}

    def reserve(self, model: str, tokens: float) -> float:
        """Reserve a place for a request of ``tokens`` tokens; return the seconds to wait for it."""
        name = longest_name(model, self._budgets)
        if name is None:
            return 0.0
        now, wait = time.monotonic(), 0.0
        for what, amount in (("requests_per_minute", 1.0), ("tokens_per_minute", tokens)):
            limit = self._budgets[name].get(what)
            if not limit:
                continue
            at = max(now, self._next.get((name, what), now))
            self._next[name, what] = at + 60.0 * amount / limit
            wait = max(wait, at - now)
        return wait


class _Shared:
    """The budgets that a worker shares with all others; one per process."""

    actor: Any = None
    budgets: Mapping[str, Any] = {}


def share(actor: Any, budgets: Mapping[str, Any]) -> None:
    """Make this process's model calls wait for places of an actor, a ``RateBudget``."""
    _Shared.actor, _Shared.budgets = actor, budgets


@hooks(name="constraintrot_budget", description="Waits for the sweep's budget before a call.")
class BudgetHook(Hooks):
    def enabled(self) -> bool:
        return _Shared.actor is not None

    async def on_before_model_generate(self, data: BeforeModelGenerate) -> None:
        """Wait for a place; Inspect calls this for each retry too."""
        if longest_name(data.model_name, _Shared.budgets) is None:
            return
        tokens = sum(map(count, message_texts(data.input)))
        wait: float = await _Shared.actor.reserve.remote(data.model_name, float(tokens))
        await asyncio.sleep(wait)
