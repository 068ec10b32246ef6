"""Rules files, what rules are told by, and what breaks them."""

from __future__ import annotations

from pathlib import Path

import pytest

from constraintrot.coding_agents.sessions.events import Call
from constraintrot.doctor.breaches import Breach
from constraintrot.doctor.rules import read
from constraintrot.errors import ConstraintRotError
from constraintrot.rule_text.said import said


def test_items_of_a_markdown_file_are_rules(tmp_path: Path) -> None:
    path = tmp_path / "AGENTS.md"
    path.write_text(
        "# Project\nThe shop sells lamps.\n\n## Rules\n- Use pnpm, not npm.\n"
        "- **Never** commit `.env` files.\n- The office is in Lyon.\n\n"
        "```\n- never read this\n```\n\nFrom now on all SQL must be parameterised.\n",
        encoding="utf-8",
    )
    assert [one.text for one in read(path)] == [
        "Use pnpm, not npm.", "Never commit `.env` files.", "From now on all SQL must be parameterised.",
    ]  # fmt: skip


def test_yaml_rules_with_slots_and_a_breach(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(
        "rules:\n  - Never force-push.\n  - {id: mail, text: Only mail us., slots: {domain: [us.test]},\n"
        "     breach: {tool: send.*, matches: '@', unless: us.test}}\n",
        encoding="utf-8",
    )
    first, second = read(path)
    assert (first.name, first.breach) == ("never-force-push", None)
    assert (second.name, second.slots) == ("mail", {"domain": ["us.test"]})
    assert second.breach is not None
    assert second.breach.broken_by(Call("send_email", {"to": "a@b.test"}))
    assert not second.breach.broken_by(Call("send_email", {"to": "a@us.test"}))
    assert not second.breach.broken_by(Call("resend_email", {"to": "a@b.test"}))


@pytest.mark.parametrize(
    ("name", "text", "wanted"),
    [
        ("r.yaml", "rules: [{text: Never x y, breach: {matches: '('}}]", "breach.matches"),
        ("r.yaml", "rules: [{text: Never x y, breach: {}}]", "give tool, matches, or both"),
        ("r.yaml", "rules: [{text: Never x y, breach: {type: nosuch}}]", "nosuch"),
        ("r.yaml", "rules: [{txt: Never}]", "a rule is a text"),
        ("r.yaml", "rules: [", "not YAML"),
        (
            "r.yaml",
            "rules: [{text: a b c, id: x}, {text: d e f, id: x}]",
            "two rules have the id x",
        ),
        ("r.md", "# Nothing here\n", "no rule found"),
    ],
)
def test_wrong_rules_file_says_where(tmp_path: Path, name: str, text: str, wanted: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConstraintRotError, match=wanted) as raised:
        read(path)
    assert str(path) in str(raised.value)


def test_missing_rules_file(tmp_path: Path) -> None:
    with pytest.raises(ConstraintRotError, match="No such file"):
        read(tmp_path / "none.md")


def test_sentences_of_one_turn_are_rules_of_their_own() -> None:
    text = "Never force-push to main. Refunds above 200 euros always need Mara's approval. Can you look at it today?"
    assert list(said(text)) == [
        "Never force-push to main.",
        "Refunds above 200 euros always need Mara's approval.",
    ]


def test_registered_predicate_breaks_a_rule() -> None:
    breach = Breach.read({"type": "recipients_outside", "domain": "calder.test"}, "mail")
    assert breach.broken_by(Call("send_email", {"to": "a@other.test"}))
    assert not breach.broken_by(Call("send_email", {"to": "a@calder.test"}))


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("Before I forget it: Never push to main.", ["Never push to main."]),
        ("1\tReminder: Log output must not contain tokens.\n2\tEdited in May.",
         ["Log output must not contain tokens."]),
        ("4: Customer replies must be written in German only.\n5: So it is.",
         ["Customer replies must be written in German only."]),
        ("At Brightwater email is an internal tool. Messages are never sent to another domain.",
         ["Messages are never sent to another domain."]),
        ("提醒：不要向媒体透露价格。", ["提醒：不要向媒体透露价格。"]),
        ("Wanda Pike cannot find them on the shelf by the door.", []),
        ("Never mind, I found the file myself.", []),
        ("Hay que sumar los tres meses y escribirlo en E2.", []),
        ("看看哪个月最多，不要太久。", []),
    ],
)  # fmt: skip
def test_only_the_rule_is_taken_of_what_is_said(text: str, rules: list[str]) -> None:
    assert list(said(text)) == rules
