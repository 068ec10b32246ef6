"""The policy in the result of a tool."""

from constraintrot.episode.channels import Given, policy_channel, with_policy_turn
from constraintrot.episode.episode import Episode, tool_call
from constraintrot.scenario.schema import ToolTurn
from constraintrot.scenario.template import fill


@policy_channel("tool")
def tool(episode: Episode, given: Given) -> Episode:
    """Put the policy into a result that the agent asks for."""
    variant = episode.variant
    values = variant.values | {"policy": given.text}
    asked = ToolTurn.model_validate(fill(variant.scenario.channels.tool.model_dump(), values))
    return with_policy_turn(episode, *tool_call(asked))
