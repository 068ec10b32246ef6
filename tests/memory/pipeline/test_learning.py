"""Budgets learn from outcomes, refusals do not starve a rule, and a pin is in force at once."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.errors import ParameterError
from constraintrot.memory.pipeline import Budget, PipelineOverflowError
from constraintrot.memory.pipeline.workspace import (
    LEARNED,
    Allocation,
    Entry,
    Outcome,
    Prebuilt,
    Workspace,
)
from tests.memory.pipeline.conversations import OPERATOR, RULE, rules

TIPS = [Entry(f"tip-{at}", f"Tip {at}.") for at in range(30)]
POLICY = Entry("policy", RULE, rule=True)


def test_the_papers_steps() -> None:
    allocation = Allocation()
    allocation.outcome(TIPS[:2], "won")
    allocation.outcome(TIPS[1:3], "lost")
    assert [round(allocation.score(one.key), 3) for one in TIPS[:4]] == [0.1, 0.05, -0.05, 0]
    allocation.regime_changed()
    assert [round(allocation.score(one.key), 3) for one in TIPS[:3]] == [0.05, 0.025, -0.025]


def test_after_fifty_outcomes_tokens_move_to_the_category_that_did_well() -> None:
    allocation, base = Allocation(), Budget()
    recalled = Entry("doc", "A document.", "retrieval")
    for _ in range(49):
        allocation.outcome([TIPS[0]], "won")
        assert allocation.tokens("memory") == base.memory
    allocation.outcome([recalled], "lost")
    assert allocation.tokens("memory") > base.memory
    assert allocation.tokens("retrieval") < base.retrieval


@given(
    st.lists(
        st.tuples(st.sampled_from(LEARNED), st.sampled_from(["won", "lost", "refused", "new"])),
        max_size=40,
    )
)
def test_parts_never_grow_in_all_nor_fall_below_half(steps: list[tuple[str, str]]) -> None:
    allocation, base = Allocation(every=3), Budget()
    whole = base.memory + base.retrieval + base.domain
    for category, what in steps:
        if what == "new":
            allocation.regime_changed()
        else:
            outcome: Outcome = what  # type: ignore[assignment]
            allocation.outcome([Entry("one", "One.", category)], outcome)
        parts = {name: allocation.tokens(name) for name in LEARNED}
        assert whole - 3 <= sum(parts.values()) <= whole
        assert all(part >= getattr(base, name) // 2 for name, part in parts.items())


def test_refusals_starve_a_policy_only_where_they_count_and_it_is_an_entry() -> None:
    def last(refusals: str, policy: Entry) -> bool:
        allocation = Allocation(refusals=refusals)  # type: ignore[arg-type]
        for _ in range(20):
            chosen = allocation.chosen([policy, *TIPS], 10)
            allocation.outcome(chosen, "refused" if policy in chosen else "won")
        return policy in allocation.chosen([policy, *TIPS], 10)

    as_entry = Entry("policy", RULE)
    assert not last("lost", as_entry)
    assert last("ignored", as_entry)
    assert last("lost", POLICY)


def test_a_rule_is_never_scored() -> None:
    allocation = Allocation()
    for _ in range(100):
        allocation.outcome([POLICY, TIPS[0]], "lost")
    assert allocation.score("policy") == 0
    assert allocation.score("tip-0") == -1
    assert allocation.chosen([*TIPS, POLICY], 1)[0] == POLICY
    with pytest.raises(ParameterError, match="category is one of"):
        Entry("x", "X.", "system")


def test_a_workspace_is_assembled_anew_with_its_invariants_whole() -> None:
    registry, known = rules(RULE), list(TIPS)
    space = Workspace(registry, lambda: known, system="Be brief.")
    first = [m.text for m in space.request("Go.")]
    assert first[0] == "Be brief."
    assert RULE in first[1]
    assert first[2].count("Tip ") == 10
    assert first[3] == "Go."
    known[:] = [POLICY]
    registry.pin("Never write on Sundays.", by=OPERATOR)
    second = [m.text for m in space.request("Go.")]
    assert "Never write on Sundays." in second[1]
    assert second[2] == f"<memory>\n- {RULE}\n</memory>"


def test_a_workspace_that_cannot_hold_its_rules_stops() -> None:
    small = Budget(
        total=70, system=10, tools=10, memory=10, retrieval=10, domain=10, history=10, query=10
    )
    space = Workspace(rules("word " * 200), lambda: [], budget=small)
    with pytest.raises(PipelineOverflowError, match="budget is 70"):
        space.assemble()


def test_a_workspace_built_ahead_is_in_force_with_the_next_decision() -> None:
    for keyed, late in ((True, 0), (False, 3)):
        registry = rules()
        ahead = Prebuilt(Workspace(registry, lambda: TIPS), every=5, keyed=keyed)
        ahead.get()
        ahead.get()
        registry.pin(RULE, by=OPERATOR)
        held = [any(RULE in m.text for m in ahead.get().messages) for _ in range(6)]
        assert held.index(True) == late
