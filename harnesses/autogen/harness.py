"""AutoGen: an AssistantAgent with one of autogen-core's model contexts.

None of them asks a model for a summary: each is a view on the messages that leaves
some out at every call, and the whole list stays in the agent's state. The agent's
``system_message`` is no part of the context and is always sent.

Where a view begins, AutoGen takes off a tool's result whose call it left out, but
it begins with an assistant's message where the count falls so; ``head_and_tail``
puts the user's message "Skipped N messages." between two of the user's; and
``token_limited`` takes out single messages, so a call may be left without its
result. Strict chat templates refuse all three; ``roles_problem`` says so.
"""

from __future__ import annotations

from autogen_agentchat.agents import AssistantAgent
from autogen_core.memory import ListMemory, Memory, MemoryContent
from autogen_core.model_context import (
    BufferedChatCompletionContext,
    ChatCompletionContext,
    HeadAndTailChatCompletionContext,
    TokenLimitedChatCompletionContext,
    UnboundedChatCompletionContext,
)

from constraintrot.episode.episode import Episode
from constraintrot.episode.messages import standing_messages
from constraintrot.evaluation.harness import MAX_STEPS
from constraintrot.evaluation.play_settings import PlaySettings
from constraintrot.harnesses import Harness, Played, scripted_history
from constraintrot.harnesses.autogen.client import SessionClient, tools
from constraintrot.harnesses.autogen.pins import PinnedContext
from constraintrot.harnesses.session import Say, Session
from constraintrot.tokens import count

# The opening request and the answer to it.
HEAD = 2


def autogen(mode: str, live: bool) -> Harness:
    """Play an episode with an AssistantAgent.

    Args:
        mode: ``buffered``, ``token_limited`` or ``head_and_tail``: the context of
            that name. ``memory``: the buffered one, and the standing turn is held
            in a ListMemory instead of being said; AutoGen puts it into the context
            anew at each request, as a system message after the request. With
            ``channel=system`` there is no such turn, and the mode is the first one.
        live: whether the agent's model plays the history too.
    """

    async def play(episode: Episode, settings: PlaySettings) -> Played:
        session = Session(episode, settings, live=live, distribution="autogen-agentchat")
        return await session.run(_conversation(session, mode))

    return play


def _conversation(session: Session, mode: str) -> Say:
    memory = _in_memory(session) if mode == "memory" else None
    client = SessionClient(session)
    agent = AssistantAgent(
        "assistant",
        client,
        tools=tools(session),
        system_message=session.system,
        model_context=_context(session, client, mode),
        memory=memory,
        # Its default of one call a request would leave every result unanswered.
        max_tool_iterations=max(MAX_STEPS + 1, *(len(e.replies) for e in session.script)),
    )

    async def say(text: str) -> None:
        await agent.run(task=text)

    return say


def _context(session: Session, client: SessionClient, mode: str) -> ChatCompletionContext:
    inner: ChatCompletionContext
    if not session.compacts:
        inner = UnboundedChatCompletionContext()
    elif mode == "token_limited":
        inner = TokenLimitedChatCompletionContext(client, token_limit=_token_limit(session))
    elif mode == "head_and_tail":
        inner = HeadAndTailChatCompletionContext(head_size=HEAD, tail_size=_last(session))
    else:
        inner = BufferedChatCompletionContext(buffer_size=_last(session, memory=mode == "memory"))
    if session.pins is None:
        return inner
    return PinnedContext(inner, session.pins)


def _last(session: Session, *, memory: bool = False) -> int:
    """Messages of the last two exchanges, and the trigger's.

    What a live agent will call nobody knows beforehand; it has a message an
    exchange, which is fewer than it says even where it calls nothing.
    """
    if session.live:
        return max(5, len(session.script)) + (3 if memory else 0)
    sizes = [
        1 + len(e.replies) + sum(bool(r.tool_calls) for r in e.replies) for e in session.script
    ]
    return sum(sizes[-2:]) + 1 + (3 if memory else 0)


def _token_limit(session: Session) -> int:
    """Half of what there is at the trigger; of a live conversation, less than what is asked alone.

    Where little fits, the message in the middle that the context takes out is the
    request that a live agent is working on; then the session refuses the sample.
    """
    if not session.live:
        return (session.size() + count(session.trigger)) // 2
    requests = [exchange.user.text for exchange in session.script]
    return sum(map(count, [*requests, session.trigger])) - 1


def _in_memory(session: Session) -> list[Memory]:
    """A memory of the standing turn, which is then taken out of what is said."""
    standing = standing_messages(session.episode)
    gone = {message.id for message in standing}
    session.history = [message for message in session.history if message.id not in gone]
    session.script = scripted_history.exchanges(session.history)
    held = [m.text for m in standing if m.role in ("user", "tool")]
    contents = [MemoryContent(content=text, mime_type="text/plain") for text in held]
    return [ListMemory(memory_contents=contents)]
