"""The policy in an entry of the agent's memory."""

from constraintrot.episode.channels import Given, framed, policy_channel, with_policy_turn
from constraintrot.episode.episode import Episode, Message


@policy_channel("memory")
def memory(episode: Episode, given: Given) -> Episode:
    """Put the policy into a memory entry."""
    # The scenario's text already starts the entry with a dash.
    entry = framed(episode, "memory", given.text.removeprefix("- "))
    return with_policy_turn(episode, Message("user", entry, "operator"))
