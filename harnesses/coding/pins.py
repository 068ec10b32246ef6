"""The pin of an episode in a coding agent: our hook, put into the settings of its HOME.

It is what ``constraintrot pin install`` does for a user, by the same code. The agent
starts the hook by itself and decides where its text goes; nothing here touches a request.
"""

from __future__ import annotations

from collections.abc import Sequence

from inspect_ai.model import ChatMessage

from constraintrot.coding_agents.drivers.agent import Agent, Place
from constraintrot.coding_agents.pins.agents import agent_named
from constraintrot.coding_agents.pins.compiled import HEADING, Source, read_compiled
from constraintrot.coding_agents.pins.installing import install
from constraintrot.coding_agents.pins.record import Pin
from constraintrot.coding_agents.wire.conversation import unescaped
from constraintrot.defenses.pinning import pinned_block
from constraintrot.defenses.pinning.pinned_block import PinnedBlock
from constraintrot.errors import EpisodeError
from constraintrot.harnesses.message_match import plain

_RULES = "rules.txt"


def install_pins(pins: PinnedBlock, agent: Agent, place: Place) -> str:
    """Install a registry's pins for an agent; the text that its hook hands out, if there are pins.

    Args:
        pins: of the defense. A heading of its own goes above them; else that of
            ``constraintrot pin install`` does.
        agent: the agent, whose settings are written.
        place: where it is set up.

    Raises:
        PinInstallError: the agent has no hook that can hold a pin, or the pins are
            too long for it.
    """
    contents = list(pins.rendering().contents.values())
    if not contents:
        # In the floor nobody declared a policy.
        return ""
    rules = place.box.folder / _RULES
    place.write(rules, "\n\n".join(contents) + "\n")
    pin = Pin(agent_named(agent.name), "user", place.box.work, place.box.home)
    heading = HEADING if pins.heading == pinned_block.HEADING else pins.heading
    install(pin, Source("rules", rules), heading=heading)
    return str(read_compiled(pin.folder)["text"])


def roles_of(text: str, messages: Sequence[ChatMessage]) -> list[str]:
    """The roles of the messages that hold a hook's text whole."""
    sought = plain(unescaped(text))
    return [
        message.role for message in messages if sought and sought in plain(unescaped(message.text))
    ]


def check_held(text: str, messages: Sequence[ChatMessage], title: str) -> None:
    """Assert that an agent's request holds what its hook handed out.

    Raises:
        EpisodeError: it does not.
    """
    if text and not roles_of(text, messages):
        raise EpisodeError(
            f"{title} asked its model without the pin: its hook is installed, and the hook's text"
            " is not in the request, so this is no measurement of a pin"
        )
