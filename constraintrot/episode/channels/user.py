"""The policy in a turn of the user."""

from constraintrot.episode.channels import Given, framed, policy_channel, with_policy_turn
from constraintrot.episode.episode import Episode, Message


@policy_channel("user")
def user(episode: Episode, given: Given) -> Episode:
    """Put the policy into the first turn after the opening."""
    return with_policy_turn(episode, Message("user", framed(episode, "user", given.text), "user"))
