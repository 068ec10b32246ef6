"""The policy in a file of a coding agent: one that it reads, or one of its rule files."""

from dataclasses import replace
from functools import partial
from typing import Final, Literal, TypeAlias

from constraintrot.episode.channels import (
    Given,
    Player,
    framed,
    policy_channel,
    with_policy_turn,
)
from constraintrot.episode.episode import Episode, tool_call
from constraintrot.scenario.schema import ToolTurn

FileChannel: TypeAlias = Literal["file", "nested_file", "root_file", "memory_file"]
# A file that the agent reads; then rule files in that file's folder, the project, the home.
FILE_CHANNELS: Final[tuple[FileChannel, ...]] = ("file", "nested_file", "root_file", "memory_file")
# The name in scripts of the agent's own file tool, and the files that they read with it.
READ_FILE: Final = "read_file"
PATHS: Final[dict[str, str]] = {"file": "notes.md", "nested_file": "records/index.md"}


def _unfit(read: bool, player: Player) -> str:
    if not player.runs_program:
        return (
            f"gives the policy in a file of a coding agent, and harness {player.name} has none;"
            " choose a harness=coding/..., or another channel"
        )
    if read and player.live:
        return (
            "switches on the agent's own tool for files, and a live agent runs what its model"
            " writes; leave live out, or choose another channel"
        )
    return ""


def _staged(channel: FileChannel, episode: Episode, given: Given) -> Episode:
    policy = framed(episode, "system", given.text)
    staged = replace(episode, files={channel: policy})
    if channel not in PATHS:
        return staged
    # The agent loads a nested rule file by itself when it reads another file of that folder.
    result = policy if channel == "file" else episode.variant.system
    read = ToolTurn(function=READ_FILE, arguments={"path": PATHS[channel]}, result=result)
    return with_policy_turn(staged, *tool_call(read))


for _name in FILE_CHANNELS:
    policy_channel(_name, unfit=partial(_unfit, _name in PATHS))(partial(_staged, _name))
