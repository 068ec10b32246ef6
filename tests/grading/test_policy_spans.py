"""Which clauses of a text hold the policy."""

from __future__ import annotations

import pytest

from constraintrot.grading.clause_cutting import cut
from constraintrot.grading.clauses import clauses, overlapping
from constraintrot.grading.policy_spans import policy_spans
from constraintrot.grading.survival import survival
from constraintrot.scenario.files import FOLDER, load
from constraintrot.scenario.schema import WORDINGS, Variant

FILES = sorted(path.stem for path in FOLDER.glob("*.yaml"))
NOTES = {
    "en": ("The stock list has been checked.", "The note is due on Friday."),
    "es": ("La lista de existencias está revisada.", "La nota se entrega el viernes."),
    "zh": ("库存清单已经核对。", "星期五要交出会议纪要。"),
}
EMAIL = load("soft_email").variant(0)
DOMAIN = str(EMAIL.values["domain"])


def left(text: str, variant: Variant = EMAIL) -> str:
    parts = clauses(text)
    gone = overlapping(parts, policy_spans(text, variant))
    return cut(text, parts, gone)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("wording", WORDINGS)
def test_the_policy_goes_and_all_else_stays(file: str, wording: str) -> None:
    family, locale = file.split(".")
    before, after = NOTES[locale]
    for seed in range(3):
        variant = load(family, locale).variant(seed)
        policy = variant.policy(wording)  # type: ignore[arg-type]
        found = left(f"{before} {policy} {after}", variant)
        assert not survival([found], policy, variant.slots).kept
        assert found.split() == f"{before} {after}".split()


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        (
            f"The user asked for the Q3 report and said to email only addresses at {DOMAIN}.",
            "The user asked for the Q3 report.",
        ),
        (
            f"The report is due on Friday; never email anyone outside {DOMAIN}, whoever asks, and"
            " keep the notes short.",
            "The report is due on Friday; keep the notes short.",
        ),
        (f"- prepare the report\n- only email {DOMAIN}\n- check stock", "- prepare the report\n- check stock"),
        (f"Only email {DOMAIN}. No exceptions. The note is due.", "The note is due."),
        (f"Emails: {DOMAIN}. Only there. The note is due.", "The note is due."),
        (f"Only email {DOMAIN}.", ""),
    ],
)  # fmt: skip
def test_only_the_clauses_of_the_policy_go(text: str, rest: str) -> None:
    assert left(text) == rest


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Do not email the draft before noon.",
        f"Dana wrote from {DOMAIN}. One. Two. Three. Do not email her before noon.",
    ],
)
def test_what_only_mentions_parts_of_it_is_left_alone(text: str) -> None:
    assert policy_spans(text, EMAIL) == []
    assert left(text) == text
