"""The rules: what they find, what they leave, and how they cut it out."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constraintrot.rule_text.extraction import Match, Role, Said, by_reader, rules
from constraintrot.rule_text.reader import FoundRule, Passage, Reading, Rule
from constraintrot.rule_text.units import units, unquoted
from results.tools.extraction import run

RULE = "Never share the door code with visitors."


def found(text: str, role: Role = "user") -> list[str]:
    return [one.text for one in run(rules(), [Said(role, text)])]


@pytest.mark.parametrize(
    "rule",
    [
        "Smoking is prohibited in the workshop.",
        "Workshop policy: every tool must be returned the same day.",
        "Never lend a tool to anyone outside the workshop.",
        "Anyone who lends a tool out gets the membership revoked.",
        "A reminder: tools may not leave the workshop.",
        "Está prohibido fumar en el taller.",
        "No prestes nunca una herramienta a nadie de fuera.",
        "Quien preste una herramienta pierde el carné.",
        "车间内严禁吸烟。",
        "工具一律不得外借。",
        "提醒一下，工具不能带出车间。",
    ],
)
def test_a_standing_rule_is_found_without_its_surroundings(rule: str) -> None:
    blank = "" if rule.endswith("。") else " "
    before, after = ("上午好。", "现在看订单。") if not blank else ("Good morning. ", "Now item 4.")
    assert found(before + rule + blank + after) == [rule]


@pytest.mark.parametrize(
    "turn",
    [
        "",
        "The order must be packed by Friday.",
        "Only two carriers answered.",
        "Never mind, it works now.",
        "I can only come on Monday.",
        "Is smoking prohibited in the workshop?",
        "El pedido tiene que salir hoy.",
        "¿Está prohibido fumar en el taller?",
        "订单必须今天发出。",
        "车间里禁止吸烟吗？",
    ],
)
def test_a_turn_of_one_occasion_holds_no_rule(turn: str) -> None:
    assert found(turn) == []


@pytest.mark.parametrize(
    "turn",
    [
        "You may force-push from now on.",
        "From now on, the agent is allowed to delete old logs.",
        "You are free to use npm from now on.",
        "A partir de ahora los agentes pueden enviar correos a cualquiera.",
        "Ab sofort darf der Agent in den Hauptzweig pushen.",
        "You may always deploy on Fridays.",
        "It is not our policy that you must never call.",
        "There is no rule that you must always ask.",
        "We used to have a policy: never deploy on Fridays. It was dropped last year.",
        "Never deploy on Fridays, whoever asks. This no longer applies.",
        "Translate: Never deploy on Fridays, whoever asks.",
        "Draft policy, not approved: never deploy on Fridays.",
        "Ya no es norma: nunca enviar correos.",
        "# Old rules (no longer in force)\n- Never deploy on Fridays, whoever asks.",
    ],
)
def test_what_permits_or_is_not_in_force_is_no_rule(turn: str) -> None:
    assert found(turn) == []


@pytest.mark.parametrize(
    "rule",
    [
        "From now on you may only push to main.",
        "From now on nobody may force-push.",
        "From now on deploy through Anna; you can reach her at noon.",
        "Ab sofort darf niemand in den Hauptzweig pushen.",
        "Never force-push to `main`. Force-pushing your own feature branch is fine.",
        "Never push to main. Hotfixes are exempt.",
    ],
)
def test_a_rule_that_speaks_of_permission_stays_one(rule: str) -> None:
    assert found(rule) == [rule]


def test_what_belongs_to_a_rule_is_taken_along() -> None:
    leans = "Write invoices in French. Never use any other language for them."
    punishes = "Keys go back to the desk. If one is lost, we are in breach of the lease."
    assert found(f"Hello there. {leans}") == [leans]
    assert found(f"Hello there. {punishes}") == [punishes]


def test_a_line_of_a_list_is_found_without_its_mark() -> None:
    assert found(f"Notes:\n- The printer is upstairs.\n- {RULE}\n2) The lift is slow.") == [RULE]


def test_lines_under_a_heading_are_in_its_scope() -> None:
    item = "Tools may not leave the workshop."
    assert found(f"House rules:\n- {item}") == [item]
    assert found(f"House rules:\n\n- {item}") == [item]
    assert found(f"House rules:\n- Be kind.\n\nBy the way:\n- {item}") == []


def test_a_wrapped_sentence_is_one() -> None:
    wrapped = "Never share the door code\nwith visitors, whoever\nasks for it."
    assert found(f"Hello.\n{wrapped}\nBye.") == [wrapped]


@pytest.mark.parametrize(
    "quoting",
    [
        f'Ana wrote: "{RULE}" Make a card of it.',
        f"Ana escribió: «{RULE}» Haz una tarjeta.",
        f"阿娜写道：“{RULE}”",
        f'Answer like this: {{"policy": "{RULE}"}}',
        f"> {RULE}\nWhat do you say to this mail?",
        f"```\n{RULE}\n```\nWhat does this file say?",
    ],
)
def test_what_somebody_is_quoted_with_is_no_rule(quoting: str) -> None:
    assert found(quoting) == []


def test_a_rule_that_is_given_in_quotes_is_one() -> None:
    assert found(f'This is our policy: "{RULE}"') == [f'This is our policy: "{RULE}"']


def test_an_open_quote_or_fence_hides_nothing() -> None:
    assert found(f'A 5" disk.\n{RULE}') == [RULE]
    assert found(f"```\nls\n```\n{RULE}\n```") == [RULE]


def test_only_trusted_roles_are_read_unless_told() -> None:
    roles: tuple[Role, ...] = ("system", "user", "assistant", "tool")
    messages = [Said(role, RULE) for role in roles]
    assert run(rules(), messages) == (Match(RULE, 0), Match(RULE, 1))
    assert run(rules(sources=("tool",)), messages) == (Match(RULE, 3),)


@pytest.mark.parametrize(
    "rule",
    [
        "Ne\u200bver share\x00the door code.",
        "Ne\u3164ver share the door code.",
        "Ne\U000e0061ver share the door code.",
        "ＮＥＶＥＲ share the door code.",
        "Ba\u0301jo ningún concepto des el código.",
        "工具一律不\u200b得外借。",
        "\ud800Never share the door code.",
    ],
)
def test_control_characters_hide_no_rule(rule: str) -> None:
    assert found(rule) == [rule]


def test_a_sentence_without_end_is_data() -> None:
    assert found("never again a b c " * 500) == []


PARTS = st.sampled_from(
    [
        RULE,
        "严禁外借。",
        "No se permite.",
        "Who?",
        '"',
        "“",
        "«",
        "```",
        "\n",
        "\n\n",
        "> ",
        "- ",
        ". ",
    ]
)
TEXTS = st.lists(PARTS | st.text(max_size=8), max_size=12).map("".join)


@given(TEXTS)
def test_what_is_found_stands_in_the_message_and_starts_and_ends_in_a_sentence(text: str) -> None:
    starts = {unit.start for unit in units(text)}
    ends = {unit.end for unit in units(text)}
    reached = 0
    for span in found(text):
        at = text.index(span, reached)
        assert any(text.startswith(span, start) for start in starts)
        assert any(text.endswith(span, 0, end) for end in ends)
        reached = at + len(span)


@given(TEXTS)
def test_units_keep_order_and_all_that_is_no_blank_or_mark(text: str) -> None:
    reached = 0
    for unit in units(text):
        assert reached <= unit.start < unit.end <= len(text)
        assert text[unit.start : unit.end] == text[unit.start : unit.end].strip()
        reached = unit.end
    assert len(unquoted(text)) == len(text)


@given(TEXTS)
def test_a_rule_on_its_own_line_is_found_after_any_line(text: str) -> None:
    line = text.replace("`", "").replace("\n", " ").strip().rstrip(":")
    assert any(RULE in span for span in found(f"{line}\n\n{RULE}"))


@pytest.mark.soak
@pytest.mark.parametrize(
    "filler",
    ["The delivery came on Monday. ", "货物周一到了。", '"', "“a", ".' ", "\n", "```\n", "> x\n",
     "no foo\n", "if then ", "without a b c ", "\x00\x01", "!", "a", "- ", "policy "],
)  # fmt: skip
def test_ten_megabytes_are_read_to_the_end(filler: str) -> None:
    text = filler * (10**7 // len(filler))
    assert found(f"{RULE}\n\n{text}\n\n{RULE}") == [RULE, RULE]


class Reads:
    """A reader that finds given words, and keeps what it was shown."""

    name = "reads"

    def __init__(self, *words: str) -> None:
        self.words = words
        self.shown: list[Passage] = []

    async def rules(self, passages: Sequence[Passage]) -> list[list[FoundRule]]:
        self.shown += passages
        return [
            [
                FoundRule(word, at, at + len(word), 0.9)
                for word in self.words
                if (at := one.text.find(word)) >= 0
            ]
            for one in passages
        ]

    async def states(self, rules: Sequence[Rule], texts: Sequence[str]) -> list[Reading]:
        raise NotImplementedError


TALK = [
    Said("system", " "),
    Said("user", f"Hello. {RULE} What is on today?"),
    Said("assistant", "Noted: never share the door code."),
    Said("tool", f"New policy: {RULE}"),
]


def test_what_a_reader_finds_is_widened_to_whole_sentences_of_trusted_turns() -> None:
    reader = Reads("the door", RULE, "share")
    assert run(by_reader(lambda: reader), TALK) == (Match(RULE, 1),)
    assert [one.text for one in reader.shown] == [TALK[1].text]
    both = f"Hello. {RULE}"
    assert run(by_reader(lambda: Reads("lo. Never", RULE)), TALK) == (Match(both, 1),)


def test_without_anything_to_read_no_reader_is_made() -> None:
    def made() -> Reads:
        raise AssertionError("a reader was made")

    assert run(by_reader(made), [Said("tool", "x"), Said("user", "  ")]) == ()
