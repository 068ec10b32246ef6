"""The answer to the probe is read as a list of texts, or not at all."""

from __future__ import annotations

import pytest

from constraintrot.episode.scaffold.review import QUESTIONS, read_rules
from constraintrot.scenario.schema import LOCALES


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ('{"rules": ["Only email X.", "No food."]}', ["Only email X.", "No food."]),
        ('Here:\n["Only email X."]', ["Only email X."]),
        ('{"rules": []}', []),
        ('{"rules": [1]}', None),
        ('{"rules": "none"}', None),
        ('{"rules": ["cut off', None),
        ("There were none.", None),
    ],
)
def test_what_is_read(text: str, rules: list[str] | None) -> None:
    assert read_rules(text) == rules


def test_it_is_asked_in_every_language() -> None:
    assert set(QUESTIONS) == set(LOCALES)
