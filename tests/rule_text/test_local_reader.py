"""The reader of the local model: texts first, one token an answer, and nothing sent elsewhere."""

import asyncio
import math
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from inspect_ai.model import (
    ChatMessage,
    GenerateConfig,
    Logprob,
    Logprobs,
    Model,
    ModelOutput,
    TopLogprob,
    get_model,
)

from constraintrot.errors import EpisodeError
from constraintrot.rule_text import local_reader
from constraintrot.rule_text.local_reader import LocalReader, answers, log_odds
from constraintrot.rule_text.reader import Passage, Rule
from constraintrot.rule_text.rule_reader import adapter
from constraintrot.rule_text.rule_reader.adapter import Calibration, Question
from constraintrot.rule_text.rule_reader.prompt import STATES, about_rule
from constraintrot.rule_text.survival.states import EVERY_STATE

NO_PUSH = Rule("Never push to main.")
PNPM = Rule("Use pnpm, not npm.")
FIGURES = Question(scale=1, shift=0, examples=1, auc=1, precision=1, recall=1, calibration_error=0)
CALIBRATION = Calibration(
    adapter_sha256="a" * 64, base_sha256="b" * 64, training_sha256="c" * 64,
    held_out_sha256="d" * 64, step=7, state=FIGURES, standing=FIGURES,
)  # fmt: skip
Said = Mapping[str, float]


@pytest.fixture(autouse=True)
def calibrated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapter, "calibration", lambda: CALIBRATION)


def answering(answer: Callable[[str], Said | None]) -> tuple[Model, list[str], list[Any]]:
    """A model whose candidates are a function of its prompt, its prompts and settings."""
    asked: list[str] = []
    settings: list[Any] = []

    def outputs(
        messages: list[ChatMessage], tools: Any, choice: Any, config: GenerateConfig
    ) -> ModelOutput:
        asked.append(messages[-1].text)
        settings.append(config)
        output = ModelOutput.from_content("mockllm/model", "yes")
        said = answer(asked[-1])
        if said is not None:
            top = [TopLogprob(token=word, logprob=math.log(p)) for word, p in said.items()]
            entry = Logprob(token="yes", logprob=0.0, top_logprobs=top)
            output.choices[0].logprobs = Logprobs(content=[entry])
        return output

    return get_model("mockllm/model", custom_outputs=outputs, memoize=False), asked, settings


def reader(model: Model, **settings: Any) -> LocalReader:
    return LocalReader(model, cache=False, **settings)


def test_the_answer_with_most_weight_is_the_state_and_yes_s_share_the_probability() -> None:
    said = {
        NO_PUSH.text: {"yes": 0.8, "free": 0.1, "no": 0.1},
        PNPM.text: {"yes": 0.2, "free": 0.5, "weak": 0.3},
    }
    model, _, settings = answering(lambda text: said[text.rsplit("Rule: ", 1)[1]])
    found = asyncio.run(reader(model).states([NO_PUSH, PNPM], ["main is off limits. pnpm: gone."]))
    assert [one.state for one in found] == ["restated", "contradicted"]
    assert [round(one.bound, 6) for one in found] == [0.8, 0.2]
    assert found[1].quote == "pnpm: gone."
    assert settings[0].extra_body == {"adapter": "rule-reader"}
    assert settings[0].max_tokens == 1


def test_the_text_is_the_same_beginning_of_all_questions() -> None:
    model, asked, _ = answering(lambda _: {"yes": 0.5, "no": 0.5})
    asyncio.run(reader(model).states([NO_PUSH, PNPM], ["Some notes.", "More notes."]))
    shared = about_rule("Some notes.\n\nMore notes.", "")
    assert all(one.startswith(shared) for one in asked)
    assert len(asked) == 2


def test_own_words_are_verbatim_where_the_rule_binds_and_only_there() -> None:
    for chance, state in ((0.9, "verbatim"), (0.1, "attributed")):
        model, _, _ = answering(lambda _, p=chance: {"yes": p, "others": 1 - p})  # type: ignore[misc]  # bound now
        (found,) = asyncio.run(reader(model).states([NO_PUSH], ["They say: never\npush to main."]))
        assert found.state == state


def test_a_long_context_is_read_in_pieces_and_the_one_that_binds_counts() -> None:
    model, asked, _ = answering(
        lambda text: {"yes": 0.9, "no": 0.1} if "off limits" in text else {"yes": 0.1, "no": 0.9}
    )
    texts = ["word " * 1000, "main is off limits.\n" + "word " * 1100, "word " * 3000]
    told: list[tuple[int, int]] = []
    asking = reader(model, progress=lambda done, total: told.append((done, total)))
    (found,) = asyncio.run(asking.states([NO_PUSH], texts))
    assert found.survived is True
    assert len(asked) > 2
    assert all(len(one) < local_reader._PIECE + 500 for one in asked)
    assert told[-1] == (len(asked), len(asked))


def test_sentences_are_asked_one_by_one_and_found_in_their_place() -> None:
    model, asked, _ = answering(
        lambda text: (
            {"yes": 0.7, "no": 0.3} if text.endswith("Use tabs.") else {"no": 0.9, "x": 0.1}
        )
    )
    passages = [Passage("Hi! Use tabs. Thanks.\n---\n"), Passage("Line 250 failed.", "tool")]
    first, second = asyncio.run(reader(model).rules(passages))
    assert [one.clause for one in first] == ["Use tabs."]
    assert passages[0].text[first[0].start : first[0].end] == "Use tabs."
    assert round(first[0].probability, 6) == 0.7
    assert second == []
    assert len(asked) == 4
    assert asked[-1].startswith("tool: Line 250")


def test_nothing_is_asked_of_no_text_and_of_no_rule() -> None:
    model, asked, _ = answering(lambda _: None)
    assert asyncio.run(reader(model).states([], ["A text."])) == []
    (found,) = asyncio.run(reader(model).states([NO_PUSH], [" "]))
    assert (found.state, found.bound) == ("lost", 0.0)
    assert asked == []


def test_a_model_without_candidates_cannot_read() -> None:
    model, _, _ = answering(lambda _: None)
    with pytest.raises(EpisodeError):
        asyncio.run(reader(model).states([NO_PUSH], ["A text."]))


def test_a_model_that_goes_on_instead_of_answering_leaves_the_one_reading_open() -> None:
    model, asked, _ = answering(
        lambda text: {" tomorrow": 1.0} if "abends" in text.rsplit("\n", 1)[1] else {"yes": 1.0}
    )
    two = reader(model, least=0.0)
    (found,) = asyncio.run(two.rules([Passage("Use tabs. abends.")]))
    assert [one.clause for one in found] == ["Use tabs."]
    odd, even = asyncio.run(two.states([Rule("abends"), NO_PUSH], ["Some notes."]))
    assert (odd.state, odd.bound, odd.survived) == ("cannot tell", 0.5, None)
    assert even.survived is True
    assert len(asked) == 4


def test_an_answer_that_is_no_candidate_is_less_likely_than_all_that_are() -> None:
    said = answers([("no", -0.1), ("part", -2.0), ("x", -5.0)])
    assert said["yes"] == -5.0
    assert log_odds(said) < -4.8
    assert log_odds(answers([("yes", -0.1)])) > 0


def test_the_reader_names_its_adapter_and_its_states_are_known() -> None:
    model, _, _ = answering(lambda _: None)
    assert reader(model).name == "local:rule-reader-aaaaaaaa"
    assert set(STATES.values()) < set(EVERY_STATE)
