"""Slow checks, run by ``make soak``: many variants, long histories."""

import pytest

from constraintrot.rule_text.survival import best_window
from constraintrot.scenario import history
from constraintrot.scenario.files import catalogue, load
from tests.conftest import Run
from tests.helpers import by_condition

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("compactor", ["truncate", "summarize", "hierarchical", "head_tail"])
@pytest.mark.parametrize("channel", ["user", "memory", "tool"])
def test_thirty_variants_of_everything(run: Run, compactor: str, channel: str) -> None:
    log = run("suite", compactor=compactor, channel=channel, variants=30)
    assert log.status == "success"
    expected = 0.0 if compactor == "head_tail" else 1.0
    assert by_condition(log) == {"floor": 1.0, "control": 0.0, "compaction": expected}


@pytest.mark.parametrize("family", sorted(catalogue()))
def test_a_very_long_history_never_repeats_and_never_hints(family: str) -> None:
    for locale in catalogue()[family]:
        variant = load(family, locale).variant(11)
        turns = history.for_tokens(variant, 500_000)
        assert len({turn.model_dump_json() for turn in turns}) == len(turns)
        for turn in turns:
            text = "\n".join([turn.user, *(call.result for call in turn.calls), turn.reply])
            assert best_window(text, variant.slots) != set(variant.slots)
