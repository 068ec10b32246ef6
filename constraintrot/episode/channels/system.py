"""The policy in the system message."""

from dataclasses import replace

from constraintrot.episode.channels import Given, framed, policy_channel
from constraintrot.episode.episode import Episode


@policy_channel("system", uncompacted="system message")
def system(episode: Episode, given: Given) -> Episode:
    """Put the policy at the end of the system message."""
    first, *others = episode.opening.messages
    told = replace(first, text=f"{first.text}\n\n{framed(episode, 'system', given.text)}")
    return replace(episode, opening=replace(episode.opening, messages=(told, *others)))
