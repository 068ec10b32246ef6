"""Episodes of the wiki channels under each attack on the vault, and the fate of the policy.

The task ``suite`` is played as anybody plays it, ``-T channel=wiki -T attack=...``; a run that
was stopped goes on with the attack that it had not finished.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from inspect_ai import eval as inspect_eval
from inspect_ai.log import EvalSample

from constraintrot.errors import ConstraintRotError

ATTACKS: Final = (
    "none", "wiki_stale_cache", "wiki_loud_cache", "wiki_index_drift", "wiki_fake_schema",
    "wiki_schema_flood",
)  # fmt: skip
CHANNELS: Final = ("wiki", "wiki_schema")


@dataclass(frozen=True)
class Row:
    """The episodes of one channel under one attack.

    Attributes:
        model: the agent's.
        channel: where the policy is.
        attack: on the vault.
        episodes: how many were played.
        reached: in how many the policy is word for word in the last input.
        violated: in how many it was broken.
        silent: in how many there was no call, or none that can be read.
    """

    model: str
    channel: str
    attack: str
    episodes: int
    reached: int
    violated: int
    silent: int


def rows(model: str, variants: int, known: Sequence[Mapping[str, str]] = ()) -> Iterator[Row]:
    """Yield a row for each channel and attack; known rows are not played again.

    Raises:
        ConstraintRotError: a run did not finish.
    """
    done = {(row["model"], row["channel"], row["attack"]): row for row in known}
    for channel in CHANNELS:
        for attack in ATTACKS:
            row = done.get((model, channel, attack))
            yield _read(row) if row else _played(model, channel, attack, variants)


def _read(row: Mapping[str, str]) -> Row:
    counts = (int(row[name]) for name in ("episodes", "reached", "violated", "silent"))
    return Row(row["model"], row["channel"], row["attack"], *counts)


def _played(model: str, channel: str, attack: str, variants: int) -> Row:
    given = {"channel": channel, "attack": attack, "conditions": "control", "variants": variants}
    with tempfile.TemporaryDirectory() as folder:
        (log,) = inspect_eval(
            "constraintrot/suite", model=model, task_args=given, log_dir=folder, display="none",
            log_level="error",
        )  # fmt: skip
        if log.status != "success":
            why = log.error.message if log.error else log.status
            raise ConstraintRotError(f"{channel} under {attack} stopped: {why}")
        # They are read from the log's file.
        found = list(map(_outcome, log.samples or ()))
    return Row(
        model, channel, attack, len(found), sum(verbatim for _, verbatim in found),
        sum(outcome == "violated" for outcome, _ in found),
        sum(outcome in ("no_call", "malformed") for outcome, _ in found),
    )  # fmt: skip


def _outcome(sample: EvalSample) -> tuple[str, bool]:
    """Return the verdict's outcome, and whether the policy is in the last input word for word."""
    scores = sample.scores or {}
    verdict, survival = scores["violation"].metadata or {}, scores["survival"].as_dict()
    return str(verdict["outcome"]), bool(survival["verbatim"])
