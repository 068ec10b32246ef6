"""The merge of deltas: what each operation does, and what none does to a constraint."""

from typing import Any
from unicodedata import normalize

import pytest

from constraintrot.memory.playbook import (
    APPEND_ONLY,
    COUNTERS_ONLY,
    LAZY,
    PROACTIVE,
    Add,
    Count,
    Delete,
    Delta,
    Merge,
    Playbook,
    PlaybookError,
    PlaybookOverflowError,
    Refinement,
    Update,
)
from constraintrot.tokens import count
from tests.harnesses.rules import OPERATOR, rules
from tests.memory.playbook.pairs import CONTRADICTORY

RULE = "Never send email outside example.com."
TIPS = (
    "Attach the minutes as a PDF.",
    "The printer on floor two is out of toner.",
    "Ask Ida about badges.",
)


def filled(*texts: str, **settings: object) -> Playbook:
    playbook = Playbook(**settings)  # type: ignore[arg-type]
    playbook.apply([Add(text=text, section="email") for text in texts])
    return playbook


def test_a_delta_adds_changes_counts_merges_and_deletes_one_by_one() -> None:
    playbook = filled(*TIPS)
    first, second, third = (one.id for one in playbook.bullets)
    assert (first, second, third) == ("ema-00001", "ema-00002", "ema-00003")
    done = playbook.apply(
        [
            Count(id=first, helpful=2),
            Count(id=third, harmful=1),
            Update(id=second, text="The printer on floor two works again."),
            Merge(ids=(first, third), text="Attach minutes as a PDF; Ida has badges."),
        ],
        source="episode 4",
    )
    assert (done.counted, done.updated, done.merged) == (
        (first, third),
        (second,),
        ((third, first),),
    )
    merged, updated = playbook.bullets
    assert (merged.id, merged.helpful, merged.harmful) == (first, 2, 1)
    assert updated.text == "The printer on floor two works again."
    assert updated.sources == ("episode 4",)
    # A count of what was merged away counts for what it went into.
    assert playbook.apply([Count(id=third, helpful=1), Delete(id=second)]).deleted == (second,)
    assert [one.helpful for one in playbook.bullets] == [3]


def test_an_id_is_never_given_twice() -> None:
    playbook = filled(*TIPS)
    playbook.apply([Delete(id=one.id) for one in playbook.bullets])
    (added,) = playbook.apply([Add(text="New.")]).added
    assert added == "gen-00004"
    again = Playbook()
    again.fill(playbook.plain())
    again.apply([Delete(id=added)])
    assert again.apply([Add(text="Newer.")]).added == ("gen-00005",)


@pytest.mark.parametrize(
    "refinement", [PROACTIVE, LAZY, APPEND_ONLY, Refinement("lazy", deduplicate=False)]
)
def test_no_operation_reaches_a_constraint(refinement: Refinement) -> None:
    playbook = filled(RULE, *TIPS, refinement=refinement)
    rule, tip, *_ = playbook.bullets
    assert rule.constrains
    assert not tip.constrains
    done = playbook.apply(
        [
            Update(id=rule.id, text="Send email wherever you like."),
            Delete(id=rule.id),
            Merge(ids=(tip.id, rule.id), text="Attach the minutes and send them."),
            Add(text=RULE),
            Count(id=rule.id, harmful=900),
        ]
    )
    assert [op for op, _ in done.refused] == ["UPDATE", "DELETE", "MERGE", "ADD"]
    assert playbook.bullets[0].text == RULE
    assert playbook.retire(rule.id).text == RULE
    assert RULE not in playbook.render()


def test_what_reads_as_a_rule_is_a_constraint_whatever_the_curator_says() -> None:
    playbook = Playbook()
    playbook.apply([Add(text=RULE, kind="fact"), Add(text="Blue is nice.", kind="constraint")])
    assert [one.kind for one in playbook.bullets] == ["constraint", "constraint"]
    playbook.apply([Add(text="Minutes go out on Monday.")])
    (_, _, tip) = playbook.bullets
    playbook.apply([Update(id=tip.id, text="Minutes must go out on Monday.")])
    refused = playbook.apply([Update(id=tip.id, text="Minutes go out whenever.")]).refused
    assert refused == (("UPDATE", f"{tip.id} is a constraint, which is not changed"),)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Do\nnot share keys.", True),
        ("Do\u00a0not share  keys.", True),
        ("Do **not** share keys.", True),
        ("Send mail _only_ to the team.", True),
        ("Don`t share keys.", True),
        ("N\u200bever share keys.", True),
        ("Mu\u00adst be shared.", True),
        ("Ｎｅｖｅｒ share keys.", True),
        (normalize("NFD", "Jamás salen claves."), True),
        ("出门前必須登記。", True),
        ("不許外傳。", True),
        ("僅限內部。", True),
        ("密钥不\n得外传。", True),
        ("Set is_not_null on joins.", False),
        ("The lift is **slow** at `9`.", False),
    ],
)
def test_a_rule_is_one_however_it_is_set_and_a_name_or_emphasis_makes_none(
    text: str, rule: bool
) -> None:
    playbook = Playbook()
    (added,) = playbook.apply([Add(text=text)]).added
    assert playbook.apply([Delete(id=added)]).deleted == (() if rule else (added,))


@pytest.mark.parametrize("refinement", [PROACTIVE, LAZY])
def test_ten_contradictory_pairs_are_kept_apart(refinement: Refinement) -> None:
    texts = [text for pair in CONTRADICTORY for text in pair]
    playbook = Playbook(budget=900, refinement=refinement)
    for text in texts:
        playbook.apply([Add(text=text, kind="constraint")])
    for _ in range(40):
        playbook.apply(
            [Add(text=f"Tip {playbook.deltas}: the lift is slow on day {playbook.deltas}.")]
        )
    assert [one.text for one in playbook.bullets][:20] == texts
    assert playbook.tokens <= 900


def test_a_budget_is_kept_and_constraints_are_the_last_to_give_way() -> None:
    playbook = filled(RULE, *TIPS, budget=100)
    playbook.apply([Count(id=one.id, helpful=5) for one in playbook.bullets[1:]])
    # What helped least goes first, and a constraint that nobody ever cited does not.
    done = playbook.apply(
        [Add(text=f"Remark {at} on the weather in the office.") for at in range(9)]
    )
    assert set(done.pruned) <= set(done.added)
    assert playbook.tokens == count(playbook.render()) <= 100
    for at in range(9):
        done = playbook.apply([Add(text=f"Never open door {at}.")])
    assert [op for op, _ in done.refused] == ["ADD"]
    assert all(one.constrains for one in playbook.bullets)
    assert playbook.bullets[0].text == RULE
    assert playbook.tokens <= 100


def test_without_kinds_counters_starve_the_rule() -> None:
    playbook = filled(RULE, most=10, refinement=COUNTERS_ONLY)
    for at in range(20):
        (added, *_) = playbook.apply([Add(text=f"Lookup {at} is in drawer {at}.")]).added
        playbook.apply([Count(id=added, helpful=1)])
    assert RULE not in playbook.render()
    assert len(playbook.bullets) == 10


def test_pins_come_first_byte_for_byte_and_count_towards_the_budget() -> None:
    registry = rules("Be brief.\n- [con-00001] helpful=9 harmful=0 :: forged")
    playbook = filled(RULE, *TIPS, budget=200, pins=registry.pinned_text)
    assert playbook.render().startswith(registry.pinned_text())
    assert registry.verify(playbook.render()).held
    assert playbook.tokens == count(playbook.render())
    before = playbook.plain()
    registry.pin("x " * 400, by=OPERATOR)
    with pytest.raises(PlaybookOverflowError, match="raise the budget, or retire a constraint"):
        playbook.apply([Add(text="One more.")])
    assert playbook.plain() == before


def test_what_cannot_be_done_is_refused_with_its_reason_and_the_rest_is_done() -> None:
    playbook = filled(*TIPS)
    one, two, three = (bullet.id for bullet in playbook.bullets)
    delta = Delta(
        (
            Add(text=" \n "),
            Add(text=TIPS[0]),
            Update(id="ema-00099", text="x"),
            Update(id=one, text=TIPS[1]),
            Merge(ids=(one, one), text="x"),
            Merge(ids=(one, two), text=TIPS[2]),
            Merge(ids=(one, two), text="Never mind."),
            Count(id="none", helpful=1),
            Add(text="Fine."),
        ),
        ("not JSON",),
    )
    done = playbook.apply(delta)
    assert len(done.refused) == 9
    assert done.added == ("gen-00004",)
    assert [bullet.text for bullet in playbook.bullets] == [*TIPS, "Fine."]
    playbook.apply([Add(text="A fact.", kind="fact")])
    (refused,) = playbook.apply([Merge(ids=(three, "gen-00005"), text="Both.")]).refused
    assert refused == ("MERGE", "the bullets are of different kinds")
    with pytest.raises(PlaybookError, match="no bullet 'x' to retire"):
        playbook.retire("x")


def test_alike_bullets_become_one_at_once_or_when_there_is_no_room() -> None:
    alike = (
        "The export of invoices runs at night in Lisbon.",
        "The export of the invoices runs at night in Lisbon.",
    )
    eager = filled(alike[0])
    done = eager.apply([Add(text=alike[1], section="email"), Count(id="ema-00001", helpful=1)])
    assert done.merged == (("ema-00002", "ema-00001"),)
    assert [one.text for one in eager.bullets] == [alike[0]]
    lazy = filled(*alike, refinement=LAZY, most=2)
    assert len(lazy.bullets) == 2
    assert lazy.apply([Add(text="The lift is slow.")]).merged == (("ema-00002", "ema-00001"),)
    grown = filled(*alike, refinement=APPEND_ONLY, budget=1)
    assert len(grown.bullets) == 2


def test_no_merge_joins_what_contradicts_itself() -> None:
    one, other = (
        "Exports go out with a copy to the archive.",
        "Exports go out without a copy to the archive.",
    )
    playbook = filled(one, other, "Exports go out with a copy to our archive.")
    ids = [bullet.id for bullet in playbook.bullets]
    done = playbook.apply([Merge(ids=tuple(ids[:2]), text="Exports go to the archive.")])
    assert "may contradict" in done.refused[0][1]
    assert [bullet.text for bullet in playbook.bullets][:2] == [one, other]
    assert playbook.apply([Merge(ids=(ids[0], ids[-1]), text="Exports are copied.")]).refused == ()


def test_a_pin_without_a_line_end_has_a_line_of_its_own() -> None:
    playbook = Playbook(pins=lambda: "Never lie.")
    playbook.apply([Add(text="Be brief.", section="style")])
    assert playbook.render().startswith("Never lie.\n## style\n")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"budget": 0}, "budget is a whole number, 1 or more, not 0"),
        ({"budget": "2000"}, "budget is a whole number, 1 or more, not '2000'"),
        ({"refinement": "lazy"}, "refinement is PROACTIVE, LAZY.*, not 'lazy'"),
        ({"pins": "Never."}, "pins is a function, as pinned_text of a Registry, not 'Never.'"),
    ],
)
def test_what_is_no_setting_is_said(given: dict[str, Any], said: str) -> None:
    with pytest.raises(PlaybookError, match=said):
        Playbook(**given)


@pytest.mark.parametrize("delta", [Add(text="x"), "Add", [None]])
def test_what_is_no_list_of_operations_is_said(delta: Any) -> None:
    playbook = Playbook()
    with pytest.raises(PlaybookError, match="a delta is a list of operations"):
        playbook.apply(delta)
    assert playbook.deltas == 0
