"""The reader's choice, what it is asked, what it costs, and the rules that it finds."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from constraintrot.doctor import reading
from constraintrot.doctor.reading import RATE, WordsFirst, choose, cost, find
from constraintrot.doctor.rules import Rule
from constraintrot.doctor.verdicts import observe
from constraintrot.errors import ConstraintRotError
from constraintrot.rule_text import reader
from constraintrot.rule_text.judge_reader import JudgeReader
from constraintrot.rule_text.rule_reader import adapter
from tests.doctor import sessions as made
from tests.helpers import answering

RULE = Rule("push", made.FORCE_PUSH, file="rules.yaml")


def test_words_are_the_default_without_weights_and_the_first_line_says_why() -> None:
    chosen = choose(None)
    assert (chosen.kind, chosen.reader.name) == ("words", "words")
    assert chosen.line.startswith("Read by words (no weights here).")
    assert "as asked" in choose("words").line


def test_local_reader_is_the_default_with_weights_and_its_figures_are_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading, "lacking", lambda: "")
    monkeypatch.setattr(
        "constraintrot.evaluation.readers.local", lambda **settings: made.Scripted({})
    )
    chosen = choose(None)
    assert (chosen.kind, chosen.why) == ("local", "its weights are on this machine")
    assert adapter.claim(adapter.reader_name()) in chosen.line
    assert "no proof" in chosen.line


@pytest.mark.parametrize(("name", "says"), [("local", "no weights here"), ("judge", "--model")])
def test_reader_that_is_not_to_be_had_is_refused(name: reader.ReaderName, says: str) -> None:
    with pytest.raises(ConstraintRotError, match=says):
        choose(name)


def test_cost_is_of_the_rules_that_only_a_reader_can_tell(tmp_path: Path) -> None:
    path = made.lost_session(tmp_path / "s.jsonl")
    kept = Rule("kept", "Please look at the importer.", file="rules.yaml")
    price = cost([observe(made.opened(path), [RULE, kept, Rule("no", "Never said.", file="r")])])
    assert (price.questions, price.compactions) == (2, 1)
    assert price.characters > len(made.SUMMARY)
    assert 0 < price.seconds <= price.characters / RATE, "as fast as by one core, or faster"
    assert cost([]).questions == 0


def test_local_reader_is_asked_only_where_word_lists_cannot_tell() -> None:
    scripted = made.Scripted({"demo": ("restated", 0.9)})
    rules = [reader.Rule(made.FORCE_PUSH), reader.Rule("The demo must be on Thursday.")]
    found = asyncio.run(WordsFirst(scripted).states(rules, [made.SUMMARY]))
    assert [one.state for one in found] == ["lost", "restated"]
    assert scripted.asked == [(["The demo must be on Thursday."], [made.SUMMARY])]


class Finder(made.Scripted):
    def __init__(self, found: dict[str, float]) -> None:
        super().__init__({})
        self.found = found

    async def rules(self, passages: Sequence[reader.Passage]) -> list[list[reader.FoundRule]]:
        return [
            [
                reader.FoundRule(clause, at, at + len(clause), probability)
                for clause, probability in self.found.items()
                if (at := one.text.find(clause)) >= 0
            ]
            for one in passages
        ]


@pytest.mark.parametrize(
    ("probability", "alone", "listed"),
    [(0.3, 0.8, 2), (0.1, 0.8, 1), (0.3, 0.3, 1), (0.1, 0.1, 0)],
)
def test_rule_is_listed_where_both_readers_take_it_or_the_local_one_is_sure(
    probability: float, alone: float, listed: int, tmp_path: Path
) -> None:
    path = made.write(
        tmp_path / "s.jsonl",
        made.user(1, f"{made.FORCE_PUSH} Der Ordner vendor bleibt, wie er ist. Danke."),
    )
    finder = Finder({made.FORCE_PUSH: probability, "Der Ordner vendor bleibt, wie er ist.": alone})
    found = find(made.opened(path), finder, "local")
    assert len(found) == listed
    assert all((one.channel, one.line) == ("user", 1) for one in found)


def test_judge_finds_rules_in_one_call_and_repeated_ones_once(tmp_path: Path) -> None:
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, "Use pnpm here."), made.reply(2, "Never eat."),
        made.user(3, "As I said: use **pnpm** here. What a day."),
    )  # fmt: skip
    answer = {"rules": [
        {"passage": 1, "clause": "Use pnpm here", "probability": 0.9},
        {"passage": 2, "clause": "use **pnpm** here.", "probability": 0.8},
        {"passage": 2, "clause": "What a day.", "probability": 0.2},
    ]}  # fmt: skip
    judge = JudgeReader(answering(json.dumps(answer)), cache=False)
    found = find(made.opened(path), judge, "judge")
    assert [one.text for one in found] == ["Use pnpm here"]


def test_long_text_without_code_is_read_up_to_a_limit(tmp_path: Path) -> None:
    summary = "```\ncode\n```\n" + "The importer works. " * 2_000
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, made.FORCE_PUSH), *made.compacted(2, summary),
        made.reply(3, "ok"),
    )  # fmt: skip
    (text,) = observe(made.opened(path), [RULE]).compactions[0].new
    assert "code" not in text
    assert 10_000 < len(text) <= 12_000
