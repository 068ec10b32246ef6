"""What each compaction mode of each framework keeps of a short history."""

from pathlib import Path
from typing import NamedTuple

from constraintrot import harnesses
from constraintrot.episode.messages import conversation_messages
from constraintrot.episode.staging import stage
from constraintrot.harnesses import HARNESSES, scripted_history
from constraintrot.scenario.files import load

# A folder a framework.
FRAMEWORKS = sorted(
    name
    for name in (path.parent.name for path in Path(harnesses.__file__).parent.glob("*/harness.py"))
    if HARNESSES.get(name).compacts_itself
)
EVERYWHERE = frozenset({"user", "memory", "tool"})
TOOL_ONLY = frozenset({"tool"})
NOWHERE: frozenset[str] = frozenset()
TWO_OF_USER = "two messages of the user's in a row"
TWO_OF_ASSISTANT = "two messages of the assistant's in a row"
ASSISTANT_FIRST = "begins with a message of the assistant's"
SECOND_SYSTEM = "a system message at 1, not at the start"


class Mode(NamedTuple):
    """What comes of ``soft_email`` in a compaction mode.

    Attributes:
        roles: of the last input, by their initials.
        summary_role: the role of the summary; None where nobody writes one.
        problem: what a strict chat template refuses.
        shown: of each round, whether the policy was in what was summarised or left out.
        loses: the channels on which a policy is lost; none is by the system message.
        pinned_problem: what a strict chat template refuses where the policy is pinned.
    """

    roles: str
    summary_role: str | None = None
    problem: str | None = None
    shown: tuple[bool, ...] = (True,)
    loses: frozenset[str] = EVERYWHERE
    pinned_problem: str | None = None

    @property
    def calls(self) -> int:
        """How often the summarizer is asked."""
        return len(self.shown) if self.summary_role else 0


def shapes() -> list[str]:
    """The roles of each exchange of ``soft_email``'s history, by their initials."""
    scenario = load("soft_email").variant(0)
    episode = stage(scenario, policy=True, exercised=2, decline_tool=False)
    found = []
    for exchange in scripted_history.exchanges(conversation_messages(episode)):
        calls = "".join("a" + "t" * len(r.tool_calls or []) for r in exchange.replies)
        found.append(f"u{calls}")
    return found


def without_results(turns: list[str]) -> str:
    return "".join(turns).replace("t", "")


TURNS = shapes()
HISTORY = "".join(TURNS)
LAST, LAST_TWO = TURNS[-1], "".join(TURNS[-2:])
# Of several results, the last.
LAST_RESULT = LAST.replace("t", "", LAST.count("t") - 1)
ALL_TURNS = f"s{HISTORY}u"
MODES = {
    # The summary is in the system message, so user and assistant stay in turn.
    "langgraph:summary_node": Mode(f"s{LAST}u", "system"),
    # Here it is a second system message. By default the first turns are gone before
    # the summarizer sees them.
    "langmem:default": Mode(
        f"ssa{LAST_TWO}u", "system", SECOND_SYSTEM, (False,), pinned_problem=SECOND_SYSTEM
    ),
    "langmem:headroom": Mode(
        f"ssa{LAST_TWO}u", "system", SECOND_SYSTEM, pinned_problem=SECOND_SYSTEM
    ),
    "langchain:summarization": Mode(f"su{HISTORY[-5:]}u", "user"),
    "langchain:no_trim": Mode(f"su{HISTORY[-5:]}u", "user"),
    "langchain:clear_tools": Mode(ALL_TURNS, loses=TOOL_ONLY),
    "deepagents:summarization": Mode(f"su{HISTORY[-5:]}u", "user"),
    # The pins are in a message of the user's of their own.
    "autogen:buffered": Mode(f"s{LAST_TWO}u", pinned_problem=TWO_OF_USER),
    # Between the head and the tail is "Skipped N messages.", as the user's.
    "autogen:head_and_tail": Mode(
        f"suau{LAST_TWO}u", problem=TWO_OF_USER, pinned_problem=TWO_OF_USER
    ),
    # It takes out what is in the middle, and the policy is near the beginning.
    "autogen:token_limited": Mode(
        "suauauauuatatau", loses=NOWHERE, problem=TWO_OF_USER, pinned_problem=TWO_OF_USER
    ),
    "openai_agents:session_limit": Mode(f"s{LAST_TWO}u"),
    "openai_agents:input_callback": Mode(f"s{LAST_TWO}u"),
    # The vendor's endpoint keeps what the user wrote, and its stand-in does.
    "openai_agents:compaction": Mode(
        f"s{'u' * (len(TURNS) - 2)}a{LAST_TWO}u",
        "assistant",
        TWO_OF_USER,
        loses=TOOL_ONLY,
        pinned_problem=TWO_OF_USER,
    ),
    # Only what tools returned is shortened.
    "openai_agents:trimmer": Mode(ALL_TURNS, loses=TOOL_ONLY),
    "openai_agents:summary_input": Mode(
        f"su{LAST_TWO}u", "user", TWO_OF_USER, pinned_problem=TWO_OF_USER
    ),
    "agent_framework:truncation": Mode(f"s{LAST_TWO}u"),
    # The first request is the neutral one; the reply that follows it is a later turn's.
    "agent_framework:truncation_first_user": Mode(f"s{LAST_TWO}u"),
    "agent_framework:sliding_window": Mode(f"s{LAST_TWO}u"),
    "agent_framework:summarization": Mode(
        f"sa{LAST_TWO}u", "assistant", ASSISTANT_FIRST, pinned_problem=ASSISTANT_FIRST
    ),
    # What tools returned becomes what the assistant said.
    "agent_framework:tool_result": Mode(
        f"s{without_results(TURNS[:-1])}{LAST_RESULT}u",
        problem=TWO_OF_ASSISTANT,
        loses=NOWHERE,
        pinned_problem=TWO_OF_ASSISTANT,
    ),
    "agent_framework:token_budget": Mode(
        f"s{without_results(TURNS[-2:-1])}{LAST_RESULT}u",
        problem=TWO_OF_ASSISTANT,
        pinned_problem=TWO_OF_ASSISTANT,
    ),
    # The second summary is of what came after the first, and follows it.
    "google_adk:sliding_window": Mode(
        "saau",
        "assistant",
        ASSISTANT_FIRST,
        (True, False),
        pinned_problem=ASSISTANT_FIRST,
    ),
    "google_adk:token_threshold": Mode(
        f"sa{LAST_TWO}u", "assistant", ASSISTANT_FIRST, pinned_problem=ASSISTANT_FIRST
    ),
    # The pins are in a message of the user's, right before the opening request.
    "inspect_react:summary": Mode("suauau", "user", pinned_problem=TWO_OF_USER),
    "inspect_react:auto": Mode("suauau", "user", pinned_problem=TWO_OF_USER),
    "inspect_react:trim": Mode(
        "suaauauatauauatatau", problem=TWO_OF_ASSISTANT, pinned_problem=TWO_OF_USER
    ),
    "inspect_react:edit": Mode(ALL_TURNS, loses=TOOL_ONLY, pinned_problem=TWO_OF_USER),
}
# A memory's text is the last message, where the scripted agent looks for the request.
MEMORY = "autogen:memory"
# A provider compacts, which no scripted model has.
NATIVE = "inspect_react:native"
SUMMARISED = [name for name, mode in MODES.items() if mode.summary_role]
