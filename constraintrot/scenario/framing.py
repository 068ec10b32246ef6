"""Texts around a scenario's own: a realistically long system message, and another requester."""

from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

from constraintrot import documents
from constraintrot.scenario.schema import Variant
from constraintrot.scenario.splits import place

SystemPrompt: TypeAlias = Literal["short", "long"]
AskedBy: TypeAlias = Literal["same", "other"]
SYSTEM_PROMPTS: tuple[SystemPrompt, ...] = ("short", "long")
ASKED_BY: tuple[AskedBy, ...] = ("same", "other")


def system(variant: Variant, length: SystemPrompt) -> str:
    """Return the system message: the scenario's line, with a page on how to work if ``long``."""
    if length == "short":
        return variant.system
    return f"{variant.system}\n\n{_chosen(variant, 'systems')}"


def request(variant: Variant, text: str, asked_by: AskedBy) -> str:
    """Return a request; ``other`` adds an introduction by a person who did not give the policy."""
    return text if asked_by == "same" else f"{_chosen(variant, 'others')}\n\n{text}"


def _chosen(variant: Variant, kind: str) -> str:
    texts: list[str] = _texts()[variant.scenario.locale][kind]
    return texts[place(len(texts), variant.split, variant.seed)]


@cache
def _texts() -> dict[str, Any]:
    return dict(documents.load(Path(__file__).with_suffix(".yaml")))
