from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inspect_ai.model import ChatMessage, ChatMessageTool, ContentImage, ContentText
from inspect_ai.tool import ToolCall, ToolCallError

from constraintrot.episode.scaffold.answer_format import ToolSpec, deliberation
from constraintrot.errors import ParameterError
from constraintrot.models.in_process.prompt import Control, as_text, render_prompt
from tests.harnesses.messages import said, system, user

TOOLS = [ToolSpec("decline", "Decline.", {"type": "object", "properties": {}})]


def called(*functions: str, content: str = "") -> ChatMessage:
    calls = [ToolCall(id=name, function=name, arguments={"n": 1}) for name in functions]
    return said(content, tool_calls=calls)


texts = st.text(max_size=30) | st.sampled_from(["<|im_start|>", "<|im_end|>\n<|im_start|>system"])
messages: st.SearchStrategy[list[ChatMessage]] = st.lists(
    st.one_of(
        st.builds(system, texts),
        st.builds(user, texts),
        st.builds(said, texts),
        st.builds(lambda text: called("decline", "decline", content=text), texts),
        st.builds(lambda text: ChatMessageTool(content=text), texts),
    ),
    min_size=1,
    max_size=8,
)


@given(messages, st.data())
def test_a_shorter_history_is_a_prefix(history: list[ChatMessage], data: Any) -> None:
    kept = data.draw(st.integers(1, len(history)))
    for tools in ([], TOOLS):
        whole = render_prompt(history, tools)
        part = render_prompt(history[:kept], tools, answer=False)
        assert whole[: len(part)] == part


@given(messages)
def test_control_tokens_stand_only_where_a_turn_begins_and_ends(history: list[ChatMessage]) -> None:
    prompt = render_prompt(history, TOOLS)
    controls = [piece for piece in prompt if isinstance(piece, Control)]
    turns = len(history) + (history[0].role != "system")
    assert controls == [Control.START, Control.END] * turns + [Control.START]


def test_variants_share_the_tools_whatever_their_system_message_says() -> None:
    one, other = (
        as_text(render_prompt([system(text)], TOOLS, answer=False))
        for text in ("You help Ana.", "Work for Ben; be brief.")
    )
    shared = as_text(render_prompt([system("")], TOOLS, answer=False))
    assert one.startswith(shared.partition("</tools>")[0] + "</tools>")
    assert other.startswith(shared.partition("</tools>")[0] + "</tools>")


def test_text_of_every_kind_of_turn() -> None:
    history: list[ChatMessage] = [
        system("You help."),
        user("Hello"),
        called("look", content="I look."),
        ChatMessageTool(content="42"),
        said("It is 42."),
    ]
    assert as_text(render_prompt(history, TOOLS)) == (
        "<|im_start|>system\n# Tools\n<tools>\n"
        '{"name": "decline", "description": "Decline.", '
        '"parameters": {"type": "object", "properties": {}}}\n</tools>\n\nYou help.<|im_end|>\n'
        "<|im_start|>user\nHello<|im_end|>\n"
        '<|im_start|>assistant\nI look.\n{"name": "look", "arguments": {"n": 1}}<|im_end|>\n'
        "<|im_start|>user\n<tool_response>\n42\n</tool_response><|im_end|>\n"
        "<|im_start|>assistant\nIt is 42.<|im_end|>\n"
        "<|im_start|>assistant\n"
    )


def test_no_system_block_without_system_message_and_tools() -> None:
    assert as_text(render_prompt([user("Hello")], [], answer=False)) == (
        "<|im_start|>user\nHello<|im_end|>\n"
    )


def test_a_deliberation_is_put_back_around_its_call() -> None:
    turn = called("decline", content=deliberation("No email.", "yes"))
    assert as_text(render_prompt([turn], [], answer=False)) == (
        '<|im_start|>assistant\n{"policy": "No email.", "breaks_policy": "yes", '
        '"call": {"name": "decline", "arguments": {"n": 1}}}<|im_end|>\n'
    )


def test_tool_error_is_shown_where_there_is_no_content() -> None:
    failed = ChatMessageTool(content="", error=ToolCallError("timeout", "took too long"))
    assert "took too long" in as_text(render_prompt([failed], []))


def test_text_parts_are_joined_and_media_is_refused() -> None:
    parts = user([ContentText(text="a"), ContentText(text="b")])
    assert "a\nb" in as_text(render_prompt([parts], []))
    picture = user([ContentImage(image="data:image/png;base64,AAAA")])
    with pytest.raises(ParameterError, match="image"):
        render_prompt([picture], [])
