"""The groups of episodes: arms and settings.

An arm corresponds to a condition of the paper's section 4: the change to the history,
the attack and the defense. A setting is everything else that was held fixed: channel,
compactor, budget and so on.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from constraintrot.episode import facts
from constraintrot.evaluation.conditions import CONDITIONS
from constraintrot.report.arms import CODE, labels
from constraintrot.report.page.frames import texts, where

COMPACTION = "compaction"
# (attack, defense) -> the paper's name of compaction under them.
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
SETTINGS = (*facts.names(facts.Role.SETTING), "summary_by")
# Settings that may change with another one: a compactor has its default prompt and budget.
TIED = {
    "compactor": ("prompt", "budget_words", "summary_by"),
    "prompt": ("budget_words",),
    "harness": ("compactor", "prompt", "budget_words", "summary_by"),
}


def prepared(frame: pd.DataFrame) -> pd.DataFrame:
    """Add the columns ``arm``, ``summary_by``, ``varied`` and ``cluster``, and number the rows.

    ``condition`` is reduced to the change to the history, so that ``defense_pin`` and
    ``compaction`` with the defense ``pin`` are the same arm and both are paired with
    ``compaction``.
    """
    done = ("condition", "attack", "defense", "distractors")
    told = texts(frame, done)
    names = {fact: arm(*fact) for fact in dict.fromkeys(told)}
    by = [
        summary_by(made, agent)
        for made, agent in zip(frame["summarizer"], frame["agent"], strict=True)
    ]
    tied = list(zip(*(frame[name] for name in TIED_FACTS), strict=True))
    varied = {row: _varied(row) for row in dict.fromkeys(tied)}
    added = {
        "arm": [names[fact] for fact in told],
        "condition": [base_condition(fact[0]) for fact in told],
        "summary_by": by,
        "varied": [varied[row] for row in tied],
    }
    columns = {name: pd.Series(values, frame.index, object) for name, values in added.items()}
    # The copy merges the columns of one type into one block, which speeds up selections.
    made = frame.assign(**columns, **{CODE: labels(frame)}).copy()
    # A page finds the rows of its cells by their position.
    made.index = pd.RangeIndex(len(made))
    return made


def subjects(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a prepared frame whose column ``agent`` names one subject each.

    A subject is a model with its scaffold, and with the reader of its rules if it has one.
    A model with a single subject keeps its name; several subjects have names that state their
    differences. The column ``model`` has the models.
    """
    parts = ["scaffold", "rule_judge_by"]
    named: dict[tuple[str, ...], str] = {}
    kinds = frame[["agent", *parts]].drop_duplicates()
    for agent, of_model in kinds.groupby("agent", sort=False):
        varied = [name for name in parts if of_model[name].map(_known).dropna().nunique() > 1]
        for row in of_model.itertuples(index=False):
            told = [
                f"rules by {value}" if name == "rule_judge_by" else str(value)
                for name in varied
                if (value := _known(getattr(row, name)))
            ]
            named[tuple(map(str, row))] = ", ".join([str(agent), *told])
    keys = texts(frame, ["agent", *parts])
    return frame.assign(agent=[named[key] for key in keys], model=frame["agent"])


def _known(value: object) -> object:
    return None if is_none(value) else value


def summary_by(summarizer: object, agent: object) -> str:
    """Return the summary's writer as a setting: ``none``, ``the agent``, or a model's name."""
    if summarizer in (None, "none"):
        return "none"
    return "the agent" if summarizer == agent else str(summarizer)


def _varied(row: Sequence[object]) -> str:
    pairs = zip(TIED_FACTS, row, strict=True)
    return ", ".join(_named(name, value) for name, value in pairs if value and value != "none")


TIED_FACTS = ("compactor", "prompt", "budget_words")


def arm(condition: str, attack: str, defense: str, distractors: str = "0") -> str:
    """Name an arm: the paper's name if it has one, else the condition and its differences."""
    base = base_condition(condition)
    no_distractors = distractors in ("0", "none", "None", "nan")
    if base == COMPACTION and no_distractors and (attack, defense) in _PAPER:
        return _PAPER[attack, defense]
    known = CONDITIONS.get(base)
    parts = [base]
    if attack != ((known and known.attack) or "none"):
        parts.append(f"attack {attack}")
    if defense != ((known and known.defense) or "none"):
        parts.append(f"defense {defense}")
    if not no_distractors and int(float(distractors)) != (known.distractors if known else 0):
        parts.append(f"{int(float(distractors))} other rules")
    return ", ".join(parts)


def arms(frame: pd.DataFrame) -> list[str]:
    """Return the names of a prepared frame's arms, the paper's first and in its order."""
    names = list(dict.fromkeys(frame["arm"]))
    known = {name: at for at, name in enumerate(ORDER)}
    return sorted(names, key=lambda name: (known.get(name, len(known)), name))


def agents(frame: pd.DataFrame) -> list[str]:
    return sorted({str(name) for name in frame["agent"]})


def main(
    frame: pd.DataFrame, of: pd.DataFrame | None = None
) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return the episodes at each agent's main setting, and that setting as text by agent.

    The main setting is that of most of the agent's compacted episodes. A setting
    that does not apply to an episode (a control has no compactor) is ``none``, which
    matches any value. ``of`` has the episodes that determine the setting and the agents; by
    default all.
    """
    choosing = frame if of is None else of
    parts: list[pd.DataFrame] = []
    settings: dict[str, str] = {}
    for agent in agents(choosing):
        mine = frame[frame["agent"] == agent]
        chosen = commonest(choosing[choosing["agent"] == agent])
        parts.append(mine[fits(mine, chosen)])
        settings[agent] = words(chosen)
    return pd.concat(parts).sort_index(), settings


def counted(frame: pd.DataFrame, name: str) -> pd.DataFrame:
    """Return the rows in which a setting is an integer: it applies and is known."""
    return frame[frame[name].map(lambda value: isinstance(value, int)).astype(bool)]


def words(setting: dict[str, object]) -> str:
    """Return a setting as text, without the values that do not apply."""
    return ", ".join(_named(name, value) for name, value in setting.items() if not is_none(value))


def kinds(frame: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the episodes of soft and of hard families, without an empty kind."""
    for kind in ("soft", "hard"):
        part = frame[frame["kind"] == kind]
        if len(part):
            yield kind, part


def base_condition(condition: str) -> str:
    """Return a condition without its attack and defense: ``compaction`` for ``defense_pin``."""
    folded = (*_PAPER.values(),)
    return COMPACTION if condition in folded else condition


def commonest(frame: pd.DataFrame) -> dict[str, object]:
    """Return the setting that most compacted episodes have; empty if there is no episode."""
    for chosen in (frame[frame["arm"] == COMPACTION], frame[frame["compactor"] != "none"], frame):
        if len(chosen):
            counts = chosen.groupby(list(SETTINGS), sort=False, dropna=False).size()
            most = counts.index[counts.to_numpy() == counts.to_numpy().max()]
            of = [dict(zip(SETTINGS, one, strict=True)) for one in most]
            # A sweep plays each compactor as often: then the one that a task takes by itself.
            return min(
                of, key=lambda one: [one[name] != value for name, value in _DEFAULTS.items()]
            )
    return {}


_DEFAULTS = {"compactor": "summarize", "harness": "replay", "locale": "en"}


def fits(frame: pd.DataFrame, setting: Mapping[str, object]) -> pd.Series[bool]:
    """Return which episodes have a setting, as far as it applies to them."""
    chosen = pd.Series(True, index=frame.index)
    longer = frame["condition"] == "long_context"
    for name, value in setting.items():
        if is_none(value):
            continue
        fitting = where(frame[name], is_none) | (frame[name] == value).to_numpy()
        same = pd.Series(fitting, frame.index, bool)
        chosen &= same | longer if name == "context_tokens" else same
    return chosen


def is_none(value: object) -> bool:
    """Return whether a setting does not apply to an episode, or is not known."""
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


def ordered(values: pd.Series[str]) -> tuple[object, ...]:
    """Return the distinct values, sorted; the numbers in them are compared by size."""
    distinct: Sequence[object] = list(dict.fromkeys(values))
    return tuple(sorted(distinct, key=_natural))


def _natural(value: object) -> list[tuple[int, float, str]]:
    parts = re.split(r"(\d+)", str(value))
    return [(0, float(part), "") if part.isdecimal() else (1, 0.0, part) for part in parts]
