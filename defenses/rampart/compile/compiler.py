"""From a registry to a prompt: the gate, the walk and the budget, the count of accesses.

The stages of section 2.4, in their order. What a compile works on is a copy, so the
lock is not held while the user's gate, embedder and counter run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from constraintrot import tokens
from constraintrot.defenses.rampart.block import Counter, checked_int
from constraintrot.defenses.rampart.compile.assembly import Chosen, choose
from constraintrot.defenses.rampart.compile.results import Compiled, Plan, made
from constraintrot.defenses.rampart.embedding.gating import Gate
from constraintrot.defenses.rampart.embedding.search import Searcher
from constraintrot.defenses.rampart.errors import RegistryError
from constraintrot.defenses.rampart.state.records import Entry, Moment
from constraintrot.defenses.rampart.state.store import Store


class Compiler:
    """Compiles the blocks of one registry.

    Arguments and errors are those of the methods of ``Registry`` with the same names.

    Args:
        store: the blocks.
        searcher: runs the gate.
        counter: of tokens.
    """

    def __init__(self, store: Store, searcher: Searcher, counter: Counter) -> None:
        self._store = store
        self._searcher = searcher
        self._counter = counter
        self._last: tuple[int | None, dict[str, Any]] | None = None

    def compile(self, budget: int | None, query: str | None, gate: Gate | None) -> Compiled:
        """Assemble the prompt, and count the accesses."""
        limit = None if budget is None else checked_int("budget", budget)
        store = self._store
        if query is None and gate is None:
            with store.lock:
                last = self._last
                if last is not None and last[0] == limit and last[1]["revision"] == store.revision:
                    store.accesses.repeated()
                    return made(Compiled, last[1])
                moment = store.moment()
            chosen, gated = self._fitted(moment, moment.rest, limit), list[Entry]()
        else:
            moment, chosen, gated = self._chosen(limit, query, gate)
        facts = _facts(moment, chosen, gated)
        facts["prompt"] = chosen.prompt
        with store.lock:
            current = moment.revision == store.revision
            left = [*gated, *chosen.over] if gated else chosen.over
            store.accesses.compiled(chosen.held, left, current=current)
            self._last = (limit, facts) if query is None and current else None
        return made(Compiled, facts)

    def dry_run(self, budget: int | None, query: str | None, gate: Gate | None) -> Plan:
        """Return the blocks that ``compile`` would hold and leave out."""
        limit = None if budget is None else checked_int("budget", budget)
        return made(Plan, _facts(*self._chosen(limit, query, gate)))

    def _chosen(
        self, budget: int | None, query: str | None, gate: Gate | None
    ) -> tuple[Moment, Chosen, list[Entry]]:
        """A moment of the registry, what goes into the prompt, and what the gate left out."""
        if query is None:
            if gate is not None:
                raise RegistryError("a gate judges by a query; give compile() one")
            with self._store.lock:
                moment = self._store.moment()
            admitted, gated = moment.rest, list[Entry]()
        else:
            moment, passed = self._searcher.gated(query, gate)
            verdicts = list(zip(moment.rest, passed, strict=True))
            admitted = [entry for entry, ok in verdicts if ok]
            gated = [entry for entry, ok in verdicts if not ok]
        return moment, self._fitted(moment, admitted, budget), gated

    def _fitted(self, moment: Moment, admitted: Sequence[Entry], budget: int | None) -> Chosen:
        adds_up = self._counter is tokens.count
        return choose(moment, admitted, budget, self._counter, adds_up=adds_up)


def _facts(moment: Moment, chosen: Chosen, gated: Sequence[Entry]) -> dict[str, Any]:
    return {
        "tokens": chosen.tokens,
        "manifest": moment.manifest,
        "revision": moment.revision,
        "_held": chosen.held,
        "_gated": gated,
        "_over": chosen.over,
    }
