"""The committed figures are what the rules do, and the measure can tell better from worse."""

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from constraintrot.rule_text.extraction import Extractor, Match, Said
from constraintrot.scenario.files import catalogue, load
from constraintrot.scenario.schema import CANARY, WORDINGS
from results.tools import extraction

COMMITTED = Path(__file__).parents[2] / "results" / "extraction.csv"


def committed() -> list[dict[str, str]]:
    with COMMITTED.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_committed_figures_of_some_families_are_reproduced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And those of what is measured without families."""
    some = {name: catalogue()[name] for name in ("soft_email", "hard_pii")}
    monkeypatch.setattr(extraction, "catalogue", lambda: some)

    def whole(row: dict[str, str]) -> bool:
        alone = row["measure"].endswith(("_others", "_benign", "_scaffold"))
        return alone or (row["by"] == "family" and row["value"] in some)

    wanted = list(filter(whole, committed()))
    assert {row["value"] for row in wanted} > set(some)
    assert wanted == list(filter(whole, extraction.rows(extraction.measure())))


@pytest.mark.soak
def test_the_committed_figures_are_reproduced() -> None:
    assert committed() == extraction.rows(extraction.measure())


def test_the_command_writes_the_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(extraction, "catalogue", lambda: {"soft_email": ("en",)})
    extraction.main(["--csv", str(tmp_path / "rates.csv")])
    lines = (tmp_path / "rates.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == ",".join(extraction.COLUMNS)
    assert len(lines) - 1 == len(capsys.readouterr().out.splitlines())


def replaced(extract: Callable[[Sequence[Said]], tuple[Match, ...]]) -> Callable[..., Extractor]:
    async def extractor(messages: Sequence[Said]) -> tuple[Match, ...]:
        return extract(messages)

    return lambda **_: extractor


@pytest.mark.parametrize(
    ("extract", "recall", "alarms"),
    [
        (lambda _: (), 0, 0),
        (lambda said: tuple(Match(one.text, at) for at, one in enumerate(said)), 1, 1),
    ],
)
def test_finding_nothing_and_finding_all_measure_as_such(
    monkeypatch: pytest.MonkeyPatch, extract: Any, recall: int, alarms: int
) -> None:
    monkeypatch.setattr(
        extraction, "catalogue", lambda: {"soft_email": ("en",), "hard_pii": ("en",)}
    )
    monkeypatch.setattr(extraction, "rules", replaced(extract))
    rates = extraction.measure(seeds=(0,))
    for name in ("recall", "recall_tool_read", "recall_others"):
        assert rates["all", name, "all", "all"].estimate == recall
    for name in ("benign", "neutral", "message"):
        assert rates["all", f"false_alarm_{name}", "all", "all"].estimate == alarms
    precision = rates.get(("all", "precision", "all", "all"))
    assert precision is None or 0 < precision.estimate < 0.5
    assert ("all", "exact", "channel", "memory") in rates
    assert rates["all", "exact", "channel", "memory"].estimate == 0


def test_a_phrasing_makes_a_case_and_a_seed_or_a_frame_makes_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(extraction, "catalogue", lambda: {"soft_email": ("en",)})

    def texts(seed: int) -> list[int | None]:
        variants = [load("soft_email").variant(seed, split) for split in extraction.PHRASED]
        return [one.policy_phrasing(wording) for one in variants for wording in WORDINGS]

    def n(*seeds: int) -> int:
        return extraction.measure(seeds=seeds)["all", "recall", "all", "all"].n

    again = next(seed for seed in range(1, 60) if texts(seed) == texts(0))
    assert n(0) == n(0, again) == len(texts(0))
    assert n(0, 1) == 2 * len(texts(0))


def test_half_of_everything_is_held_out() -> None:
    assert set(catalogue()) > extraction.SEEN
    assert len(catalogue()) - len(extraction.SEEN) >= len(extraction.SEEN)
    for name in ("benign", "others"):
        for locale in extraction.LOCALES:
            assert all(len(texts) % 2 == 0 for texts in extraction.data(name)[locale].values())


def test_the_benign_set_is_large_and_without_repeats() -> None:
    benign = extraction.data("benign")
    texts = [text for one in extraction.LOCALES for kind in benign[one].values() for text in kind]
    assert benign["canary"] == CANARY
    assert len(texts) == len(set(texts)) >= 200
    assert {len(benign[one]["hard"]) for one in extraction.LOCALES} == {30}


def test_every_other_rule_stands_in_a_turn_once() -> None:
    others = extraction.data("others")
    assert others["canary"] == CANARY
    for locale in extraction.LOCALES:
        assert set(others[locale]) == set(WORDINGS)
        for text in (text for texts in others[locale].values() for text in texts):
            assert text.count("[[") == text.count("]]") == 1
