from typing import Any

import anyio
import pytest
from inspect_ai.model import ChatMessageUser, ModelOutput
from inspect_ai.tool import Tool, ToolDef, ToolInfo, ToolParams, tool
from inspect_ai.util import JSONSchema

from constraintrot.defenses.rampart import DuplicateBlockError, Principal, Registry
from constraintrot.defenses.rampart.errors import AuthorityError, RegistryError
from constraintrot.defenses.rampart.toolschemas import offer, tool_block, write_tools
from tests.helpers import playing

OWNER = Principal("owner")
MAIL: dict[str, Any] = {
    "name": "send_email",
    "description": "Send an email.",
    "parameters": {
        "type": "object",
        "properties": {
            "to": {"type": "string", "description": "Recipient."},
            "copies": {"type": "array", "items": {"type": "string"}, "description": "More."},
        },
        "required": ["to"],
    },
}
SEARCH: dict[str, Any] = {"name": "search", "description": "Search the records."}


@tool
def transfer() -> Tool:
    async def execute(amount: int, account: str) -> str:
        """Transfer money.

        Args:
            amount: In cents.
            account: The recipient's.
        """
        return "done"

    return execute


def registry(*tools: object) -> Registry:
    made = Registry(OWNER)
    write_tools(made, tools, by=OWNER)
    return made


def names(offered: list[dict[str, Any]]) -> list[str]:
    return [each["name"] for each in offered]


def test_text_of_a_block() -> None:
    assert tool_block(MAIL) == (
        "Tool send_email: Send an email.\n"
        "- to (required, string): Recipient.\n"
        '- copies (optional, {"items":{"type":"string"},"type":"array"}): More.'
    )
    assert tool_block(SEARCH) == "Tool search: Search the records.\nIt takes no parameters."


def test_every_kind_of_tool_gives_the_same_text() -> None:
    bare = transfer()
    defined = ToolDef(bare)
    info = ToolInfo(
        name=defined.name, description=defined.description, parameters=defined.parameters
    )
    plain = {
        "name": "transfer",
        "description": "Transfer money.",
        "parameters": {
            "properties": {
                "amount": {"type": "integer", "description": "In cents."},
                "account": {"type": "string", "description": "The recipient's."},
            },
            "required": ["amount", "account"],
        },
    }
    assert {tool_block(each) for each in (bare, defined, info, plain)} == {
        "Tool transfer: Transfer money.\n"
        "- amount (required, integer): In cents.\n"
        "- account (required, string): The recipient's."
    }


@pytest.mark.parametrize(
    "change",
    [
        {"description": "Send a message."},
        {"parameters": {**MAIL["parameters"], "required": []}},
        {"parameters": {**MAIL["parameters"], "additionalProperties": True}},
        {"parameters": {**MAIL["parameters"], "$defs": {"a": {}}}},
        {"parameters": {"properties": {"to": {"type": "string", "enum": ["a"]}}}},
    ],
)
def test_another_schema_is_another_text(change: dict[str, Any]) -> None:
    assert tool_block({**MAIL, **change}) != tool_block(MAIL)


@pytest.mark.parametrize(
    "wrong", [{}, {"name": " "}, {"name": 3}, {"name": "a", "parameters": [1]}, 3]
)
def test_what_is_no_tool(wrong: object) -> None:
    with pytest.raises(RegistryError, match="tool"):
        tool_block(wrong)


def test_an_evicted_tool_is_not_offered() -> None:
    made = registry(MAIL, SEARCH)
    tools = [SEARCH, MAIL]
    assert names(offer(made.compile(), tools)) == ["search", "send_email"]
    assert all("tool" in block.tags for block in made.blocks())
    made.evict(made.named("tool:send_email").id, by=OWNER)
    compiled = made.compile()
    assert names(offer(compiled, tools)) == ["search"]
    assert "send_email" not in compiled.prompt


def test_what_gate_or_budget_leave_out_is_not_offered() -> None:
    made = registry(MAIL, SEARCH)
    small = made.named("tool:search").tokens
    assert names(offer(made.compile(small), [MAIL, SEARCH])) == ["search"]
    gated = made.compile(query="mail", gate=lambda query, blocks: [query in b.name for b in blocks])
    assert names(offer(gated, [MAIL, SEARCH])) == ["send_email"]


def test_a_pinned_schema_is_always_offered() -> None:
    made = Registry(OWNER)
    pin = made.pin(tool_block(MAIL), by=OWNER, name="tool:send_email")
    made.write("x " * 500, by=OWNER)
    assert names(offer(made.compile(pin.tokens), [MAIL])) == ["send_email"]


def test_a_decoy_under_a_tools_name_offers_nothing() -> None:
    made = registry(SEARCH)
    made.write("Tool send_email: anything.", by=OWNER, name="tool:send_email")
    assert names(offer(made.compile(), [MAIL, SEARCH])) == ["search"]


def test_a_schema_written_anew_by_another_does_not_count() -> None:
    made = Registry(OWNER)
    agent = Principal("agent")
    made.grant(agent, by=OWNER)
    written = write_tools(made, [MAIL, SEARCH], by=OWNER)
    made.evict(written[0].id, by=OWNER)
    made.write(tool_block(MAIL), by=agent, name="tool:send_email")
    compiled = made.compile()
    assert names(offer(compiled, [MAIL, SEARCH], among=written)) == ["search"]
    assert names(offer(compiled, [MAIL, SEARCH])) == ["send_email", "search"]


def test_all_tools_are_written_or_none() -> None:
    made = registry(SEARCH)
    before = made.blocks()
    with pytest.raises(DuplicateBlockError):
        write_tools(made, [MAIL, SEARCH], by=OWNER)
    with pytest.raises(DuplicateBlockError, match="two tools are named 'send_email'"):
        write_tools(made, [MAIL, MAIL], by=OWNER)
    with pytest.raises(AuthorityError):
        write_tools(made, [MAIL], by=Principal("stranger"))
    assert made.blocks() == before


def test_the_authors_right_to_a_block_that_is_not_removable() -> None:
    made = Registry(OWNER)
    agent = Principal("agent")
    made.grant(agent, by=OWNER)
    (block,) = write_tools(made, [MAIL], by=OWNER, removable=False, priority=90, run="r1")
    assert (block.priority, block.run, block.author, block.source) == (
        90,
        "r1",
        OWNER.id,
        "orchestrator",
    )
    with pytest.raises(AuthorityError):
        made.evict(block.id, by=agent, force=True)
    assert names(offer(made.compile(), [MAIL])) == ["send_email"]


def test_the_model_is_not_told_of_an_evicted_tool() -> None:
    seen: list[list[str]] = []

    def scripted(_: Any, tools: list[ToolInfo]) -> str | tuple[str, dict[str, Any]]:
        """Calls transfer if it is offered, as a model that wants to would."""
        seen.append([each.name for each in tools])
        return ("transfer", {"amount": 1}) if "transfer" in seen[-1] else "I have no such tool."

    lookup = ToolInfo(
        name="look_up",
        description="Look a record up.",
        parameters=ToolParams(properties={"key": JSONSchema(type="string")}),
    )
    tools: list[Any] = [transfer(), lookup]
    made = registry(*tools)

    async def ask() -> ModelOutput:
        model = playing(scripted)
        compiled = made.compile()
        return await model.generate(
            [ChatMessageUser(content=f"{compiled.prompt}\nPay x one cent.")],
            tools=offer(compiled, tools),
        )

    before = anyio.run(ask)
    made.evict(made.named("tool:transfer").id, by=OWNER)
    after = anyio.run(ask)
    assert seen == [["transfer", "look_up"], ["look_up"]]
    assert [call.function for call in before.message.tool_calls or []] == ["transfer"]
    assert not after.message.tool_calls
