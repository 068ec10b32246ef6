"""Answers follow from the rules in the conversation, and no scenario family is trained on."""

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from click.testing import CliRunner
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
)
from inspect_ai.tool import ToolCall

from constraintrot.episode.scaffold.answer_format import read
from constraintrot.models.in_process import acting as acting_adapter
from constraintrot.models.in_process.prompt import render_prompt
from results.tools import acting
from results.tools.acting import work
from results.tools.acting.generator import Example, Said, digest, examples, main
from results.tools.acting.rendering import INSTRUCTION, answer, prompt
from results.tools.rule_judge.evaluate import family_examples
from results.tools.rule_judge.kinds import Split, kinds
from tests.results.rule_judge.test_generator import FAMILY_WORDS, windows

SPLITS: tuple[Split, ...] = ("train", "held_out")
MADE: dict[Split, list[Example]] = {
    "train": examples("train", 1, 300),
    "held_out": examples("held_out", 1000, 160),
}
STARTS = ("A rule forbids this: ", "Not allowed here. ")
WORDED: dict[Split, list[Example]] = {
    "train": examples("train", 2, 140, wordings=work.WORDINGS),
    "held_out": examples("held_out", 2000, 60, wordings=work.WORDINGS),
}
ASKED = [
    (split, one, q)
    for made in (MADE, WORDED)
    for split in SPLITS
    for one in made[split]
    for q in one.questions
]
# What a consequence says in passing, which is no family's subject.
IN_PASSING = re.compile(
    r"costs? us|has cost|(at|to) our cost|can spend it|is no secret|nor deleted|not even a drop"
    r"|cameras (without|are welcome)|set off the alarm|vet reports|were reported"
)


def test_equal_arguments_give_equal_bytes_and_another_seed_gives_others() -> None:
    assert digest(examples("train", 1, 300)) == digest(MADE["train"])
    assert digest(examples("train", 2, 300)) != digest(MADE["train"])


def test_the_examples_of_the_published_adapters_can_be_made_again() -> None:
    assert digest(MADE["train"]) == acting_adapter.calibration().training_sha256


def test_every_rule_is_said_in_every_wording_with_the_values_that_make_it() -> None:
    for split in SPLITS:
        assert work.wordings(split).keys() == kinds(split).keys()
        for name, said in work.wordings(split).items():
            assert ("declarative", *said) == work.WORDINGS, name
            needed = set.intersection(*map(slots, kinds(split)[name].en.rules))
            known = set.union(*map(slots, kinds(split)[name].en.rules))
            for text in (text for texts in said.values() for text in texts):
                assert needed <= slots(text) | {"e"}, text
                assert slots(text) <= known | {"e"}, text


def test_a_wording_that_is_asked_for_is_the_only_one() -> None:
    for wording in work.WORDINGS[1:]:
        for one in examples("held_out", 5, 10, wordings=[wording]):
            for q in one.questions:
                if q.declined:
                    assert stated(q.asked.kind, q.reason, [wording]), q


def test_neither_answer_and_no_place_is_rare() -> None:
    for split in SPLITS:
        some = [q for own, _, q in ASKED if own == split]
        assert 0.3 < sum(q.declined for q in some) / len(some) < 0.5
        places = Counter(q.place for q in some)
        assert len(places) == 9
        assert min(places.values()) / len(some) > 0.02
    # As many requests that would break a rule stand where it is not, so none is declined by its words.
    would = [q for _, _, q in ASKED if q.asked.breaks]
    assert 0.3 < sum(q.place == "absent" for q in would) / len(would) < 0.7


def test_every_kind_has_a_tool_of_its_own() -> None:
    every = {*kinds("train"), *kinds("held_out")}
    assert work.tools().keys() == every
    names = [name for name, _, _ in work.tools().values()]
    names += [job["tool"] for job in work.turns()["jobs"]]
    assert len({*names, "decline", "read_notice"}) == len(names) + 2
    assert {q.asked.kind for split, _, q in ASKED if split == "train"} == kinds("train").keys()


def test_what_is_declined_breaks_a_rule_that_the_conversation_states() -> None:
    for _, one, q in ASKED:
        assert q.declined == (q.asked.breaks and q.place != "absent")
        if q.declined:
            said = " ".join(message.text for message in one.messages)
            assert stated(q.asked.kind, q.reason), q
            assert any(q.reason.removeprefix(start) in said for start in STARTS), q


def test_a_rule_that_is_absent_stands_nowhere() -> None:
    for _, one, q in ASKED:
        if q.place == "absent":
            said = " ".join(message.text for message in one.messages)
            assert not stated(q.asked.kind, said), q


def test_the_right_answer_is_a_call_that_the_tools_allow() -> None:
    for _, one, q in ASKED:
        (call,) = read(answer(q), one.tools).calls
        tool = next(tool for tool in one.tools if tool.name == call["function"])
        assert list(call["arguments"]) == tool.parameters["required"]
        assert not re.search(r"\{\w*\}", json.dumps(call["arguments"]))
        assert one.tools[-1].name == "decline"


def test_a_prompt_is_that_of_the_model_in_this_process() -> None:
    for one in MADE["held_out"][:20]:
        q = one.questions[0]
        messages = [chat(said) for said in one.messages]
        messages.append(ChatMessageUser(content=q.asked.text + INSTRUCTION))
        assert prompt(one, q) == render_prompt(messages, one.tools)


@pytest.mark.parametrize("family", FAMILY_WORDS)
def test_no_family_of_the_scenarios_is_trained_on(family: str) -> None:
    folder = Path(acting.__path__[0])
    for name in ("tools.yaml", "turns.yaml", "wordings.yaml", "wordings_held_out.yaml"):
        text = (folder / name).read_text()
        if name.startswith("wordings"):
            text = IN_PASSING.sub("", text)
        match = re.search(FAMILY_WORDS[family], text, re.IGNORECASE)
        assert not match, (name, match)


def test_no_sentence_of_a_family_is_trained_on() -> None:
    families = [one for one in family_examples(range(30, 40)) if one.locale == "en"]
    known = set[str]().union(*map(windows, families))
    for _, one, q in ASKED:
        for text in (q.asked.text, *(said.text for said in one.messages)):
            words = re.findall(r"\w+", text.lower())
            assert not known & {" ".join(words[at : at + 5]) for at in range(len(words) - 4)}


def test_more_tools_are_on_offer_where_they_are_wanted() -> None:
    for one in examples("held_out", 3, 10, tools=20):
        assert len(one.tools) == 20


def test_the_command_writes_what_the_function_makes() -> None:
    done = CliRunner().invoke(main, ["held_out", "--seed", "3", "--count", "4"])
    assert done.exit_code == 0
    assert len(done.stdout.splitlines()) == 4


def stated(kind: str, text: str, wordings: Sequence[str] = work.WORDINGS) -> list[str]:
    """The rules of a kind that a text holds in some wordings."""
    split: Split = "train" if kind in kinds("train") else "held_out"
    found: list[str] = []
    said = {"declarative": kinds(split)[kind].en.rules, **work.wordings(split)[kind]}
    for template in (template for name in wordings for template in said[name]):
        pattern = re.escape(template[:1].lower() + template[1:])
        pattern = re.sub(r"\\\{e\\\}", "[^.:;]*?", pattern)
        pattern = re.sub(r"\\\{\w+\\\}", "[^.:;]+?", pattern)
        found += re.findall(pattern, text, re.IGNORECASE)
    return found


def slots(template: str) -> set[str]:
    """The names of a template's slots."""
    return set(re.findall(r"\{(\w+)\}", template))


def chat(said: Said) -> ChatMessage:
    if said.role == "system":
        return ChatMessageSystem(content=said.text)
    if said.role == "user":
        return ChatMessageUser(content=said.text)
    if said.role == "tool":
        return ChatMessageTool(content=said.text)
    calls = [ToolCall(id="1", function=said.tool, arguments=said.arguments or {})]
    return ChatMessageAssistant(content=said.text, tool_calls=calls if said.tool else None)
