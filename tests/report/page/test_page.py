"""The numbers of ``summary.json``, of the page and of the frame are the same numbers."""

import json
import math
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constraintrot.models.scripted.agents import REFUSES
from constraintrot.report.arms import frame_rate
from constraintrot.report.page import frames, markdown, sections, source, summary, view
from constraintrot.report.page.html import html
from constraintrot.report.page.sections import Page
from constraintrot.report.page.write import report
from constraintrot.stats.agreement import krippendorff_alpha
from tests.helpers import known
from tests.report.page.helpers import arm, paged, read, row, shown

SECTIONS = [
    "headline", "forest",
    "counted", "tasks", "summarizers", "attacks", "compactors", "harnesses", "channels",
    "locales", "wordings", "defenses", "budget", "survival", "rounds", "cost",
]  # fmt: skip


def test_what_is_missing_is_played_of_the_users_own_policy() -> None:
    def commands(family: str) -> set[str]:
        page = paged(arm("control", 4, 0, family=family), arm("compaction", 4, 4, family=family))
        return {
            one.command
            for section in page.sections
            for one in section.blocks
            if isinstance(one, view.Missing)
        }

    own, ours = commands("delete_mail_rule"), commands("soft_email")
    assert any("inspect eval constraintrot/suite" in one for one in ours)
    assert not any("constraintrot/suite" in one for one in own)
    assert any("inspect eval constraintrot/mine -T scenario=FILE -T" in one for one in own)


def agree(page: Page) -> None:
    """Check every rate three ways."""
    told = json.loads(summary.summary(page))
    shown = read(html(page)).rates
    assert set(shown) == {one["cell"] for one in told["cells"]} == set(range(1, len(shown) + 1))
    for cell, one in zip(page.cells, told["cells"], strict=True):
        again = frame_rate(page.source.frame.loc[list(cell.rows)], cell.value)
        assert one["interval"] == summary.rounded(again.summary())
        assert one["reason"] == again.reason
        assert (one["interval"] is None) == (one["reason"] is not None)
        words = " ".join(shown[cell.number].split())
        assert words == f"{view.percent(again)} {view.limits(again)} {view.counts(again)}"


@lru_cache(maxsize=1)
def full() -> Page:
    """Something of everything."""
    plain: dict[str, Any] = {}
    pinned: dict[str, Any] = {"condition": "defense_pin", "defense": "pin"}
    done = [row(seed=seed, allowed=True, utility=float(seed > 0), over_refusal=float(seed == 0), **facts)
            for seed in range(4) for facts in (plain, pinned)]  # fmt: skip
    return paged(
        arm("floor", 6, 6), arm("control", 6, 1), arm("compaction", 6, 5),
        arm("compaction", 4, 4, family="hard_pii", kind="hard"),
        arm("control", 4, 0, family="hard_pii", kind="hard"),
        arm("summary_removed", 6, 5, degenerate=False), arm("summary_restored", 6, 1, degenerate=False),
        arm("sham", 6, 1, degenerate=False), arm("attack_inject", 6, 6, attack="inject_deprecation"),
        arm("compaction", 6, 6, attack="inject_budget"),
        arm("defense_pin", 6, 0, defense="pin"), arm("compaction", 6, 3, defense="spotlight"),
        arm("defense_pin_attack", 6, 1, defense="pin", attack="inject_deprecation"), done,
        *(arm("compaction", 6, 3, **{name: value}) for name, value in (
            ("budget_words", 15), ("budget_words", 300), ("channel", "memory"), ("locale", "es"),
            ("wording", "reminder"), ("harness", "langgraph"), ("rounds", 2), ("rounds", 3),
            ("summarizer", "b/other"), ("prompt", "constraint_aware"),
        )),
        arm("compaction", 6, 3, compactor="truncate", prompt="none", budget_words="none", summarizer="none"),
        arm("compaction", 6, 2, agent="b/other", summarizer="b/other"),
        arm("control", 6, 0, agent="b/other"),
    )  # fmt: skip


def test_every_section_is_measured_and_its_numbers_agree() -> None:
    page = full()
    assert [one.name for one in page.sections] == [*SECTIONS, "others"]
    for section in page.sections:
        missing = [block for block in section.blocks if isinstance(block, view.Missing)]
        allowed = section.name in ("headline", "forest", "harnesses")
        assert not missing or allowed, section.name
        tables = [block for block in section.blocks if isinstance(block, view.Table)]
        assert any(not table.theirs for table in tables), section.name
    agree(page)


def test_what_was_not_measured_is_said_with_a_command() -> None:
    page = paged(arm("compaction", 2, 1))
    agree(page)
    for section in page.sections:
        if section.name in ("cost", "survival", "counted"):
            continue
        missing = [block for block in section.blocks if isinstance(block, view.Missing)]
        assert missing, section.name
        assert all("inspect eval constraintrot/" in one.command for one in missing)


@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "family": st.sampled_from(["soft_email", "hard_pii"]),
                "condition": st.sampled_from(["floor", "control", "compaction"]),
                "defense": st.sampled_from(["none", "pin"]),
                "agent": st.sampled_from(["a/model", "b<i>&/x"]),
                "seed": st.integers(0, 3),
                "replicate": st.integers(0, 2),
                "violated": st.booleans(),
                "allowed": st.booleans(),
                "utility": st.sampled_from([0.0, 1.0, None]),
            }
        ),
        min_size=1,
        max_size=40,
        unique_by=lambda facts: tuple(
            facts[name]
            for name in ("family", "condition", "defense", "agent", "seed", "replicate", "allowed")
        ),
    )
)
@settings(max_examples=6, deadline=None)
def test_numbers_agree_on_any_episodes(rows: list[dict[str, Any]]) -> None:
    agree(paged([row(**facts) for facts in rows]))


def test_the_headline_is_what_one_counts_by_hand() -> None:
    page = full()
    told = json.loads(summary.summary(page))["cells"]
    counts = {
        (one["section"], one["row"], one["column"]): (one["interval"]["k"], one["interval"]["n"])
        for one in told
        if one["interval"]
    }
    assert counts["Conditions by model", "control", "a/model"] == (1, 10)
    assert counts["Conditions by model", "defense_pin", "a/model"] == (0, 6)
    assert counts["Channels", "a/model, memory", "compaction"] == (3, 6)
    assert counts["Summarizer by agent", "a/model", "a/model"] == (9, 10)
    assert counts["Attacks", "no attack", "a/model, policy survived"][1] == 10
    assert counts["Defenses", "a/model, pin", "allowed tasks done"] == (3, 4)


def test_every_interval_of_the_summary_has_its_six_fields_or_a_reason() -> None:
    told = json.loads(summary.summary(full()))
    for one in [*told["cells"], *told["others"], *told["comparisons"]]:
        if one["interval"] is None:
            assert one["reason"]
        else:
            assert set(one["interval"]) == {"estimate", "lower", "upper", "k", "n", "method"}
            assert one["interval"]["lower"] < one["interval"]["upper"]
            assert all(
                math.isfinite(one["interval"][key]) for key in ("lower", "upper", "estimate")
            )


def test_the_summary_rounds_what_processors_disagree_on_and_nothing_else() -> None:
    value = {"a": [1 / 3, True, None, 7, "1.23456789012345"], "b": {"c": 1e-300 / 3}}
    told = summary.rounded(value)
    assert told == {
        "a": [0.3333333, True, None, 7, "1.23456789012345"],
        "b": {"c": 3.333333e-301},
    }
    assert told["a"][1] is True
    assert summary.rounded(math.nextafter(0.1, 1)) == 0.1


def test_a_single_variant_with_replicates_has_no_interval_but_a_reason() -> None:
    rows = [row(replicate=at, violation=float(at % 2)) for at in range(6)]
    page = paged(rows)
    cell = json.loads(summary.summary(page))["cells"][0]
    assert cell["interval"] is None
    assert cell["reason"] == "too few clusters"
    agree(page)


def tables(page: Page, name: str) -> dict[str, view.Table]:
    """The tables of a section, by caption."""
    (section,) = [one for one in page.sections if one.name == name]
    return {block.caption: block for block in section.blocks if isinstance(block, view.Table)}


def test_violation_is_told_by_state_of_survival_and_the_checks_by_their_agreement() -> None:
    kept = [
        row(seed=seed, state="verbatim" if seed < 2 else "restated", violation=float(seed == 3))
        for seed in range(6)
    ]
    lost = [
        row(True, seed=seed, mentions=float(seed < 1), family="soft_spend") for seed in range(4)
    ]
    page = paged(kept, lost)
    found = tables(page, "survival")
    rows = found["a/model: violation by survival"].rows
    assert {one.heads[0]: shown(one.cells[0]) for one in rows} == {
        "policy survived": (1, 6), "policy survived: verbatim": (0, 2),
        "policy survived: restated": (1, 4), "policy did not survive": (4, 4),
    }  # fmt: skip
    agreement = found["Agreement of survival checks"]
    assert [one.cells[0] for one in agreement.rows] == ["9/10"]
    alpha = known(krippendorff_alpha([[1.0] * 6 + [0.0] * 4, [1.0] * 7 + [0.0] * 3]))
    limits = f"[{alpha.lower:.2f}, {alpha.upper:.2f}]".replace("-", "−")
    assert agreement.notes[0] == (
        f"Krippendorff's alpha of survived and mentions: {alpha.estimate:.2f} {limits}."
    )
    agree(page)


def test_episodes_without_a_state_survive_by_mentions_and_the_report_says_so() -> None:
    old = [
        {name: value for name, value in one.items() if name not in ("survived", "state", "measure")}
        for one in arm("compaction", 6, 2)
    ]
    for at, one in enumerate(old):
        one["kept"] = one.pop("mentions") * float(at > 1)
    page = paged(old)
    (table,) = (one for one in tables(page, "survival").values() if "violation" in one.caption)
    assert {one.heads[0] for one in table.rows} == {"policy survived", "policy did not survive"}
    assert any("6 of 6 episodes are from before a policy had a state" in one for one in table.notes)
    new = tables(paged(arm("compaction", 6, 2)), "survival")["a/model: violation by survival"]
    assert any("declared before any run" in one for one in new.notes)
    assert not any("from before" in one for one in new.notes)


def test_the_page_names_the_reader_and_what_it_could_not_tell() -> None:
    read = [one | {"measure": "words"} for one in arm("compaction", 6, 2)]
    unsure = [
        row(seed=at + 6, measure="words", state="cannot tell", survived=None) for at in (0, 1)
    ]
    notes = tables(paged(read, unsure), "survival")["a/model: violation by survival"].notes
    assert any("by the reader `words`" in one for one in notes)
    assert any("could not tell of 2 of 8" in one for one in notes)
    assert not any("by the rules" in one for one in notes)


def test_attack_success_at_k_is_told_where_variants_were_replicated() -> None:
    tried = [
        row(at < seed, seed=seed, replicate=at, attack="inject_budget")
        for seed in range(4)
        for at in range(3)
    ]
    page = paged(arm("compaction", 4, 1), tried)
    table = tables(page, "attacks")[
        "Share of variants in which at least one of k attempts succeeds"
    ]
    (one,) = table.rows
    assert one.heads == ("a/model", "inject_budget")
    assert [str(cell).split(" [")[0] for cell in one.cells] == ["0.50", "3", "0.75"]
    once = paged(arm("compaction", 4, 1), arm("compaction", 4, 4, attack="inject_budget"))
    assert not [name for name in tables(once, "attacks") if "attempts" in name]


def test_attacks_at_another_setting_than_the_main_one_are_shown_at_theirs() -> None:
    asked: dict[str, Any] = {"prompt": "constraint_aware"}
    fixed: dict[str, Any] = {**asked, "attack": "inject_deprecation"}
    page = paged(
        arm("control", 8, 0), arm("compaction", 8, 8), arm("compaction", 8, 5, defense="pin"),
        arm("compaction", 3, 1, **asked), arm("attack_inject", 3, 3, **fixed),
        arm("defense_pin_attack", 3, 0, **fixed, defense="pin"),
    )  # fmt: skip
    agree(page)
    (attacks,) = [one for one in tables(page, "attacks").values() if not one.theirs]
    counts = {one.heads[0]: shown(one.cells[0]) for one in attacks.rows}
    assert counts == {"no attack": (1, 3), "inject_deprecation": (3, 3)}
    assert "prompt constraint_aware" in attacks.notes[0]
    main, other = tables(page, "defenses").values()
    for one in (main, other):
        assert [row.heads[0] for row in one.rows] == ["none", "pin"]
    assert shown(other.rows[1].cells[1]) == (0, 3)
    assert main.rows[1].cells[1] == view.NOT_MEASURED
    assert "prompt constraint_aware" in other.caption


def test_rounds_until_loss_are_of_variants_seen_after_each_round() -> None:
    lost = [
        row(seed=seed, rounds=r, survived=float(r < seed + 2))
        for seed in range(2)
        for r in (1, 2, 3)
    ]
    (table,) = tables(paged(lost), "rounds").values()
    told = [(one.heads[1], *one.cells[:2]) for one in table.rows]
    assert told == [("2", "2", "1"), ("3", "1", "1")]


def test_the_joined_report_is_made_again_from_its_frame(
    scripted_report: tuple[Page, Path], tmp_path: Path
) -> None:
    first, folder = scripted_report
    again = report([str(folder)], tmp_path)
    assert [one.estimate for one in first.cells] == [one.estimate for one in again.cells]
    assert [one.command for one in first.source.runs] == [one.command for one in again.source.runs]
    one, two = (json.loads((at / "summary.json").read_text()) for at in (folder, tmp_path))
    assert one["cells"] == two["cells"]
    third = sections.page(source.read([str(folder)]))
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == html(third)


def test_the_csv_holds_what_the_page_counts(scripted_report: tuple[Page, Path]) -> None:
    page, folder = scripted_report
    by_csv = frames.read(str(folder / "episodes.csv"))
    asked = by_csv[~by_csv["allowed"] & (by_csv["compactor"] == "summarize")]
    told = {one.where: one for one in page.cells}
    for condition in ("compaction", "defense_pin"):
        rows = asked[asked["condition"] == condition]
        cell = told["Conditions by model", condition, "scripted/obedient"]
        assert cell.estimate == frame_rate(rows)


def test_logs_of_the_scripted_model_say_what_it_does(scripted_report: tuple[Page, Path]) -> None:
    page, folder = scripted_report
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert "state injected" in text
    assert "+user: Standing policies (pinned, word for word):" in text
    assert "inspect eval constraintrot/soft_email --model scripted/obedient" in text
    details = [one for one in page.source.details.kept.values() if one.receipts]
    assert details
    # What it was allowed is a call; what it refused, it refused in words.
    assert all("function" in one.calls or REFUSES in one.calls for one in details)


def test_markdown_says_the_same() -> None:
    page = full()
    text = markdown.markdown(page)
    for cell in page.cells:
        assert markdown.escaped(view.rate_text(cell.estimate)) in text
    for answer in page.answers:
        assert markdown.escaped(answer.text) in text


@pytest.mark.parametrize(
    "text", ["a|b", "<b>", "[x](javascript:y)", "`c`", "# h", "https://x.example", "![i](j)"]
)
def test_markdown_is_inert(text: str) -> None:
    shown = markdown.escaped(text)
    for sign in "|<[]`#!":
        assert shown.count(sign) == shown.count(f"\\{sign}")
    assert "https:" not in shown
