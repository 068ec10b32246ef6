"""Rules that stand in pages and tools' texts, and sentences there that are none."""

from __future__ import annotations

from pathlib import Path

import pytest

from constraintrot.coding_agents.sessions.events import Channel, Message
from constraintrot.doctor.documents import kind
from constraintrot.rule_text.said import stated
from tests.doctor import sessions as made

CHANGELOG = """# Changelog

## 4.2.0
- Fixed the importer, which dropped its last row.
- Always release the lock, also after an error.
- From now on no table may be renamed without the approval of the data team.
"""


@pytest.mark.parametrize(
    ("channel", "origin", "wanted"),
    [
        ("user", "", "rules"), ("mcp", "mcp__a__b", "rules"), ("file", "docs/Handbook.md", "rules"),
        ("file", "docs/billing.md", "document"), ("file", "README", "document"),
        ("file", "CHANGELOG.md", "log"), ("file", "src/a.py", None), ("file", "LICENSE.md", None),
        ("file", "src/claude_hooks.go", None), ("file", ".cursor/style-rules.mdc", "rules"),
        ("file", "policy.yaml", "rules"), ("tool", "Bash", "tool"), ("system", "", None), ("summary", "", None),
    ],
)  # fmt: skip
def test_what_may_set_rules(channel: Channel, origin: str, wanted: str | None) -> None:
    assert kind(Message("user", "", channel, 1, origin=origin)) == wanted


def test_rule_in_a_file_that_was_read_is_taken(tmp_path: Path) -> None:
    path = made.write(
        tmp_path / "s.jsonl", made.user(1, "Please look at the last release."),
        *made.call(2, "Read", {"file_path": "/srv/shop/CHANGELOG.md"}, CHANGELOG),
        *made.compacted(4, made.SUMMARY),
    )  # fmt: skip
    found = made.diagnosed(path)
    (history,) = found.histories
    assert "renamed without the approval" in history.rule.text
    assert (history.rule.channel, history.rule.origin) == ("file", "/srv/shop/CHANGELOG.md")
    assert found.compactions[0].changes[0].outcome == "lost"


@pytest.mark.parametrize(
    "text",
    [
        "Always release the lock, also after an error.",
        "The above copyright notice must be included in all copies.",
        "IN NO EVENT SHALL THE AUTHORS BE LIABLE.",
        "| `name` | must never be empty |",
    ],
)
def test_sentence_of_a_log_is_no_rule(text: str) -> None:
    assert list(stated(text, "log")) == []


def test_rule_of_a_page_and_of_a_tool() -> None:
    page = "The billing service sums rows.\n\nNever round an amount before the last step.\n"
    assert list(stated(page, "document")) == ["Never round an amount before the last step."]
    told = "Policy: exports of customer data may only go to the archive host, no exceptions."
    assert list(stated(told, "tool")) == [told]
    assert list(stated('raise E("policy: x must never be y"); f(a[0]); g({1: 2})', "tool")) == []
