import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from constraintrot.errors import WeightsError
from constraintrot.models.in_process import catalogue
from constraintrot.models.in_process.prompt import Prompt, as_text
from constraintrot.models.in_process.server import Completion
from constraintrot.rule_text.rule_judge import adapter
from constraintrot.scenario.schema import LOCALES
from results.tools.rule_judge import evaluate
from results.tools.rule_judge.generator import Example, digest, examples
from results.tools.rule_judge.kinds import kinds

ORIGIN = {"adapter_sha256": "a" * 64, "training_sha256": "b" * 64, "step": 7}


class Counting:
    """A judge that says yes to long prompts: its score is the prompt's length less 200."""

    def tokens(self, prompt: Prompt) -> list[int]:
        return [0] * len(as_text(prompt))

    def complete(
        self, prompt: list[int], settings: Mapping[str, Any], cancelled: threading.Event
    ) -> Completion:
        top = [
            {"token": "yes", "logprob": (len(prompt) - 200) / 2},
            {"token": "no", "logprob": (200 - len(prompt)) / 2},
        ]
        entry = {"token": "yes", "logprob": 0.0, "top_logprobs": top}
        return Completion("yes", "length", len(prompt), 0, 1, {}, (entry,))

    def close(self) -> None:
        pass


def example(breaks: bool, kind: str) -> Example:
    return Example(0, kind, "en", "rule", "request", breaks, "own", {})


def test_scores_are_read_from_the_first_token() -> None:
    wanted = examples("held_out", 5, 3)
    scored = evaluate.score(Counting(), wanted)
    assert [one for one, _ in scored] == wanted
    longest = max(wanted, key=lambda one: len(one.rule) + len(one.request))
    assert max(scored, key=lambda pair: pair[1])[0] == longest


def test_a_kind_does_not_choose_its_own_threshold() -> None:
    shifted = [
        (example(True, "a"), 2.0),
        (example(False, "a"), 0.0),
        (example(True, "b"), 12.0),
        (example(False, "b"), 10.0),
    ]
    # Each kind is judged by the other's threshold, which is far above or below it.
    assert evaluate.unseen(shifted) == (0.5, 0.5)


def test_the_page_belongs_to_its_adapter_and_its_examples() -> None:
    wanted = examples("held_out", 5, 20)
    scored = [(one, 3.0 if one.breaks else -1.0) for one in wanted]
    page = evaluate.calibrate(scored, ORIGIN)
    assert page.threshold == 1
    assert (page.forbidden_right, page.allowed_right) == (1, 1)
    assert page.held_out_sha256 == digest(wanted)
    assert page.base_sha256 == catalogue.get(adapter.BASE).sha256
    assert (page.adapter_sha256, page.step) == ("a" * 64, 7)
    assert sum(bar.count for bar in page.reliability) == page.examples == 40


def test_the_published_threshold_is_of_the_held_out_kinds_alone() -> None:
    page = adapter.calibration()
    wanted = examples("held_out", evaluate.SEED, evaluate.GROUPS)
    assert (page.held_out_sha256, page.examples) == (digest(wanted), len(wanted))
    assert page.auc.keys() - {"all"} == kinds("held_out").keys() == {one.kind for one in wanted}
    assert page.training_sha256 == digest(examples("train", 1, 1200))


def test_the_command_writes_what_the_package_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluate, "engine_with", lambda _: Counting())
    done = CliRunner().invoke(
        evaluate.main, ["held-out", "--groups", "10", "--write", str(tmp_path)]
    )
    assert done.exit_code == 0, done.output
    assert adapter.calibration(tmp_path).examples == 20
    with pytest.raises(WeightsError, match=r"rule-judge\.gguf"):
        adapter.file(tmp_path)
    with pytest.raises(WeightsError, match=r"calibration\.json"):
        adapter.calibration(tmp_path / "empty")


def test_the_families_are_asked_in_every_locale() -> None:
    asked = list(evaluate.family_examples(range(1)))
    assert {one.locale for one in asked} == set(LOCALES)
    assert sum(one.breaks for one in asked) * 2 == len(asked)
    assert all(one.rule and one.request for one in asked)
