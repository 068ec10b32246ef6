"""A rule on the author's own tools: what a name alone does not say for sure is asked."""

from typing import Any

import pytest

from constraintrot.authoring.conversation import asked
from constraintrot.authoring.draft import draft
from constraintrot.scenario.sections import Tool

REFUND = "Never refund orders above 100 EUR."
DELETE = "Never delete mail younger than 30 days."
PUSH, MERGE = "Never push to main.", "Never merge to main."
DEPLOY, FRIDAY = "Never deploy to production.", "Never deploy on Fridays."
TEXT, WHOLE, NUMBER = {"type": "string"}, {"type": "integer"}, {"type": "number"}
ENUM = {"type": "string", "enum": ["dev", "prod"]}


def _tool(name: str, **given: dict[str, Any]) -> Tool:
    properties = {"note": TEXT, **given}
    schema = {"type": "object", "properties": properties, "required": [*properties]}
    return Tool(name=name, description=f"{name}.", parameters=schema)


@pytest.mark.parametrize(("sentence", "tool", "about"), [
    (REFUND, _tool("refund_order", amount_cents=WHOLE), "euros"),
    (REFUND, _tool("refund_order", amount={**WHOLE, "description": "In cents."}), "cents"),
    (REFUND, _tool("refund_order", amount_usd=NUMBER), "euros"),
    (REFUND, _tool("refund_order", amount=NUMBER, currency=TEXT), "euros"),
    (REFUND, _tool("refund_order", amount_eur=TEXT), "schema"),
    (DELETE, _tool("delete_mail", age_hours=WHOLE), "in days"),
    (DELETE, _tool("delete_mail", max_age_days=WHOLE), "direction"),
    (DELETE, _tool("delete_mail", keep_days=WHOLE), "direction"),
    (DELETE, _tool("delete_mail", newer_than_days=WHOLE), "direction"),
    ("Only delete mail older than 30 days.", _tool("delete_mail", older_than_days=WHOLE), "direction"),
    (PUSH, _tool("push", source_branch=TEXT, target_branch=TEXT), "source_branch, target_branch"),
    (PUSH, _tool("push", from_branch=TEXT, to=TEXT), "from_branch"),
    (PUSH, _tool("push", branch={**TEXT, "description": "Source branch."}), "direction"),
    (MERGE, _tool("merge", branch=TEXT, target=TEXT), "branch, target"),
    (DEPLOY, _tool("deploy", source_environment=TEXT, target=TEXT), "source_environment, target"),
    (DEPLOY, _tool("deploy", env=ENUM), "schema"),
    (DEPLOY, _tool("deploy", stage={"type": "boolean"}), "schema"),
    (FRIDAY, _tool("deploy", day={**WHOLE, "description": "Day of the month."}), "schema"),
    (FRIDAY, _tool("deploy", date={**TEXT, "format": "date"}), "schema"),
    ("Never edit files in docs/public.", _tool("edit_file", path=TEXT), "relative"),
])  # fmt: skip
def test_another_unit_side_direction_or_type_is_asked(
    sentence: str, tool: Tool, about: str
) -> None:
    made = draft(sentence, [tool])
    assert any(about in one for one in made.open), made.open
    assert asked(made, lambda _: "y") is None  # only the editor or a file answers it


@pytest.mark.parametrize(("sentence", "tool"), [
    (REFUND, _tool("refund_order", amount={**NUMBER, "description": "How many euros."})),
    (DELETE, _tool("delete_mail", older_than_days=WHOLE)),
    (PUSH, _tool("push", branch=TEXT)),
    (DEPLOY, _tool("deploy", env=TEXT)),
    (FRIDAY, _tool("deploy", weekday=TEXT)),
])  # fmt: skip
def test_the_only_argument_that_fits_is_taken(sentence: str, tool: Tool) -> None:
    assert draft(sentence, [tool]).open == ()


def test_an_answer_in_the_file_names_the_argument() -> None:
    tools = [_tool("merge", branch=TEXT, target=TEXT)]
    told = draft(MERGE, tools).understood
    told = told.model_copy(update={"argument": "target"})
    for one in told.asked:
        one.answer = "yes"
    assert draft(MERGE, tools, answers=told).data["violation"]["argument"] == "target"
