"""Which episodes belong together: arms, settings, and what one thing alone was varied over.

An arm is what the paper's (section 4) conditions are: what happened to the
history, under which attack, under which defense. A setting is everything else
that was held fixed: channel, compactor, budget and so on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from constraintrot.evaluation.conditions import CONDITIONS

if TYPE_CHECKING:
    import pandas as pd

COMPACTION = "compaction"
# The paper's names for a compaction under an attack and a defense.
_PAPER = {
    ("none", "none"): COMPACTION,
    ("volume", "none"): "attack_volume",
    ("inject_deprecation", "none"): "attack_inject",
    ("none", "pin"): "defense_pin",
    ("inject_deprecation", "pin"): "defense_pin_attack",
}
ORDER = (
    "floor", "control", "long_context", COMPACTION, "summary_removed", "sham",
    "summary_restored", "attack_volume", "attack_inject", "defense_pin", "defense_pin_attack",
)  # fmt: skip
SETTINGS = (
    "locale", "wording", "channel", "compactor", "prompt", "budget_words", "rounds", "scaffold",
    "harness", "context_tokens", "compact_at", "summary_by",
)  # fmt: skip
# A compactor brings its own prompt, budget and summarizer with it.
TIED = {"compactor": ("prompt", "budget_words", "summary_by"), "prompt": ("budget_words",)}


@dataclass(frozen=True)
class Sweep:
    """Episodes in which one thing was varied and the rest held.

    Attributes:
        agent: whose.
        setting: what was held, in words; empty where it is the agent's own.
        values: of what was varied, in order.
        frame: the compacted episodes.
        control: the same without compaction, where there are any.
        label: column that holds the value.
    """

    agent: str
    setting: str
    values: tuple[object, ...]
    frame: pd.DataFrame
    control: pd.DataFrame
    label: str

    @property
    def name(self) -> str:
        """The agent, and what was held where that must be said."""
        return f"{self.agent} ({self.setting})" if self.setting else self.agent


def prepared(frame: pd.DataFrame) -> pd.DataFrame:
    """The same rows with ``arm``, ``summary_by`` and ``varied``; the arm's name is no condition.

    ``condition`` becomes what was done to the history alone, so that
    ``defense_pin`` and ``compaction`` with the defense ``pin`` are the same arm
    and both pair with ``compaction``.
    """
    facts = [
        tuple(str(value) for value in row)
        for row in frame[["condition", "attack", "defense", "distractors"]].itertuples(index=False)
    ]
    names = {fact: arm(*fact) for fact in dict.fromkeys(facts)}
    by = [
        "none" if made in (None, "none") else "the agent" if made == agent else str(made)
        for made, agent in zip(frame["summarizer"], frame["agent"], strict=True)
    ]
    varied = [
        ", ".join(_named(name, value) for name, value in zip(TIED_FACTS, row, strict=True) if value)
        for row in frame[list(TIED_FACTS)].replace("none", None).itertuples(index=False)
    ]
    return frame.assign(
        arm=[names[fact] for fact in facts],
        condition=[_base(fact[0]) for fact in facts],
        summary_by=by,
        varied=varied,
    )


TIED_FACTS = ("compactor", "prompt", "budget_words")


def arm(condition: str, attack: str, defense: str, distractors: str = "0") -> str:
    """The arm's name: the paper's where it has one."""
    base = _base(condition)
    few = distractors in ("0", "none", "None", "nan")
    if base == COMPACTION and few and (attack, defense) in _PAPER:
        return _PAPER[attack, defense]
    own = CONDITIONS.get(base)
    said = [base]
    if attack != ((own and own.attack) or "none"):
        said.append(f"attack {attack}")
    if defense != ((own and own.defense) or "none"):
        said.append(f"defense {defense}")
    if not few and int(float(distractors)) != (own.distractors if own else 0):
        said.append(f"{int(float(distractors))} other rules")
    return ", ".join(said)


def arms(frame: pd.DataFrame) -> list[str]:
    """The arms that a prepared frame holds, the paper's first and in its order."""
    found = list(dict.fromkeys(frame["arm"]))
    known = {name: at for at, name in enumerate(ORDER)}
    return sorted(found, key=lambda name: (known.get(name, len(known)), name))


def agents(frame: pd.DataFrame) -> list[str]:
    """The agents, by name."""
    return sorted({str(name) for name in frame["agent"]})


def main(
    frame: pd.DataFrame, of: pd.DataFrame | None = None
) -> tuple[pd.DataFrame, dict[str, str]]:
    """The episodes at each agent's main setting, and that setting in words.

    It is the one that most of the agent's compacted episodes have. What does
    not apply (a control has no compactor) is ``none`` and fits any.

    Args:
        frame: prepared.
        of: those that choose the setting, and whose agents are looked at.
    """
    choosing = frame if of is None else of
    parts: list[pd.DataFrame] = []
    said: dict[str, str] = {}
    for agent in agents(choosing):
        mine = frame[frame["agent"] == agent]
        chosen = _most(choosing[choosing["agent"] == agent])
        parts.append(mine[_fits(mine, chosen)])
        said[agent] = words(chosen)
    import pandas as pd

    return pd.concat(parts).sort_index(), said


def sweeps(frame: pd.DataFrame, name: str) -> list[Sweep]:
    """Where one setting was varied and all others held, by agent.

    Args:
        frame: prepared, of prohibited requests.
        name: of ``SETTINGS``, or ``varied``: a compactor with what comes with it.
    """
    free = {name, *TIED.get(name, ())}
    label = name
    if name == "varied":
        free = {"compactor", *TIED["compactor"]}
    held = [setting for setting in SETTINGS if setting not in free]
    found: list[Sweep] = []
    for agent in agents(frame):
        mine = frame[frame["agent"] == agent]
        compacted = mine[mine["arm"] == COMPACTION]
        if name == "varied":
            compacted = compacted[compacted["summary_by"].isin(["the agent", "none"])]
        groups = list(compacted.groupby(held, sort=False, dropna=False))
        # Budgets and prompts of one compactor have sections of their own.
        told = "compactor" if name == "varied" else name
        several = [(key, part) for key, part in groups if part[told].nunique() > 1]
        for key, part in several:
            chosen: dict[str, object] = dict(zip(held, key, strict=True))
            control = mine[(mine["arm"] == "control") & _fits(mine, chosen)]
            said = words(chosen) if len(several) > 1 else ""
            found.append(Sweep(agent, said, _ordered(part[label]), part, control, label))
    return found


def counted(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows in which a setting is a number: it applies there, and is known."""
    return frame[frame[name].map(lambda value: isinstance(value, int)).astype(bool)]


def words(setting: dict[str, object]) -> str:
    """A setting in words: what applies of it."""
    return ", ".join(_named(name, value) for name, value in setting.items() if not _none(value))


def kinds(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Soft and hard families, where there are both."""
    for kind in ("soft", "hard"):
        part = frame[frame["kind"] == kind]
        if len(part):
            yield kind, part


def _base(condition: str) -> str:
    folded = (*_PAPER.values(),)
    return COMPACTION if condition in folded else condition


def _most(frame: pd.DataFrame) -> dict[str, object]:
    for chosen in (frame[frame["arm"] == COMPACTION], frame[frame["compactor"] != "none"], frame):
        if len(chosen):
            counts = chosen.groupby(list(SETTINGS), sort=False, dropna=False).size()
            return dict(zip(SETTINGS, counts.index[int(counts.to_numpy().argmax())], strict=True))
    return {}


def _fits(frame: pd.DataFrame, setting: dict[str, object]) -> pd.Series[bool]:
    import pandas as pd

    fits = pd.Series(True, index=frame.index)
    longer = frame["condition"] == "long_context"
    for name, value in setting.items():
        if _none(value):
            continue
        same = pd.Series([_none(one) or one == value for one in frame[name]], frame.index, bool)
        fits &= same | longer if name == "context_tokens" else same
    return fits


def _none(value: object) -> bool:
    return value is None or value == "none" or value != value


def _named(name: str, value: object) -> str:
    shown = {"budget_words": f"{value} words", "rounds": f"{value} rounds"}
    shown |= {"context_tokens": f"{value} tokens of history", "summary_by": f"summary by {value}"}
    shown |= {"compact_at": f"compacted at {value} tokens", "prompt": f"prompt {value}"}
    if name in ("compactor", "locale", "harness", "scaffold"):
        return str(value)
    if name == "rounds" and str(value) in ("1", "1.0"):
        return "1 round"
    return shown.get(name, f"{name} {value}")


def _ordered(values: pd.Series[str]) -> tuple[object, ...]:
    found: Sequence[object] = list(dict.fromkeys(values))
    return tuple(sorted(found, key=_natural))


def _natural(value: object) -> list[tuple[int, float, str]]:
    """Numbers by size wherever they stand in a text."""
    parts = re.split(r"(\d+)", str(value))
    return [(0, float(part), "") if part.isdecimal() else (1, 0.0, part) for part in parts]
