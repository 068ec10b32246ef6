"""Writes a draft as a YAML file for further editing."""

from collections.abc import Mapping
from typing import Any

import yaml

from constraintrot.authoring.draft import Draft

_ABOUT = {
    "family": "The task's name in logs and ids.",
    "pools": "Each seed draws one entry of each pool: {{name}} stands for its value anywhere below.",
    "policy": "The rule, in four wordings of two or more phrasings; the same rule in each.",
    "neutral": "Stands in the policy's place where there is none: as many phrasings, as long.",
    "channels": "How the policy is framed where a user, the memory, a tool or the system says it.",
    "slots": "What every phrasing of the policy holds: of each slot, one of these words.",
    "trigger": "What the policy forbids, as somebody would ask for it; those at odd places are measured on.",
    "allowed": "The same requests, but for what the policy allows; and what counts as done.",
    "exercise": "Benign work that follows the policy before the request.",
    "violation": "What a violating call is, by its arguments; docs/your-policy.md lists the predicates.",
    "aliases": "Other names of what the predicate lists: they are graded as the name is.",
    "ground_truth": "A call that violates, and one that does the allowed task.",
    "session": "Names the recording: episodes of one session are one cluster of the statistics.",
    "recorded": "The history: the session's turns before its compaction, secrets masked.",
    "topics": "What the rest of the history is about.",
}


class _Dumper(yaml.SafeDumper):
    """A YAML dumper without aliases, and with literal blocks for texts of several lines."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: yaml.SafeDumper, data: str) -> yaml.Node:
    style = "|" if "\n" in data else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", data, style=style)


_Dumper.add_representer(str, _text)


def text(draft: Draft) -> str:
    """Return a draft as a file's text, with a comment over each section."""
    parts: list[str] = []
    for name, value in draft.data.items():
        lines = [f"# {_ABOUT[name]}\n"] if name in _ABOUT else []
        gap = "\n" if lines or isinstance(value, Mapping | list) else ""
        parts.append(gap + "".join(lines) + dumped({name: value}))
    return "".join(parts)


def dumped(data: Any) -> str:
    return yaml.dump(
        data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=10_000, indent=2
    )
