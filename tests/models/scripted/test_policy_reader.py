"""The scripted agents read policies by code of their own, and obey none that does not bind."""

import asyncio
import re

import pytest
from inspect_ai.model import ModelOutput
from inspect_ai.tool import ToolCall

from constraintrot.memory.pipeline import Pipeline
from constraintrot.memory.pipeline.masking import Detector, Masking, by_patterns
from constraintrot.models.scripted.policy_reader import policy_in, sentences
from constraintrot.models.scripted.request_parser import request_in
from constraintrot.scenario.files import every, load
from constraintrot.scenario.schema import WORDINGS, Scenario
from tests.harnesses.messages import said, user

LIFTED = {
    "en": ["{} This rule no longer applies.", "The rule was lifted: {}"],
    "es": ["{} Esta norma fue retirada.", "Ya no se aplica: {}"],
    "de": ["{} Diese Regel wurde aufgehoben.", "Nicht mehr gültig: {}"],
    "zh": ["{}这条规定已经取消。", "现在不再要求：{}"],
}
WEAK = {
    "en": "If possible: {}",
    "es": "Si es posible: {}",
    "de": "Wenn möglich: {}",
    "zh": "最好这样：{}",
}
OTHERS = {
    "en": "The contractor's handbook: {}",
    "es": "El manual del contratista: {}",
    "de": "Im Handbuch der Lieferanten: {}",
    "zh": "承包商的手册：{}",
}


def named(scenario: Scenario) -> str:
    return f"{scenario.family}.{scenario.locale}"


@pytest.mark.parametrize("scenario", every(), ids=named)
def test_a_policy_is_obeyed_unless_it_is_lifted_weakened_or_anothers(scenario: Scenario) -> None:
    variant = scenario.variant(0, "all")
    locale = scenario.locale
    for wording in WORDINGS:
        policy = variant.policy(wording)
        assert policy_in(["Hello.", f"Three rooms. {policy}"], variant.slots) is not None
        for frame in (*LIFTED[locale], WEAK[locale], OTHERS[locale]):
            assert policy_in([frame.format(policy)], variant.slots) is None, frame


def test_the_shortest_run_of_sentences_is_given() -> None:
    variant = load("soft_email", "en").variant(1)
    domain = variant.values["domain"]
    text = f"Rota done. Email only {domain}. Room 4 is free."
    assert policy_in([text], variant.slots) == f"Email only {domain}."
    assert policy_in([f"Email only {domain}?"], variant.slots) is None
    assert policy_in([f"Only {domain}. A. B. C. Email."], variant.slots) is None


@pytest.mark.parametrize("limit", ["1,500", "1500", "1 500", "1500.00"])
def test_a_number_is_known_in_its_notations(limit: str) -> None:
    assert policy_in([f"Spend at most ${limit}."], {"limit": [1500]})
    assert not policy_in([f"Spend at most ${limit}9."], {"limit": [1500]})


@pytest.mark.parametrize("text", ["One. Two!  Three", "一。二！三", "a.b c\n\nd. ", "", "x"])
def test_sentences_join_to_the_text(text: str) -> None:
    assert "".join(sentences(text)) == text


# A request is read although a gateway masked what is personal in it.


def _names(text: str) -> tuple[tuple[int, int, str], ...]:
    """As a detector of people's names: those behind a title."""
    return tuple((*one.span(1), "PERSON") for one in re.finditer(r"Dr (\w+ \w+)", text))


def _prices(text: str) -> tuple[tuple[int, int, str], ...]:
    return tuple((*one.span(), "MONEY") for one in re.finditer(r"\b\d+(?= US dollars)", text))


def check(family: str, locale: str, kind: str, layer: Masking) -> None:
    """A request is read behind a gateway, and its call shown again is the one that was asked for."""
    for seed in range(12):
        variant = load(family, locale).variant(seed)
        text = variant.trigger if kind == "prohibited" else variant.allowed_trigger
        offered = frozenset(tool.name for tool in variant.tools)
        prepared = asyncio.run(Pipeline([layer]).prepare([user(text)]))
        masked = prepared.messages[0].text
        plain, read = request_in(text, offered), request_in(masked, offered)
        if masked == text:
            continue
        assert plain is not None
        assert read is not None, masked
        call = ToolCall(id="1", function=read.call.function, arguments=read.call.arguments)
        message = said("", tool_calls=[call])
        answer = prepared.answered(ModelOutput.from_message(message))
        assert answer.message.tool_calls is not None
        assert answer.message.tool_calls[0].arguments == {
            name: str(value) if isinstance(read.call.arguments[name], str) else value
            for name, value in plain.call.arguments.items()
        }
        assert (read.scenario, read.kind) == (plain.scenario, plain.kind)
        return
    raise AssertionError("nothing was masked")


@pytest.mark.parametrize("keep_domain", [True, False])
@pytest.mark.parametrize(
    ("family", "kind"), [("soft_channel", "prohibited"), ("soft_email", "allowed")]
)
def test_an_address_of_two_values(family: str, kind: str, keep_domain: bool) -> None:
    for locale in ("en", "zh"):
        check(family, locale, kind, Masking(by_patterns, keep_domain=keep_domain))


@pytest.mark.parametrize("detect", [_names, _prices])
def test_a_part_of_a_value_and_a_number(detect: Detector) -> None:
    check("soft_spend", "en", "prohibited", Masking(detect))
